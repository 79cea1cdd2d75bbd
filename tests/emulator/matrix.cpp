// mma and ldmatrix with the layouts of the PTX manual. Sums go through float, in the order of k.
#include "matrix.hpp"
#include "counters.hpp"
#include "memory.hpp"
#include "watch.hpp"

#include <cstring>

namespace emu
{
enum class Format { f16, bf16, tf32 };

template <Format format>
static float low(uint32_t bits)
{
    switch (format) {
    case Format::f16: return half_to_float((uint16_t)bits);
    case Format::bf16: return bfloat16_to_float((uint16_t)bits);
    default: return bit_cast<float>(bits & 0xffffe000u); // the hardware does not read the rest
    }
}

// D = A * B + C for A of 16 x K. With 32-bit values a register holds one element, with 16-bit ones
// two neighbours in k.
template <Format format, int K>
static void mma(const Meeting &meeting)
{
    constexpr int pack = format == Format::tf32 ? 1 : 2; // elements in a register
    constexpr int steps = K / (4 * pack);                // registers of B; A has two rows of them
    float a[16][K], b[K][8], c[16][8];
    for (int lane = 0; lane < 32; lane++) {
        const MmaOperand &own = *static_cast<const MmaOperand *>(meeting.operand[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int step = 0; step < steps; step++)
            for (int i = 0; i < pack; i++) {
                const int k = step * 4 * pack + pack * t + i;
                a[g][k] = low<format>(own.a[2 * step] >> 16 * i);
                a[g + 8][k] = low<format>(own.a[2 * step + 1] >> 16 * i);
                b[k][g] = low<format>(own.b[step] >> 16 * i);
            }
        for (int i = 0; i < 2; i++) {
            c[g][2 * t + i] = own.acc[i];
            c[g + 8][2 * t + i] = own.acc[2 + i];
        }
    }
    for (int k = 0; k < K; k++)
        for (int row = 0; row < 16; row++)
            for (int column = 0; column < 8; column++)
                c[row][column] += a[row][k] * b[k][column];
    for (int lane = 0; lane < 32; lane++) {
        const MmaOperand &own = *static_cast<const MmaOperand *>(meeting.operand[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 2; i++) {
            own.acc[i] = c[g][2 * t + i];
            own.acc[2 + i] = c[g + 8][2 * t + i];
        }
    }
    counters.mma++;
}

void mma_m16n8k16_f16(const Meeting &meeting)
{
    mma<Format::f16, 16>(meeting);
}
void mma_m16n8k16_bf16(const Meeting &meeting)
{
    mma<Format::bf16, 16>(meeting);
}
void mma_m16n8k8_f16(const Meeting &meeting)
{
    mma<Format::f16, 8>(meeting);
}
void mma_m16n8k8_bf16(const Meeting &meeting)
{
    mma<Format::bf16, 8>(meeting);
}
void mma_m16n8k8_tf32(const Meeting &meeting)
{
    mma<Format::tf32, 8>(meeting);
}

void ldmatrix(const Meeting &meeting)
{
    const LdmatrixOperand *operand[32];
    for (int lane = 0; lane < 32; lane++)
        operand[lane] = static_cast<const LdmatrixOperand *>(meeting.operand[lane]);
    const unsigned matrices = operand[0]->matrices;
    uint16_t element[4][8][8];
    for (unsigned lane = 0; lane < 8 * matrices; lane++) {
        const void *row = operand[lane]->row;
        if ((uintptr_t)row % 16)
            kernel_error(meeting.where,
                         "ldmatrix: the row at %p, of lane %u, is not aligned to 16 bytes", row,
                         lane);
        if (!in_shared(row, 16))
            kernel_error(meeting.where,
                         "ldmatrix: the row at %p, of lane %u, is not in shared memory", row, lane);
        watch::Unchecked unchecked; // who reads what is told below
        memcpy(element[lane / 8][lane % 8], row, 16);
    }
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned j = 0; j < matrices; j++) {
            uint32_t bits = 0;
            for (unsigned i = 0; i < 2; i++) {
                const unsigned g = lane / 4, k = lane % 4 * 2 + i;
                const bool transposed = operand[0]->transposed;
                const unsigned row = transposed ? k : g, column = transposed ? g : k;
                bits |= (uint32_t)element[j][row][column] << 16 * i;
                // The lane that receives an element is the one that reads it.
                watch::access_by(meeting.warp * 32 + lane,
                                 static_cast<const uint16_t *>(operand[8 * j + row]->row) + column,
                                 2, meeting.where);
            }
            operand[lane]->r[j] = bits;
        }
}
} // namespace emu
