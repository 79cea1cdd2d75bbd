#include "layout.h"
#include "ld_cache.h"
#include "unit.h"

/* A cache as ldconfig would write it, put together by hand: all numbers little-endian. */
typedef struct book {
    unsigned char bytes[4096];
    size_t used, start; /* of today's header */
} book;

static void put(book *b, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        b->bytes[b->used++] = i < sizeof value ? (unsigned char)(value >> 8 * i) : 0;
}

static void put_text(book *b, const char *text, size_t size)
{
    memcpy(b->bytes + b->used, text, size);
    b->used += size;
}

static const struct {
    const char *name, *path;
    uint32_t flags;
    uint64_t processors;
} libraries[] = {
    {"libcudnn.so.9", "/i386/libcudnn.so.9", 0x0003, 0},
    {"libcudnn.so.9", "/fast/libcudnn.so.9", GDNN_LD_CACHE_FLAGS, UINT64_C(1) << 62 | 3},
    {"libcudnn.so.9", "/first/libcudnn.so.9", GDNN_LD_CACHE_FLAGS, 0},
    {"libcudnn.so.9", "relative/libcudnn.so.9", GDNN_LD_CACHE_FLAGS, 0},
    {"libcudnn.so.9", "/second/libcudnn.so.9", GDNN_LD_CACHE_FLAGS, 0},
    {"libcudnn.so.90", "/longer/libcudnn.so.90", GDNN_LD_CACHE_FLAGS, 0},
    {"libcudnn.so", "/shorter/libcudnn.so", GDNN_LD_CACHE_FLAGS, 0},
};

static book make(bool with_old)
{
    book b = {.used = 0};
    if (with_old) {
        put_text(&b, "ld.so-1.7.0", 12);
        put(&b, 3, 4);
        for (int i = 0; i < 3 * 3; i++)
            put(&b, 0xfffffff0, 4);
        while (b.used % 8)
            put(&b, 0, 1);
    }
    b.start = b.used;
    put_text(&b, "glibc-ld.so.cache1.1", 20);
    put(&b, COUNT_OF(libraries), 4);
    put(&b, 0, 4);
    put(&b, 2, 1); /* little-endian */
    put(&b, 0, 3 + 4 + 12);
    uint32_t text = (uint32_t)(b.used - b.start + COUNT_OF(libraries) * 24);
    for (size_t i = 0; i < COUNT_OF(libraries); i++) {
        put(&b, libraries[i].flags, 4);
        put(&b, text, 4);
        text += (uint32_t)strlen(libraries[i].name) + 1;
        put(&b, text, 4);
        text += (uint32_t)strlen(libraries[i].path) + 1;
        put(&b, 0, 4);
        put(&b, libraries[i].processors, 8);
    }
    for (size_t i = 0; i < COUNT_OF(libraries); i++) {
        put_text(&b, libraries[i].name, strlen(libraries[i].name) + 1);
        put_text(&b, libraries[i].path, strlen(libraries[i].path) + 1);
    }
    return b;
}

typedef struct visits {
    char paths[512];
    const char *stop_at;
} visits;

static bool note(const char *path, void *context)
{
    visits *v = context;
    size_t used = strlen(v->paths);
    snprintf(v->paths + used, sizeof v->paths - used, "%s ", path);
    return v->stop_at && !strcmp(path, v->stop_at);
}

static const char *find(const void *bytes, size_t size)
{
    static visits v;
    v = (visits){.paths = ""};
    gdnn_ld_cache_find(bytes, size, "libcudnn.so.9", GDNN_LD_CACHE_FLAGS, note, &v);
    return v.paths;
}

static void entries_of_this_machine(void **state)
{
    (void)state;
    for (int with_old = 0; with_old < 2; with_old++) {
        book b = make(with_old);
        assert_string_equal(find(b.bytes, b.used), "/first/libcudnn.so.9 /second/libcudnn.so.9 ");
        visits v = {.stop_at = "/first/libcudnn.so.9"};
        assert_true(
            gdnn_ld_cache_find(b.bytes, b.used, "libcudnn.so.9", GDNN_LD_CACHE_FLAGS, note, &v));
        assert_string_equal(v.paths, "/first/libcudnn.so.9 ");
        v = (visits){.paths = ""};
        assert_false(gdnn_ld_cache_find(b.bytes, b.used, "libcudnn.so.9", 3, note, &v));
        assert_string_equal(v.paths, "/i386/libcudnn.so.9 ");
    }
}

static void other_formats(void **state)
{
    (void)state;
    book b = make(false);
    b.bytes[18]++; /* version 1.2 */
    assert_string_equal(find(b.bytes, b.used), "");
    b = make(false);
    b.bytes[28] = 3; /* big-endian */
    assert_string_equal(find(b.bytes, b.used), "");
    b.bytes[28] = 0; /* older ldconfigs do not say */
    assert_string_equal(find(b.bytes, b.used), "/first/libcudnn.so.9 /second/libcudnn.so.9 ");
    b = make(true);
    assert_string_equal(find(b.bytes, b.start), ""); /* the old format alone */
    assert_string_equal(find("", 0), "");
}

/* Copies the bytes to where nothing can be read behind them. */
static unsigned char *at_the_edge(const unsigned char *bytes, size_t size)
{
    size_t read;
    layout_begin();
    unsigned char *copy = layout_read(layout_write("bytes", bytes, size), &read);
    assert_int_equal(read, size);
    layout_end();
    return copy;
}

static void every_length(void **state)
{
    (void)state;
    for (int with_old = 0; with_old < 2; with_old++) {
        book b = make(with_old);
        unsigned char *bytes = at_the_edge(b.bytes, b.used);
        for (size_t length = b.used; length-- > 0;) {
            memmove(bytes + b.used - length, bytes + b.used - length - 1, length);
            find(bytes + b.used - length, length);
        }
    }
}

static void wrong_bytes(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int with_old = 0; with_old < 2; with_old++) {
        book b = make(with_old);
        unsigned char *bytes = at_the_edge(b.bytes, b.used);
        for (int round = 0; round < 10000; round++) {
            for (int64_t flips = test_pick(&seed, 1, 8); flips > 0; flips--)
                bytes[test_pick(&seed, 12, (int64_t)b.used - 1)] =
                    (unsigned char)test_random(&seed);
            find(bytes, b.used);
            memcpy(bytes, b.bytes, b.used);
        }
        assert_string_equal(find(bytes, b.used), "/first/libcudnn.so.9 /second/libcudnn.so.9 ");
    }
}

static bool first_path(const char *path, void *context)
{
    snprintf(context, 4096, "%s", path);
    return true;
}

/* The system's own, where it has one, against what ldconfig prints of it. */
static void of_this_system(void **state)
{
    (void)state;
    char line[4096] = "", expected[4096] = "", found[4096] = "";
    FILE *list = popen("PATH=$PATH:/sbin:/usr/sbin; ldconfig -p 2>/dev/null", "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        char *path = strstr(line, " => ");
        if (path && strstr(line, "libc.so.6 (") &&
            (strstr(line, "x86-64") || strstr(line, "AArch64")) && !*expected &&
            !strstr(line, "hwcap"))
            snprintf(expected, sizeof expected, "%s", path + 4);
    }
    pclose(list);
    expected[strcspn(expected, "\n")] = '\0';
    if (!*expected)
        skip();
    assert_true(gdnn_ld_cache_find_here("libc.so.6", first_path, found));
    assert_string_equal(found, expected);
    assert_false(gdnn_ld_cache_find_here("libno-such-library.so.9", first_path, found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_of_this_machine),
        cmocka_unit_test(other_formats),
        cmocka_unit_test(every_length),
        cmocka_unit_test(wrong_bytes),
        cmocka_unit_test(of_this_system),
    };
    return cmocka_run_group_tests_name("ld_cache", tests, NULL, NULL);
}
