#include "child.h"
#include "real.h"
#include "stats.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>

static char shown[65536], log_path[] = "/tmp/groupdnn-stats-XXXXXX";

static const gdnn_real_library library = {NULL, "/opt/libcudnn.so.9", "LD_LIBRARY_PATH", 91902};
static bool no_library;

const gdnn_real_library *gdnn_real_open(void)
{
    return no_library ? NULL : &library;
}

static const gdnn_kernel kernel = {.name = "some_kernel"}, other_kernel = {.name = "other_kernel"};

/* A problem of its own for each number. */
static gdnn_conv problem(int number)
{
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.n = 1 + number;
    conv.c = conv.k = conv.groups = 8;
    for (int i = 0; i < 2; i++) {
        conv.in[i] = 14;
        conv.filter[i] = 3;
    }
    if (gdnn_conv_set_layout(&conv, GDNN_NHWC) != GDNN_OK)
        abort();
    return conv;
}

static gdnn_route *route_of(const gdnn_conv *conv, gdnn_reason reason, const gdnn_kernel *by,
                            size_t workspace)
{
    gdnn_route made;
    bool added;
    memset(&made, 0, sizeof made);
    made.key.conv = *conv;
    made.key.workspace = workspace;
    made.key.device = (CUdevice)(workspace % 3);
    made.hash = gdnn_route_hash(&made.key);
    made.reason = reason;
    made.shape.kernel = by;
    return gdnn_routes_add(&made, &added);
}

static void call(int number, gdnn_reason reason, const gdnn_kernel *by, size_t workspace, int calls)
{
    gdnn_conv conv = problem(number);
    gdnn_stats_begin();
    atomic_fetch_add(&route_of(&conv, reason, by, workspace)->calls, (uint64_t)calls);
}

static void count(gdnn_dir dir, gdnn_reason reason, int calls)
{
    for (gdnn_stats_begin(); calls--;)
        gdnn_routes_count(dir, reason);
}

static void run(const char *mode, void (*body)(void))
{
    setenv("GROUPDNN_MODE", mode, 1);
    assert_int_equal(child_run(body, shown, sizeof shown, NULL), 0);
}

/* The line that holds `piece`, with its blanks squeezed: columns may move. */
static const char *line_with(const char *piece)
{
    static char line[1024];
    size_t used = 0;
    const char *at = strstr(shown, piece);
    if (!at)
        fail_msg("no line holds \"%s\": %s", piece, shown);
    while (at > shown && at[-1] != '\n')
        at--;
    for (; *at != '\n' && used + 1 < sizeof line; at++)
        if (*at != ' ' || (used && line[used - 1] != ' '))
            line[used++] = *at;
    line[used] = '\0';
    return line;
}

static void some_calls(void)
{
    call(0, GDNN_REASON_TAKEN, &kernel, 0, 5);
    call(1, GDNN_REASON_NO_EVIDENCE, &kernel, 0, 70);
    call(2, GDNN_REASON_TAKEN, &other_kernel, 0, 11);
    count(GDNN_FWD, GDNN_REASON_NOT_GROUPED, 40);
    count(GDNN_BWD_FILTER, GDNN_REASON_NOT_GROUPED, 2);
    count(GDNN_BWD_DATA, GDNN_REASON_TYPE, 3);
}

static void the_table(void **state)
{
    (void)state;
    char head[256];
    run("force", some_calls);
    snprintf(head, sizeof head, "groupdnn: version %s in process ", gdnn_version());
    assert_memory_equal(shown, head, strlen(head));
    assert_contains(line_with("version"),
                    "mode force, cuDNN 9.19.2 /opt/libcudnn.so.9 (LD_LIBRARY_PATH)");
    assert_string_equal(line_with("70 "),
                        "groupdnn: 70 cudnn no-evidence dir=fwd dtype=f32 layout=nhwc "
                        "n=2 c=8 in=14x14 k=8 filter=3x3 groups=8");
    assert_contains(line_with("n=3"), ": 11 groupdnn other_kernel dir=fwd ");
    assert_contains(line_with("n=1 "), ": 5 groupdnn some_kernel dir=fwd ");
    assert_true(strstr(shown, "n=2") < strstr(shown, "n=3"));
    assert_true(strstr(shown, "n=3") < strstr(shown, "n=1 "));
    assert_string_equal(line_with("not-grouped"),
                        "groupdnn: 42 cudnn not-grouped 40 fwd, 2 bwd_filter");
    assert_string_equal(line_with("  type"), "groupdnn: 3 cudnn type 3 bwd_data");
    assert_string_equal(line_with("calls: "),
                        "groupdnn: 131 calls: 16 by groupdnn, 115 by cudnn, 0 by both");
    assert_int_equal(count_lines(shown), 8);
    for (const char *at = shown; *at; at = strchr(at, '\n') + 1)
        assert_memory_equal(at, "groupdnn: ", 10);
}

static void observed(void **state)
{
    (void)state;
    run("observe", some_calls);
    assert_contains(line_with("n=3"), ": 11 cudnn (other_kernel) dir=fwd ");
    assert_contains(line_with("calls: "), "131 calls: 0 by groupdnn, 131 by cudnn, 0 by both");
}

static void verified_calls(void)
{
    some_calls();
    for (size_t workspace = 0; workspace < 2; workspace++) {
        gdnn_conv conv = problem(2);
        gdnn_route *route = route_of(&conv, GDNN_REASON_TAKEN, &other_kernel, workspace);
        atomic_store(&route->calls, 10 + workspace);
        atomic_store(&route->compared, 8);
        atomic_store(&route->differed, 1 + workspace);
        atomic_store(&route->skipped, 2);
        atomic_store(&route->worst, workspace ? 0.125 : 1.5);
    }
    gdnn_conv conv = problem(0);
    atomic_store(&route_of(&conv, GDNN_REASON_TAKEN, &kernel, 0)->worst, (double)NAN);
    atomic_store(&route_of(&conv, GDNN_REASON_TAKEN, &kernel, 5)->worst, 3.0);
    atomic_store(&route_of(&conv, GDNN_REASON_TAKEN, &kernel, 5)->calls, 1);
}

static void verified(void **state)
{
    (void)state;
    run("verify", verified_calls);
    assert_contains(line_with("n=3"), ": 21 both other_kernel 16 3 4 1.5 dir=fwd ");
    assert_contains(line_with("n=1 "), ": 6 both some_kernel 0 0 0 nan dir=fwd ");
    assert_contains(line_with("differed"),
                    "calls by kernel or reason compared differed skipped worst problem");
    assert_contains(line_with("calls: "), "142 calls: 0 by groupdnn, 115 by cudnn, 27 by both");
}

/* Calls of problems that found no room among the routes. */
static void further_calls(void)
{
    count(GDNN_FWD, GDNN_REASON_TAKEN, 9);
}

static void further_problems_go_where_their_mode_says(void **state)
{
    (void)state;
    run("force", further_calls);
    assert_contains(line_with("further"), ": 9 groupdnn further problems 9 fwd");
    assert_contains(line_with("calls: "), "9 calls: 9 by groupdnn, 0 by cudnn, 0 by both");
    run("observe", further_calls);
    assert_contains(line_with("further"), ": 9 cudnn further problems 9 fwd");
    assert_contains(line_with("calls: "), "9 calls: 0 by groupdnn, 9 by cudnn, 0 by both");
    run("verify", further_calls);
    assert_contains(line_with("further"), ": 9 both further problems 9 fwd");
    assert_contains(line_with("calls: "), "9 calls: 0 by groupdnn, 0 by cudnn, 9 by both");
}

static void merged_calls(void)
{
    for (size_t workspace = 0; workspace < 50; workspace++)
        call(0, GDNN_REASON_TAKEN, &kernel, workspace, 2);
    call(0, GDNN_REASON_WORKSPACE, NULL, 50, 7);
    call(0, GDNN_REASON_TAKEN, &other_kernel, 51, 3);
    call(0, GDNN_REASON_NO_IMAGE, &other_kernel, 52, 2);
    gdnn_conv conv = problem(0);
    conv.x_stride[0] = 12345; /* of a batch of 1 */
    atomic_store(&route_of(&conv, GDNN_REASON_TAKEN, &kernel, 0)->calls, 1000);
}

static void problems_are_merged_by_fate(void **state)
{
    (void)state;
    run("force", merged_calls);
    assert_contains(line_with("some_kernel"), ": 1100 groupdnn some_kernel dir=fwd ");
    assert_contains(line_with("other_kernel"), ": 3 groupdnn ");
    assert_contains(line_with("no-image"), ": 2 cudnn ");
    assert_contains(line_with("workspace"), ": 7 cudnn workspace dir=fwd ");
    assert_int_equal(count_lines(shown), 7);
}

static void many_calls(void)
{
    for (int i = 0; i < 500; i++)
        call(i, GDNN_REASON_TAKEN, &kernel, 0, i + 1);
    for (int reason = 0; reason < GDNN_REASONS; reason++)
        count(GDNN_FWD, (gdnn_reason)reason, 1);
}

static void at_most_thirty_lines(void **state)
{
    (void)state;
    char expected[128];
    run("force", many_calls);
    assert_int_equal(count_lines(shown), 30);
    assert_contains(line_with("n=500 "), ": 500 groupdnn");
    assert_contains(line_with("more problems"), ": 483 more problems");
    assert_contains(line_with("further problems"), ": 1 groupdnn further problems 1 fwd");
    snprintf(expected, sizeof expected, ": %d cudnn other reasons", GDNN_REASONS - 8);
    assert_contains(line_with("other reasons"), expected);
    snprintf(expected, sizeof expected, "%d calls: %d by groupdnn", 500 * 501 / 2 + GDNN_REASONS,
             500 * 501 / 2 + 1);
    assert_contains(line_with("calls: "), expected);
}

static void long_problem(void)
{
    gdnn_conv conv = problem(0);
    for (int i = 0; i < GDNN_MAX_DIMS; i++)
        conv.x_stride[i] = conv.w_stride[i] = conv.y_stride[i] = INT64_C(1000000000000000) + i;
    gdnn_stats_begin();
    atomic_store(&route_of(&conv, GDNN_REASON_TAKEN, &kernel, 0)->calls, 1);
}

static void long_problems_are_cut(void **state)
{
    (void)state;
    run("force", long_problem);
    const char *line = line_with("some_kernel");
    assert_string_equal(line + strlen(line) - 3, "...");
    assert_in_range(strlen(line), 100, 170);
}

static void nothing(void)
{
}

static void begin_only(void)
{
    gdnn_stats_begin();
}

static void a_process_that_calls_nothing_prints_nothing(void **state)
{
    (void)state;
    run("force", nothing);
    assert_string_equal(shown, "");
    setenv("GROUPDNN_STATS", "0", 1);
    run("force", some_calls);
    assert_string_equal(shown, "");
    run("force", begin_only);
    assert_string_equal(shown, "");
    /* but who verifies wants to know */
    run("verify", some_calls);
    assert_contains(line_with("version"), "mode verify, cuDNN 9.19.2 /opt/libcudnn.so.9");
    setenv("GROUPDNN_STATS", "1", 1);
}

/* So that its user sees that the drop-in was reached. */
static void a_process_without_convolutions_says_so(void **state)
{
    (void)state;
    run("force", begin_only);
    assert_int_equal(count_lines(shown), 2);
    assert_contains(line_with("version"), "mode force, cuDNN 9.19.2 /opt/libcudnn.so.9");
    assert_contains(line_with("counted: "), "no convolution was seen to run");
    run("off", begin_only);
    assert_int_equal(count_lines(shown), 2);
    assert_contains(line_with("version"), "mode off, cuDNN 9.19.2");
    assert_string_equal(line_with("counted"),
                        "groupdnn: nothing was counted: mode off forwards every call unseen");
}

/* Its forked children need not call cuDNN. */
static void fork_idle(void)
{
    gdnn_stats_begin();
    pid_t child = fork();
    if (child == 0)
        exit(0);
    if (child_wait(child))
        _exit(1);
}

static void idle_children_say_nothing(void **state)
{
    (void)state;
    run("force", fork_idle);
    assert_int_equal(count_lines(shown), 2);
}

static void without_cudnn(void)
{
    no_library = true;
    some_calls();
}

static void no_library_is_said(void **state)
{
    (void)state;
    run("on", without_cudnn);
    assert_contains(line_with("version"), "mode on, no cuDNN");
}

static void leave_at_once(void)
{
    some_calls();
    _exit(0);
}

static void kill_it(void)
{
    some_calls();
    raise(SIGKILL);
}

static void other_ends_print_nothing(void **state)
{
    (void)state;
    run("force", leave_at_once);
    assert_string_equal(shown, "");
    assert_true(WIFSIGNALED(child_run(kill_it, shown, sizeof shown, NULL)));
    assert_string_equal(shown, "");
}

/* The child of a process that ran some; a child that runs none itself prints nothing. */
static void fork_some(void)
{
    some_calls();
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (i == 1) {
                call(1, GDNN_REASON_NO_EVIDENCE, &kernel, 0, 3);
                count(GDNN_FWD, GDNN_REASON_NOT_GROUPED, 4);
            }
            exit(0);
        }
        if (child_wait(child))
            _exit(1);
    }
}

static void a_child_tells_its_own(void **state)
{
    (void)state;
    run("force", fork_some);
    assert_int_equal(count_lines(shown), 5 + 8);
    assert_contains(line_with("n=2"), ": 3 cudnn no-evidence");
    assert_string_equal(line_with("not-grouped"), "groupdnn: 4 cudnn not-grouped 4 fwd");
    assert_string_equal(line_with("calls: "),
                        "groupdnn: 7 calls: 0 by groupdnn, 7 by cudnn, 0 by both");
    assert_non_null(strstr(shown, "131  calls: 16 by groupdnn"));
}

static void *call_for_ever(void *unused)
{
    (void)unused;
    for (int i = 0;; i++) {
        call(i % 2000, GDNN_REASON_TAKEN, &kernel, 0, 1);
        count(GDNN_FWD, GDNN_REASON_TYPE, 1);
    }
    return NULL;
}

static void exit_while_others_call(void)
{
    pthread_t thread;
    some_calls();
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread, NULL, call_for_ever, NULL))
            _exit(1);
    usleep(20000);
}

static void threads_may_still_run(void **state)
{
    (void)state;
    run("force", exit_while_others_call);
    assert_contains(line_with("calls: "), " by groupdnn, ");
    assert_in_range(count_lines(shown), 8, 30);
}

static void late_calls(void)
{
    some_calls();
}

/* What was registered before the first call runs after the table. */
static void call_from_late_destructors(void)
{
    atexit(late_calls);
    some_calls();
}

static void late_callers_are_safe(void **state)
{
    (void)state;
    run("force", call_from_late_destructors);
    assert_int_equal(count_lines(shown), 8);
    assert_contains(line_with("calls: "), ": 131 calls");
}

static void close_errors(void)
{
    some_calls();
    close(STDERR_FILENO);
}

static void break_the_pipe(void)
{
    int ends[2];
    some_calls();
    signal(SIGPIPE, SIG_DFL);
    if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        _exit(1);
    close(ends[0]);
    close(ends[1]);
}

static void nowhere_to_print(void **state)
{
    (void)state;
    run("force", close_errors);
    assert_string_equal(shown, "");
    run("force", break_the_pipe);
    assert_string_equal(shown, "");
}

static void to_the_log_file(void **state)
{
    (void)state;
    char value[128], prefix[64], text[4096];
    pid_t child;
    snprintf(value, sizeof value, "off:%s", log_path);
    setenv("GROUPDNN_LOG", value, 1);
    assert_int_equal(child_run(some_calls, shown, sizeof shown, &child), 0);
    unsetenv("GROUPDNN_LOG");
    read_text(log_path, text, sizeof text);
    snprintf(prefix, sizeof prefix, "groupdnn[%ld]: version ", (long)child);
    assert_ptr_equal(strstr(text, prefix), text);
    assert_int_equal(count_lines(text), 8);
    assert_string_equal(shown, "");
}

static int set_up(void **state)
{
    (void)state;
    int file = mkstemp(log_path);
    if (file < 0)
        return -1;
    close(file);
    setenv("GROUPDNN_STATS", "1", 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return remove(log_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table),
        cmocka_unit_test(observed),
        cmocka_unit_test(verified),
        cmocka_unit_test(further_problems_go_where_their_mode_says),
        cmocka_unit_test(problems_are_merged_by_fate),
        cmocka_unit_test(at_most_thirty_lines),
        cmocka_unit_test(long_problems_are_cut),
        cmocka_unit_test(a_process_that_calls_nothing_prints_nothing),
        cmocka_unit_test(a_process_without_convolutions_says_so),
        cmocka_unit_test(idle_children_say_nothing),
        cmocka_unit_test(no_library_is_said),
        cmocka_unit_test(other_ends_print_nothing),
        cmocka_unit_test(a_child_tells_its_own),
        cmocka_unit_test(threads_may_still_run),
        cmocka_unit_test(late_callers_are_safe),
        cmocka_unit_test(nowhere_to_print),
        cmocka_unit_test(to_the_log_file),
    };
    return cmocka_run_group_tests_name("stats", tests, set_up, tear_down);
}
