/* The reference that the device computes is the reference. */
#include "device_reference.h"
#include "emulated_device.h"
#include "fill.h"
#include "problem.h"
#include "tensor.h"
#include <math.h>

typedef struct data {
    double *values[TENSORS], *magnitude;
    int64_t written;  /* elements of what is written, */
    tensor_name name; /* its name */
} data;

static data make(const gdnn_conv *conv)
{
    data d = {.name = (tensor_name)gdnn_written(conv->dir)};
    for (tensor_name i = 0; i < TENSORS; i++) {
        if (!tensor_used(conv, i))
            continue;
        tensor shape = tensor_of(conv, i);
        int64_t count = tensor_elements(&shape);
        d.values[i] = malloc((size_t)count * sizeof(double));
        fill_values(d.values[i], count, FILL_UNIFORM, 7, (fill_stream)i, conv->dtype);
        if (i == d.name)
            d.written = count;
    }
    d.magnitude = malloc((size_t)d.written * sizeof(double));
    return d;
}

static gdnn_reference reference_of(const data *d)
{
    return (gdnn_reference){d->values[TENSOR_X], d->values[TENSOR_W],    d->values[TENSOR_Y],
                            d->values[TENSOR_Z], d->values[TENSOR_BIAS], d->magnitude};
}

static void release(data *d)
{
    for (int i = 0; i < TENSORS; i++)
        free(d->values[i]);
    free(d->magnitude);
}

static void assert_close(const double *got, const double *wanted, const double *magnitude,
                         int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(got[i] - wanted[i]) <= 1e-14 * magnitude[i]))
            fail_msg("element %lld is %.17g, should be %.17g", (long long)i, got[i], wanted[i]);
}

static void check(const char *text)
{
    gdnn_conv conv;
    assert_int_equal(gdnn_conv_parse(text, &conv), GDNN_OK);
    conv.alpha *= 1 + 1e-9; /* rounded to float32, this changes nothing */
    data want = make(&conv), got = make(&conv);
    gdnn_reference reference = reference_of(&want), on_device = reference_of(&got);
    gdnn_reference_run(&conv, &reference);
    long long before = session_launches(&device);
    if (device_reference_run(&device, &conv, &on_device) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    assert_int_equal(session_launches(&device) - before, 2);
    assert_close(got.values[got.name], want.values[want.name], want.magnitude, want.written);
    assert_close(got.magnitude, want.magnitude, want.magnitude, want.written);
    release(&want);
    release(&got);
}

static void it_is_the_reference(void **state)
{
    (void)state;
    check("dir=fwd dtype=f16 layout=nhwc n=2 c=6 in=7x5 k=12 filter=3x2 pad=1 stride=2x1 groups=3");
    check("dir=bwd_data dtype=bf16 n=2 c=6 in=7x5 k=12 filter=3x2 pad=1 dilation=2 groups=3");
    check("dir=bwd_filter dtype=f32 layout=nhwc n=2 c=6 in=7x5 k=12 filter=3x2 pad=1 groups=3");
    check("dir=fwd dtype=f16 n=2 c=4 in=9 k=4 filter=3 groups=4 mode=conv");
}

static void scales_and_the_rest_count(void **state)
{
    (void)state;
    check(
        "dir=fwd dtype=f16 n=2 c=4 in=5x5 k=4 filter=3x3 pad=1 groups=4 alpha=-0.1 beta=-3 bias=1 "
        "z=1 alpha2=-0.7 act=relu");
    check(
        "dir=bwd_data dtype=f32 n=2 c=4 in=5x5 k=4 filter=3x3 pad=1 groups=4 alpha=0.1 beta=-0.3");
    check("dir=bwd_filter dtype=f32 n=2 c=4 in=5x5 k=4 filter=3x3 pad=1 groups=2 beta=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_reference),
        cmocka_unit_test(scales_and_the_rest_count),
    };
    return cmocka_run_group_tests_name("device_reference", tests, open_device, close_device);
}
