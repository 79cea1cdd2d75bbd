#include "log.h"
#include "unit.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Options are read once a process: every case is a child with its own environment. */
static char folder[] = "/tmp/groupdnn-log-XXXXXX";
static char log_path[64], error_path[64], shown[65536], logged[65536];

static void read_file(const char *path, char *text, size_t size)
{
    text[0] = '\0';
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* Runs `body` with GROUPDNN_LOG set to `value`. Afterwards `shown` has what it wrote on standard error, `logged` what
 * is in the log file. Returns the child's process id. */
static pid_t in_child(const char *value, void (*body)(void))
{
    remove(log_path);
    int file = open(error_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(file >= 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(file, STDERR_FILENO);
        close(file);
        setenv("GROUPDNN_LOG", value, 1);
        body();
        _exit(0);
    }
    close(file);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    read_file(error_path, shown, sizeof shown);
    read_file(log_path, logged, sizeof logged);
    return child;
}

static const char *to_file(const char *level)
{
    static char value[128];
    snprintf(value, sizeof value, "%s:%s", level, log_path);
    return value;
}

static void each_level(void)
{
    gdnn_log(GDNN_LOG_ERROR, "an error, %d", 1);
    gdnn_log(GDNN_LOG_INFO, "some information");
    gdnn_log(GDNN_LOG_CALLS, "a call");
    if (gdnn_log_wants(GDNN_LOG_OFF))
        gdnn_log(GDNN_LOG_ERROR, "off is never wanted");
}

static void levels(void **state)
{
    (void)state;
    in_child("off", each_level);
    assert_string_equal(shown, "");
    in_child("", each_level);
    assert_string_equal(shown, "");
    in_child("error", each_level);
    assert_string_equal(shown, "groupdnn: an error, 1\n");
    in_child("info", each_level);
    assert_string_equal(shown, "groupdnn: an error, 1\ngroupdnn: some information\n");
    in_child("calls", each_level);
    assert_string_equal(shown, "groupdnn: an error, 1\ngroupdnn: some information\n"
                               "groupdnn: a call\n");
}

static void a_file_has_the_process_id(void **state)
{
    (void)state;
    char expected[200];
    pid_t child = in_child(to_file("info"), each_level);
    snprintf(expected, sizeof expected,
             "groupdnn[%ld]: an error, 1\ngroupdnn[%ld]: some information\n", (long)child,
             (long)child);
    assert_string_equal(logged, expected);
    assert_string_equal(shown, "");
}

static void append_once(void)
{
    int file = open(log_path, O_WRONLY | O_CREAT, 0600);
    if (write(file, "before\n", 7) == 7)
        gdnn_log(GDNN_LOG_ERROR, "after");
    close(file);
}

static void files_are_appended_to(void **state)
{
    (void)state;
    in_child(to_file("error"), append_once);
    assert_ptr_equal(strstr(logged, "before\ngroupdnn["), logged);
    assert_contains(logged, "]: after\n");
}

static void percent_p_is_the_process_id(void **state)
{
    (void)state;
    char value[128], path[128], text[200];
    snprintf(value, sizeof value, "error:%s/%%p-%%p.log", folder);
    pid_t child = in_child(value, each_level);
    snprintf(path, sizeof path, "%s/%ld-%ld.log", folder, (long)child, (long)child);
    read_file(path, text, sizeof text);
    remove(path);
    assert_contains(text, "an error, 1\n");
}

static void a_file_that_does_not_open_is_said_once(void **state)
{
    (void)state;
    in_child("calls:/no/such/folder/x.log", each_level);
    assert_string_equal(shown, "groupdnn: GROUPDNN_LOG: cannot open /no/such/folder/x.log: No such "
                               "file or directory; nothing is logged\n");
}

static char pipe_path[64];

static void log_to_an_unread_pipe(void)
{
    alarm(20); /* ends a child that waits for a reader */
    gdnn_log(GDNN_LOG_ERROR, "an error");
}

static void log_to_a_read_pipe(void)
{
    char text[64];
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK);
    gdnn_log(GDNN_LOG_ERROR, "an error");
    ssize_t length = read(reader, text, sizeof text);
    if (length <= 0 || write(STDERR_FILENO, text, (size_t)length) != length)
        abort();
}

static void nobody_waits_for_a_reader(void **state)
{
    (void)state;
    char value[80];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    snprintf(value, sizeof value, "error:%s", pipe_path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    in_child(value, log_to_an_unread_pipe);
    assert_contains(shown, "pipe: No such device or address; nothing is logged\n");
    in_child(value, log_to_a_read_pipe);
    assert_contains(shown, "]: an error\n");
    remove(pipe_path);
}

static void strange_lines(void)
{
    char text[5000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    gdnn_log(GDNN_LOG_ERROR, "%s", text);
    gdnn_log(GDNN_LOG_ERROR, "two\nlines\x1b[0m");
    gdnn_log(GDNN_LOG_ERROR, "%s", "");
}

static void lines_stay_lines(void **state)
{
    (void)state;
    in_child("error", strange_lines);
    char *second = strchr(shown, '\n');
    assert_non_null(second);
    assert_in_range(second - shown, 1500, 4095);
    assert_memory_equal(second - 4, "a...\n", 5);
    assert_string_equal(second + 1, "groupdnn: two?lines?[0m\ngroupdnn: \n");
}

static void keep_errno(void)
{
    errno = EXDEV;
    gdnn_log(GDNN_LOG_ERROR, "x");
    if (errno != EXDEV)
        _exit(1);
    close(STDERR_FILENO);
    gdnn_log(GDNN_LOG_ERROR, "nowhere to go");
    if (errno != EXDEV)
        _exit(2);
}

static void errno_is_kept(void **state)
{
    (void)state;
    in_child("error", keep_errno);
    assert_string_equal(shown, "groupdnn: x\n");
    in_child("error:/no/such/folder/x.log", keep_errno);
}

static void lose_the_descriptor(void)
{
    gdnn_log(GDNN_LOG_ERROR, "first");
    char other[64];
    snprintf(other, sizeof other, "%s/other", folder);
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    for (int fd = 3; fd < 10; fd++)
        if (open(other, O_RDWR | O_CREAT, 0600) < 0)
            _exit(1);
    gdnn_log(GDNN_LOG_ERROR, "second");
    struct stat facts;
    if (stat(other, &facts) || facts.st_size)
        _exit(2);
    remove(other);
}

static void other_files_are_not_written(void **state)
{
    (void)state;
    in_child(to_file("error"), lose_the_descriptor);
    assert_contains(logged, "first\n");
    assert_null(strstr(logged, "second"));
}

/* Standard error is a pipe that nobody reads, or a file at its largest size. */
static void write_into_nothing(void)
{
    int ends[2];
    struct rlimit least = {0, 0};
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    gdnn_log(GDNN_LOG_ERROR, "open");
    if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        _exit(1);
    close(ends[0]);
    close(ends[1]);
    gdnn_log_report("to nobody");
    gdnn_log_stderr("to nobody");
    if (setrlimit(RLIMIT_FSIZE, &least))
        _exit(2);
    gdnn_log_report("too much");
    sigset_t waiting;
    sigpending(&waiting);
    if (sigismember(&waiting, SIGPIPE) || sigismember(&waiting, SIGXFSZ))
        _exit(3);
}

static void no_signal_is_raised(void **state)
{
    (void)state;
    in_child("error", write_into_nothing);
    assert_string_equal(shown, "groupdnn: open\n");
    in_child(to_file("error"), write_into_nothing);
    assert_contains(logged, "to nobody\n");
    assert_null(strstr(logged, "too much"));
}

static void a_full_disk_is_said_once(void **state)
{
    (void)state;
    in_child("calls:/dev/full", each_level);
    assert_string_equal(shown, "groupdnn: GROUPDNN_LOG: lines are lost: No space left on device\n");
}

/* A signal that the program holds back stays held back. */
static void hold_a_signal(void)
{
    int ends[2];
    sigset_t set, now;
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        _exit(1);
    close(ends[0]);
    close(ends[1]);
    gdnn_log_stderr("to nobody");
    sigpending(&now);
    if (!sigismember(&now, SIGPIPE))
        _exit(2);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (!sigismember(&now, SIGPIPE) || sigismember(&now, SIGXFSZ))
        _exit(3);
}

static void the_programs_signals_are_kept(void **state)
{
    (void)state;
    in_child("off", hold_a_signal);
}

static void report(void)
{
    gdnn_log_report("a table, %d", 1);
}

static void reports_have_no_level(void **state)
{
    (void)state;
    in_child("off", report);
    assert_string_equal(shown, "groupdnn: a table, 1\n");
    in_child(to_file("off"), report);
    assert_contains(logged, "]: a table, 1\n");
    assert_string_equal(shown, "");
}

/* Waits for the child; 0 if it ended well. */
static int end_of(pid_t child)
{
    int status;
    return child < 0 || waitpid(child, &status, 0) != child || status;
}

static void log_in_a_child(void)
{
    gdnn_log(GDNN_LOG_ERROR, "parent");
    pid_t child = fork();
    if (child == 0) {
        gdnn_log(GDNN_LOG_ERROR, "child");
        _exit(0);
    }
    if (end_of(child))
        _exit(1);
    gdnn_log(GDNN_LOG_ERROR, "parent again");
    char name[128], text[200], expected[64];
    snprintf(name, sizeof name, "%s/%ld.log", folder, (long)child);
    snprintf(expected, sizeof expected, "groupdnn[%ld]: child\n", (long)child);
    read_file(name, text, sizeof text);
    if (strcmp(text, expected))
        _exit(2);
    remove(name);
}

static void a_child_has_a_file_of_its_own(void **state)
{
    (void)state;
    char value[128], path[128], text[200], expected[200];
    snprintf(value, sizeof value, "error:%s/%%p.log", folder);
    pid_t parent = in_child(value, log_in_a_child);
    snprintf(path, sizeof path, "%s/%ld.log", folder, (long)parent);
    read_file(path, text, sizeof text);
    remove(path);
    snprintf(expected, sizeof expected, "groupdnn[%ld]: parent\ngroupdnn[%ld]: parent again\n",
             (long)parent, (long)parent);
    assert_string_equal(text, expected);
}

static void lose_the_descriptor_and_fork(void)
{
    gdnn_log(GDNN_LOG_ERROR, "first");
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    pid_t child = fork();
    if (child == 0) {
        gdnn_log(GDNN_LOG_ERROR, "from the child");
        _exit(0);
    }
    if (end_of(child))
        _exit(1);
}

static void a_child_does_not_need_the_descriptor(void **state)
{
    (void)state;
    in_child(to_file("error"), lose_the_descriptor_and_fork);
    assert_contains(logged, "first\n");
    assert_contains(logged, "from the child\n");
}

enum { WRITERS = 4, LINES = 200 };

static void *write_many(void *letter)
{
    char text[100];
    memset(text, *(const char *)letter, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < LINES; i++)
        gdnn_log(GDNN_LOG_ERROR, "%s", text);
    return NULL;
}

static void threads_and_a_fork(void)
{
    pthread_t threads[WRITERS];
    static const char letters[] = "abcd";
    for (int i = 0; i < WRITERS; i++)
        if (pthread_create(&threads[i], NULL, write_many, (void *)&letters[i]))
            _exit(1);
    pid_t child = fork();
    if (child == 0) {
        gdnn_log(GDNN_LOG_ERROR, "from the child %ld", (long)getpid());
        _exit(0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    if (end_of(child))
        _exit(2);
}

static void lines_do_not_mix(void **state)
{
    (void)state;
    static char text[WRITERS * LINES * 160];
    in_child(to_file("error"), threads_and_a_fork);
    read_file(log_path, text, sizeof text);
    int lines = 0, from_child = 0;
    char *next;
    for (char *line = text; *line; line = next + 1, lines++) {
        next = strchr(line, '\n');
        assert_non_null(next);
        *next = '\0';
        long process, child;
        int used = 0;
        assert_int_equal(sscanf(line, "groupdnn[%ld]: %n", &process, &used), 1);
        if (sscanf(line + used, "from the child %ld", &child) == 1) {
            assert_int_equal(process, child);
            from_child++;
            continue;
        }
        assert_int_equal(strlen(line + used), 99);
        assert_int_equal(strspn(line + used, (char[]){line[used], '\0'}), 99);
    }
    assert_int_equal(lines, WRITERS * LINES + 1);
    assert_int_equal(from_child, 1);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(error_path, sizeof error_path, "%s/error", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    remove(log_path);
    remove(error_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(a_file_has_the_process_id),
        cmocka_unit_test(files_are_appended_to),
        cmocka_unit_test(percent_p_is_the_process_id),
        cmocka_unit_test(a_file_that_does_not_open_is_said_once),
        cmocka_unit_test(nobody_waits_for_a_reader),
        cmocka_unit_test(lines_stay_lines),
        cmocka_unit_test(errno_is_kept),
        cmocka_unit_test(other_files_are_not_written),
        cmocka_unit_test(no_signal_is_raised),
        cmocka_unit_test(a_full_disk_is_said_once),
        cmocka_unit_test(the_programs_signals_are_kept),
        cmocka_unit_test(reports_have_no_level),
        cmocka_unit_test(a_child_has_a_file_of_its_own),
        cmocka_unit_test(a_child_does_not_need_the_descriptor),
        cmocka_unit_test(lines_do_not_mix),
    };
    return cmocka_run_group_tests_name("log", tests, make_folder, remove_folder);
}
