/* All that is right: types, layouts, shapes, factors, in the three directions. */
#include "calls.h"
#include "execution.h"

static const cudnnDataType_t types[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16,
                                        CUDNN_DATA_DOUBLE};

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
                             .alpha = 1};

static cudnnHandle_t handle;

static void all_directions(const char *what, problem p)
{
    for (int dir = FORWARD; dir <= BACKWARD_FILTER; dir++) {
        p.dir = (direction)dir;
        execute(what, &p, handle);
    }
}

/* channels, groups */
static void channels(const char *what, int c, int k, int groups)
{
    problem p = base;
    p.c = c;
    p.k = k;
    p.groups = groups;
    all_directions(what, p);
}

static void call_types(void)
{
    for (int i = 0; i < 4; i++)
        for (int how = CHANNELS_FIRST; how <= CHANNELS_LAST; how++)
            for (int groups = 2; groups <= 8; groups += 6) {
                problem p = base;
                p.type = types[i];
                p.arithmetic = types[i] == CUDNN_DATA_DOUBLE ? types[i] : CUDNN_DATA_FLOAT;
                p.groups = groups;
                p.x = p.w = p.y = (order)how;
                all_directions("types and orders", p);
            }
    problem p = base;
    p.type = p.arithmetic = CUDNN_DATA_HALF;
    all_directions("half arithmetic", p);
}

static void call_orders(void)
{
    problem p = base;
    p.x = p.y = WITH_GAPS;
    all_directions("gaps in x and y", p);
    p.y = CHANNELS_FIRST;
    all_directions("gaps in x", p);
    p.x = CHANNELS_FIRST;
    p.y = CHANNELS_LAST;
    all_directions("x first, y last", p);
    p.x = p.y = CHANNELS_LAST;
    all_directions("w first, others last", p);
    p.x = p.y = CHANNELS_FIRST;
    p.w = CHANNELS_LAST;
    all_directions("w last, others first", p);
    p.w = CHANNELS_FIRST;
    p.x = p.y = TRANSPOSED;
    all_directions("transposed", p);
}

/* spatial: in, filter, pad, stride, dilation, each for two axes */
static void shape(const char *what, const int v[10])
{
    problem p = base;
    for (int i = 0; i < 2; i++) {
        p.in[i] = v[i];
        p.filter[i] = v[2 + i];
        p.pad[i] = v[4 + i];
        p.stride[i] = v[6 + i];
        p.dilation[i] = v[8 + i];
    }
    all_directions(what, p);
    p.groups = 2;
    p.type = CUDNN_DATA_HALF;
    p.x = p.w = p.y = CHANNELS_LAST;
    all_directions(what, p);
}

static void call_shapes(void)
{
    shape("stride 2", (int[]){9, 8, 3, 3, 1, 1, 2, 2, 1, 1});
    shape("stride 2, even filter", (int[]){9, 8, 2, 4, 0, 1, 2, 2, 1, 1});
    shape("dilation 2", (int[]){9, 8, 3, 3, 2, 2, 1, 1, 2, 2});
    shape("all uneven", (int[]){9, 11, 3, 2, 2, 0, 2, 1, 1, 3});
    shape("5 x 5", (int[]){7, 7, 5, 5, 2, 2, 1, 1, 1, 1});
    shape("7 x 7 wide pads", (int[]){5, 6, 7, 7, 6, 5, 1, 1, 1, 1});
    shape("1 x 1", (int[]){5, 6, 1, 1, 0, 0, 1, 1, 1, 1});
    shape("1 x 1, stride 3", (int[]){7, 7, 1, 1, 0, 0, 3, 3, 1, 1});
    shape("one axis as two", (int[]){1, 17, 1, 4, 0, 3, 1, 1, 1, 1});
    shape("filter as large as x", (int[]){5, 4, 5, 4, 0, 0, 1, 1, 1, 1});
    shape("some x never read", (int[]){8, 8, 2, 2, 0, 0, 3, 3, 1, 1});
    shape("pads beyond the filter", (int[]){3, 3, 2, 2, 4, 4, 2, 2, 1, 1});
}

static void call_groups(void)
{
    channels("one group", 4, 6, 1);
    channels("two groups", 6, 4, 2);
    channels("depthwise", 5, 5, 5);
    channels("depthwise with multiplier", 4, 12, 4);
    channels("many in, one out", 12, 4, 4);
    channels("32 channels a group", 64, 64, 2);
    channels("one channel", 1, 1, 1);
    problem p = base;
    p.n = 1;
    all_directions("one image", p);
    p.n = 5;
    all_directions("five images", p);
    p = base;
    p.mode = CUDNN_CONVOLUTION;
    all_directions("flipped", p);
    p.type = CUDNN_DATA_HALF;
    p.x = p.w = p.y = CHANNELS_LAST;
    p.groups = 2;
    all_directions("flipped", p);
}

static void call_factors(void)
{
    static const double factors[][2] = {{0.5, 0}, {1, 1},  {-2, 0.25}, {0, 0},
                                        {0, 1},   {1, -1}, {1e-3, 3},  {1.1, 0.3}};
    for (unsigned i = 0; i < sizeof factors / sizeof factors[0]; i++)
        for (int wide = 0; wide <= 1; wide++) {
            problem p = base;
            p.alpha = (float)factors[i][0];
            p.beta = (float)factors[i][1];
            if (wide) {
                p.type = p.arithmetic = CUDNN_DATA_DOUBLE;
                p.alpha = factors[i][0];
                p.beta = factors[i][1];
            }
            all_directions("factors", p);
        }
    problem p = base;
    p.type = CUDNN_DATA_HALF;
    p.beta = 1;
    p.x = p.w = p.y = CHANNELS_LAST;
    all_directions("beta of half", p);
    p = base;
    p.x = p.y = WITH_GAPS;
    p.beta = 0.5;
    all_directions("beta with gaps", p);
}

static void call_math(void)
{
    for (int math = CUDNN_DEFAULT_MATH; math <= CUDNN_FMA_MATH; math++)
        for (int i = 0; i < 4; i++) {
            problem p = base;
            p.groups = 2;
            p.math = (cudnnMathType_t)math;
            p.type = types[i];
            p.arithmetic = types[i] == CUDNN_DATA_DOUBLE ? types[i] : CUDNN_DATA_FLOAT;
            all_directions("math types", p);
        }
}

static void call_algorithm_numbers(void)
{
    for (int groups = 1; groups <= 2; groups++)
        for (int algo = -1; algo <= 8; algo++) {
            problem p = base;
            p.groups = groups;
            p.algo = algo;
            all_directions("algorithms", p);
        }
}

static void call_3d(void)
{
    problem p = base;
    p.axes = 3;
    for (int i = 0; i < 3; i++) {
        p.in[i] = 6 - i;
        p.filter[i] = 3;
        p.pad[i] = i;
        p.stride[i] = i == 1 ? 2 : 1;
        p.dilation[i] = i == 2 ? 2 : 1;
    }
    all_directions("3 axes", p);
    p.groups = 2;
    all_directions("3 axes", p);
    p.x = p.w = p.y = CHANNELS_LAST;
    p.type = CUDNN_DATA_BFLOAT16;
    all_directions("3 axes", p);
}

/* Where groups in the descriptor and channels of the filter do not agree. */
static void call_said_groups(void)
{
    static const int said[] = {1, 3, 4, 8, 2147483647};
    for (int groups = 1; groups <= 2; groups++)
        for (unsigned i = 0; i < sizeof said / sizeof said[0]; i++) {
            problem p = base;
            p.groups = groups;
            p.said_groups = said[i];
            all_directions("another number of groups in the descriptor", p);
        }
}

void call_right(void)
{
    cudnnCreate(&handle);
    call_types();
    call_orders();
    call_shapes();
    call_groups();
    call_factors();
    call_math();
    call_algorithm_numbers();
    call_3d();
    call_said_groups();
    problem p = base;
    p.special = 1;
    p.dir = FORWARD;
    execute("infinity and NaN in x", &p, handle);
    p.dir = BACKWARD_FILTER;
    execute("infinity and NaN in x", &p, handle);
    p.groups = 2;
    p.type = CUDNN_DATA_HALF;
    p.x = p.w = p.y = CHANNELS_LAST;
    p.dir = FORWARD;
    execute("infinity and NaN in x", &p, handle);
    p.dir = BACKWARD_FILTER;
    execute("infinity and NaN in x", &p, handle);
    cudnnDestroy(handle);
}
