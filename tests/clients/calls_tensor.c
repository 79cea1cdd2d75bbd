/* Tensor descriptors. */
#include "calls.h"
#include "report.h"

static cudnnTensorDescriptor_t tensor;

static void get_4d(const char *what)
{
    cudnnDataType_t type = (cudnnDataType_t)-77;
    int d[4] = {-77, -77, -77, -77}, s[4] = {-77, -77, -77, -77};
    CALL(what, cudnnGetTensor4dDescriptor(tensor, &type, &d[0], &d[1], &d[2], &d[3], &s[0], &s[1],
                                          &s[2], &s[3]));
    show("type=%d", (int)type);
    show_ints("dims", d, 4);
    show_ints("strides", s, 4);
}

static void get_nd(const char *what, int requested)
{
    cudnnDataType_t type = (cudnnDataType_t)-77;
    int count = -77, d[10], s[10];
    for (int i = 0; i < 10; i++)
        d[i] = s[i] = -77;
    CALL(what, cudnnGetTensorNdDescriptor(tensor, requested, &type, &count, d, s));
    show("asked=%d type=%d count=%d", requested, (int)type, count);
    show_ints("dims", d, 9);
    show_ints("strides", s, 9);
}

static void get_size(const char *what)
{
    size_t size = 77;
    CALL(what, cudnnGetTensorSizeInBytes(tensor, &size));
    show("bytes=%zu", size);
}

static void get_all(void)
{
    get_4d("");
    get_nd("", 8);
    get_size("");
}

/* format, type, dimensions */
static void set_4d(const char *what, int format, int type, int n, int c, int h, int w)
{
    CALL(what, cudnnSetTensor4dDescriptor(tensor, (cudnnTensorFormat_t)format,
                                          (cudnnDataType_t)type, n, c, h, w));
    show("format=%d type=%d %d,%d,%d,%d", format, type, n, c, h, w);
}

static void set_4d_ex(const char *what, int type, const int d[4], const int s[4])
{
    CALL(what, cudnnSetTensor4dDescriptorEx(tensor, (cudnnDataType_t)type, d[0], d[1], d[2], d[3],
                                            s[0], s[1], s[2], s[3]));
    show_ints("dims", d, 4);
    show_ints("strides", s, 4);
}

static void set_nd(const char *what, int type, int count, const int *d, const int *s)
{
    CALL(what, cudnnSetTensorNdDescriptor(tensor, (cudnnDataType_t)type, count, d, s));
    show("type=%d count=%d", type, count);
}

static void set_nd_ex(const char *what, int format, int type, int count, const int *d)
{
    CALL(what, cudnnSetTensorNdDescriptorEx(tensor, (cudnnTensorFormat_t)format,
                                            (cudnnDataType_t)type, count, d));
    show("format=%d type=%d count=%d", format, type, count);
}

static void call_4d(void)
{
    static const int wrong[][4] = {{0, 3, 4, 5},  {2, 0, 4, 5},  {2, 3, 0, 5},  {2, 3, 4, 0},
                                   {-1, 3, 4, 5}, {2, -3, 4, 5}, {2, 3, -4, 5}, {2, 3, 4, -5}};
    for (int type = 0; type <= 9; type++) {
        set_4d("each type", CUDNN_TENSOR_NCHW, type, 2, 8, 4, 5);
        get_all();
    }
    set_4d("NHWC", CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 8, 4, 5);
    get_all();
    set_4d("VECT_C of floats", CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_FLOAT, 2, 8, 4, 5);
    get_all();
    set_4d("VECT_C", CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 2, 8, 4, 5);
    get_all();
    set_4d("VECT_C", CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x32, 2, 64, 4, 5);
    get_all();
    set_4d("VECT_C, channels no multiple", CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 2, 6, 4, 5);
    get_all();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        set_4d("size below 1", CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, wrong[i][0], wrong[i][1],
               wrong[i][2], wrong[i][3]);
    get_4d("after wrong ones");
    set_4d("no such format", 3, CUDNN_DATA_FLOAT, 2, 3, 4, 5);
    set_4d("no such format", -1, CUDNN_DATA_FLOAT, 2, 3, 4, 5);
    for (int type = 10; type <= 23; type++)
        set_4d("odd type", CUDNN_TENSOR_NCHW, type, 2, 3, 4, 5);
    set_4d("no such type", CUDNN_TENSOR_NCHW, -1, 2, 3, 4, 5);
    set_4d("2^31 elements", CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2048, 1024, 32, 32);
    set_4d("2^31 - 1 elements", CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 2147483647, 1, 1);
    get_all();
    set_4d("2^62 elements", CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2147483647, 2147483647, 1, 1);
    set_4d("2^124 elements", CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 2147483647, 2147483647,
           2147483647, 2147483647);
    get_all();
    set_4d("all 1", CUDNN_TENSOR_NHWC, CUDNN_DATA_DOUBLE, 1, 1, 1, 1);
    get_all();
}

static void call_4d_ex(void)
{
    static const int d[4] = {2, 3, 4, 5};
    set_4d_ex("padded rows", CUDNN_DATA_FLOAT, d, (const int[]){96, 32, 8, 1});
    get_all();
    set_4d_ex("NHWC", CUDNN_DATA_HALF, d, (const int[]){60, 1, 15, 3});
    get_all();
    set_4d_ex("columns first", CUDNN_DATA_DOUBLE, d, (const int[]){60, 20, 1, 4});
    get_all();
    set_4d_ex("overlapping", CUDNN_DATA_FLOAT, d, (const int[]){1, 1, 1, 1});
    get_all();
    set_4d_ex("zero stride", CUDNN_DATA_FLOAT, d, (const int[]){0, 20, 5, 1});
    set_4d_ex("zero strides", CUDNN_DATA_FLOAT, d, (const int[]){0, 0, 0, 0});
    set_4d_ex("negative stride", CUDNN_DATA_FLOAT, d, (const int[]){60, 20, -5, 1});
    get_all();
    set_4d_ex("large strides", CUDNN_DATA_FLOAT, d,
              (const int[]){2000000000, 500000000, 100000000, 1});
    get_all();
    set_4d_ex("size 0", CUDNN_DATA_FLOAT, (const int[]){2, 3, 0, 5}, (const int[]){60, 20, 5, 1});
    set_4d_ex("vectors", CUDNN_DATA_INT8x4, d, (const int[]){60, 20, 5, 1});
    get_all();
    set_4d_ex("no such type", -1, d, (const int[]){60, 20, 5, 1});
}

static void call_nd(void)
{
    static const int d[10] = {2, 3, 4, 5, 6, 1, 1, 1, 1, 1};
    static const int s[10] = {360, 120, 30, 6, 1, 1, 1, 1, 1, 1};
    static const int zero[5] = {2, 3, 0, 5, 6}, negative[5] = {2, 3, 4, 5, -6};
    static const int back[5] = {360, 120, 30, 6, -1}, none[5] = {360, 120, 30, 0, 1};

    for (int count = -1; count <= 9; count++) {
        set_nd("each number of axes", CUDNN_DATA_FLOAT, count, d, s);
        get_all();
    }
    set_nd("size 0", CUDNN_DATA_FLOAT, 5, zero, s);
    set_nd("negative size", CUDNN_DATA_FLOAT, 5, negative, s);
    set_nd("negative stride", CUDNN_DATA_FLOAT, 5, d, back);
    get_all();
    set_nd("stride 0", CUDNN_DATA_FLOAT, 5, d, none);
    set_nd("no such type", -1, 5, d, s);
    set_nd("5 axes", CUDNN_DATA_BFLOAT16, 5, d, s);
    for (int asked = -1; asked <= 8; asked++)
        get_nd("each number of axes", asked);
    for (int count = 3; count <= 9; count++) {
        set_nd_ex("each number of axes", CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, count, d);
        get_all();
    }
    set_nd_ex("NCHW", CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 5, d);
    get_all();
    set_nd_ex("VECT_C", CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 4, (const int[]){2, 8, 4, 5});
    get_all();
    set_nd_ex("size 0", CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 5, zero);
    set_nd_ex("2^31 elements", CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, 3,
              (const int[]){65536, 32768, 1});
    set_nd_ex("no such format", 7, CUDNN_DATA_FLOAT, 5, d);
}

static void call_nulls(void)
{
    static const int d[4] = {2, 3, 4, 5}, s[4] = {60, 20, 5, 1};
    int v[4], count;
    cudnnDataType_t type;
    size_t size;

    CALL("NULL", cudnnCreateTensorDescriptor(NULL));
    CALL("NULL", cudnnDestroyTensorDescriptor(NULL));
    CALL("NULL", cudnnSetTensor4dDescriptor(NULL, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1));
    CALL("NULL", cudnnSetTensor4dDescriptorEx(NULL, CUDNN_DATA_FLOAT, 1, 1, 1, 1, 1, 1, 1, 1));
    CALL("NULL", cudnnSetTensorNdDescriptor(NULL, CUDNN_DATA_FLOAT, 4, d, s));
    CALL("NULL", cudnnSetTensorNdDescriptorEx(NULL, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 4, d));
    CALL("NULL", cudnnGetTensor4dDescriptor(NULL, &type, v, v, v, v, v, v, v, v));
    CALL("NULL", cudnnGetTensorNdDescriptor(NULL, 4, &type, &count, v, v));
    CALL("NULL", cudnnGetTensorSizeInBytes(NULL, &size));
}

void call_tensors(void)
{
    CALL("", cudnnCreateTensorDescriptor(&tensor));
    get_4d("never set");
    get_nd("never set", 4);
    get_nd("never set", 0);
    get_size("never set");
    call_4d();
    call_4d_ex();
    call_nd();
    call_nulls();
    CALL("", cudnnDestroyTensorDescriptor(tensor));
}
