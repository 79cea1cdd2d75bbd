/* Reading and writing .npy files: those that NumPy wrote (tests/golden/npy, see make.py above it),
 * and damaged ones. */
#include "half.h"
#include "npy.h"
#include "unit.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *golden; /* the folder of NumPy's files */
static char scratch[] = "/tmp/gdnn_npy_XXXXXX";
static char made[64]; /* a file in the scratch folder */

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.npy", golden, name);
    return path;
}

static size_t load(const char *path, unsigned char *out, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(out, 1, size, file);
    fclose(file);
    return length;
}

static void store(const void *bytes, size_t length)
{
    /* Some file systems write a file to disk at once that replaces the contents of another. */
    unlink(made);
    FILE *file = fopen(made, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Writes a file of format 1.0 with this header text, ~ standing for a zero byte, and `length` zero
 * bytes of elements. */
static void store_header(const char *header, size_t length)
{
    unsigned char bytes[1024] = "\x93NUMPY\x01";
    const size_t text = strlen(header);
    bytes[8] = (unsigned char)(text & 0xff);
    bytes[9] = (unsigned char)(text >> 8);
    for (size_t i = 0; i < text; i++)
        bytes[10 + i] = header[i] == '~' ? 0 : (unsigned char)header[i];
    store(bytes, 10 + text + length);
}

static void assert_reads(const char *path)
{
    gdnn_npy npy;
    if (gdnn_npy_read(path, &npy) != GDNN_OK)
        fail_msg("%s", gdnn_last_error());
    free(npy.data);
}

/* The file is refused, with a sentence that names it and holds `piece`. */
static void assert_refused(const char *path, const char *piece)
{
    gdnn_npy npy = {.data = (double *)&npy};
    assert_int_equal(gdnn_npy_read(path, &npy), GDNN_INVALID);
    assert_null(npy.data);
    assert_contains(gdnn_last_error(), path);
    assert_contains(gdnn_last_error(), piece);
}

static void files_of_numpy_are_read(void **state)
{
    static const struct {
        const char *name;
        gdnn_dtype type;
        int dims;
        int64_t size[GDNN_NPY_DIMS];
        double first;
    } CASES[] = {
        {"f2", GDNN_F16, 3, {2, 3, 4}, 0.25},       {"f4", GDNN_F32, 3, {2, 3, 4}, 0.25},
        {"f8", GDNN_F64, 3, {2, 3, 4}, 0.25},       {"u2", GDNN_BF16, 3, {2, 3, 4}, 0},
        {"fortran", GDNN_F64, 3, {2, 3, 4}, 0.25},  {"one_axis", GDNN_F64, 1, {5}, 0.25},
        {"scalar", GDNN_F64, 0, {0}, 0.25},         {"empty", GDNN_F64, 3, {3, 0, 2}, 0},
        {"version2", GDNN_F64, 3, {2, 3, 4}, 0.25}, {"version3", GDNN_F64, 3, {2, 3, 4}, 0.25},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        gdnn_npy npy;
        int64_t count = 1;
        if (gdnn_npy_read(path_of(CASES[i].name), &npy) != GDNN_OK)
            fail_msg("%s", gdnn_last_error());
        assert_int_equal(npy.type, CASES[i].type);
        assert_int_equal(npy.dims, CASES[i].dims);
        assert_memory_equal(npy.size, CASES[i].size, sizeof npy.size);
        assert_non_null(npy.data);
        for (int axis = 0; axis < npy.dims; axis++)
            count *= npy.size[axis];
        for (int64_t j = 0; j < count; j++)
            assert_true(npy.data[j] == (double)j + CASES[i].first);
        free(npy.data);
    }
}

/* What was read and written again is byte for byte what NumPy wrote. */
static void files_are_written_as_numpy_does(void **state)
{
    static const char *const NAMES[] = {"f2", "f4", "f8", "u2", "one_axis", "scalar", "empty"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        unsigned char theirs[1024], ours[1024];
        gdnn_npy npy;
        assert_int_equal(gdnn_npy_read(path_of(NAMES[i]), &npy), GDNN_OK);
        assert_int_equal(gdnn_npy_write(made, &npy), GDNN_OK);
        free(npy.data);
        const size_t length = load(path_of(NAMES[i]), theirs, sizeof theirs);
        assert_int_equal(load(made, ours, sizeof ours), length);
        assert_memory_equal(ours, theirs, length);
    }
}

/* More elements than are converted at a time, and values that must be rounded. */
static void large_files_come_back(void **state)
{
    const int64_t count = 70001;
    double *data = malloc((size_t)count * sizeof *data);
    (void)state;
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (double)(i - 35000) / 7;
    for (int type = GDNN_F16; type <= GDNN_F64; type++) {
        gdnn_npy npy = {.dims = 2, .size = {count, 1}, .type = (gdnn_dtype)type, .data = data};
        assert_int_equal(gdnn_npy_write(made, &npy), GDNN_OK);
        assert_int_equal(gdnn_npy_read(made, &npy), GDNN_OK);
        assert_int_equal(npy.type, type);
        assert_int_equal(npy.size[0], count);
        for (int64_t i = 0; i < count; i++)
            assert_true(npy.data[i] == gdnn_round_to((gdnn_dtype)type, data[i]));
        free(npy.data);
    }
    free(data);
}

static void other_types_are_refused(void **state)
{
    (void)state;
    assert_refused(path_of("big_endian"), "element type >f4 is big-endian");
    assert_refused(path_of("i4"), "element type <i4 is not supported; save one of <f2");
    assert_refused(path_of("records"), "not plain numbers");
    assert_refused(path_of("nine_axes"), "more than 8 axes");
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    assert_refused("/nowhere/x.npy", "cannot be opened: No such file");
    assert_refused(scratch, "not a regular file");
    unlink(made);
    assert_int_equal(mkfifo(made, 0600), 0);
    assert_refused(made, "not a regular file");
    unlink(made);
}

/* Every shorter file is refused, and so is a longer one. */
static void length_must_be_right(void **state)
{
    unsigned char bytes[1024];
    const size_t length = load(path_of("f4"), bytes, sizeof bytes);
    (void)state;
    for (size_t i = 0; i < length; i++) {
        store(bytes, i);
        assert_refused(made, i < 128 ? "ends too early" : "need 96 bytes behind the header");
    }
    store(bytes, length);
    assert_reads(made);
    store(bytes, length + 1);
    assert_refused(made, "need 96 bytes behind the header, but it has 97");
}

static void start_must_be_right(void **state)
{
    unsigned char bytes[1024];
    const size_t length = load(path_of("f4"), bytes, sizeof bytes);
    (void)state;
    bytes[1] = 'M';
    store(bytes, length);
    assert_refused(made, "not a .npy file");
    bytes[1] = 'N';
    bytes[6] = 4;
    store(bytes, length);
    assert_refused(made, ".npy format 4.0 is not known");
    bytes[6] = 1;
    bytes[7] = 1;
    store(bytes, length);
    assert_refused(made, ".npy format 1.1 is not known");
    bytes[6] = 2;
    bytes[7] = 0;
    memset(bytes + 8, 0xff, 4);
    store(bytes, length);
    assert_refused(made, "header of 4294967295 bytes is longer than 65535");
}

static void headers_may_be_written_differently(void **state)
{
    (void)state;
    store_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    assert_reads(made);
    store_header("{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":True}", 24);
    assert_reads(made);
    store_header("  {'shape' : ( 6 , ) ,\n'fortran_order' : False , 'descr' : '<f4' , } ", 24);
    assert_reads(made);
    store_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}",
                 0);
    assert_reads(made);
}

static void damaged_headers_are_refused(void **state)
{
    static const struct {
        const char *header, *piece;
    } CASES[] = {
        {"", "no dictionary"},
        {"[]", "no dictionary"},
        {"{", "no dictionary"},
        {"{}", "lacks descr"},
        {"{descr: '<f4', 'fortran_order': False, 'shape': (6,)}", "no dictionary"},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (6,)}", "not supported"},
        {"{'descr': '<f4', 'fortran_order': False}", "lacks descr"},
        {"{'descr': '<f4', 'shape': (6,)}", "lacks descr"},
        {"{'fortran_order': False, 'shape': (6,)}", "lacks descr"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)", "no dictionary"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (6,)}", "no dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} 1", "goes on behind"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "comes twice"},
        {"{'descr~': '<f4', 'fortran_order': False, 'shape': (6,)}", "no dictionary"},
        {"{'descr': '<f4', 'order': False, 'shape': (6,)}", "unknown"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 6}", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6)}", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, ", "no size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,,3)}", "no size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}", "no size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6.,)}", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "no size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,)}", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (576460752303423488,)}", "need"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}", "need 28 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", "need 48 bytes"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        store_header(CASES[i].header, 24);
        assert_refused(made, CASES[i].piece);
    }
}

static void put_byte(int fd, size_t at, unsigned char value)
{
    assert_int_equal(pwrite(fd, &value, 1, (off_t)at), 1);
}

/* Any one byte of the header may be anything: the file is read or refused, nothing else. */
static void any_byte_may_be_wrong(void **state)
{
    unsigned char bytes[1024];
    int refused = 0;
    (void)state;
    store(bytes, load(path_of("f2"), bytes, sizeof bytes));
    const int fd = open(made, O_WRONLY);
    assert_true(fd >= 0);
    for (size_t i = 0; i < 72; i++) {
        for (int value = 0; value < 256; value += value < 128 ? 1 : 17) {
            gdnn_npy npy;
            put_byte(fd, i, (unsigned char)value);
            const gdnn_status status = gdnn_npy_read(made, &npy);
            assert_true(status == GDNN_OK || status == GDNN_INVALID);
            assert_true((npy.data != NULL) == (status == GDNN_OK));
            refused += status != GDNN_OK;
            free(npy.data);
        }
        put_byte(fd, i, bytes[i]);
    }
    close(fd);
    assert_true(refused > 5000);
}

static void what_cannot_be_written_is_refused(void **state)
{
    double value = 1;
    gdnn_npy npy = {.dims = 1, .size = {1}, .type = GDNN_F32, .data = &value};
    (void)state;
    assert_int_equal(gdnn_npy_write("/nowhere/x.npy", &npy), GDNN_FAILED);
    assert_contains(gdnn_last_error(), "/nowhere/x.npy: cannot be created: No such file");
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(gdnn_npy_write("/dev/full", &npy), GDNN_FAILED);
        assert_contains(gdnn_last_error(), "No space left on device");
    }
    npy.size[0] = -1;
    assert_int_equal(gdnn_npy_write(made, &npy), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "size -1 of axis 0");
    npy.dims = 9;
    assert_int_equal(gdnn_npy_write(made, &npy), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "9 axes");
    npy.dims = 2;
    npy.size[0] = npy.size[1] = INT64_C(1) << 32;
    assert_int_equal(gdnn_npy_write(made, &npy), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "too many elements");
    npy = (gdnn_npy){.type = (gdnn_dtype)7, .data = &value};
    assert_int_equal(gdnn_npy_write(made, &npy), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "7 is no element type");
}

static int make_scratch(void **state)
{
    (void)state;
    if (mkdtemp(scratch) == NULL)
        return 1;
    snprintf(made, sizeof made, "%s/made.npy", scratch);
    return 0;
}

static int remove_scratch(void **state)
{
    (void)state;
    unlink(made);
    return rmdir(scratch);
}

/* Argument: the folder of the files that NumPy wrote. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_numpy_are_read),
        cmocka_unit_test(files_are_written_as_numpy_does),
        cmocka_unit_test(large_files_come_back),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(length_must_be_right),
        cmocka_unit_test(start_must_be_right),
        cmocka_unit_test(headers_may_be_written_differently),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(what_cannot_be_written_is_refused),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 1;
    }
    golden = argv[1];
    return cmocka_run_group_tests_name("npy", tests, make_scratch, remove_scratch);
}
