// mma and ldmatrix against the layouts of the PTX manual ("Matrix Fragments for mma.m16n8k16 ..."),
// written down here as the manual gives them: the row and column of the i-th element that a lane
// holds.
#include "half.hpp"
#include "probe.hpp"

struct Position {
    int row, column;
};

enum Kind { k16_f16, k16_bf16, k8_f16, k8_bf16, k8_tf32, kinds };

static int elements_of_a(Kind kind)
{
    return kind <= k16_bf16 ? 8 : 4;
}
static int depth(Kind kind)
{
    return kind <= k16_bf16 ? 16 : 8;
}

static Position position_in_a(Kind kind, int lane, int i)
{
    const int group = lane >> 2, thread = lane % 4;
    if (kind == k8_tf32)
        return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
    if (kind == k8_f16 || kind == k8_bf16)
        return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return {upper ? group : group + 8, thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}

static Position position_in_b(Kind kind, int lane, int i)
{
    const int group = lane >> 2, thread = lane % 4;
    if (kind == k8_tf32)
        return {i == 0 ? thread : thread + 4, group};
    return {thread * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
}

static Position position_in_c(int lane, int i)
{
    return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}

static uint32_t bits_of(Kind kind, float value)
{
    if (kind == k8_tf32)
        return emu::bit_cast<uint32_t>(value);
    return kind == k16_f16 || kind == k8_f16 ? emu::float_to_half(value)
                                             : emu::float_to_bfloat16(value);
}

// Puts element i of a lane where it belongs in its registers.
static void put(Kind kind, std::vector<uint32_t> *registers, int per_lane, int lane, int i,
                float value)
{
    const uint32_t bits = bits_of(kind, value);
    if (kind == k8_tf32)
        (*registers)[(size_t)(lane * per_lane + i)] = bits;
    else
        (*registers)[(size_t)(lane * per_lane + i / 2)] |= bits << 16 * (i % 2);
}

static float small_integer(int seed)
{
    return (float)((seed * 2654435761u >> 16) % 17) - 8;
}

static void check_mma(Kind kind)
{
    float a[16][16], b[16][8], c[16][8];
    for (int row = 0; row < 16; row++)
        for (int k = 0; k < 16; k++)
            a[row][k] = small_integer(row * 16 + k);
    for (int k = 0; k < 16; k++)
        for (int column = 0; column < 8; column++)
            b[k][column] = small_integer(1000 + k * 8 + column);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++)
            c[row][column] = small_integer(2000 + row * 8 + column) * 1000;

    std::vector<uint32_t> a_of(32 * 4), b_of(32 * 2);
    std::vector<float> c_of(32 * 4);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < elements_of_a(kind); i++) {
            const Position at = position_in_a(kind, lane, i);
            put(kind, &a_of, 4, lane, i, a[at.row][at.column]);
        }
        for (int i = 0; i < elements_of_a(kind) / 2; i++) {
            const Position at = position_in_b(kind, lane, i);
            put(kind, &b_of, 2, lane, i, b[at.row][at.column]);
        }
        for (int i = 0; i < 4; i++) {
            const Position at = position_in_c(lane, i);
            c_of[(size_t)(lane * 4 + i)] = c[at.row][at.column];
        }
    }
    const Global<uint32_t> a_in(a_of), b_in(b_of);
    const Global<float> c_in(c_of), d_out(32 * 4);
    launch<float *, const uint32_t *, const uint32_t *, const float *, int>(
        "probe_mma", 1, 32, 0, d_out.data(), a_in.data(), b_in.data(), c_in.data(), kind);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            const Position at = position_in_c(lane, i);
            float want = c[at.row][at.column];
            for (int k = 0; k < depth(kind); k++)
                want += a[at.row][k] * b[k][at.column];
            assert_true(d_out.values()[(size_t)(lane * 4 + i)] == want);
        }
}

static void test_mma(void **)
{
    for (int kind = 0; kind < kinds; kind++)
        check_mma((Kind)kind);
}

// Bits that TF32 does not have are not read.
static void test_tf32_ignores_low_bits(void **)
{
    const std::vector<uint32_t> a(128, emu::bit_cast<uint32_t>(1.0f) | 0x1fff);
    const std::vector<uint32_t> b(64, emu::bit_cast<uint32_t>(1.0f) | 0x1fff);
    const Global<uint32_t> a_in(a), b_in(b);
    const Global<float> c_in(std::vector<float>(128, 0)), d_out(128);
    launch<float *, const uint32_t *, const uint32_t *, const float *, int>(
        "probe_mma", 1, 32, 0, d_out.data(), a_in.data(), b_in.data(), c_in.data(), (int)k8_tf32);
    for (float d : d_out.values())
        assert_true(d == 8);
}

static void test_ldmatrix(void **)
{
    std::vector<uint16_t> elements(32 * 8);
    for (size_t i = 0; i < elements.size(); i++)
        elements[i] = (uint16_t)(1000 + i);
    std::vector<int> order;
    for (int i = 0; i < 32; i++)
        order.push_back(i * 11 % 32);
    const Global<uint16_t> rows(elements);
    const Global<int> order_in(order);
    for (int kind = 0; kind < 6; kind++) {
        const Global<uint32_t> out(32 * 4);
        const emu::Kernel *kernel = emu::find_kernel("probe_ldmatrix");
        void *pointers[] = {out.data(), rows.data(), order_in.data()};
        void *arguments[] = {&pointers[0], &pointers[1], &pointers[2], &kind};
        emu::launch(*kernel, {1, 32, 0, arguments});
        const int matrices = 1 << kind % 3;
        for (int lane = 0; lane < 32; lane++)
            for (int j = 0; j < 4; j++)
                for (int i = 0; i < 2; i++) {
                    // Thread T holds elements 2 * (T % 4) and the next of row T / 4; transposed, of
                    // column T / 4.
                    int row = lane / 4, column = 2 * (lane % 4) + i;
                    if (kind >= 3)
                        std::swap(row, column);
                    const uint32_t got = out.values()[(size_t)(lane * 4 + j)] >> 16 * i & 0xffff;
                    const int from = order[(size_t)(8 * j + row) % 32];
                    const int want = j < matrices ? elements[(size_t)(from * 8 + column)] : 0;
                    assert_int_equal(got, want);
                }
    }
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_mma),
        cmocka_unit_test(test_tf32_ignores_low_bits),
        cmocka_unit_test(test_ldmatrix),
    };
    return cmocka_run_group_tests_name("matrix", tests, nullptr, nullptr);
}
