/* descriptors: legacy calls as problems. The real library is a table of made-up descriptors. */
#include "api.h"
#include "descriptors.h"
#include "legacy_api.h"
#include "unit.h"
#include <sys/wait.h>
#include <unistd.h>

/* Every kind of descriptor; handles point at these. */
typedef struct made_up {
    cudnnStatus_t status;
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    int dims, size[8], stride[8], pad[8], dilation[8], groups;
    cudnnConvolutionMode_t mode;
    cudnnMathType_t math;
    cudnnActivationMode_t activation;
} made_up;

static cudnnStatus_t get_tensor(cudnnTensorDescriptor_t t, int wanted, cudnnDataType_t *type,
                                int *dims, int size[], int stride[])
{
    const made_up *d = (const made_up *)t;
    assert_int_equal(wanted, 8);
    if (d->status)
        return d->status;
    *type = d->type;
    *dims = d->dims;
    memcpy(size, d->size, sizeof d->size);
    memcpy(stride, d->stride, sizeof d->stride);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_filter(cudnnFilterDescriptor_t w, int wanted, cudnnDataType_t *type,
                                cudnnTensorFormat_t *format, int *dims, int size[])
{
    const made_up *d = (const made_up *)w;
    assert_int_equal(wanted, 8);
    if (d->status)
        return d->status;
    *type = d->type;
    *format = d->format;
    *dims = d->dims;
    memcpy(size, d->size, sizeof d->size);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_convolution(cudnnConvolutionDescriptor_t c, int wanted, int *axes,
                                     int pad[], int stride[], int dilation[],
                                     cudnnConvolutionMode_t *mode, cudnnDataType_t *type)
{
    const made_up *d = (const made_up *)c;
    if (d->status)
        return d->status;
    *axes = d->dims;
    size_t bytes = sizeof(int) * (size_t)(wanted < d->dims ? wanted : d->dims);
    memcpy(pad, d->pad, bytes);
    memcpy(stride, d->stride, bytes);
    memcpy(dilation, d->dilation, bytes);
    *mode = d->mode;
    *type = d->type;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_groups(cudnnConvolutionDescriptor_t c, int *groups)
{
    *groups = ((const made_up *)c)->groups;
    return ((const made_up *)c)->status;
}

static cudnnStatus_t get_math(cudnnConvolutionDescriptor_t c, cudnnMathType_t *math)
{
    *math = ((const made_up *)c)->math;
    return ((const made_up *)c)->status;
}

static cudnnStatus_t get_activation(cudnnActivationDescriptor_t a, cudnnActivationMode_t *mode,
                                    cudnnNanPropagation_t *nan, double *coefficient)
{
    *mode = ((const made_up *)a)->activation;
    *nan = CUDNN_NOT_PROPAGATE_NAN;
    *coefficient = 0;
    return ((const made_up *)a)->status;
}

void *gdnn_real(gdnn_api which)
{
    switch (which) {
    case GDNN_API_cudnnGetTensorNdDescriptor: return (void *)get_tensor;
    case GDNN_API_cudnnGetFilterNdDescriptor: return (void *)get_filter;
    case GDNN_API_cudnnGetConvolutionNdDescriptor: return (void *)get_convolution;
    case GDNN_API_cudnnGetConvolutionGroupCount: return (void *)get_groups;
    case GDNN_API_cudnnGetConvolutionMathType: return (void *)get_math;
    case GDNN_API_cudnnGetActivationDescriptor: return (void *)get_activation;
    default: fail_msg("function %d was not expected", which); return NULL;
    }
}

/* A forward call: x (2, 6, 7, 9), w (4, 3, 3, 5), 2 groups, and what BiasActivationForward adds. */
static made_up x, w, y, z, bias, convolution, activation;
static float two = 2, half_f32 = 0.5f;
static gdnn_legacy_call call;

static made_up packed(int n, int c, int h, int width)
{
    return (made_up){.dims = 4,
                     .size = {n, c, h, width},
                     .stride = {c * h * width, h * width, width, 1},
                     .type = CUDNN_DATA_FLOAT};
}

static int setup(void **state)
{
    (void)state;
    x = packed(2, 6, 7, 9);
    w = packed(4, 3, 3, 5);
    convolution = (made_up){.dims = 2,
                            .pad = {1, 2},
                            .stride = {2, 3},
                            .dilation = {1, 2},
                            .groups = 2,
                            .mode = CUDNN_CROSS_CORRELATION,
                            .type = CUDNN_DATA_FLOAT};
    y = packed(2, 4, 4, 2); /* (7 + 2 - 3) / 2 + 1, (9 + 4 - 9) / 3 + 1 */
    z = y;
    bias = packed(1, 4, 1, 1);
    activation = (made_up){.activation = CUDNN_ACTIVATION_RELU};
    call = (gdnn_legacy_call){.dir = GDNN_FWD,
                              .convolution = (void *)&convolution,
                              .x = (void *)&x,
                              .y = (void *)&y,
                              .w = (void *)&w,
                              .alpha = &two,
                              .beta = &half_f32};
    return 0;
}

static void with_epilogue(void)
{
    call.activation = (void *)&activation;
    call.z = (void *)&z;
    call.bias = (void *)&bias;
    call.alpha2 = &half_f32;
    call.beta = NULL;
}

static gdnn_conv read_well(void)
{
    gdnn_conv conv;
    memset(&conv, 0xff, sizeof conv);
    assert_int_equal(gdnn_legacy_read(&call, gdnn_legacy_groups(&call), &conv), GDNN_REASON_TAKEN);
    if (gdnn_check(&conv) != GDNN_OK)
        fail_msg("%s", gdnn_last_error());
    return conv;
}

static void assert_reason(gdnn_reason expected)
{
    gdnn_conv conv;
    gdnn_reason reason = gdnn_legacy_read(&call, gdnn_legacy_groups(&call), &conv);
    if (reason != expected)
        fail_msg("%s instead of %s", gdnn_reason_name(reason), gdnn_reason_name(expected));
}

static void assert_problem(const char *text)
{
    gdnn_conv conv = read_well(), expected;
    char got[1024], wanted[1024];
    assert_int_equal(gdnn_conv_parse(text, &expected), GDNN_OK);
    gdnn_conv_format(&conv, got, sizeof got);
    gdnn_conv_format(&expected, wanted, sizeof wanted);
    assert_string_equal(got, wanted);
}

#define SIZES " n=2 c=6 in=7x9 k=4 filter=3x5 pad=1x2 stride=2x3 dilation=1x2 groups=2 "

static void a_forward_call(void **state)
{
    (void)state;
    assert_problem("dir=fwd dtype=f32" SIZES "math=tf32 alpha=2 beta=0.5");
    assert_int_equal(gdnn_legacy_groups(&call), 2);
}

static void each_direction(void **state)
{
    (void)state;
    call.dir = GDNN_BWD_DATA;
    assert_problem("dir=bwd_data dtype=f32" SIZES "math=tf32 alpha=2 beta=0.5");
    call.dir = GDNN_BWD_FILTER;
    assert_problem("dir=bwd_filter dtype=f32" SIZES "math=tf32 alpha=2 beta=0.5");
}

static void set_types(cudnnDataType_t type, cudnnDataType_t sums)
{
    x.type = w.type = y.type = z.type = bias.type = type;
    convolution.type = sums;
}

static void each_type(void **state)
{
    (void)state;
    double third = 1.0 / 3, none = 0;
    set_types(CUDNN_DATA_HALF, CUDNN_DATA_FLOAT);
    assert_problem("dir=fwd dtype=f16" SIZES "alpha=2 beta=0.5");
    set_types(CUDNN_DATA_HALF, CUDNN_DATA_HALF);
    assert_problem("dir=fwd dtype=f16 acc=f16" SIZES "alpha=2 beta=0.5");
    set_types(CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT);
    assert_problem("dir=fwd dtype=bf16" SIZES "alpha=2 beta=0.5");
    /* double data have double factors, also ones that no float holds */
    set_types(CUDNN_DATA_DOUBLE, CUDNN_DATA_DOUBLE);
    call.alpha = &third;
    call.beta = &none;
    assert_problem("dir=fwd dtype=f64" SIZES "alpha=0.33333333333333331");
}

static void types_that_are_not_ours(void **state)
{
    (void)state;
    static const cudnnDataType_t others[] = {CUDNN_DATA_INT8,     CUDNN_DATA_INT32,
                                             CUDNN_DATA_INT8x4,   CUDNN_DATA_INT8x32,
                                             (cudnnDataType_t)12, (cudnnDataType_t)-1};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        setup(NULL);
        set_types(others[i], CUDNN_DATA_FLOAT);
        assert_reason(GDNN_REASON_TYPE);
        set_types(CUDNN_DATA_FLOAT, others[i]);
        assert_reason(GDNN_REASON_TYPE);
    }
    made_up *mixed[] = {&x, &w, &y, &z, &bias};
    for (size_t i = 0; i < COUNT_OF(mixed); i++) {
        setup(NULL);
        with_epilogue();
        mixed[i]->type = CUDNN_DATA_HALF;
        assert_reason(GDNN_REASON_TYPE);
    }
}

static void math(void **state)
{
    (void)state;
    static const struct {
        cudnnMathType_t given;
        gdnn_math f32;
    } cases[] = {{CUDNN_DEFAULT_MATH, GDNN_MATH_TF32},
                 {CUDNN_TENSOR_OP_MATH, GDNN_MATH_TF32},
                 {CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, GDNN_MATH_TF32},
                 {CUDNN_FMA_MATH, GDNN_MATH_F32}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setup(NULL);
        convolution.math = cases[i].given;
        assert_int_equal(read_well().math, cases[i].f32);
        set_types(CUDNN_DATA_HALF, CUDNN_DATA_FLOAT);
        assert_int_equal(read_well().math, GDNN_MATH_F32);
    }
}

/* The variable is read once, so each value has a process of its own. */
static void tf32_override(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        gdnn_math expected;
    } cases[] = {{"0", GDNN_MATH_F32}, {"1", GDNN_MATH_TF32}, {"", GDNN_MATH_TF32}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            gdnn_conv conv;
            setenv("NVIDIA_TF32_OVERRIDE", cases[i].value, 1);
            gdnn_legacy_read(&call, 2, &conv);
            _exit(conv.math);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), cases[i].expected);
    }
}

static void layouts_and_strides(void **state)
{
    (void)state;
    w.format = CUDNN_TENSOR_NHWC;
    assert_problem("dir=fwd dtype=f32" SIZES
                   "math=tf32 alpha=2 beta=0.5 xstrides=378x63x9x1 wstrides=45x1x15x3 "
                   "ystrides=32x8x2x1");
    memcpy(x.stride, (int[]){1000, 1, 70, 6}, sizeof(int[4]));
    memcpy(y.stride, (int[]){64, 16, 4, 2}, sizeof(int[4]));
    assert_problem("dir=fwd dtype=f32" SIZES
                   "math=tf32 alpha=2 beta=0.5 xstrides=1000x1x70x6 wstrides=45x1x15x3 "
                   "ystrides=64x16x4x2");
    w.format = CUDNN_TENSOR_NCHW_VECT_C;
    assert_reason(GDNN_REASON_FORMAT);
    convolution.mode = CUDNN_CONVOLUTION;
    w.format = CUDNN_TENSOR_NCHW;
    assert_int_equal(read_well().mode, GDNN_CONV);
}

static void one_and_three_axes(void **state)
{
    (void)state;
    x = (made_up){.dims = 3, .size = {1, 4, 10}, .stride = {40, 10, 1}};
    w = (made_up){.dims = 3, .size = {4, 1, 3}};
    y = (made_up){.dims = 3, .size = {1, 4, 8}, .stride = {32, 8, 1}};
    convolution = (made_up){
        .dims = 1, .stride = {1}, .dilation = {1}, .groups = 4, .mode = CUDNN_CROSS_CORRELATION};
    assert_problem("dir=fwd dtype=f32 n=1 c=4 in=10 k=4 filter=3 groups=4 math=tf32 alpha=2 "
                   "beta=0.5");
    x = (made_up){.dims = 5, .size = {1, 2, 3, 4, 5}, .stride = {120, 60, 20, 5, 1}};
    w = (made_up){.dims = 5, .size = {2, 1, 3, 2, 1}};
    y = (made_up){.dims = 5, .size = {1, 2, 1, 3, 5}, .stride = {30, 15, 15, 5, 1}};
    convolution = (made_up){.dims = 3,
                            .stride = {1, 1, 1},
                            .dilation = {1, 1, 1},
                            .groups = 2,
                            .mode = CUDNN_CROSS_CORRELATION};
    assert_problem("dir=fwd dtype=f32 n=1 c=2 in=3x4x5 k=2 filter=3x2x1 groups=2 math=tf32 "
                   "alpha=2 beta=0.5");
    convolution.dims = 4;
    assert_reason(GDNN_REASON_FORMAT);
    convolution.dims = 0;
    assert_reason(GDNN_REASON_FORMAT);
}

static void the_epilogue(void **state)
{
    (void)state;
    with_epilogue();
    assert_problem("dir=fwd dtype=f32" SIZES "math=tf32 alpha=2 bias=1 z=1 alpha2=0.5 act=relu");
    activation.activation = CUDNN_ACTIVATION_IDENTITY;
    assert_reason(GDNN_REASON_REFUSED);
    call.algo = 1;
    memcpy(z.stride, (int[]){64, 16, 4, 2}, sizeof(int[4]));
    assert_problem("dir=fwd dtype=f32" SIZES
                   "math=tf32 alpha=2 bias=1 z=1 alpha2=0.5 zstrides=64x16x4x2 "
                   "xstrides=378x63x9x1 wstrides=45x15x5x1 ystrides=32x8x2x1");
    static const cudnnActivationMode_t others[] = {
        CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_TANH,  CUDNN_ACTIVATION_CLIPPED_RELU,
        CUDNN_ACTIVATION_ELU,     CUDNN_ACTIVATION_SWISH, (cudnnActivationMode_t)7};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        activation.activation = others[i];
        assert_reason(GDNN_REASON_ACTIVATION);
    }
}

/* What cuDNN refuses must reach it: descriptors that contradict each other, and those that it does not read out. */
static void contradictions(void **state)
{
    (void)state;
    int *const wrong[] = {
        &x.size[0], &x.size[1],      &x.size[2],          &x.dims,
        &w.size[0], &w.size[1],      &w.size[2],          &w.dims,
        &y.size[0], &y.size[1],      &y.size[2],          &y.size[3],
        &y.dims,    &z.size[0],      &z.size[1],          &z.size[3],
        &z.dims,    &bias.size[0],   &bias.size[1],       &bias.size[2],
        &bias.dims, &bias.stride[1], &convolution.pad[0], &convolution.dilation[1]};
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        for (int step = -2; step <= 2; step += 4) {
            setup(NULL);
            with_epilogue();
            *wrong[i] += step;
            gdnn_conv conv;
            gdnn_reason reason = gdnn_legacy_read(&call, gdnn_legacy_groups(&call), &conv);
            if (reason != GDNN_REASON_INVALID)
                fail_msg("case %zu, %+d: %s", i, step, gdnn_reason_name(reason));
        }
    setup(NULL);
    convolution.stride[1] = 0;
    assert_reason(GDNN_REASON_INVALID);
    made_up *const unreadable[] = {&x, &w, &y, &z, &bias, &activation, &convolution};
    for (size_t i = 0; i < COUNT_OF(unreadable); i++) {
        setup(NULL);
        with_epilogue();
        unreadable[i]->status = CUDNN_STATUS_BAD_PARAM;
        assert_reason(GDNN_REASON_INVALID);
        unreadable[i]->status = CUDNN_STATUS_SUCCESS;
    }
}

static void missing_descriptors(void **state)
{
    (void)state;
    with_epilogue();
    call.x = NULL;
    assert_reason(GDNN_REASON_INVALID);
    setup(NULL);
    call.w = NULL;
    assert_reason(GDNN_REASON_INVALID);
    setup(NULL);
    call.y = NULL;
    assert_reason(GDNN_REASON_INVALID);
    setup(NULL);
    with_epilogue();
    call.z = NULL;
    assert_reason(GDNN_REASON_INVALID);
    setup(NULL);
    with_epilogue();
    call.bias = NULL;
    assert_reason(GDNN_REASON_INVALID);
    call.convolution = NULL;
    assert_int_equal(gdnn_legacy_groups(&call), 0);
    setup(NULL);
    convolution.status = CUDNN_STATUS_BAD_PARAM;
    assert_int_equal(gdnn_legacy_groups(&call), 0);
}

/* Routes compare problems byte by byte. */
static void every_byte_is_set(void **state)
{
    (void)state;
    gdnn_conv first, second;
    memset(&first, 0x55, sizeof first);
    memset(&second, 0xaa, sizeof second);
    with_epilogue();
    assert_int_equal(gdnn_legacy_read(&call, 2, &first), GDNN_REASON_TAKEN);
    assert_int_equal(gdnn_legacy_read(&call, 2, &second), GDNN_REASON_TAKEN);
    assert_memory_equal(&first, &second, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tf32_override,
                               setup), /* before this process has read the variable */
        cmocka_unit_test_setup(a_forward_call, setup),
        cmocka_unit_test_setup(each_direction, setup),
        cmocka_unit_test_setup(each_type, setup),
        cmocka_unit_test_setup(types_that_are_not_ours, setup),
        cmocka_unit_test_setup(math, setup),
        cmocka_unit_test_setup(layouts_and_strides, setup),
        cmocka_unit_test_setup(one_and_three_axes, setup),
        cmocka_unit_test_setup(the_epilogue, setup),
        cmocka_unit_test_setup(contradictions, setup),
        cmocka_unit_test_setup(missing_descriptors, setup),
        cmocka_unit_test_setup(every_byte_is_set, setup),
    };
    return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
