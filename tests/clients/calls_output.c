/* Sizes of a forward output. */
#include "calls.h"
#include "report.h"

static cudnnTensorDescriptor_t x;
static cudnnFilterDescriptor_t w;
static cudnnConvolutionDescriptor_t conv;

static void ask(const char *what, int asked)
{
    int n = -77, c = -77, h = -77, width = -77, d[9];
    for (int i = 0; i < 9; i++)
        d[i] = -77;
    CALL(what, cudnnGetConvolution2dForwardOutputDim(conv, x, w, &n, &c, &h, &width));
    show("%d,%d,%d,%d", n, c, h, width);
    CALL(what, cudnnGetConvolutionNdForwardOutputDim(conv, x, w, asked, d));
    show("asked=%d", asked);
    show_ints("dims", d, 8);
}

/* Sets everything from sizes in pairs: x, w, pad, stride, dilation. */
static void sizes(const char *what, int c, const int in[2], int k, int cpg, const int f[2],
                  const int p[2], const int s[2], const int d[2])
{
    cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, c, in[0], in[1]);
    cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, k, cpg, f[0], f[1]);
    cudnnSetConvolution2dDescriptor(conv, p[0], p[1], s[0], s[1], d[0], d[1],
                                    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    ask(what, 4);
}

static void call_2d(void)
{
    static const int one[2] = {1, 1}, two[2] = {2, 2}, none[2] = {0, 0}, three[2] = {3, 3},
                     in[2] = {9, 7};
    cudnnSetConvolutionGroupCount(conv, 2);
    sizes("same size", 8, in, 12, 4, three, one, one, one);
    sizes("stride 2", 8, in, 12, 4, three, one, two, one);
    sizes("dilation 2", 8, in, 12, 4, three, none, one, two);
    sizes("asymmetric", 8, in, 12, 4, (const int[]){1, 5}, (const int[]){0, 2}, (const int[]){3, 1},
          (const int[]){1, 2});
    sizes("one output", 8, in, 12, 4, in, none, one, one);
    sizes("filter too large", 8, in, 12, 4, (const int[]){10, 7}, none, one, one);
    sizes("filter much too large", 8, in, 12, 4, (const int[]){40, 40}, none, one, one);
    sizes("wide pads", 8, in, 12, 4, three, (const int[]){7, 9}, one, one);
    sizes("K no multiple of the groups", 8, in, 7, 4, three, one, one, one);
    sizes("filter has another C", 8, in, 12, 3, three, one, one, one);
    sizes("filter has all of C", 8, in, 12, 8, three, one, one, one);
    sizes("filter has more than C", 8, in, 12, 16, three, one, one, one);
    cudnnSetConvolutionGroupCount(conv, 1);
    sizes("one group, filter has half of C", 8, in, 12, 4, three, one, one, one);
    sizes("one group, filter has a third of C", 9, in, 12, 3, three, one, one, one);
    cudnnSetConvolutionGroupCount(conv, 3);
    sizes("C no multiple of the groups", 8, in, 12, 4, three, one, one, one);
}

static void call_nd(void)
{
    static const int xs[] = {2, 8, 9, 7, 5, 4}, ws[] = {12, 4, 3, 3, 3, 3}, one[] = {1, 1, 1, 1};
    cudnnSetConvolutionGroupCount(conv, 2);
    for (int axes = 1; axes <= 4; axes++) {
        cudnnSetTensorNdDescriptorEx(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, axes + 2, xs);
        cudnnSetFilterNdDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, axes + 2, ws);
        for (int of_conv = 1; of_conv <= 3; of_conv++) {
            cudnnSetConvolutionNdDescriptor(conv, of_conv, one, one, one, CUDNN_CROSS_CORRELATION,
                                            CUDNN_DATA_FLOAT);
            ask("axes", axes + 2);
            show("x %d, convolution %d", axes, of_conv);
        }
    }
    cudnnSetTensorNdDescriptorEx(x, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 5, xs);
    cudnnSetFilterNdDescriptor(w, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, 5, ws);
    for (int asked = -1; asked <= 8; asked++)
        ask("each number of axes", asked);
    cudnnSetFilterNdDescriptor(w, CUDNN_DATA_DOUBLE, CUDNN_TENSOR_NHWC, 5, ws);
    ask("types differ", 5);
    cudnnSetFilterNdDescriptor(w, CUDNN_DATA_HALF, CUDNN_TENSOR_NCHW, 4, ws);
    ask("axes differ", 5);
}

static void call_vectors(void)
{
    cudnnSetConvolutionGroupCount(conv, 1);
    cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                    CUDNN_DATA_INT32);
    cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 2, 8, 5, 5);
    cudnnSetFilter4dDescriptor(w, CUDNN_DATA_INT8x4, CUDNN_TENSOR_NCHW_VECT_C, 4, 8, 3, 3);
    ask("vectors of 4", 4);
    cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NHWC, CUDNN_DATA_INT8, 2, 8, 5, 5);
    cudnnSetFilter4dDescriptor(w, CUDNN_DATA_INT8, CUDNN_TENSOR_NHWC, 4, 8, 3, 3);
    ask("bytes", 4);
}

static void call_unset(void)
{
    cudnnTensorDescriptor_t no_x;
    cudnnFilterDescriptor_t no_w;
    cudnnConvolutionDescriptor_t no_conv;
    int v[4];

    cudnnCreateTensorDescriptor(&no_x);
    cudnnCreateFilterDescriptor(&no_w);
    cudnnCreateConvolutionDescriptor(&no_conv);
    cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 5, 5);
    cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, 8, 3, 3);
    CALL("x never set", cudnnGetConvolution2dForwardOutputDim(conv, no_x, w, v, v, v, v));
    CALL("w never set", cudnnGetConvolution2dForwardOutputDim(conv, x, no_w, v, v, v, v));
    CALL("never set", cudnnGetConvolution2dForwardOutputDim(no_conv, x, w, v, v, v, v));
    CALL("x never set", cudnnGetConvolutionNdForwardOutputDim(conv, no_x, w, 4, v));
    CALL("w never set", cudnnGetConvolutionNdForwardOutputDim(conv, x, no_w, 4, v));
    CALL("never set", cudnnGetConvolutionNdForwardOutputDim(no_conv, x, w, 4, v));
    CALL("NULL", cudnnGetConvolution2dForwardOutputDim(NULL, x, w, v, v, v, v));
    CALL("x NULL", cudnnGetConvolution2dForwardOutputDim(conv, NULL, w, v, v, v, v));
    CALL("w NULL", cudnnGetConvolution2dForwardOutputDim(conv, x, NULL, v, v, v, v));
    CALL("NULL", cudnnGetConvolutionNdForwardOutputDim(NULL, x, w, 4, v));
    CALL("x NULL", cudnnGetConvolutionNdForwardOutputDim(conv, NULL, w, 4, v));
    CALL("w NULL", cudnnGetConvolutionNdForwardOutputDim(conv, x, NULL, 4, v));
    cudnnDestroyTensorDescriptor(no_x);
    cudnnDestroyFilterDescriptor(no_w);
    cudnnDestroyConvolutionDescriptor(no_conv);
}

void call_outputs(void)
{
    cudnnCreateTensorDescriptor(&x);
    cudnnCreateFilterDescriptor(&w);
    cudnnCreateConvolutionDescriptor(&conv);
    call_2d();
    call_nd();
    call_vectors();
    call_unset();
    cudnnDestroyTensorDescriptor(x);
    cudnnDestroyFilterDescriptor(w);
    cudnnDestroyConvolutionDescriptor(conv);
}
