/* Every kernel of kernels.def in each of its layouts and types, against the float64 reference.
 *
 *     kernels [FILE]    only the kernels of kernels/FILE.cu
 *
 * A test case is a property of one of them; its name says which. */
#include "device_errors.h"
#include "enums.h"
#include "properties.h"
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FWD = 1 << GDNN_FWD,
    BWD_DATA = 1 << GDNN_BWD_DATA,
    BWD_FILTER = 1 << GDNN_BWD_FILTER,
    ANY = FWD | BWD_DATA | BWD_FILTER
};

typedef struct property {
    void (*offer)(subject *s);
    unsigned directions;
    const char *name;
} property;

static const property properties[] = {
#define GDNN_PROPERTY(function, directions, name) {function, directions, name},
#include "properties.def"
#undef GDNN_PROPERTY
};
enum { PROPERTIES = sizeof properties / sizeof *properties };

typedef struct test {
    subject subject;
    const property *property;
    char name[128];
} test;

static void run_property(void **state)
{
    const test *t = *state;
    subject s = t->subject;
    unsigned long long before = device_errors();
    t->property->offer(&s);
    if (device_errors() > before)
        fail_msg("%llu races or uninitialised reads", device_errors() - before);
    if (!s.cases)
        fail_msg("no case of this property was run");
}

/* True if the property has a case that the kernel can run. In the direct family it must, or the
 * test fails. */
static bool applies(const subject *wanted, const property *p)
{
    subject s = *wanted;
    if (!(p->directions >> s.kernel->dir & 1))
        return false;
    if (subject_is_direct(&s))
        return true;
    s.counting = true;
    p->offer(&s);
    return s.cases > 0;
}

static test *tests;
static int count;

static void add_tests(subject s)
{
    for (int i = 0; i < PROPERTIES; i++) {
        if (!applies(&s, &properties[i]))
            continue;
        tests = realloc(tests, (size_t)(count + 1) * sizeof *tests);
        assert_non_null(tests);
        test *t = &tests[count++];
        *t = (test){.subject = s, .property = &properties[i]};
        snprintf(t->name, sizeof t->name, "%s %s %s: %s", s.kernel->name,
                 gdnn_enum_word(GDNN_ENUM_layout, (int)s.layout),
                 gdnn_enum_word(GDNN_ENUM_dtype, (int)s.dtype), properties[i].name);
    }
}

static void add_kernel(session *s, const gdnn_kernel *kernel)
{
    for (int layout = GDNN_NCHW; layout <= GDNN_NHWC; layout++)
        for (int dtype = GDNN_F16; dtype <= GDNN_F64; dtype++)
            if (kernel->layouts >> layout & kernel->dtypes >> dtype & 1)
                add_tests(subject_of(s, kernel, (gdnn_layout)layout, (gdnn_dtype)dtype));
}

int main(int argc, char **argv)
{
    static session device;
    if (session_open(&device, SESSION_EMULATED) != GDNN_OK) {
        printf("Bail out! %s\n", gdnn_last_error());
        return 1;
    }
    device_errors_watch();
    for (int i = 0; i < gdnn_kernel_count; i++)
        if (argc < 2 || !strcmp(argv[1], gdnn_kernels[i].file))
            add_kernel(&device, &gdnn_kernels[i]);
    if (!count) {
        printf("Bail out! no kernel of %s.cu\n", argc < 2 ? "any" : argv[1]);
        return 1;
    }

    struct CMUnitTest *list = calloc((size_t)count, sizeof *list);
    assert_non_null(list);
    for (int i = 0; i < count; i++)
        list[i] = (struct CMUnitTest){
            .name = tests[i].name, .test_func = run_property, .initial_state = &tests[i]};
    int failed = _cmocka_run_group_tests("kernels", list, (size_t)count, NULL, NULL);
    if (!failed) /* a case that failed leaves its memory behind */
        session_close(&device);
    free(list);
    free(tests);
    return failed ? 1 : 0;
}
