#include "child.h"
#include "stats.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

static char folder[] = "/tmp/groupdnn-trace-XXXXXX";
static char path[64], shown[4096], traced[1 << 20];

/* A problem of its own for each number. */
static gdnn_conv problem(int number)
{
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.spatial = 2;
    conv.n = 1 + number;
    conv.c = conv.k = conv.groups = 8;
    conv.dtype = GDNN_F16;
    for (int i = 0; i < 2; i++) {
        conv.in[i] = 14;
        conv.filter[i] = 3;
    }
    if (gdnn_conv_set_layout(&conv, GDNN_NHWC) != GDNN_OK)
        abort();
    return conv;
}

static void meet(const gdnn_conv *conv, CUdevice device, int algo, size_t workspace)
{
    gdnn_route made;
    bool added;
    memset(&made, 0, sizeof made);
    made.key.conv = *conv;
    made.key.device = device;
    made.key.algo = algo;
    made.key.workspace = workspace;
    made.hash = gdnn_route_hash(&made.key);
    gdnn_route *route = gdnn_routes_add(&made, &added);
    if (added)
        gdnn_trace_route(route);
}

static void meet_number(int number)
{
    gdnn_conv conv = problem(number);
    meet(&conv, 0, 1, 0);
}

/* Runs `body` with GROUPDNN_TRACE set; `traced` gets the file. */
static pid_t run(void (*body)(void))
{
    pid_t child;
    remove(path);
    setenv("GROUPDNN_TRACE", path, 1);
    assert_int_equal(child_run(body, shown, sizeof shown, &child), 0);
    read_text(path, traced, sizeof traced);
    return child;
}

/* The problems of `traced`, which must be whole lines that read back, as numbers; their count. */
static int read_back(int *numbers, int room)
{
    int count = 0;
    char *next;
    for (char *line = traced; *line; line = next + 1, count++) {
        gdnn_conv conv;
        next = strchr(line, '\n');
        assert_non_null(next);
        *next = '\0';
        assert_int_equal(gdnn_conv_parse(line, &conv), GDNN_OK);
        assert_int_equal(conv.dtype, GDNN_F16);
        assert_in_range(count, 0, room - 1);
        numbers[count] = (int)conv.n - 1;
    }
    return count;
}

static void two_problems_on_many_devices(void)
{
    gdnn_conv conv = problem(0), other = problem(1);
    meet(&conv, 0, 1, 0);
    meet(&conv, 1, 1, 0);
    meet(&conv, 0, 2, 0);
    meet(&conv, 0, 1, 1024);
    meet(&other, 3, -1, 4);
    meet(&conv, 2, 1, 77);
}

static void a_problem_is_one_line(void **state)
{
    (void)state;
    run(two_problems_on_many_devices);
    assert_string_equal(traced,
                        "dir=fwd dtype=f16 layout=nhwc n=1 c=8 in=14x14 k=8 filter=3x3 groups=8\n"
                        "dir=fwd dtype=f16 layout=nhwc n=2 c=8 in=14x14 k=8 filter=3x3 groups=8\n");
    assert_string_equal(shown, "");
}

/* The batch is 1, so its stride means nothing. */
static void strides_that_mean_nothing(void)
{
    gdnn_conv conv = problem(0);
    meet(&conv, 0, 1, 0);
    conv.x_stride[0] = 99999;
    meet(&conv, 0, 1, 0);
}

static void equal_problems_are_the_same(void **state)
{
    (void)state;
    run(strides_that_mean_nothing);
    assert_int_equal(count_lines(traced), 1);
}

static void long_strides(void)
{
    gdnn_conv conv = problem(0);
    conv.z = 1;
    conv.bias = 1;
    conv.alpha = 0.1234567890123456789;
    conv.beta = conv.alpha2 = -1.2345678901234567e-30;
    conv.dtype = GDNN_F64;
    conv.acc = GDNN_F64;
    for (int i = 0; i < GDNN_MAX_DIMS; i++) {
        conv.x_stride[i] = conv.w_stride[i] = conv.y_stride[i] = INT64_C(100000000000000000) + i;
        conv.z_stride[i] = INT64_C(200000000000000000) + i;
    }
    meet(&conv, 0, 1, 0);
}

static void long_problems_fit(void **state)
{
    (void)state;
    run(long_strides);
    assert_int_equal(count_lines(traced), 1);
    assert_contains(traced, "zstrides=200000000000000000x");
    assert_contains(traced, "alpha2=-1.2345678901234567e-30\n");
}

static void die(void)
{
    meet_number(4);
    meet_number(5);
    kill(getpid(), SIGKILL);
}

static void a_dying_process_leaves_whole_lines(void **state)
{
    (void)state;
    int numbers[4];
    remove(path);
    setenv("GROUPDNN_TRACE", path, 1);
    int status = child_run(die, shown, sizeof shown, NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    read_text(path, traced, sizeof traced);
    assert_int_equal(read_back(numbers, 4), 2);
    assert_int_equal(numbers[0], 4);
    assert_int_equal(numbers[1], 5);
}

enum { THREADS = 8, PROBLEMS = 300 };

/* Every thread meets all problems, each with a workspace of its own, in an order of its own. */
static void *meet_all(void *argument)
{
    int thread = *(const int *)argument;
    for (int i = 0; i < PROBLEMS; i++) {
        gdnn_conv conv = problem((i + thread * 7) % PROBLEMS);
        meet(&conv, 0, 1, (size_t)thread);
    }
    return NULL;
}

static void meet_in_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, meet_all, &numbers[i]))
            _exit(1);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void assert_each_is_there(int times)
{
    static int numbers[4 * PROBLEMS];
    int seen[PROBLEMS] = {0}, count = read_back(numbers, 4 * PROBLEMS);
    assert_int_equal(count, times * PROBLEMS);
    for (int i = 0; i < count; i++)
        seen[numbers[i]]++;
    for (int i = 0; i < PROBLEMS; i++)
        assert_int_equal(seen[i], times);
}

static void threads_write_each_once(void **state)
{
    (void)state;
    run(meet_in_threads);
    assert_each_is_there(1);
}

static void meet_in_processes(void)
{
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            meet_in_threads();
            _exit(0);
        }
    }
    if (child_wait(children[0]) || child_wait(children[1]))
        _exit(1);
}

static void processes_share_a_file(void **state)
{
    (void)state;
    run(meet_in_processes);
    assert_each_is_there(2);
}

static void meet_in_parent_and_child(void)
{
    char own[128];
    meet_number(1);
    pid_t child = fork();
    if (child == 0) {
        meet_number(2);
        _exit(0);
    }
    if (child_wait(child))
        _exit(1);
    snprintf(own, sizeof own, "%s/%ld.txt", folder, (long)child);
    read_text(own, traced, sizeof traced);
    if (!strstr(traced, " n=3 ") || count_lines(traced) != 1)
        _exit(2);
    remove(own);
}

static void a_child_has_a_file_of_its_own(void **state)
{
    (void)state;
    char own[128], name[128];
    pid_t child;
    snprintf(name, sizeof name, "%s/%%p.txt", folder);
    setenv("GROUPDNN_TRACE", name, 1);
    assert_int_equal(child_run(meet_in_parent_and_child, shown, sizeof shown, &child), 0);
    snprintf(own, sizeof own, "%s/%ld.txt", folder, (long)child);
    read_text(own, traced, sizeof traced);
    remove(own);
    assert_int_equal(count_lines(traced), 1);
    assert_contains(traced, " n=2 ");
}

static void lose_the_descriptor(void)
{
    char other[128];
    meet_number(1);
    snprintf(other, sizeof other, "%s/other", folder);
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    FILE *file = fopen(other, "w");
    meet_number(2);
    struct stat facts;
    if (!file || stat(other, &facts) || facts.st_size)
        _exit(1);
    remove(other);
}

static void other_files_are_not_written(void **state)
{
    (void)state;
    run(lose_the_descriptor);
    assert_int_equal(count_lines(traced), 1);
}

static void meet_two(void)
{
    errno = EXDEV;
    meet_number(1);
    meet_number(2);
    if (errno != EXDEV)
        _exit(1);
}

static void a_file_that_does_not_open_is_said_once(void **state)
{
    (void)state;
    setenv("GROUPDNN_TRACE", "/no/such/folder/x", 1);
    assert_int_equal(child_run(meet_two, shown, sizeof shown, NULL), 0);
    assert_string_equal(shown, "groupdnn: GROUPDNN_TRACE: cannot open /no/such/folder/x: No such "
                               "file or directory; nothing is traced\n");
}

static void a_full_disk_is_said_once(void **state)
{
    (void)state;
    setenv("GROUPDNN_TRACE", "/dev/full", 1);
    assert_int_equal(child_run(meet_two, shown, sizeof shown, NULL), 0);
    assert_string_equal(shown,
                        "groupdnn: GROUPDNN_TRACE: lines are lost: No space left on device\n");
}

static void nothing_is_traced_unasked(void **state)
{
    (void)state;
    remove(path);
    unsetenv("GROUPDNN_TRACE");
    assert_int_equal(child_run(meet_two, shown, sizeof shown, NULL), 0);
    assert_string_equal(shown, "");
    assert_int_not_equal(access(path, F_OK), 0);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/trace.txt", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    remove(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_one_line),
        cmocka_unit_test(equal_problems_are_the_same),
        cmocka_unit_test(long_problems_fit),
        cmocka_unit_test(a_dying_process_leaves_whole_lines),
        cmocka_unit_test(threads_write_each_once),
        cmocka_unit_test(processes_share_a_file),
        cmocka_unit_test(a_child_has_a_file_of_its_own),
        cmocka_unit_test(other_files_are_not_written),
        cmocka_unit_test(a_file_that_does_not_open_is_said_once),
        cmocka_unit_test(a_full_disk_is_said_once),
        cmocka_unit_test(nothing_is_traced_unasked),
    };
    return cmocka_run_group_tests_name("trace", tests, make_folder, remove_folder);
}
