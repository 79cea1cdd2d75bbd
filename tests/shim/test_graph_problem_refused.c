/* graph_problem: what is no problem of ours, and the reason given. */
#include "graph_problem.h"
#include "graphs.h"
#include "unit.h"
#include <float.h>
#include <math.h>

enum { MULTIPLY = 1, SIGMOID = 103 }; /* cudnnPointwiseMode_t */

/* Reads `base` after the change to `g`; `op` is its convolution. */
#define REFUSED(why, base, ...)                                                                    \
    do {                                                                                           \
        gdnn_graph g = base;                                                                       \
        gdnn_graph_node *op = &g.node[0];                                                          \
        gdnn_graph_problem problem;                                                                \
        __VA_ARGS__;                                                                               \
        (void)op;                                                                                  \
        gdnn_reason reason = gdnn_graph_problem_read(&g, &problem);                                \
        if (reason != GDNN_REASON_##why)                                                           \
            fail_msg("%s: %s instead of %s", #__VA_ARGS__, gdnn_reason_name(reason), #why);        \
    } while (0)

static gdnn_graph alone(void)
{
    return graph_single(graph_convolve(
        GDNN_GRAPH_FORWARD, graph_tensor('x', CUDNN_DATA_HALF, "2 8 6 6", "288 36 6 1"),
        graph_tensor('w', CUDNN_DATA_HALF, "4 2 3 3", "18 9 3 1"),
        graph_tensor('y', CUDNN_DATA_HALF, "2 4 6 6", "144 36 6 1"),
        graph_convolution(CUDNN_DATA_FLOAT, "1 1", "1 1", "1 1", "1 1")));
}

static gdnn_graph grouped(void)
{
    gdnn_graph graph = alone();
    graph.node[0].x = graph_tensor('x', CUDNN_DATA_HALF, "2 4 2 6 6", "288 72 36 6 1");
    graph.node[0].w = graph_tensor('w', CUDNN_DATA_HALF, "4 1 2 3 3", "18 18 9 3 1");
    graph.node[0].y = graph_tensor('y', CUDNN_DATA_HALF, "2 4 1 6 6", "144 36 36 6 1");
    return graph;
}

static gdnn_graph fused(void)
{
    return graph_pytorch_fused(0.5);
}

static void the_bases_are_read(void **state)
{
    (void)state;
    REFUSED(TAKEN, alone(), (void)0);
    REFUSED(TAKEN, grouped(), (void)0);
    REFUSED(TAKEN, fused(), (void)0);
}

static void swap(gdnn_graph_tensor *a, gdnn_graph_tensor *b)
{
    gdnn_graph_tensor kept = *a;
    *a = *b;
    *b = kept;
}

static void refuses_one_group(void **state)
{
    (void)state;
    REFUSED(NOT_GROUPED, alone(),
            op->w = graph_tensor('w', CUDNN_DATA_HALF, "4 8 3 3", "72 9 3 1"));
    REFUSED(NOT_GROUPED, alone(), op->w.size[1] = 8; op->x.type = CUDNN_DATA_INT8);
    REFUSED(NOT_GROUPED, fused(), op->w.size[1] = 16; g.node[3].pointwise.mode = SIGMOID);
    REFUSED(NOT_GROUPED, grouped(), op->x.size[1] = op->w.size[0] = op->y.size[1] = 1);
    REFUSED(NOT_GROUPED, grouped(), op->x.size[1] = op->w.size[0] = op->y.size[1] = 1;
            op->x.stride[1] = 5);
}

/* Else as above: what is wrong besides is still found. */
static void one_group_is_read_where_it_may_be(void **state)
{
    gdnn_graph_problem problem;
    gdnn_graph graph = alone();
    (void)state;
    graph.node[0].w = graph_tensor('w', CUDNN_DATA_HALF, "4 8 3 3", "72 9 3 1");
    assert_int_equal(gdnn_graph_problem_any(&graph, &problem), GDNN_REASON_TAKEN);
    assert_int_equal(problem.conv.groups, 1);
    assert_int_equal(problem.conv.c, 8);
    assert_int_equal(problem.w, 'w');
    graph.node[0].x.type = CUDNN_DATA_INT8;
    assert_int_equal(gdnn_graph_problem_any(&graph, &problem), GDNN_REASON_TYPE);
    graph = alone();
    assert_int_equal(gdnn_graph_problem_any(&graph, &problem), GDNN_REASON_TAKEN);
    assert_int_equal(problem.conv.groups, 4);
}

static void refuses_types(void **state)
{
    (void)state;
    REFUSED(TYPE, alone(), op->x.type = op->w.type = op->y.type = CUDNN_DATA_INT8);
    REFUSED(TYPE, alone(), op->x.type = -1);
    REFUSED(TYPE, alone(), op->x.type = CUDNN_DATA_FLOAT);
    REFUSED(TYPE, alone(), op->w.type = CUDNN_DATA_BFLOAT16);
    REFUSED(TYPE, alone(), op->y.type = CUDNN_DATA_FLOAT);
    REFUSED(TYPE, alone(), op->convolution.type = CUDNN_DATA_BFLOAT16);
    REFUSED(TYPE, alone(), op->convolution.type = CUDNN_DATA_INT32);
    REFUSED(TYPE, alone(), op->x.type = op->w.type = op->y.type = CUDNN_DATA_DOUBLE);
    REFUSED(TYPE, fused(), op->y.type = g.node[1].x.type = CUDNN_DATA_BFLOAT16);
    REFUSED(TYPE, fused(), op->y.type = g.node[1].x.type = CUDNN_DATA_DOUBLE);
    REFUSED(TYPE, fused(), g.node[1].pointwise.type = CUDNN_DATA_HALF);
    REFUSED(TYPE, fused(), g.node[3].pointwise.type = CUDNN_DATA_DOUBLE);
    REFUSED(TYPE, fused(), g.node[1].b.type = CUDNN_DATA_FLOAT);
    REFUSED(TYPE, fused(), g.node[2].b.type = CUDNN_DATA_FLOAT);
    REFUSED(TYPE, fused(), g.node[3].y.type = CUDNN_DATA_FLOAT);
}

static void refuses_formats(void **state)
{
    (void)state;
    REFUSED(FORMAT, alone(), op->x.vector_count = 4);
    REFUSED(FORMAT, alone(), op->w.reordering = 1);
    REFUSED(FORMAT, alone(), op->y.by_value = true);
    REFUSED(FORMAT, alone(), op->convolution.spatial = 0);
    REFUSED(FORMAT, alone(), op->convolution.spatial = 4);
    REFUSED(FORMAT, alone(), op->convolution.spatial = INT64_MAX);
    REFUSED(FORMAT, grouped(), op->x.stride[1] = 73);
    REFUSED(FORMAT, grouped(), op->x.stride[2] = INT64_MAX);
    REFUSED(FORMAT, fused(), g.node[1].b.by_value = true);
    REFUSED(FORMAT, fused(), g.node[2].b.stride[1] = 2);
    REFUSED(FORMAT, fused(), g.node[3].y.reordering = 2);
}

static void refuses_sizes(void **state)
{
    (void)state;
    REFUSED(INVALID, alone(), op->x.dims = 3);
    REFUSED(INVALID, alone(), op->x.dims = op->x.strides = 3);
    REFUSED(INVALID, alone(), op->x.dims = op->x.strides = 6);
    REFUSED(INVALID, alone(), op->x.dims = op->x.strides = INT64_MIN);
    REFUSED(INVALID, grouped(), op->x.dims = op->x.strides = 6; op->x.size[5] = 1);
    REFUSED(INVALID, alone(),
            op->w = graph_tensor('w', CUDNN_DATA_HALF, "2 2 2 3 3", "36 18 9 3 1"));
    REFUSED(INVALID, alone(), op->convolution.pad[0] = -1; op->convolution.pad_after[0] = 3);
    REFUSED(INVALID, alone(), op->convolution.pad[0] = 3; op->convolution.pad_after[0] = -1);

    REFUSED(INVALID, alone(), op->w.strides = 0);
    REFUSED(INVALID, alone(), op->x.size[0] = 0);
    REFUSED(INVALID, alone(), op->x.size[0] = -2);
    REFUSED(INVALID, alone(), op->x.size[1] = 1);
    REFUSED(INVALID, alone(), op->x.size[1] = 9);
    REFUSED(INVALID, alone(), op->w.size[1] = INT64_MAX);
    REFUSED(INVALID, alone(), op->x.stride[3] = -1);
    REFUSED(INVALID, alone(), op->w.size[0] = op->y.size[1] = 6);
    REFUSED(INVALID, alone(), op->y.size[0] = 3);
    REFUSED(INVALID, alone(), op->y.size[1] = 8);
    REFUSED(INVALID, alone(), op->y.size[3] = 5);
    REFUSED(INVALID, alone(), op->convolution.pads = 1);
    REFUSED(INVALID, alone(), op->convolution.pads_after = 3);
    REFUSED(INVALID, alone(), op->convolution.strides = 0);
    REFUSED(INVALID, alone(), op->convolution.dilations = 0);
    REFUSED(INVALID, alone(), op->convolution.pad[1] = -1);
    REFUSED(INVALID, alone(), op->convolution.pad_after[0] = -1);
    REFUSED(INVALID, alone(), op->convolution.stride[0] = 0);
    REFUSED(INVALID, alone(), op->convolution.dilation[1] = 0);
    REFUSED(INVALID, alone(), op->convolution.pad[1] = INT64_MAX);
    REFUSED(INVALID, alone(), op->convolution.mode = 2);
    REFUSED(INVALID, grouped(),
            op->x = graph_tensor('x', CUDNN_DATA_HALF, "2 2 4 6 6", "288 144 36 6 1"));
    REFUSED(INVALID, grouped(),
            op->y = graph_tensor('y', CUDNN_DATA_HALF, "2 2 2 6 6", "144 72 36 6 1"));
    REFUSED(INVALID, grouped(), op->x.size[1] = op->x.size[2] = INT64_MAX);
    REFUSED(INVALID, fused(), op->y.size[0] = g.node[1].x.size[0] = 1);
    REFUSED(INVALID, fused(), g.node[3].y.size[0] = 1);
    REFUSED(INVALID, fused(), g.node[2].b.stride[0] = -1);
}

static void refuses_activations(void **state)
{
    (void)state;
    REFUSED(ACTIVATION, fused(), g.node[3].pointwise.mode = SIGMOID);
    REFUSED(ACTIVATION, fused(), g.node[1].pointwise.mode = MULTIPLY);
    REFUSED(ACTIVATION, fused(), g.node[3].pointwise.upper_clip = 6);
    REFUSED(ACTIVATION, fused(), g.node[3].pointwise.upper_clip = (double)NAN);
    REFUSED(ACTIVATION, fused(), g.node[3].pointwise.lower_clip = 0.5);
    REFUSED(ACTIVATION, fused(), g.node[3].pointwise.lower_clip = (double)NAN);
    REFUSED(ACTIVATION, fused(), g.node[3].pointwise.lower_slope = 0.01);
    REFUSED(TAKEN, fused(), g.node[3].pointwise.upper_clip = (double)FLT_MAX);
}

static void wide_relu_has_no_clip_in_double(void **state)
{
    (void)state;
    gdnn_conv conv;
    gdnn_conv_parse("dir=fwd dtype=f64 n=2 c=4 in=4 k=4 filter=1 groups=2 act=relu", &conv);
    gdnn_graph graph = graph_of(&conv, (graph_style){.virtual_type = CUDNN_DATA_DOUBLE});
    REFUSED(TAKEN, graph, g.node[1].pointwise.upper_clip = DBL_MAX);
    REFUSED(ACTIVATION, graph, g.node[1].pointwise.upper_clip = (double)FLT_MAX);
}

static void refuses_what_is_not_known(void **state)
{
    (void)state;
    REFUSED(GRAPH, alone(), g.unknown = true);
    REFUSED(GRAPH, alone(), op->unknown = true);
    REFUSED(GRAPH, alone(), op->convolution.unknown = true);
    REFUSED(GRAPH, alone(), op->x.unknown = true);
    REFUSED(GRAPH, alone(), op->w.unknown = true);
    REFUSED(GRAPH, alone(), op->y.unknown = true);
    REFUSED(GRAPH, fused(), g.node[1].b.unknown = true);
    REFUSED(GRAPH, fused(), g.node[2].pointwise.unknown = true);
    REFUSED(GRAPH, alone(), op->x.unknown = true; op->w.size[1] = 8);
    REFUSED(GRAPH, alone(), op->kind = GDNN_GRAPH_OTHER);
    REFUSED(GRAPH, alone(), op->kind = GDNN_GRAPH_POINTWISE);
    REFUSED(GRAPH, alone(), op->has_x = false);
    REFUSED(GRAPH, alone(), op->has_w = false);
    REFUSED(GRAPH, alone(), op->has_y = false);
    REFUSED(TAKEN, alone(), op->b.unknown = op->pointwise.unknown = true);
}

static void refuses_other_graphs(void **state)
{
    (void)state;
    REFUSED(GRAPH, alone(), g.nodes = 0);
    REFUSED(GRAPH, alone(), g.nodes = -1);
    REFUSED(GRAPH, alone(), g.nodes = GDNN_GRAPH_NODES + 1);
    REFUSED(GRAPH, alone(), g.nodes = INT64_MAX);
    REFUSED(GRAPH, alone(), op->x.is_virtual = true);
    REFUSED(GRAPH, alone(), op->w.is_virtual = true);
    REFUSED(GRAPH, alone(), op->y.is_virtual = true);
    REFUSED(GRAPH, alone(), op->w.uid = 'x');
    REFUSED(GRAPH, alone(), op->y.uid = 'w');
    REFUSED(GRAPH, alone(), g.nodes = 2; g.node[1] = g.node[0]);

    REFUSED(GRAPH, fused(), g.nodes = 3);
    REFUSED(GRAPH, fused(), g.nodes = GDNN_GRAPH_NODES + 1; /* all that is kept is right */
            for (int i = 4; i < GDNN_GRAPH_NODES; i++) g.node[i] = g.node[3]);
    REFUSED(GRAPH, fused(), g.node[4] = g.node[3]; g.nodes = 5);
    REFUSED(GRAPH, fused(), op->kind = GDNN_GRAPH_BWD_DATA);
    REFUSED(GRAPH, fused(), op->kind = GDNN_GRAPH_BWD_FILTER);
    REFUSED(GRAPH, fused(), op->beta = 1);
    REFUSED(GRAPH, fused(), op->y.is_virtual = false; op->y.type = CUDNN_DATA_HALF);
    REFUSED(GRAPH, fused(), g.node[1].x.is_virtual = false);
    REFUSED(GRAPH, fused(), g.node[1].x.type = CUDNN_DATA_HALF);
    REFUSED(GRAPH, fused(), g.node[1].x.size[3] = 1);
    REFUSED(GRAPH, fused(), g.node[1].x.uid = 'Q');
    REFUSED(GRAPH, fused(), g.node[1].b.uid = 'x');
    REFUSED(GRAPH, fused(), g.node[1].b = g.node[1].x);
    REFUSED(GRAPH, fused(), g.node[1].b.is_virtual = true);
    REFUSED(GRAPH, fused(), g.node[1].has_b = false);
    REFUSED(GRAPH, fused(), g.node[1].has_w = true);
    REFUSED(GRAPH, fused(), g.node[3].has_y = false);
    REFUSED(GRAPH, fused(), g.node[3].y.is_virtual = true);
    REFUSED(GRAPH, fused(), g.node[3].y.uid = 'z');
    REFUSED(GRAPH, fused(), g.node[3].x.uid = 'A'); /* read twice, and 'B' never */
    REFUSED(GRAPH, fused(), g.node[2].y.uid = 'C';  /* a loop */
            g.node[3].x.uid = 'C');
    REFUSED(GRAPH, fused(), g.node[3].has_b = true; g.node[3].b = g.node[2].b);
    REFUSED(GRAPH, fused(), g.node[3].alpha = 2);
    REFUSED(GRAPH, fused(), g.node[1].b.size[0] = 1); /* broadcast */
    REFUSED(GRAPH, fused(), g.node[2].b.size[1] = 1);
    REFUSED(GRAPH, fused(), g.node[2].beta = 2);  /* a factor of the bias */
    REFUSED(GRAPH, fused(), g.node[2].alpha = 2); /* of alpha2, which is not 1 */
    REFUSED(GRAPH, fused(), g.node[1].alpha = 0);
    REFUSED(GRAPH, fused(), op->alpha = 3; g.node[1].alpha = 3);
    REFUSED(GRAPH, fused(), g.node[2].b = g.node[1].b; g.node[2].b.uid = 'q'); /* z twice */
    REFUSED(GRAPH, fused(), g.node[1].b = g.node[2].b; g.node[1].b.uid = 'q';  /* bias twice */
            g.node[1].beta = 1);
    REFUSED(GRAPH, fused(), g.node[2].kind = GDNN_GRAPH_OTHER);
    REFUSED(GRAPH, fused(), op->y.is_virtual = false;
            op->y.type = g.node[1].x.type = CUDNN_DATA_HALF);
    REFUSED(GRAPH, fused(), g.node[1].x.dims = 5);
    REFUSED(GRAPH, fused(),
            g.node[2].b = graph_tensor('b', CUDNN_DATA_HALF, "1 2 4 1 1", "8 4 1 1 1"));
    REFUSED(GRAPH, fused(), swap(&g.node[1].x, &g.node[1].b); g.node[1].has_x = false);
    /* the bias before z, relu before a bias, two relu */
    REFUSED(GRAPH, fused(), swap(&g.node[1].b, &g.node[2].b); g.node[1].beta = 1);
    REFUSED(GRAPH, fused(), swap(&g.node[3].x, &g.node[2].x); swap(&g.node[3].y, &g.node[2].y);
            swap(&g.node[3].x, &g.node[2].y));
    REFUSED(GRAPH, fused(), g.node[4] = g.node[3]; g.node[3].y = g.node[3].x; g.node[3].y.uid = 'R';
            g.node[4].x = g.node[3].y; g.nodes = 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bases_are_read),
        cmocka_unit_test(refuses_one_group),
        cmocka_unit_test(one_group_is_read_where_it_may_be),
        cmocka_unit_test(refuses_types),
        cmocka_unit_test(refuses_formats),
        cmocka_unit_test(refuses_sizes),
        cmocka_unit_test(refuses_activations),
        cmocka_unit_test(wide_relu_has_no_clip_in_double),
        cmocka_unit_test(refuses_what_is_not_known),
        cmocka_unit_test(refuses_other_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
