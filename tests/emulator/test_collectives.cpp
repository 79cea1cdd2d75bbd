// Shuffles, votes, reductions and barriers against the PTX manual's definitions.
#include "probe.hpp"

#include <algorithm>

static const std::vector<unsigned> values = [] {
    std::vector<unsigned> v;
    for (unsigned i = 0; i < 32; i++)
        v.push_back(i * i % 23);
    return v;
}();

// The pseudo-code of shfl.sync in the PTX manual: lane from which `lane` reads. CUDA's width is cut
// into the operand c.
static int ptx_shuffle_source(int mode, int lane, int b, int width)
{
    const int clamp = mode == 1 ? 0 : 31, segment = 32 - width;
    const int bval = b & 31, cval = clamp;
    const int max_lane = (lane & segment) | (cval & ~segment);
    const int min_lane = lane & segment;
    int j;
    bool p;
    switch (mode) {
    case 1:
        j = lane - bval;
        p = j >= max_lane;
        break;
    case 2:
        j = lane + bval;
        p = j <= max_lane;
        break;
    case 3:
        j = lane ^ bval;
        p = j <= max_lane;
        break;
    default:
        j = min_lane | (bval & ~segment);
        p = j <= max_lane;
        break;
    }
    return p ? j : lane;
}

static void test_shuffles(void **)
{
    const Global<unsigned> in(values), out(32);
    for (int mode = 0; mode < 4; mode++)
        for (int width = 1; width <= 32; width *= 2)
            for (int b = -3; b < 36; b++) {
                std::vector<int> source;
                for (int lane = 0; lane < 32; lane++)
                    source.push_back(mode == 0 ? b * 7 + lane * 5 : b & 63);
                const Global<int> sources(source);
                launch<unsigned *, const unsigned *, const int *, int, int>(
                    "probe_shuffle", 1, 32, 0, out.data(), in.data(), sources.data(), mode, width);
                for (int lane = 0; lane < 32; lane++) {
                    const int b_of_lane = mode == 0 ? source[(size_t)lane] : source[0];
                    const int from = ptx_shuffle_source(mode, lane, b_of_lane, width);
                    assert_int_equal(out.values()[(size_t)lane], values[(size_t)from]);
                }
            }
}

static void test_shuffle_types(void **)
{
    const Global<double> wide(32);
    const Global<uint16_t> narrow(32);
    const Global<long long> integer(32);
    const emu::Kernel *kernel = emu::find_kernel("probe_shuffle_types");
    void *pointers[] = {wide.data(), narrow.data(), integer.data()};
    void *arguments[] = {&pointers[0], &pointers[1], &pointers[2]};
    emu::launch(*kernel, {1, 32, 0, arguments});
    const uint16_t halves[] = {0x3c00, 0x4000, 0x4200}; // 1, 2, 3
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(narrow.values()[i], halves[i]);
    for (size_t i = 0; i < 32; i++) {
        const int from = std::min((int)i + 1, 31);
        assert_true(wide.values()[i] == from + 0.5);
        assert_true(integer.values()[i] == (long long)from << 40);
    }
}

static void test_masks(void **)
{
    const Global<unsigned> out(64);
    launch<unsigned *>("probe_masks", 1, 64, 0, out.data());
    for (unsigned i = 0; i < 64;
         i++) // 16 from each half; lanes below 16 have ballot 0xaaaa, whose bit 0 is 0
        assert_int_equal(out.values()[i], 32);
}

static void check_votes(unsigned mask)
{
    const Global<unsigned> in(values);
    const Global<unsigned> out(std::vector<unsigned>(9 * 32, 12345));
    launch<unsigned *, const unsigned *, unsigned>("probe_votes", 1, 32, 0, out.data(), in.data(),
                                                   mask);
    unsigned ballot = 0, sum = 0, all_and = ~0u, all_or = 0, all_xor = 0, largest = 0;
    int smallest = 1 << 30;
    for (unsigned i = 0; i < 32; i++) {
        if (!(mask >> i & 1))
            continue;
        ballot |= (values[i] & 1) << i;
        sum += values[i];
        all_and &= values[i];
        all_or |= values[i];
        all_xor ^= values[i];
        largest = std::max(largest, values[i] - 50); // unsigned: 0 wraps to the largest
        smallest = std::min(smallest, (int)values[i] - 50);
    }
    const std::vector<unsigned> got = out.values();
    for (unsigned i = 0; i < 32; i++) {
        if (!(mask >> i & 1)) {
            assert_int_equal(got[i], 12345);
            continue;
        }
        unsigned equal = 0;
        for (unsigned j = 0; j < 32; j++)
            equal |= (unsigned)((mask >> j & 1) && values[j] == values[i]) << j;
        const unsigned want[] = {
            ballot, 0, 1, equal, sum, (unsigned)smallest, largest, all_and + (all_or << 8),
            all_xor};
        for (unsigned n = 0; n < 9; n++)
            assert_int_equal(got[n * 32 + i], want[n]);
    }
}

static void test_votes(void **)
{
    check_votes(0xffffffffu);
    check_votes(0x0f0f00ffu);
    check_votes(0x80000000u);
}

static void test_barriers(void **)
{
    for (unsigned threads : {1u, 31u, 64u, 100u, 1024u}) {
        const Global<int> out(threads);
        launch<int *>("probe_barriers", 1, threads, 0, out.data());
        for (unsigned i = 0; i < threads; i++)
            assert_int_equal(out.values()[i], 1 + 8 * (int)(threads / 2));
    }
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffles), cmocka_unit_test(test_shuffle_types),
        cmocka_unit_test(test_masks),    cmocka_unit_test(test_votes),
        cmocka_unit_test(test_barriers),
    };
    return cmocka_run_group_tests_name("collectives", tests, nullptr, nullptr);
}
