// Each mistake in bugs.cu is found, and the right kernel beside it passes, under every checker that
// the program was built for.
#include "context.hpp"
#include "probe.hpp"
#include "watch.hpp"

#include <cstdio>
#include <sys/mman.h>

enum { blocks = 2, threads = 64, dynamic_bytes = threads * sizeof(float) };

// What shows a mistake: text on stderr, or, in capitals, how the run went.
#define WRONG_RESULT "WRONG RESULT"
struct Bug {
    const char *name;
    const char *plain, *asan, *race; // null: not found by this checker alone
    const char *environment = nullptr;
};

// clang checks the alignment of no copied struct.
#if defined(__clang__)
#define ALIGNMENT(text) nullptr
#else
#define ALIGNMENT(text) text
#endif

static const Bug bugs[] = {
    {"missing_barrier", WRONG_RESULT, WRONG_RESULT, "race: read, not ordered with a write"},
    {"missing_barrier", WRONG_RESULT, WRONG_RESULT, "race: ", "GDNN_EMU_SCHEDULE=7"},
    {"missing_barrier", nullptr, nullptr, "race: ", "GDNN_EMU_SCHEDULE=rev"},
    {"missing_second_barrier", nullptr, nullptr, "race: "},
    {"missing_syncwarp", WRONG_RESULT, WRONG_RESULT, "race: read, not ordered with a write"},
    {"missing_syncwarp", nullptr, nullptr, "race: ", "GDNN_EMU_SCHEDULE=rev"},
    {"shuffle_as_syncwarp", nullptr, nullptr, "race: read, not ordered with a write"},
    {"uninitialised_shared", WRONG_RESULT, WRONG_RESULT, "read of memory that nobody wrote"},
    {"shared_overflow", nullptr, "heap-buffer-overflow", nullptr},
    {"dynamic_shared_overflow", nullptr, "heap-buffer-overflow", nullptr},
    {"read_past_the_end", WRONG_RESULT, "heap-buffer-overflow", "access out of bounds"},
    {"write_before_the_start", nullptr, "heap-buffer-overflow", "access out of bounds"},
    {"misaligned_vector", nullptr, ALIGNMENT("misaligned address"),
     ALIGNMENT("misaligned access of 16 bytes")},
    {"divergent_barrier", "divergent barrier", "divergent barrier", "divergent barrier"},
    {"barrier_after_exit", "ended", "ended", "ended"},
    {"divergent_shuffle", "which has ended", "which has ended", "which has ended"},
    {"divergent_shuffle", "have ended", "have ended", "have ended", "GDNN_EMU_SCHEDULE=rev"},
    {"shuffle_from_outside", "not in mask", "not in mask", "not in mask"},
    {"crossed_masks", "each waits for the other", "each waits for the other",
     "each waits for the other"},
    {"not_in_own_mask", "not in its own mask", "not in its own mask", "not in its own mask"},
    {"deadlock", "deadlock", "deadlock", "deadlock"},
    {"race_between_blocks", nullptr, nullptr, "race: write, not ordered with a write"},
    {"write_after_read_between_blocks", nullptr, nullptr, "race: write, not ordered with a read"},
    {"unordered_total", nullptr, nullptr, "race: "},
    {"atomic_and_plain", nullptr, nullptr, "race: write, not ordered with a write"},
    {"forgotten_lane", nullptr, nullptr, "race: write, not ordered with a read"},
    {"two_writers_of_a_word", nullptr, nullptr, "race: "},
    {"two_readers_of_a_word", nullptr, nullptr, "race: read, not ordered with a write"},
    {"word_read_in_between", nullptr, nullptr, "race: read, not ordered with a write"},
    {"write_after_reads_of_a_warp", nullptr, nullptr, "race: write, not ordered with a read"},
    {"order_is_passed_on", nullptr, nullptr, "race: read, not ordered with a write"},
    {"other_warp_has_read", nullptr, nullptr, "race: "},
    {"other_warp_has_read", nullptr, nullptr, "race: write, not ordered with a read",
     "GDNN_EMU_SCHEDULE=10"},
    {"other_warp_has_read", nullptr, nullptr, "race: write, not ordered with a read",
     "GDNN_EMU_SCHEDULE=13"},
    {"initialised_by_another_block", WRONG_RESULT, WRONG_RESULT,
     "read of memory that nobody wrote"},
    {"first_thread_exits", "after 1 of 64 threads have ended", "after 1 of 64 threads have ended",
     "after 1 of 64 threads have ended"},
    {"copied_too_soon", WRONG_RESULT, WRONG_RESULT, "read of memory that nobody wrote"},
    {"weak_wait", WRONG_RESULT, WRONG_RESULT, "nobody has waited for"},
    {"weak_wait", nullptr, nullptr, "nobody has waited for", "GDNN_EMU_COPIES=early"},
    {"copy_too_soon", WRONG_RESULT, WRONG_RESULT, "cp.async that nobody has waited for",
     "GDNN_EMU_COPIES=early"},
    {"copy_too_soon", nullptr, nullptr, "cp.async that nobody has waited for"},
    {"misaligned_copy", "not aligned", "not aligned", "not aligned"},
    {"copy_to_global", "not in shared memory", "not in shared memory", "not in shared memory"},
    {"ldmatrix_before_syncwarp", nullptr, nullptr, "race: read, not ordered with a write"},
    {"misaligned_ldmatrix", "not aligned to 16", "not aligned to 16", "not aligned to 16"},
    {"mma_in_part_of_a_warp", "have ended", "have ended", "have ended", "GDNN_EMU_SCHEDULE=rev"},
    {"mma_in_part_of_a_warp", "has ended", "has ended", "has ended"},
    {"different_collectives", "divergent", "divergent", "divergent"},
    {"too_much_static_shared", "more than 48 KiB", "more than 48 KiB", "more than 48 KiB"},
};

// The result, in memory that a child shares with us.
static float *results;

static Ending run(const char *prefix, const Bug &bug)
{
    const std::string kernel = std::string(prefix) + bug.name;
    std::vector<std::string> environment;
    if (bug.environment)
        environment.push_back(bug.environment);
    for (int i = 0; i < blocks * threads; i++)
        results[i] = -1;
    return in_child(
        [&] {
            std::vector<float> values;
            for (int i = 0; i < blocks * threads; i++)
                values.push_back((float)(i * i % 97 + 1));
            const Global<float> in(values), out(values.size());
            launch<float *, const float *, int>(kernel.c_str(), blocks, threads, dynamic_bytes,
                                                out.data(), in.data(), (int)values.size());
            memcpy(results, out.data(), values.size() * sizeof(float));
        },
        environment);
}

static void test_right(void **state)
{
    const Bug &bug = *static_cast<const Bug *>(*state);
    const Ending ending = run("right_", bug);
    if (!ending.exited_cleanly || !ending.text.empty())
        fail_msg("%s", ending.text.c_str());
}

static bool shows(const char *expected, const Ending &ending, const float *right)
{
    if (!strcmp(expected, WRONG_RESULT))
        return ending.exited_cleanly && memcmp(results, right, blocks * threads * sizeof(float));
    return !ending.exited_cleanly && ending.text.find(expected) != std::string::npos;
}

static void test_bug(void **state)
{
    const Bug &bug = *static_cast<const Bug *>(*state);
    const char *expected = emu::watch::checking() ? bug.race : EMU_ASAN ? bug.asan : bug.plain;
    assert_non_null(expected);
    run("right_", bug);
    float right[blocks * threads];
    memcpy(right, results, sizeof right);
    const Ending ending = run("bug_", bug);
    if (!shows(expected, ending, right))
        fail_msg("not found: wanted \"%s\", got \"%s\"", expected, ending.text.c_str());
    // Whoever reads a report must be led to the line.
    if (ending.text.find("emulator: error") != std::string::npos)
        assert_true(ending.text.find("bugs.cu:") != std::string::npos);
}

int main()
{
    results = static_cast<float *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::vector<CMUnitTest> tests;
    std::vector<std::string> names;
    names.reserve(2 * sizeof bugs / sizeof *bugs);
    for (const Bug &bug : bugs) {
        const std::string where = bug.environment ? std::string(", ") + bug.environment : "";
        void *state = const_cast<Bug *>(&bug);
        names.push_back("accepts " + std::string(bug.name) + where);
        tests.push_back({names.back().c_str(), test_right, nullptr, nullptr, state});
        if (!(emu::watch::checking() ? bug.race : EMU_ASAN ? bug.asan : bug.plain))
            continue;
        names.push_back("finds " + std::string(bug.name) + where);
        tests.push_back({names.back().c_str(), test_bug, nullptr, nullptr, state});
    }
    return _cmocka_run_group_tests("bugs", tests.data(), tests.size(), nullptr, nullptr);
}
