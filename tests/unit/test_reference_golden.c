/* The float64 reference against convolutions by PyTorch: the folders of tests/golden, see make.py
 * there. The sums of these cases are exact, so equality is demanded. */
#include "groupdnn.h"
#include "npy.h"
#include "reference.h"
#include "unit.h"
#include <glob.h>
#include <unistd.h>

static gdnn_npy read_array(const char *folder, const char *name)
{
    char path[4096];
    gdnn_npy npy;

    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    if (gdnn_npy_read(path, &npy) != GDNN_OK)
        fail_msg("%s", gdnn_last_error());
    return npy;
}

/* The one line of the case's problem.txt. */
static gdnn_conv read_problem(const char *folder)
{
    char path[4096], line[512] = "";
    gdnn_conv conv;

    snprintf(path, sizeof path, "%s/problem.txt", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    if (gdnn_conv_parse(line, &conv) != GDNN_OK)
        fail_msg("%s: %s", path, gdnn_last_error());
    return conv;
}

static int64_t elements(const gdnn_npy *npy)
{
    int64_t count = 1;

    for (int i = 0; i < npy->dims; i++)
        count *= npy->size[i];
    return count;
}

/* Checks what was computed over the contents of `result` and frees it. */
static void compare(const char *folder, const char *name, const gdnn_npy *result)
{
    gdnn_npy golden = read_array(folder, name);

    assert_int_equal(golden.type, GDNN_F64);
    assert_int_equal(golden.dims, result->dims);
    assert_memory_equal(golden.size, result->size, sizeof golden.size);
    for (int64_t i = 0; i < elements(&golden); i++)
        if (!(result->data[i] == golden.data[i]))
            fail_msg("%s/%s.npy: element %lld is %.17g, expected %.17g", folder, name, (long long)i,
                     result->data[i], golden.data[i]);
    free(golden.data);
    free(result->data);
}

static void forward(const char *folder, gdnn_conv *conv)
{
    const gdnn_npy x = read_array(folder, "x"), w = read_array(folder, "w");
    const gdnn_npy y = read_array(folder, conv->beta != 0 ? "prior" : "y");
    gdnn_npy bias = {0}, z = {0};

    if (conv->bias)
        bias = read_array(folder, "bias");
    if (conv->z)
        z = read_array(folder, "z");
    if (conv->beta == 0)
        memset(y.data, 0xff, (size_t)elements(&y) * sizeof(double)); /* NaN */
    conv->dir = GDNN_FWD;
    gdnn_reference_run(
        conv,
        &(gdnn_reference){.x = x.data, .w = w.data, .y = y.data, .z = z.data, .bias = bias.data});
    compare(folder, "y", &y);
    free(x.data);
    free(w.data);
    free(z.data);
    free(bias.data);
}

static void gradient(const char *folder, gdnn_conv *conv, gdnn_dir dir)
{
    const gdnn_npy x = read_array(folder, "x"), w = read_array(folder, "w");
    const gdnn_npy dy = read_array(folder, "dy");
    const gdnn_npy *result = dir == GDNN_BWD_DATA ? &x : &w;
    const gdnn_npy *other = dir == GDNN_BWD_DATA ? &w : &x;

    memset(result->data, 0xff, (size_t)elements(result) * sizeof(double));
    conv->dir = dir;
    gdnn_reference_run(conv, &(gdnn_reference){.x = x.data, .w = w.data, .y = dy.data});
    compare(folder, dir == GDNN_BWD_DATA ? "dx" : "dw", result);
    free(other->data);
    free(dy.data);
}

static void golden_case(void **state)
{
    const char *folder = *state;
    char dy[4096];
    gdnn_conv conv = read_problem(folder);

    forward(folder, &conv);
    snprintf(dy, sizeof dy, "%s/dy.npy", folder);
    if (access(dy, F_OK) == 0) {
        gradient(folder, &conv, GDNN_BWD_DATA);
        gradient(folder, &conv, GDNN_BWD_FILTER);
    }
}

/* Argument: the folder tests/golden. Every folder in it that has a problem.txt is a test. */
int main(int argc, char **argv)
{
    char pattern[4096];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/*/problem.txt", argc == 2 ? argv[1] : ".");
    if (argc != 2 || glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr, "no golden files as %s\n", pattern);
        return 1;
    }
    struct CMUnitTest *tests = calloc(found.gl_pathc, sizeof *tests);
    for (size_t i = 0; i < found.gl_pathc && tests != NULL; i++) {
        char *folder = found.gl_pathv[i];
        *strrchr(folder, '/') = '\0';
        tests[i] = (struct CMUnitTest){strrchr(folder, '/') + 1, golden_case, NULL, NULL, folder};
    }
    const int failed =
        _cmocka_run_group_tests("reference, golden files", tests, found.gl_pathc, NULL, NULL);
    free(tests);
    globfree(&found);
    return failed;
}
