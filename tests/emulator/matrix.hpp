// gpu.h's matrix products and ldmatrix.
#ifndef GDNN_EMULATOR_MATRIX_HPP
#define GDNN_EMULATOR_MATRIX_HPP

#include "collectives.hpp"
#include "half.hpp"

#include <cstdint>

namespace emu
{
struct MmaOperand {
    float *acc;
    const uint32_t *a, *b;
};
void mma_m16n8k16_f16(const Meeting &);
void mma_m16n8k16_bf16(const Meeting &);
void mma_m16n8k8_f16(const Meeting &);
void mma_m16n8k8_bf16(const Meeting &);
void mma_m16n8k8_tf32(const Meeting &);

struct LdmatrixOperand {
    uint32_t *r;
    const void *row;
    unsigned matrices;
    bool transposed;
};
void ldmatrix(const Meeting &);

static inline void load_matrices(const char *what, uint32_t *r, const void *row, unsigned matrices,
                                 bool transposed, Where where)
{
    LdmatrixOperand operand = {r, row, matrices, transposed};
    meet(what, 0xffffffffu, Scope::whole_warp, &operand, ldmatrix, where);
}
} // namespace emu

#define EMU_MMA(name)                                                                              \
    static inline void gpu_##name(float acc[4], const uint32_t a[4], const uint32_t b[2],          \
                                  emu::Where where = emu::Where())                                 \
    {                                                                                              \
        emu::MmaOperand operand = {acc, a, b};                                                     \
        emu::meet(#name, 0xffffffffu, emu::Scope::whole_warp, &operand, emu::name, where);         \
    }
#define EMU_MMA_SMALL(name)                                                                        \
    static inline void gpu_##name(float acc[4], const uint32_t a[2], uint32_t b,                   \
                                  emu::Where where = emu::Where())                                 \
    {                                                                                              \
        emu::MmaOperand operand = {acc, a, &b};                                                    \
        emu::meet(#name, 0xffffffffu, emu::Scope::whole_warp, &operand, emu::name, where);         \
    }
EMU_MMA(mma_m16n8k16_f16)
EMU_MMA(mma_m16n8k16_bf16)
EMU_MMA(mma_m16n8k8_tf32)
EMU_MMA_SMALL(mma_m16n8k8_f16)
EMU_MMA_SMALL(mma_m16n8k8_bf16)
#undef EMU_MMA
#undef EMU_MMA_SMALL

#define EMU_LDMATRIX(name, matrices, transposed)                                                   \
    static inline void gpu_##name(uint32_t r[matrices], const void *row,                           \
                                  emu::Where where = emu::Where())                                 \
    {                                                                                              \
        emu::load_matrices(#name, r, row, matrices, transposed, where);                            \
    }
EMU_LDMATRIX(ldmatrix_x1, 1, false)
EMU_LDMATRIX(ldmatrix_x2, 2, false)
EMU_LDMATRIX(ldmatrix_x4, 4, false)
EMU_LDMATRIX(ldmatrix_x1_trans, 1, true)
EMU_LDMATRIX(ldmatrix_x2_trans, 2, true)
EMU_LDMATRIX(ldmatrix_x4_trans, 4, true)
#undef EMU_LDMATRIX

static inline uint32_t gpu_tf32(float value)
{
    const uint32_t bits = emu::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000u)
        return 0x7fffffff;
    if (magnitude == 0x7f800000u)
        return bits;
    return (bits + 0x1000) & 0xffffe000u;
}

#endif
