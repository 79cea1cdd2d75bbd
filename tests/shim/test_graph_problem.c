/* graph_problem: operation graphs as problems. What a graph means is said in the text form. */
#include "graph_problem.h"
#include "graphs.h"
#include "unit.h"

static gdnn_graph_problem reads_as(const gdnn_graph *graph, const char *text)
{
    gdnn_graph_problem problem = graph_read(graph);
    gdnn_conv wanted;
    if (gdnn_conv_parse(text, &wanted) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    assert_same_problem(&problem.conv, &wanted);
    assert_int_equal(gdnn_check(&problem.conv), GDNN_OK);
    return problem;
}

/* --- PyTorch: unique ids are letters, strides of axes of size 1 are fixed. --- */

static void reads_pytorch_in_all_directions(void **state)
{
    (void)state;
    static const struct {
        gdnn_graph_kind kind;
        const char *dir;
    } rows[] = {{GDNN_GRAPH_FORWARD, "fwd"},
                {GDNN_GRAPH_BWD_DATA, "bwd_data"},
                {GDNN_GRAPH_BWD_FILTER, "bwd_filter"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[256];
        gdnn_graph graph = graph_single(graph_convolve(
            rows[i].kind, graph_tensor('x', CUDNN_DATA_FLOAT, "8 64 56 40", "143360 2240 40 1"),
            graph_tensor('w', CUDNN_DATA_FLOAT, "128 16 3 3", "144 9 3 1"),
            graph_tensor('y', CUDNN_DATA_FLOAT, "8 128 28 20", "71680 560 20 1"),
            graph_convolution(CUDNN_DATA_FLOAT, "1 1", "1 1", "2 2", "1 1")));
        snprintf(text, sizeof text,
                 "dir=%s dtype=f32 math=tf32 n=8 c=64 in=56x40 k=128 filter=3x3 pad=1 stride=2 "
                 "groups=4",
                 rows[i].dir);
        gdnn_graph_problem problem = reads_as(&graph, text);
        assert_int_equal(problem.x, 'x');
        assert_int_equal(problem.w, 'w');
        assert_int_equal(problem.y, 'y');
        assert_int_equal(problem.z, 0);
        assert_int_equal(problem.bias, 0);
    }
}

static void reads_pytorch_channels_last_depthwise(void **state)
{
    (void)state;
    gdnn_graph graph = graph_single(graph_convolve(
        GDNN_GRAPH_FORWARD, graph_tensor('x', CUDNN_DATA_HALF, "2 32 14 14", "6272 1 448 32"),
        graph_tensor('w', CUDNN_DATA_HALF, "32 1 3 3", "9 1 3 1"),
        graph_tensor('y', CUDNN_DATA_HALF, "2 32 14 14", "6272 1 448 32"),
        graph_convolution(CUDNN_DATA_FLOAT, "1 1", "1 1", "1 1", "1 1")));
    reads_as(&graph,
             "dir=fwd dtype=f16 layout=nhwc n=2 c=32 in=14x14 k=32 filter=3x3 pad=1 groups=32");
}

static void reads_pytorch_1d_as_2d(void **state)
{
    (void)state;
    gdnn_graph graph = graph_single(
        graph_convolve(GDNN_GRAPH_BWD_FILTER,
                       graph_tensor('x', CUDNN_DATA_BFLOAT16, "1 48 1 100", "4800 100 100 1"),
                       graph_tensor('w', CUDNN_DATA_BFLOAT16, "48 2 1 5", "10 5 5 1"),
                       graph_tensor('y', CUDNN_DATA_BFLOAT16, "1 48 1 92", "4416 92 92 1"),
                       graph_convolution(CUDNN_DATA_FLOAT, "0 0", "0 0", "1 1", "1 2")));
    reads_as(&graph, "dir=bwd_filter dtype=bf16 n=1 c=48 in=1x100 k=48 filter=1x5 dilation=1x2 "
                     "groups=24");
}

static void reads_pytorch_3d_double(void **state)
{
    (void)state;
    gdnn_graph graph = graph_single(graph_convolve(
        GDNN_GRAPH_BWD_DATA, graph_tensor('x', CUDNN_DATA_DOUBLE, "2 6 4 5 6", "720 120 30 6 1"),
        graph_tensor('w', CUDNN_DATA_DOUBLE, "9 2 1 2 3", "12 6 6 3 1"),
        graph_tensor('y', CUDNN_DATA_DOUBLE, "2 9 4 4 4", "576 64 16 4 1"),
        graph_convolution(CUDNN_DATA_DOUBLE, "0 0 0", "0 0 0", "1 1 1", "1 1 1")));
    reads_as(&graph, "dir=bwd_data dtype=f64 acc=f64 n=2 c=6 in=4x5x6 k=9 filter=1x2x3 groups=3");
}

static void reads_graph_pytorch_fused(void **state)
{
    (void)state;
    gdnn_graph graph = graph_pytorch_fused(0.5);
    gdnn_graph_problem problem =
        reads_as(&graph, "dir=fwd dtype=f16 layout=nhwc n=2 c=16 in=5x5 k=8 filter=1x1 groups=4 "
                         "z=1 alpha2=0.5 bias=1 act=relu");
    assert_int_equal(problem.x, 'x');
    assert_int_equal(problem.w, 'w');
    assert_int_equal(problem.y, 'y');
    assert_int_equal(problem.z, 'z');
    assert_int_equal(problem.bias, 'b');
    graph = graph_pytorch_fused(0);
    reads_as(&graph, "dir=fwd dtype=f16 layout=nhwc n=2 c=16 in=5x5 k=8 filter=1x1 groups=4 "
                     "z=1 alpha2=0 bias=1 act=relu");
}

/* Programs may count from 0, which is also the id of tensors that an operation does not have. */
static void reads_an_id_of_zero_in_any_order(void **state)
{
    (void)state;
    gdnn_graph graph = graph_pytorch_fused(0.5), other = graph;
    graph.node[0].y.uid = graph.node[1].x.uid = 0;
    for (int i = 0; i < 4; i++)
        other.node[i] = graph.node[3 - i];
    reads_as(&other, "dir=fwd dtype=f16 layout=nhwc n=2 c=16 in=5x5 k=8 filter=1x1 groups=4 "
                     "z=1 alpha2=0.5 bias=1 act=relu");
}

/* --- XLA: either mode, factors in the first add, parts that are not needed left out. --- */

static gdnn_graph xla(bool side_input)
{
    gdnn_graph graph = {0};
    gdnn_graph_tensor conv = graph_virtual('C', CUDNN_DATA_FLOAT, "4 6 7 7"), add = conv,
                      bias = conv;
    add.uid = 'A';
    bias.uid = 'B';
    gdnn_graph_node node = graph_convolve(
        GDNN_GRAPH_FORWARD, graph_tensor('x', CUDNN_DATA_FLOAT, "4 4 7 7", "196 49 7 1"),
        graph_tensor('w', CUDNN_DATA_FLOAT, "6 2 3 3", "18 9 3 1"), conv,
        graph_convolution(CUDNN_DATA_FLOAT, "1 1", "1 1", "1 1", "1 1"));
    node.convolution.mode = CUDNN_CONVOLUTION;
    graph_append(&graph, node);
    if (side_input)
        graph_append(&graph,
                     graph_add(3, conv, 0.25,
                               graph_tensor('z', CUDNN_DATA_FLOAT, "4 6 7 7", "294 49 7 1"), add));
    graph_append(&graph,
                 graph_add(side_input ? 1 : 3, side_input ? add : conv, 1,
                           graph_tensor('b', CUDNN_DATA_FLOAT, "1 6 1 1", "6 1 1 1"), bias));
    graph_append(&graph,
                 graph_relu(bias, graph_tensor('y', CUDNN_DATA_FLOAT, "4 6 7 7", "294 49 7 1")));
    return graph;
}

static void reads_xla(void **state)
{
    (void)state;
    gdnn_graph graph = xla(true);
    reads_as(&graph, "dir=fwd dtype=f32 math=tf32 mode=conv n=4 c=4 in=7x7 k=6 filter=3x3 pad=1 "
                     "groups=2 alpha=3 z=1 alpha2=0.25 bias=1 act=relu");
    graph = xla(false);
    reads_as(&graph, "dir=fwd dtype=f32 math=tf32 mode=conv n=4 c=4 in=7x7 k=6 filter=3x3 pad=1 "
                     "groups=2 alpha=3 bias=1 act=relu");
}

static void reads_scales_of_both(void **state)
{
    (void)state;
    gdnn_graph graph = xla(true);
    graph.node[1].alpha = graph.node[1].beta = 1;
    graph.node[2].alpha = 5;
    reads_as(&graph, "dir=fwd dtype=f32 math=tf32 mode=conv n=4 c=4 in=7x7 k=6 filter=3x3 pad=1 "
                     "groups=2 alpha=5 z=1 alpha2=5 bias=1 act=relu");
}

/* --- ONNX Runtime: ids count from 1, tensors between have the data's type, pads may differ. --- */

static void reads_onnxruntime(void **state)
{
    (void)state;
    gdnn_graph_tensor conv = graph_virtual(4, CUDNN_DATA_HALF, "1 6 8 1"), add = conv;
    gdnn_graph_node convolve =
        graph_convolve(GDNN_GRAPH_FORWARD, graph_tensor(1, CUDNN_DATA_HALF, "1 6 8 1", "48 8 1 1"),
                       graph_tensor(2, CUDNN_DATA_HALF, "6 1 4 1", "4 4 1 1"),
                       graph_tensor(3, CUDNN_DATA_HALF, "1 6 8 1", "48 8 1 1"),
                       graph_convolution(CUDNN_DATA_FLOAT, "1 0", "2 0", "1 1", "1 1"));
    gdnn_graph graph = graph_single(convolve);
    reads_as(&graph, "dir=fwd dtype=f16 n=1 c=6 in=8x1 k=6 filter=4x1 pad=1x0 pad_after=2x0 "
                     "groups=6");
    add.uid = 6;
    graph.nodes = 0;
    convolve.y = conv;
    graph_append(&graph, convolve);
    graph_append(&graph, graph_add(1, conv, 1,
                                   graph_tensor(5, CUDNN_DATA_HALF, "1 6 8 1", "48 8 1 1"), add));
    graph_append(&graph,
                 graph_add(1, add, 1, graph_tensor(7, CUDNN_DATA_HALF, "1 6 1 1", "6 1 1 1"),
                           graph_tensor(8, CUDNN_DATA_HALF, "1 6 8 1", "48 8 1 1")));
    gdnn_graph_problem problem =
        reads_as(&graph, "dir=fwd dtype=f16 n=1 c=6 in=8x1 k=6 filter=4x1 pad=1x0 pad_after=2x0 "
                         "groups=6 z=1 bias=1");
    assert_int_equal(problem.x, 1);
    assert_int_equal(problem.w, 2);
    assert_int_equal(problem.z, 5);
    assert_int_equal(problem.bias, 7);
    assert_int_equal(problem.y, 8);
}

/* --- What other programs may write. --- */

static void reads_an_axis_of_groups(void **state)
{
    (void)state;
    gdnn_graph graph = graph_single(graph_convolve(
        GDNN_GRAPH_FORWARD, graph_tensor('x', CUDNN_DATA_HALF, "2 4 4 8 8", "1024 256 64 8 1"),
        graph_tensor('w', CUDNN_DATA_HALF, "4 8 4 3 3", "288 36 9 3 1"),
        graph_tensor('y', CUDNN_DATA_HALF, "2 4 8 8 8", "2048 512 64 8 1"),
        graph_convolution(CUDNN_DATA_FLOAT, "1 1", "1 1", "1 1", "1 1")));
    const char *text = "dir=fwd dtype=f16 n=2 c=16 in=8x8 k=32 filter=3x3 pad=1 groups=4";
    reads_as(&graph, text);
    graph.node[0].x = graph_tensor('x', CUDNN_DATA_HALF, "2 16 8 8", "1024 64 8 1");
    reads_as(&graph, text);
    graph.node[0].w = graph_tensor('w', CUDNN_DATA_HALF, "32 4 3 3", "36 9 3 1");
    reads_as(&graph, text);

    /* depthwise, channels last: the group axis is that of the channels */
    graph.node[0].x = graph_tensor('x', CUDNN_DATA_HALF, "2 4 1 8 8", "256 1 77 32 4");
    graph.node[0].w = graph_tensor('w', CUDNN_DATA_HALF, "4 1 1 3 3", "9 0 55 3 1");
    graph.node[0].y = graph_tensor('y', CUDNN_DATA_HALF, "2 4 1 8 8", "256 1 1 32 4");
    reads_as(&graph, "dir=fwd dtype=f16 layout=nhwc n=2 c=4 in=8x8 k=4 filter=3x3 pad=1 groups=4");
}

static void reads_one_spatial_axis(void **state)
{
    (void)state;
    gdnn_graph graph = graph_single(
        graph_convolve(GDNN_GRAPH_FORWARD, graph_tensor('x', CUDNN_DATA_HALF, "2 4 20", "80 1 4"),
                       graph_tensor('w', CUDNN_DATA_HALF, "8 2 4", "8 1 2"),
                       graph_tensor('y', CUDNN_DATA_HALF, "2 8 20", "160 1 8"),
                       graph_convolution(CUDNN_DATA_HALF, "3", "0", "1", "1")));
    graph.node[0].alpha = -2;
    graph.node[0].beta = 0.5;
    reads_as(&graph, "dir=fwd dtype=f16 acc=f16 layout=nhwc n=2 c=4 in=20 k=8 filter=4 pad=3 "
                     "pad_after=0 groups=2 alpha=-2 beta=0.5");
    /* With an axis of groups it has four, as 2-D problems have. */
    graph.node[0].x = graph_tensor('x', CUDNN_DATA_HALF, "2 2 2 20", "80 2 1 4");
    graph.node[0].w = graph_tensor('w', CUDNN_DATA_HALF, "2 4 2 4", "32 8 1 2");
    graph.node[0].y = graph_tensor('y', CUDNN_DATA_HALF, "2 2 4 20", "160 4 1 8");
    reads_as(&graph, "dir=fwd dtype=f16 acc=f16 layout=nhwc n=2 c=4 in=20 k=8 filter=4 pad=3 "
                     "pad_after=0 groups=2 alpha=-2 beta=0.5");
}

static void prefers_z_to_a_bias(void **state)
{
    (void)state;
    gdnn_graph_tensor conv = graph_virtual('C', CUDNN_DATA_FLOAT, "1 4 1 1");
    gdnn_graph graph = graph_single(graph_convolve(
        GDNN_GRAPH_FORWARD, graph_tensor('x', CUDNN_DATA_FLOAT, "1 4 2 2", "16 4 2 1"),
        graph_tensor('w', CUDNN_DATA_FLOAT, "4 1 2 2", "4 4 2 1"), conv,
        graph_convolution(CUDNN_DATA_FLOAT, "0 0", "0 0", "1 1", "1 1")));
    graph_append(&graph,
                 graph_add(1, conv, 1, graph_tensor('b', CUDNN_DATA_FLOAT, "1 4 1 1", "4 1 1 1"),
                           graph_tensor('y', CUDNN_DATA_FLOAT, "1 4 1 1", "4 1 1 1")));
    reads_as(&graph, "dir=fwd dtype=f32 math=tf32 n=1 c=4 in=2x2 k=4 filter=2x2 groups=4 z=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_pytorch_in_all_directions),
        cmocka_unit_test(reads_pytorch_channels_last_depthwise),
        cmocka_unit_test(reads_pytorch_1d_as_2d),
        cmocka_unit_test(reads_pytorch_3d_double),
        cmocka_unit_test(reads_graph_pytorch_fused),
        cmocka_unit_test(reads_an_id_of_zero_in_any_order),
        cmocka_unit_test(reads_xla),
        cmocka_unit_test(reads_scales_of_both),
        cmocka_unit_test(reads_onnxruntime),
        cmocka_unit_test(reads_an_axis_of_groups),
        cmocka_unit_test(reads_one_spatial_axis),
        cmocka_unit_test(prefers_z_to_a_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
