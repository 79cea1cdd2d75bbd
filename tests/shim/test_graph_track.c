/* graph_track: what a program says to the graph interface of a made-up cuDNN, and what is known of it afterwards. */
#include "graph_library.h"
#include "graph_table.h"
#include <float.h>

typedef cudnnBackendDescriptor_t descriptor;

/* Not followed. */
#define CUDNN_ATTR_TENSOR_RAGGED ((cudnnBackendAttributeName_t)913)

#define OPERATION(kind) CUDNN_BACKEND_OPERATION_##kind##_DESCRIPTOR

static int setup(void **state)
{
    (void)state;
    graph_library_reset();
    return 0;
}

/* Every test destroys what it made. */
static int nothing_is_left(void **state)
{
    (void)state;
    int left = gdnn_graph_table_entries();
    bool seen = library.seen_at_destroy;
    graph_library_reset();
    if (left || seen)
        print_error("%d records are left; seen at destroy: %d\n", left, seen);
    return left || seen;
}

static gdnn_graph graph_of(descriptor d)
{
    gdnn_graph graph;
    memset(&graph, 0xff, sizeof graph);
    assert_true(gdnn_graph_of(d, &graph));
    return graph;
}

/* The only node of a graph of `operation`. Both are destroyed. */
static gdnn_graph_node node_of(descriptor operation)
{
    descriptor d = make_graph(1, &operation);
    gdnn_graph graph = graph_of(d);
    assert_int_equal(graph.nodes, 1);
    destroy(d);
    destroy(operation);
    return graph.node[0];
}

static void a_tensor_in_an_operation(void **state)
{
    (void)state;
    const int64_t size[] = {2, 3, 4, 5, 6}, stride[] = {1000, 200, 50, 7, 1};
    const bool yes = true;
    descriptor tensor = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR),
               operation = create(OPERATION(CONVOLUTION_FORWARD));
    set_word(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_BFLOAT16);
    set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 5, size);
    set(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 5, stride);
    set_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 42);
    set_number(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 8);
    set_number(tensor, CUDNN_ATTR_TENSOR_VECTOR_COUNT, 4);
    set_number(tensor, CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, 1);
    set(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    set(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    set_word(tensor, CUDNN_ATTR_TENSOR_REORDERING_MODE, CUDNN_TYPE_TENSOR_REORDERING_MODE, 2);
    finalize(tensor);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor);
    destroy(tensor);
    finalize(operation);
    gdnn_graph_node node = node_of(operation);
    assert_true(node.has_x && !node.has_w && !node.has_y && !node.has_b);
    assert_int_equal(node.x.dims, 5);
    assert_int_equal(node.x.strides, 5);
    assert_memory_equal(node.x.size, size, sizeof size);
    assert_memory_equal(node.x.stride, stride, sizeof stride);
    assert_int_equal(node.x.type, CUDNN_DATA_BFLOAT16);
    assert_int_equal(node.x.uid, 42);
    assert_int_equal(node.x.alignment, 8);
    assert_int_equal(node.x.vector_count, 4);
    assert_int_equal(node.x.reordering, 2);
    assert_true(node.x.is_virtual && node.x.by_value && !node.x.unknown && !node.unknown);
}

/* A program's bytes need be no bool. */
static void flags_of_any_byte(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0, 1, 2, 160, 255};
    for (size_t i = 0; i < COUNT_OF(bytes); i++) {
        descriptor tensor = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR),
                   operation = create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
        set(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &bytes[i]);
        finalize(tensor);
        set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor);
        finalize(operation);
        gdnn_graph_node node = node_of(operation);
        const bool expected = bytes[i] != 0;
        assert_memory_equal(&node.x.is_virtual, &expected, sizeof expected);
        destroy(tensor);
    }
}

static void a_convolution_in_an_operation(void **state)
{
    (void)state;
    const int64_t lists[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    descriptor convolution = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR),
               operation = create(OPERATION(CONVOLUTION_BACKWARD_FILTER));
    set_word(convolution, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
             CUDNN_DATA_DOUBLE);
    set_word(convolution, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
             CUDNN_CROSS_CORRELATION);
    set_number(convolution, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 3);
    set(convolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 3, lists[0]);
    set(convolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 3, lists[1]);
    set(convolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 3, lists[2]);
    set(convolution, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 3, lists[3]);
    finalize(convolution);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, convolution);
    destroy(convolution);
    finalize(operation);
    gdnn_graph_node node = node_of(operation);
    const gdnn_graph_convolution *c = &node.convolution;
    assert_int_equal(c->type, CUDNN_DATA_DOUBLE);
    assert_int_equal(c->mode, CUDNN_CROSS_CORRELATION);
    assert_int_equal(c->spatial, 3);
    assert_true(c->pads == 3 && c->pads_after == 3 && c->strides == 3 && c->dilations == 3);
    assert_memory_equal(c->pad, lists[0], sizeof lists[0]);
    assert_memory_equal(c->pad_after, lists[1], sizeof lists[1]);
    assert_memory_equal(c->stride, lists[2], sizeof lists[2]);
    assert_memory_equal(c->dilation, lists[3], sizeof lists[3]);
    assert_false(c->unknown);
}

/* In backward-data x is dX, in backward-filter w is dW. */
static void tensors_have_their_roles(void **state)
{
    (void)state;
    static const struct {
        cudnnBackendDescriptorType_t type;
        gdnn_graph_kind kind;
        cudnnBackendAttributeName_t x, w, y, alpha, beta;
    } cases[] = {
        {OPERATION(CONVOLUTION_FORWARD), GDNN_GRAPH_FORWARD,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {OPERATION(CONVOLUTION_BACKWARD_DATA), GDNN_GRAPH_BWD_DATA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {OPERATION(CONVOLUTION_BACKWARD_FILTER), GDNN_GRAPH_BWD_FILTER,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
        {OPERATION(POINTWISE), GDNN_GRAPH_POINTWISE, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
         CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
         CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const float alpha = 0.5f;
        const double beta = 1.0 / 3;
        descriptor operation = create(cases[i].type), x = make_tensor(1, 1, 2, 3, 4),
                   w = make_tensor(2, 1, 2, 3, 4), y = make_tensor(3, 1, 2, 3, 4);
        set_one(operation, cases[i].x, x);
        set_one(operation, cases[i].w, w);
        set_one(operation, cases[i].y, y);
        set(operation, cases[i].alpha, CUDNN_TYPE_FLOAT, 1, &alpha);
        set(operation, cases[i].beta, CUDNN_TYPE_DOUBLE, 1, &beta);
        finalize(operation);
        gdnn_graph_node node = node_of(operation);
        bool pointwise = cases[i].kind == GDNN_GRAPH_POINTWISE;
        assert_int_equal(node.kind, cases[i].kind);
        assert_true(node.has_x && node.has_y && node.has_w != pointwise && node.has_b == pointwise);
        assert_int_equal(node.x.uid, 1);
        assert_int_equal(pointwise ? node.b.uid : node.w.uid, 2);
        assert_int_equal(node.y.uid, 3);
        assert_true(node.alpha == 0.5 && node.beta == 1.0 / 3 && !node.unknown);
        destroy(x);
        destroy(w);
        destroy(y);
    }
}

static void a_pointwise_operation(void **state)
{
    (void)state;
    const double six = 6;
    const float quarter = 0.25f;
    descriptor pointwise = create(CUDNN_BACKEND_POINTWISE_DESCRIPTOR),
               operation = create(OPERATION(POINTWISE));
    set_word(pointwise, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
             CUDNN_POINTWISE_RELU_FWD);
    set_word(pointwise, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_HALF);
    set_word(pointwise, CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, (cudnnBackendAttributeType_t)10, 1);
    set(pointwise, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, 1, &six);
    set(pointwise, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_FLOAT, 1, &quarter);
    finalize(pointwise);
    set_one(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
    destroy(pointwise);
    finalize(operation);
    gdnn_graph_node node = node_of(operation);
    assert_int_equal(node.pointwise.mode, CUDNN_POINTWISE_RELU_FWD);
    assert_int_equal(node.pointwise.type, CUDNN_DATA_HALF);
    assert_true(node.pointwise.upper_clip == 6 && node.pointwise.lower_slope == 0.25);
    assert_true(node.pointwise.lower_clip == 0 && !node.pointwise.unknown && !node.unknown);
}

static void what_is_not_said_is_cudnns_default(void **state)
{
    (void)state;
    descriptor operation = create(OPERATION(CONVOLUTION_FORWARD)),
               tensor = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR),
               convolution = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    finalize(tensor);
    finalize(convolution);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution);
    finalize(operation);
    gdnn_graph_node node = node_of(operation);
    assert_true(node.alpha == 1 && node.beta == 0);
    assert_true(node.x.vector_count == 1 && !node.x.is_virtual && !node.x.by_value);
    assert_true(node.x.type == -1 && node.x.dims == 0 && node.convolution.type == -1);
    assert_int_equal(node.convolution.mode, CUDNN_CONVOLUTION);
    destroy(convolution);
    destroy(tensor);

    descriptor pointwise = create(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    finalize(pointwise);
    operation = create(OPERATION(POINTWISE));
    set_one(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
    finalize(operation);
    node = node_of(operation);
    assert_true(node.alpha == 1 && node.beta == 1);
    assert_true(node.pointwise.lower_clip == 0 && node.pointwise.upper_clip == DBL_MAX &&
                node.pointwise.lower_slope == 0 && node.pointwise.type == -1);
    destroy(pointwise);
}

/* As cuDNN does, whose descriptors are at once other descriptors. */
static void an_address_is_used_again(void **state)
{
    (void)state;
    library.reuses = true;
    descriptor operation = create(OPERATION(CONVOLUTION_FORWARD)), x = make_tensor('x', 1, 2, 3, 4);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    destroy(x);
    descriptor w = make_tensor('w', 5, 6, 7, 8);
    assert_ptr_equal(w, x);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    destroy(w);
    descriptor y = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    assert_ptr_equal(y, x);
    finalize(operation);
    gdnn_graph_node node = node_of(operation);
    assert_true(node.x.uid == 'x' && node.x.size[0] == 1);
    assert_true(node.w.uid == 'w' && node.w.size[0] == 5);
    destroy(y);
}

static void what_cudnn_refuses_changes_nothing(void **state)
{
    (void)state;
    const int64_t other[] = {9, 9, 9, 9};
    const float two = 2;
    descriptor tensor = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR), none = NULL,
               operation = create(OPERATION(CONVOLUTION_FORWARD));
    set_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 5);
    library.answer = CUDNN_STATUS_BAD_PARAM;
    set_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 6);
    set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, other);
    set_word(tensor, CUDNN_ATTR_TENSOR_RAGGED, CUDNN_TYPE_INT64, 0);
    set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &two);
    finalize(operation);
    assert_int_equal(gdnn_cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &none),
                     CUDNN_STATUS_BAD_PARAM);
    assert_null(none);
    library.answer = CUDNN_STATUS_SUCCESS;
    finalize(tensor);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor);
    destroy(tensor);
    finalize(operation);
    gdnn_graph_node node = node_of(operation);
    assert_true(node.x.uid == 5 && node.x.dims == 0 && !node.x.unknown && !node.unknown);
    assert_true(node.alpha == 1);
}

/* An accepted attribute that is not in the list, or with a type or count that is not the list's. */
static void what_is_not_followed_makes_unknown(void **state)
{
    (void)state;
    const int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < 6; i++) {
        descriptor tensor = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR),
                   operation = create(OPERATION(CONVOLUTION_FORWARD));
        switch (i) {
        case 0:
            set(tensor, CUDNN_ATTR_TENSOR_RAGGED, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, nine);
            break;
        case 1: set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_DOUBLE, 1, nine); break;
        case 2: set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, nine); break;
        case 3: set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 9, nine); break;
        case 4: set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, nine); break;
        case 5: set(tensor, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, nine); break;
        }
        finalize(tensor);
        set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, tensor);
        destroy(tensor);
        finalize(operation);
        gdnn_graph_node node = node_of(operation);
        if (!node.w.unknown)
            fail_msg("case %d: known", i);
    }
}

/* Not finalised, of another type, or never seen: cuDNN accepts the first. */
static void referring_to_what_is_not_known(void **state)
{
    (void)state;
    char elsewhere;
    descriptor unfinished = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR),
               convolution = make_convolution();
    descriptor others[] = {unfinished, convolution, &elsewhere, NULL};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        descriptor operation = create(OPERATION(CONVOLUTION_FORWARD));
        set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, others[i]);
        set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                i == 1 ? unfinished : others[i]);
        finalize(operation);
        gdnn_graph_node node = node_of(operation);
        assert_true(node.has_x && node.x.unknown && node.convolution.unknown);
    }
    destroy(unfinished);
    destroy(convolution);
}

/* Nobody knows what cuDNN would mean by it. */
static void a_change_after_finalize_is_not_believed(void **state)
{
    (void)state;
    descriptor tensor = make_tensor('x', 1, 2, 3, 4), operation = create(OPERATION(POINTWISE));
    set_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 'y');
    set_one(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor);
    finalize(operation);
    assert_true(node_of(operation).x.unknown);
    destroy(tensor);

    tensor = make_tensor('x', 1, 2, 3, 4);
    assert_int_equal(gdnn_cudnnBackendInitialize(tensor), CUDNN_STATUS_SUCCESS);
    finalize(tensor);
    operation = create(OPERATION(POINTWISE));
    set_one(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor);
    finalize(operation);
    assert_true(node_of(operation).x.unknown);
    destroy(tensor);
}

static void graphs_of_operations(void **state)
{
    (void)state;
    descriptor operations[10];
    char elsewhere;
    for (int i = 0; i < 10; i++)
        operations[i] =
            i == 1 ? create((cudnnBackendDescriptorType_t)19) : create(OPERATION(POINTWISE));
    for (int i = 0; i < 10; i++) {
        const double alpha = i;
        if (i != 1)
            set(operations[i], CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_TYPE_DOUBLE, 1, &alpha);
        finalize(operations[i]);
    }
    descriptor d = make_graph(10, operations);
    gdnn_graph graph = graph_of(d);
    assert_int_equal(graph.nodes, 10);
    for (int i = 0; i < GDNN_GRAPH_NODES; i++) {
        assert_int_equal(graph.node[i].kind, i == 1 ? GDNN_GRAPH_OTHER : GDNN_GRAPH_POINTWISE);
        assert_true(i == 1 || graph.node[i].alpha == i);
    }
    assert_false(graph.unknown);
    destroy(d);
    for (int i = 0; i < 10; i++)
        destroy(operations[i]);
    descriptor nowhere = &elsewhere;
    d = make_graph(1, &nowhere);
    assert_int_equal(graph_of(d).node[0].kind, GDNN_GRAPH_OTHER);
    destroy(d);
}

static void what_makes_a_graph_unknown(void **state)
{
    (void)state;
    const bool yes = true;
    descriptor operation = make_forward(4);
    for (int i = 0; i < 3; i++) {
        descriptor d = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        set(d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &operation);
        if (i == 1) /* dynamic shapes */
            set(d, (cudnnBackendAttributeName_t)803, CUDNN_TYPE_BOOLEAN, 1, &yes);
        set_one(d, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
        if (i == 2)
            set_one(d, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
        gdnn_graph graph;
        assert_false(gdnn_graph_of(d, &graph));
        finalize(d);
        assert_int_equal(graph_of(d).unknown, i > 0);
        destroy(d);
    }
    destroy(operation);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, nothing_is_left)
    const struct CMUnitTest tests[] = {
        TEST(a_tensor_in_an_operation),
        TEST(flags_of_any_byte),
        TEST(a_convolution_in_an_operation),
        TEST(tensors_have_their_roles),
        TEST(a_pointwise_operation),
        TEST(what_is_not_said_is_cudnns_default),
        TEST(an_address_is_used_again),
        TEST(what_cudnn_refuses_changes_nothing),
        TEST(what_is_not_followed_makes_unknown),
        TEST(referring_to_what_is_not_known),
        TEST(a_change_after_finalize_is_not_believed),
        TEST(graphs_of_operations),
        TEST(what_makes_a_graph_unknown),
    };
    return cmocka_run_group_tests_name("graph_track", tests, NULL, NULL);
}
