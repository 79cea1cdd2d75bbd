// Indices, memory, copies, atomics, schedules, limits and counters.
#include "counters.hpp"
#include "probe.hpp"
#include "watch.hpp"

#include <algorithm>
#include <cstdlib>

static void test_indices(void **)
{
    const Global<int> out(3 * 2 * 2 * 60);
    launch<int *>("probe_indices", dim3(3, 2, 2), dim3(5, 4, 3), 0, out.data());
    for (size_t i = 0; i < out.values().size(); i++)
        assert_int_equal(out.data()[i], i);
}

static void test_copies(void **)
{
    std::vector<unsigned char> bytes(32 * 16);
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = (unsigned char)(i % 251 + 1);
    const Global<unsigned char> in(bytes), out(3 * 32 * 16);
    for (const char *arrival : {"late", "early", "random"}) {
        setenv("GDNN_EMU_COPIES", arrival, 1);
        for (int src_bytes = 0; src_bytes <= 16; src_bytes++) {
            launch<unsigned char *, const unsigned char *, int>("probe_copies", 1, 32, 0,
                                                                out.data(), in.data(), src_bytes);
            const std::vector<unsigned char> got = out.values();
            for (size_t size = 0; size < 3; size++)
                for (size_t i = 0; i < 32; i++)
                    for (size_t n = 0; n < (size_t)4 << size; n++)
                        assert_int_equal(got[(size * 32 + i) * 16 + n],
                                         (int)n < src_bytes ? bytes[16 * i + n] : 0);
        }
    }
    unsetenv("GDNN_EMU_COPIES");
}

static void test_atomics(void **)
{
    const Global<int> sum(std::vector<int>{0}), largest(std::vector<int>{-5});
    const Global<unsigned> bits(std::vector<unsigned>{0});
    const Global<unsigned long long> swaps(std::vector<unsigned long long>{0});
    launch<int *, int *, unsigned *, unsigned long long *>(
        "probe_atomics", 3, 64, 0, sum.data(), largest.data(), bits.data(), swaps.data());
    assert_int_equal(sum.values()[0], 191 * 192 / 2);
    assert_int_equal(largest.values()[0], 191);
    assert_int_equal(bits.values()[0], 0xffffffffu);
    assert_int_equal(swaps.values()[0], 2 * 192);
}

static void test_fresh_shared(void **)
{
    const Global<unsigned> out(3 * 64);
    launch<unsigned *>("probe_fresh_shared", 3, 32, 128, out.data());
    for (unsigned found : out.values())
        assert_int_equal(found, 0xffffffffu);
}

static std::vector<int> order_under(const char *schedule)
{
    setenv("GDNN_EMU_SCHEDULE", schedule, 1);
    const Global<int> order(64), next(std::vector<int>{0});
    launch<int *, int *>("probe_order", 1, 64, 0, order.data(), next.data());
    unsetenv("GDNN_EMU_SCHEDULE");
    return order.values();
}

static void test_schedules(void **)
{
    std::vector<int> forward, reverse;
    for (int i = 0; i < 64; i++) {
        forward.push_back(i);
        reverse.push_back(63 - i);
    }
    assert_true(order_under("fwd") == forward);
    assert_true(order_under("rev") == reverse);
    std::vector<int> shuffled = order_under("1");
    assert_true(shuffled != forward && shuffled != reverse);
    assert_true(shuffled == order_under("1") && shuffled != order_under("2"));
    std::sort(shuffled.begin(), shuffled.end());
    assert_true(shuffled == forward);
}

static void check_refused(const char *text, dim3 grid, dim3 block, size_t dynamic_shared,
                          const char *environment = "IGNORED=1")
{
    const Global<int> out(1);
    const Ending ending =
        in_child([&] { launch<int *>("probe_barriers", grid, block, dynamic_shared, out.data()); },
                 {environment});
    assert_false(ending.exited_cleanly);
    if (ending.text.find(text) == std::string::npos)
        fail_msg("wanted \"%s\", got \"%s\"", text, ending.text.c_str());
}

static void test_limits(void **)
{
    check_refused("block of 0 x 1 x 1", 1, 0, 0);
    check_refused("block of 1025 x 1 x 1", 1, 1025, 0);
    check_refused("block of 32 x 32 x 2", 1, dim3(32, 32, 2), 0);
    check_refused("block of 1 x 1 x 65", 1, dim3(1, 1, 65), 0);
    check_refused("grid of 1 x 65536 x 1", dim3(1, 65536), 1, 0);
    check_refused("grid of 0 x 1 x 1", 0, 1, 0);
    check_refused("dynamic shared memory", 1, 1, 227 * 1024 + 1);
    check_refused("GDNN_EMU_SCHEDULE=fast", 1, 1, 0, "GDNN_EMU_SCHEDULE=fast");
    check_refused("GDNN_EMU_COPIES=never", 1, 1, 0, "GDNN_EMU_COPIES=never");
}

// What probe_traffic does can be counted on paper.
static void check_traffic(int stride, uint64_t read, uint64_t conflicts)
{
    const Global<float> in(std::vector<float>((size_t)(31 * stride + 1), 1)), out(2 * 64);
    const emu::Counters before = emu::counters;
    launch<float *, const float *, int>("probe_traffic", 2, 32, 0, out.data(), in.data(), stride);
    const emu::Counters &after = emu::counters;
    assert_int_equal(after.launches - before.launches, 1);
    assert_int_equal(after.blocks - before.blocks, 2);
    assert_int_equal(after.threads - before.threads, 64);
    assert_int_equal(after.barriers - before.barriers, 2);
    if (!emu::watch::checking())
        return;
    assert_int_equal(after.sectors_read - before.sectors_read, 2 * read);
    assert_int_equal(after.sectors_written - before.sectors_written, 2 * 8); // 32 of 8 bytes
    assert_int_equal(after.shared_bytes - before.shared_bytes, 2 * 2 * 32 * 4);
    assert_int_equal(after.conflict_cycles - before.conflict_cycles, 2 * 2 * conflicts);
}

static void test_counters(void **)
{
    check_traffic(1, 4, 0);
    check_traffic(2, 8, 1);
    check_traffic(3, 12, 0);
    check_traffic(8, 32, 7);
    check_traffic(32, 32, 31);
    const emu::Counters before = emu::counters;
    const Global<unsigned> masks(64);
    launch<unsigned *>("probe_masks", 1, 64, 0, masks.data());
    assert_int_equal(emu::counters.warp_ops - before.warp_ops, 2 * (2 * 4 + 1 + 1));
}

// A wide load is one access of all its bytes.
static void test_wide_loads(void **)
{
    const struct {
        const char *kernel;
        size_t words;
    } cases[] = {{"probe_wide_1", 1}, {"probe_wide_2", 2}, {"probe_wide_4", 4}};
    for (const auto &c : cases) {
        const Global<uint32_t> out(32 * c.words);
        const emu::Counters before = emu::counters;
        launch<uint32_t *>(c.kernel, 1, 32, 0, out.data());
        for (uint32_t i = 0; i < 32 * c.words; i++)
            assert_int_equal(out.data()[i], i);
        if (!emu::watch::checking())
            continue;
        assert_int_equal(emu::counters.shared_bytes - before.shared_bytes, 32 * 4 * (4 + c.words));
        assert_int_equal(emu::counters.conflict_cycles - before.conflict_cycles, 0);
    }
}

template <class V>
static void check_vectors(const char *kernel, V first, V last)
{
    std::vector<V> values(32, first);
    values.back() = last;
    const Global<V> out(values);
    const emu::Counters before = emu::counters;
    launch<V *>(kernel, 1, 32, 0, out.data());
    assert_memory_equal(out.data(), values.data(), 32 * sizeof(V));
    if (!emu::watch::checking())
        return;
    assert_int_equal(emu::counters.shared_bytes - before.shared_bytes, 2 * 32 * sizeof(V));
    assert_int_equal(emu::counters.conflict_cycles - before.conflict_cycles, 0);
}

static void test_vectors(void **)
{
    check_vectors("probe_uint2", make_uint2(1, 2), make_uint2(3, 0xffffffff));
    check_vectors("probe_float4", make_float4(1, 2, 3, 4), make_float4(5, 6, -7, 8));
}

int main()
{
    std::vector<CMUnitTest> tests = {
        cmocka_unit_test(test_indices),    cmocka_unit_test(test_copies),
        cmocka_unit_test(test_atomics),    cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_counters),
        cmocka_unit_test(test_wide_loads), cmocka_unit_test(test_vectors),
    };
    if (!emu::watch::checking()) // which would rightly object
        tests.push_back(cmocka_unit_test(test_fresh_shared));
    return _cmocka_run_group_tests("machine", tests.data(), tests.size(), nullptr, nullptr);
}
