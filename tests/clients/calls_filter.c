/* Filter descriptors. */
#include "calls.h"
#include "report.h"

static cudnnFilterDescriptor_t filter;

static void get_4d(const char *what)
{
    cudnnDataType_t type = (cudnnDataType_t)-77;
    cudnnTensorFormat_t format = (cudnnTensorFormat_t)-77;
    int d[4] = {-77, -77, -77, -77};
    CALL(what, cudnnGetFilter4dDescriptor(filter, &type, &format, &d[0], &d[1], &d[2], &d[3]));
    show("type=%d format=%d", (int)type, (int)format);
    show_ints("dims", d, 4);
}

static void get_nd(const char *what, int requested)
{
    cudnnDataType_t type = (cudnnDataType_t)-77;
    cudnnTensorFormat_t format = (cudnnTensorFormat_t)-77;
    int count = -77, d[10];
    for (int i = 0; i < 10; i++)
        d[i] = -77;
    CALL(what, cudnnGetFilterNdDescriptor(filter, requested, &type, &format, &count, d));
    show("asked=%d type=%d format=%d count=%d", requested, (int)type, (int)format, count);
    show_ints("dims", d, 9);
}

static void get_all(void)
{
    size_t size = 77;
    get_4d("");
    get_nd("", 8);
    CALL("", cudnnGetFilterSizeInBytes(filter, &size));
    show("bytes=%zu", size);
}

static void set_4d(const char *what, int type, int format, int k, int c, int h, int w)
{
    CALL(what, cudnnSetFilter4dDescriptor(filter, (cudnnDataType_t)type,
                                          (cudnnTensorFormat_t)format, k, c, h, w));
    show("type=%d format=%d %d,%d,%d,%d", type, format, k, c, h, w);
}

static void set_nd(const char *what, int type, int format, int count, const int *d)
{
    CALL(what, cudnnSetFilterNdDescriptor(filter, (cudnnDataType_t)type,
                                          (cudnnTensorFormat_t)format, count, d));
    show("type=%d format=%d count=%d", type, format, count);
}

static void call_4d(void)
{
    static const int wrong[][4] = {
        {0, 3, 4, 5}, {2, 0, 4, 5}, {2, 3, 0, 5}, {2, 3, 4, 0}, {-1, 3, 4, 5}};
    for (int type = 0; type <= 9; type++) {
        set_4d("each type", type, CUDNN_TENSOR_NCHW, 8, 4, 3, 3);
        get_all();
    }
    set_4d("KRSC", CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, 8, 4, 3, 3);
    get_all();
    set_4d("VECT_C", CUDNN_DATA_INT8x4, CUDNN_TENSOR_NCHW_VECT_C, 8, 4, 3, 3);
    get_all();
    set_4d("VECT_C of floats", CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW_VECT_C, 8, 4, 3, 3);
    get_all();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        set_4d("size below 1", CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, wrong[i][0], wrong[i][1],
               wrong[i][2], wrong[i][3]);
    get_4d("after wrong ones");
    set_4d("no such format", CUDNN_DATA_FLOAT, 3, 8, 4, 3, 3);
    set_4d("no such format", CUDNN_DATA_FLOAT, -1, 8, 4, 3, 3);
    for (int type = 10; type <= 23; type++)
        set_4d("odd type", type, CUDNN_TENSOR_NCHW, 8, 4, 3, 3);
    set_4d("no such type", -1, CUDNN_TENSOR_NCHW, 8, 4, 3, 3);
    set_4d("2^31 elements", CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 65536, 32768, 1, 1);
    get_all();
}

static void call_nd(void)
{
    static const int d[10] = {8, 4, 3, 3, 3, 1, 1, 1, 1, 1};
    for (int count = -1; count <= 9; count++) {
        set_nd("each number of axes", CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, count, d);
        get_all();
    }
    set_nd("KRSC", CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_NHWC, 5, d);
    for (int asked = -1; asked <= 8; asked++)
        get_nd("each number of axes", asked);
    set_nd("size 0", CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, (const int[]){8, 4, 0, 3});
    set_nd("no such type", -1, CUDNN_TENSOR_NCHW, 4, d);
    set_nd("no such format", CUDNN_DATA_FLOAT, 9, 4, d);
}

static void call_nulls(void)
{
    static const int d[4] = {8, 4, 3, 3};
    int v[4], count;
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    size_t size;

    CALL("NULL", cudnnCreateFilterDescriptor(NULL));
    CALL("NULL", cudnnDestroyFilterDescriptor(NULL));
    CALL("NULL", cudnnSetFilter4dDescriptor(NULL, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 1, 1));
    CALL("NULL", cudnnSetFilterNdDescriptor(NULL, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, d));
    CALL("NULL", cudnnGetFilter4dDescriptor(NULL, &type, &format, v, v, v, v));
    CALL("NULL", cudnnGetFilterNdDescriptor(NULL, 4, &type, &format, &count, v));
    CALL("NULL", cudnnGetFilterSizeInBytes(NULL, &size));
}

void call_filters(void)
{
    CALL("", cudnnCreateFilterDescriptor(&filter));
    get_4d("never set");
    get_nd("never set", 4);
    call_4d();
    call_nd();
    call_nulls();
    CALL("", cudnnDestroyFilterDescriptor(filter));
}
