/* A trial finds what a kernel does wrong. The kernels are right, so faults are made here, between a
 * run of the plan and the trial's look at its memory: gdnn_plan_run is wrapped by the linker. */
#include "emulated_device.h"
#include "plan.h"
#include "problem.h"
#include "trial.h"
#include <math.h>

static gdnn_options options;

/* What the wrapper does to the tensors after the run. */
static void (*fault)(const gdnn_tensors *tensors);
static int runs = 1;

gdnn_status __real_gdnn_plan_run(const gdnn_plan *plan, const gdnn_tensors *tensors,
                                 void *workspace, void *stream);
gdnn_status __wrap_gdnn_plan_run(const gdnn_plan *plan, const gdnn_tensors *tensors,
                                 void *workspace, void *stream);

gdnn_status __wrap_gdnn_plan_run(const gdnn_plan *plan, const gdnn_tensors *tensors,
                                 void *workspace, void *stream)
{
    gdnn_status status = GDNN_OK;
    for (int i = 0; i < runs && status == GDNN_OK; i++)
        status = __real_gdnn_plan_run(plan, tensors, workspace, stream);
    if (fault)
        fault(tensors);
    return status;
}

static void set_byte(const void *address, ptrdiff_t offset)
{
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)address + (CUdeviceptr)offset;
    assert_int_equal(device.driver->cuMemsetD8Async(at, 0x12, 1, device.stream), CUDA_SUCCESS);
}

/* The memory of every tensor of the problem below: 2 x 4 x 5 x 6 elements of f32, y with a gap
 * after each row. */
enum { X_BYTES = 2 * 4 * 5 * 6 * 4, Y_BYTES = (2 * 4 * 5 - 1) * 28 + 24 };

static void nothing(const gdnn_tensors *t)
{
    (void)t;
}
static void result(const gdnn_tensors *t)
{
    set_byte(t->y, 28 * 7 + 3);
}
static void gap(const gdnn_tensors *t)
{
    set_byte(t->y, 24 + 28 * 5);
}
static void before(const gdnn_tensors *t)
{
    set_byte(t->y, -1);
}
static void after(const gdnn_tensors *t)
{
    set_byte(t->y, Y_BYTES);
}
static void input(const gdnn_tensors *t)
{
    set_byte(t->x, X_BYTES - 1);
}
static void filter(const gdnn_tensors *t)
{
    set_byte(t->w, 0);
}
static void behind_input(const gdnn_tensors *t)
{
    set_byte(t->x, X_BYTES);
}
static void before_input_by_far(const gdnn_tensors *t)
{
    set_byte(t->x, -4000);
}

static gdnn_conv problem(void)
{
    gdnn_conv conv;
    assert_int_equal(gdnn_conv_parse("dtype=f32 n=2 c=4 in=5x6 k=4 filter=3x3 pad=1 groups=4 "
                                     "xstrides=120x30x6x1 wstrides=9x9x3x1 ystrides=140x35x7x1",
                                     &conv),
                     GDNN_OK);
    return conv;
}

static trial_result run(const gdnn_conv *conv, gdnn_status wanted, const double *x,
                        const double *prior)
{
    trial_result r;
    trial t = {.conv = conv, .options = &options, .seed = 3, .given = {x, NULL, prior}};
    gdnn_status status = trial_run(&device, &t, &r);
    if (status != wanted)
        fail_msg("%s: %s", gdnn_status_name(status), gdnn_last_error());
    return r;
}

static void faults_are_found(void **state)
{
    static const struct {
        void (*fault)(const gdnn_tensors *);
        int runs;
        bool pass, numbers;
        const char *damage;
    } cases[] = {
        {nothing, 1, true, true, ""},
        {result, 1, false, false, ""},
        {nothing, 0, false, false, "0 launches were made instead of 1"},
        {nothing, 2, false, true, "2 launches were made instead of 1"},
        {gap, 1, false, true, "y was written between its elements"},
        {before, 1, false, true, "y was written before its first or after its last element"},
        {after, 1, false, true, "y was written before its first or after its last element"},
        {input, 1, false, true, "x is an input and was changed"},
        {filter, 1, false, true, "w is an input and was changed"},
        {behind_input, 1, false, true, "x was written before its first or after its last element"},
        {before_input_by_far, 1, false, true,
         "x was written before its first or after its last element"},
    };
    gdnn_conv conv = problem();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fault = cases[i].fault;
        runs = cases[i].runs;
        trial_result r = run(&conv, GDNN_OK, NULL, NULL);
        assert_string_equal(r.damage, cases[i].damage);
        assert_int_equal(r.error.pass, cases[i].numbers);
        assert_int_equal(r.pass, cases[i].pass);
        trial_release(&r);
    }
    fault = NULL;
    runs = 1;
}

static void what_is_not_written_shows(void **state)
{
    gdnn_conv conv = problem();
    (void)state;
    runs = 0; /* y stays as it was: NaN */
    trial_result r = run(&conv, GDNN_OK, NULL, NULL);
    assert_true(isnan(r.got[0]) && !r.pass && isinf(r.error.err_l2));
    trial_release(&r);
    runs = 1;
}

/* beta: the first run reads what was there; a second one reads the result of the first. */
static void prior_contents_count_where_beta_is_not_zero(void **state)
{
    double prior[240];
    gdnn_conv conv = problem();
    (void)state;
    for (int i = 0; i < 240; i++)
        prior[i] = i;
    trial_result plain = run(&conv, GDNN_OK, NULL, prior);
    assert_true(plain.pass);
    assert_null(plain.values[TENSOR_Y]);
    conv.beta = 0.5;
    trial_result r = run(&conv, GDNN_OK, NULL, prior);
    assert_true(r.pass);
    for (int i = 0; i < 240; i++)
        assert_true(fabs(r.ref[i] - plain.ref[i] - 0.5 * i) < 1e-12);
    trial_release(&r);
    trial_release(&plain);
    runs = 2;
    r = run(&conv, GDNN_OK, NULL, prior);
    assert_false(r.error.pass);
    trial_release(&r);
    runs = 1;
}

static void given_values_and_rounding(void **state)
{
    double x[240];
    gdnn_conv conv = problem();
    (void)state;
    for (int i = 0; i < 240; i++)
        x[i] = 1 + i * 0x1p-30; /* more digits than f32 has */
    trial_result r = run(&conv, GDNN_OK, x, NULL);
    for (int i = 0; i < 240; i++)
        assert_true(r.values[TENSOR_X][i] == (double)(float)x[i]);
    assert_true(r.pass);
    trial_release(&r);
}

static int wanted_shift;

static void addresses(const gdnn_tensors *t)
{
    assert_int_equal((uintptr_t)t->x % 256, wanted_shift * 4);
    assert_int_equal((uintptr_t)t->w % 256, wanted_shift * 4);
    assert_int_equal((uintptr_t)t->y % 256, wanted_shift * 4);
}

static void misaligned_tensors_pass(void **state)
{
    gdnn_conv conv = problem();
    (void)state;
    fault = addresses;
    for (int shift = 0; shift < 8; shift++) {
        wanted_shift = shift;
        trial_result r;
        trial t = {.conv = &conv, .options = &options, .seed = 3, .shift = shift};
        assert_int_equal(trial_run(&device, &t, &r), GDNN_OK);
        assert_true(r.pass);
        trial_release(&r);
    }
    fault = NULL;
}

static void what_no_kernel_runs_is_not_run(void **state)
{
    gdnn_conv conv = problem();
    (void)state;
    strcpy(options.disable, "fwd");
    trial_result r = run(&conv, GDNN_UNSUPPORTED, NULL, NULL);
    assert_string_equal(r.reason, "disabled");
    assert_false(r.pass);
    trial_release(&r);
    options.disable[0] = 0;
    options.mode = GDNN_MODE_ON;
    strcpy(options.kernel, "direct_fwd");
    r = run(&conv, GDNN_UNSUPPORTED, NULL, NULL);
    assert_string_equal(r.reason, "no-evidence");
    trial_release(&r);
    options.mode = GDNN_MODE_FORCE;
    options.kernel[0] = 0;
}

static int open_device_and_options(void **state)
{
    gdnn_options_init(&options);
    options.mode = GDNN_MODE_FORCE;
    return open_device(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(what_is_not_written_shows),
        cmocka_unit_test(prior_contents_count_where_beta_is_not_zero),
        cmocka_unit_test(given_values_and_rounding),
        cmocka_unit_test(misaligned_tensors_pass),
        cmocka_unit_test(what_no_kernel_runs_is_not_run),
    };
    return cmocka_run_group_tests_name("trial", tests, open_device_and_options, close_device);
}
