#include "candidate.h"
#include "layout.h"
#include "unit.h"
#include "world.h"
#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

static int begin(void **state)
{
    (void)state;
    layout_begin();
    world_system = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    layout_end();
    return 0;
}

static char why[512], sublibrary[PATH_MAX];

static bool check(const char *path)
{
    strcpy(why, "nothing was said");
    return gdnn_candidate_check(path, sublibrary, why, sizeof why);
}

#define assert_refused(path, piece)                                                                \
    do {                                                                                           \
        const char *path_ = (path);                                                                \
        if (check(path_))                                                                          \
            fail_msg("%s was accepted", path_);                                                    \
        assert_contains(why, piece);                                                               \
    } while (0)

#define assert_accepted(path)                                                                      \
    do {                                                                                           \
        const char *path_ = (path);                                                                \
        if (!check(path_))                                                                         \
            fail_msg("%s %s", path_, why);                                                         \
    } while (0)

static void what_is_accepted(void **state)
{
    (void)state;
    assert_accepted(layout_copy("fake_cudnn.so", "libcudnn.so.9"));
    assert_accepted(layout_copy("fake_cudnn.so", "real-name.so"));
    assert_accepted(layout_copy("fake_cudnn_renamed.so", "libcudnn-1a2b3c4d.so.9.1.0"));
    assert_accepted(layout_link("libcudnn.so.9", "link"));
}

static void what_is_no_library(void **state)
{
    (void)state;
    assert_refused(layout_path("none"), "does not exist");
    assert_refused(layout_link("nowhere", "dangling"), "does not exist");
    assert_refused(layout_link("loop", "loop"), "symbolic links");
    layout_write("folder/file", "", 0);
    assert_refused(layout_path("folder"), "is a folder");
    assert_refused(layout_path("folder/file"), "is empty");
    assert_refused(layout_path("folder/file/beyond"), "Not a directory");
    assert_refused("/dev/null", "not a regular file");
    assert_refused(layout_write("script", "GROUP ( libcudnn.so.9 )\n", 24), "not an ELF file");
    assert_refused(layout_copy("probe_plain", "program"), "SONAME is \"\"");
    assert_refused("", "does not exist");

    /* A pipe with nobody at the other end: opening it would wait for ever. */
    const char *pipe = layout_path("pipe");
    assert_int_equal(mkfifo(pipe, 0666), 0);
    alarm(20);
    assert_refused(pipe, "not a regular file");
    alarm(0);
}

/* root reads everything, so that the case is for other users. */
static void what_cannot_be_read(void **state)
{
    (void)state;
    const char *path = layout_copy("fake_cudnn.so", "libcudnn.so.9");
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid())
        assert_refused(path, "cannot be read: Permission denied");
    else
        assert_accepted(path);
}

static void what_is_another_library(void **state)
{
    (void)state;
    assert_refused(layout_copy("fake_cudnn_8.so", "libcudnn.so.9"),
                   "is libcudnn.so.8, version 9 is needed");
    size_t size;
    unsigned char *bytes = layout_read("fake_cudnn_renamed.so", &size);
    memcpy(memmem(bytes, size, ".so.9.1.0", 9), ".so.91.10", 9);
    assert_refused(layout_write("91", bytes, size), "4d.so.91.10, version 9 is needed");
    assert_refused(layout_copy("fake_other.so", "l/libcudnn.so.9"), "SONAME is \"libother.so.1\"");
    assert_refused(layout_copy("fake_graph.so", "g/libcudnn.so.9"),
                   "SONAME is \"libcudnn_graph.so.9\"");
    assert_refused(layout_copy("fake_cudnn_ours.so", "o/libcudnn.so.9"), "is groupdnn itself");
    assert_refused(layout_copy("fake_cudnn_ours.so", "other-name.so"), "is groupdnn itself");
    /* The file of this very code. */
    assert_refused("/proc/self/exe", "is groupdnn itself");
}

static void what_is_damaged(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = layout_read("fake_cudnn.so", &size);
    Elf64_Ehdr *header = (void *)bytes;
    assert_refused(layout_write("short", bytes, 40), "cut short");
    assert_refused(layout_write("half", bytes, size / 2), "cut short");
    Elf64_Half machine = header->e_machine;
    header->e_machine = machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
    const char *path = layout_write("machine", bytes, size);
    assert_refused(path, "is for AArch64, this program for x86-64");
    header->e_machine = machine;
    header->e_type = ET_REL;
    assert_refused(layout_write("type", bytes, size), "is no shared library");
    header->e_type = ET_DYN;
    header->e_ident[EI_CLASS] = ELFCLASS32;
    assert_refused(layout_write("class", bytes, size), "not a 64-bit");
}

/* The dispatcher looks for its sub-libraries in its folder as opened, and where the loader does. */
static void a_dispatcher(void **state)
{
    (void)state;
    world_system = strdup(layout_path("system"));
    setenv("LD_LIBRARY_PATH", layout_path("l"), 1);
    const char *alone = layout_copy("fake_cudnn_dispatcher.so", "alone/libcudnn.so.9");
    assert_refused(alone, "cannot work without libcudnn_graph.so.9");

    /* Beside it, under any of the names it tries. */
    layout_copy("fake_graph.so", "with/libcudnn_graph.so.9");
    assert_accepted(layout_copy("fake_cudnn_dispatcher.so", "with/libcudnn.so.9"));
    assert_string_equal(sublibrary, layout_path("with/libcudnn_graph.so.9"));
    layout_copy("fake_graph.so", "numbered/libcudnn_graph.so.9.19.0");
    assert_accepted(layout_copy("fake_cudnn_dispatcher.so", "numbered/libcudnn.so.9"));
    /* A link does not take it along: the loader does not follow links for $ORIGIN. */
    assert_refused(layout_link("../with/libcudnn.so.9", "link/libcudnn.so.9"), "cannot work");
    layout_link("with", "folder-link");
    char through[PATH_MAX];
    snprintf(through, sizeof through, "%s/libcudnn.so.9", layout_path("folder-link"));
    assert_accepted(through);

    /* What is there but of no use. */
    size_t size;
    unsigned char *bytes = layout_read("fake_graph.so", &size);
    layout_copy("fake_cudnn_dispatcher.so", "broken/libcudnn.so.9");
    layout_write("broken/libcudnn_graph.so.9", bytes, size / 2);
    assert_refused(layout_path("broken/libcudnn.so.9"), "broken/libcudnn_graph.so.9 is cut short");
    layout_copy("fake_cudnn_dispatcher.so", "false/libcudnn.so.9");
    layout_copy("fake_other.so", "false/libcudnn_graph.so.9");
    assert_refused(layout_path("false/libcudnn.so.9"), "libcudnn_graph.so.9 is another library");

    /* Elsewhere. */
    layout_copy("fake_graph.so", "l/libcudnn_graph.so.9");
    assert_accepted(alone);
    assert_string_equal(sublibrary, layout_path("l/libcudnn_graph.so.9"));
    /* With two of them it is the loader's choice. */
    assert_accepted(layout_path("with/libcudnn.so.9"));
    assert_string_equal(sublibrary, "");
    assert_int_equal(remove(layout_path("l/libcudnn_graph.so.9")), 0);
    assert_refused(alone, "cannot work");
    layout_ld_cache("system/etc/ld.so.cache", "libcudnn_graph.so.9",
                    layout_path("with/libcudnn_graph.so.9"));
    assert_accepted(alone);
    assert_int_equal(remove(layout_path("system/etc/ld.so.cache")), 0);
    assert_refused(alone, "cannot work");
    layout_copy("fake_graph.so", "system/usr/lib64/libcudnn_graph.so.9");
    assert_accepted(alone);
    assert_int_equal(remove(layout_path("system/usr/lib64/libcudnn_graph.so.9")), 0);
    assert_refused(alone, "cannot work");
    void *loaded = dlopen(layout_path("with/libcudnn_graph.so.9"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(loaded);
    assert_accepted(alone);
    dlclose(loaded);
    assert_refused(alone, "cannot work");
    unsetenv("LD_LIBRARY_PATH");
    free((void *)world_system);
    world_system = NULL;
}

/* Names of files and SONAMEs. */
static void cudnn_names(void **state)
{
    (void)state;
    static const char *const good[] = {"libcudnn.so.9", "libcudnn.so.9.19.0",
                                       "libcudnn-74a4c495.so.9", "libcudnn-74a4c495.so.9.1.0"};
    static const char *const bad[] = {"",
                                      "libcudnn",
                                      "libcudnn.so",
                                      "libcudnn.so.",
                                      "libcudnn.so.8",
                                      "libcudnn.so.90",
                                      "libcudnn_ops.so.9",
                                      "libcudnn_graph.so.9",
                                      "libcudnn-a.b.so.9",
                                      "/libcudnn.so.9",
                                      "xlibcudnn.so.9",
                                      "libcudnn-"};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(gdnn_is_cudnn_name(good[i]));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(gdnn_is_cudnn_name(bad[i]));
}

int main(int count, char **arguments)
{
    layout_fakes = count > 1 ? arguments[1] : "fakes";
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(cudnn_names),         CASE(what_is_accepted),        CASE(what_is_no_library),
        CASE(what_cannot_be_read), CASE(what_is_another_library), CASE(what_is_damaged),
        CASE(a_dispatcher),
    };
    return cmocka_run_group_tests_name("candidate", tests, NULL, NULL);
}
