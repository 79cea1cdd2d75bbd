/* Convolution descriptors. */
#include "calls.h"
#include "report.h"

static cudnnConvolutionDescriptor_t conv;

static void get_2d(const char *what)
{
    int v[6] = {-77, -77, -77, -77, -77, -77};
    cudnnConvolutionMode_t mode = (cudnnConvolutionMode_t)-77;
    cudnnDataType_t type = (cudnnDataType_t)-77;
    CALL(what, cudnnGetConvolution2dDescriptor(conv, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
                                               &mode, &type));
    show_ints("values", v, 6);
    show("mode=%d type=%d", (int)mode, (int)type);
}

static void get_nd(const char *what, int asked)
{
    int count = -77, p[9], s[9], d[9];
    cudnnConvolutionMode_t mode = (cudnnConvolutionMode_t)-77;
    cudnnDataType_t type = (cudnnDataType_t)-77;
    for (int i = 0; i < 9; i++)
        p[i] = s[i] = d[i] = -77;
    CALL(what, cudnnGetConvolutionNdDescriptor(conv, asked, &count, p, s, d, &mode, &type));
    show("asked=%d count=%d", asked, count);
    show_ints("pads", p, 7);
    show_ints("strides", s, 7);
    show_ints("dilations", d, 7);
    show("mode=%d type=%d", (int)mode, (int)type);
}

static void get_rest(void)
{
    int groups = -77;
    cudnnMathType_t math = (cudnnMathType_t)-77;
    cudnnReorderType_t reorder = (cudnnReorderType_t)-77;
    CALL("", cudnnGetConvolutionGroupCount(conv, &groups));
    show("groups=%d", groups);
    CALL("", cudnnGetConvolutionMathType(conv, &math));
    show("math=%d", (int)math);
    CALL("", cudnnGetConvolutionReorderType(conv, &reorder));
    show("reorder=%d", (int)reorder);
}

static void get_all(void)
{
    get_2d("");
    get_nd("", 6);
    get_rest();
}

static void set_2d(const char *what, const int v[6], int mode, int type)
{
    CALL(what,
         cudnnSetConvolution2dDescriptor(conv, v[0], v[1], v[2], v[3], v[4], v[5],
                                         (cudnnConvolutionMode_t)mode, (cudnnDataType_t)type));
    show_ints("values", v, 6);
    show("mode=%d type=%d", mode, type);
}

static void set_nd(const char *what, int count, const int *p, const int *s, const int *d, int mode,
                   int type)
{
    CALL(what, cudnnSetConvolutionNdDescriptor(conv, count, p, s, d, (cudnnConvolutionMode_t)mode,
                                               (cudnnDataType_t)type));
    show("count=%d mode=%d type=%d", count, mode, type);
}

static void call_2d(void)
{
    static const int same[6] = {1, 1, 1, 1, 1, 1};
    set_2d("", same, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    get_all();
    set_2d("all different", (const int[]){0, 1, 2, 3, 4, 5}, CUDNN_CONVOLUTION, CUDNN_DATA_HALF);
    get_all();
    set_2d("negative pad", (const int[]){-1, 1, 1, 1, 1, 1}, 1, 0);
    set_2d("negative pad", (const int[]){1, -1, 1, 1, 1, 1}, 1, 0);
    set_2d("stride 0", (const int[]){1, 1, 0, 1, 1, 1}, 1, 0);
    set_2d("stride 0", (const int[]){1, 1, 1, 0, 1, 1}, 1, 0);
    set_2d("dilation 0", (const int[]){1, 1, 1, 1, 0, 1}, 1, 0);
    set_2d("dilation -1", (const int[]){1, 1, 1, 1, 1, -1}, 1, 0);
    set_2d("no such mode", same, 2, 0);
    set_2d("no such mode", same, -1, 0);
    for (int type = -1; type <= 12; type++)
        set_2d("each type", same, 1, type);
    get_all();
}

static void call_nd(void)
{
    static const int p[8] = {0, 1, 2, 3, 4, 5, 6, 7}, one[8] = {1, 1, 1, 1, 1, 1, 1, 1},
                     s[8] = {1, 2, 3, 4, 5, 6, 7, 8}, zero[8] = {0, 0, 0, 0, 0, 0, 0, 0},
                     minus[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int count = -1; count <= 8; count++) {
        set_nd("each number of axes", count, p, s, one, 1, 0);
        get_all();
    }
    set_nd("3 axes", 3, p, s, s, 0, CUDNN_DATA_DOUBLE);
    for (int asked = -1; asked <= 8; asked++)
        get_nd("each number of axes", asked);
    set_nd("negative pad", 3, minus, one, one, 1, 0);
    set_nd("stride 0", 3, p, zero, one, 1, 0);
    set_nd("dilation 0", 3, p, one, zero, 1, 0);
    set_nd("no such mode", 3, p, one, one, 2, 0);
    set_nd("no such type", 3, p, one, one, 1, -1);
    get_all();
}

static void call_rest(void)
{
    static const int same[6] = {1, 1, 1, 1, 1, 1};
    for (int groups = -1; groups <= 3; groups++) {
        CALL("", cudnnSetConvolutionGroupCount(conv, groups));
        show("%d", groups);
    }
    CALL("huge", cudnnSetConvolutionGroupCount(conv, 2147483647));
    get_rest();
    CALL("", cudnnSetConvolutionGroupCount(conv, 32));
    set_2d("after the groups", same, 1, 0);
    get_rest();
    for (int math = -1; math <= 4; math++) {
        CALL("", cudnnSetConvolutionMathType(conv, (cudnnMathType_t)math));
        show("%d", math);
        get_rest();
    }
    set_2d("after the math type", same, 1, 0);
    get_rest();
    for (int reorder = -1; reorder <= 2; reorder++) {
        CALL("", cudnnSetConvolutionReorderType(conv, (cudnnReorderType_t)reorder));
        show("%d", reorder);
        get_rest();
    }
}

static void call_nulls(void)
{
    static const int one[2] = {1, 1};
    int v[6];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    cudnnMathType_t math;
    cudnnReorderType_t reorder;

    CALL("NULL", cudnnCreateConvolutionDescriptor(NULL));
    CALL("NULL", cudnnDestroyConvolutionDescriptor(NULL));
    CALL("NULL", cudnnSetConvolution2dDescriptor(NULL, 1, 1, 1, 1, 1, 1, CUDNN_CONVOLUTION,
                                                 CUDNN_DATA_FLOAT));
    CALL("NULL", cudnnSetConvolutionNdDescriptor(NULL, 2, one, one, one, CUDNN_CONVOLUTION,
                                                 CUDNN_DATA_FLOAT));
    CALL("NULL", cudnnGetConvolution2dDescriptor(NULL, v, v, v, v, v, v, &mode, &type));
    CALL("NULL", cudnnGetConvolutionNdDescriptor(NULL, 2, v, v, v, v, &mode, &type));
    CALL("NULL", cudnnSetConvolutionGroupCount(NULL, 2));
    CALL("NULL", cudnnGetConvolutionGroupCount(NULL, v));
    CALL("NULL", cudnnSetConvolutionMathType(NULL, CUDNN_FMA_MATH));
    CALL("NULL", cudnnGetConvolutionMathType(NULL, &math));
    CALL("NULL", cudnnSetConvolutionReorderType(NULL, CUDNN_NO_REORDER));
    CALL("NULL", cudnnGetConvolutionReorderType(NULL, &reorder));
}

void call_convolutions(void)
{
    CALL("", cudnnCreateConvolutionDescriptor(&conv));
    get_2d("never set");
    get_nd("never set", 2);
    get_rest();
    CALL("before it is set", cudnnSetConvolutionGroupCount(conv, 4));
    get_rest();
    call_2d();
    get_rest();
    call_nd();
    call_rest();
    call_nulls();
    CALL("", cudnnDestroyConvolutionDescriptor(conv));
}
