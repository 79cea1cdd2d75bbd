/* cudnnConvolutionBiasActivationForward. */
#include "calls.h"
#include "execution.h"

static const problem base = {.arithmetic = CUDNN_DATA_FLOAT,
                             .math = CUDNN_FMA_MATH,
                             .axes = 2,
                             .n = 2,
                             .c = 8,
                             .k = 8,
                             .groups = 8,
                             .in = {9, 7},
                             .filter = {3, 3},
                             .pad = {1, 1},
                             .stride = {1, 1},
                             .dilation = {1, 1},
                             .mode = CUDNN_CROSS_CORRELATION,
                             .alpha = 1,
                             .fused = 1,
                             .activation = CUDNN_ACTIVATION_RELU,
                             .coefficient = 0.75};

void call_fused(void)
{
    static const double factors[][2] = {{1, 0}, {1, 1}, {0.5, -0.25}, {0, 1}, {0, 0}};
    static const cudnnDataType_t types[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16,
                                            CUDNN_DATA_DOUBLE};
    cudnnHandle_t handle;
    problem p = base;

    cudnnCreate(&handle);
    for (int mode = CUDNN_ACTIVATION_SIGMOID; mode <= CUDNN_ACTIVATION_SWISH; mode++) {
        p.activation = (cudnnActivationMode_t)mode;
        p.alpha2 = 1;
        p.algo = 0;
        execute("activations", &p, handle);
        p.algo = 1;
        execute("activations", &p, handle);
    }
    p = base;
    for (int z_is_y = 0; z_is_y <= 1; z_is_y++)
        for (unsigned i = 0; i < sizeof factors / sizeof factors[0]; i++) {
            p.alpha = factors[i][0];
            p.alpha2 = factors[i][1];
            p.z_is_y = z_is_y;
            p.activation = CUDNN_ACTIVATION_RELU;
            execute(z_is_y ? "z is y" : "factors", &p, handle);
            p.activation = CUDNN_ACTIVATION_IDENTITY;
            execute(z_is_y ? "z is y" : "factors", &p, handle);
        }
    for (int i = 0; i < 4; i++)
        for (int how = CHANNELS_FIRST; how <= CHANNELS_LAST; how++)
            for (int groups = 1; groups <= 8; groups *= 2) {
                p = base;
                p.type = types[i];
                p.arithmetic = types[i] == CUDNN_DATA_DOUBLE ? types[i] : CUDNN_DATA_FLOAT;
                p.alpha2 = 0.5;
                p.groups = groups;
                p.x = p.w = p.y = (order)how;
                execute("types and orders", &p, handle);
            }
    p = base;
    p.alpha2 = 1;
    p.x = p.y = WITH_GAPS;
    execute("gaps", &p, handle);
    p = base;
    p.axes = 3;
    p.in[2] = 5;
    p.filter[2] = p.stride[2] = p.dilation[2] = 1;
    execute("3 axes", &p, handle);
    cudnnDestroy(handle);
}
