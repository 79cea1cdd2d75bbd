/* graph_problem: random problems as graphs in every spelling, and hostile values. */
#include "graph_problem.h"
#include "graphs.h"
#include "problem.h"
#include "unit.h"

static void random_strides(uint64_t *random, int dims, const int64_t *size, int64_t *stride)
{
    int axis[GDNN_MAX_DIMS];
    int64_t step = test_pick(random, 1, 2);
    for (int i = 0; i < dims; i++) { /* shuffled while it is filled */
        int at = (int)test_pick(random, 0, i);
        axis[i] = axis[at];
        axis[at] = i;
    }
    for (int i = 0; i < dims; i++) {
        stride[axis[i]] = step;
        step *= size[axis[i]] + test_pick(random, 0, 1);
    }
}

static double one_of(uint64_t *random, double a, double b, double c)
{
    int64_t which = test_pick(random, 0, 2);
    return which == 0 ? a : which == 1 ? b : c;
}

static gdnn_conv random_problem(uint64_t *random)
{
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.dir = (gdnn_dir)test_pick(random, GDNN_FWD, GDNN_BWD_FILTER);
    conv.dtype = (gdnn_dtype)test_pick(random, GDNN_F16, GDNN_F64);
    conv.acc = conv.dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
    if (conv.dtype == GDNN_F16 && test_pick(random, 0, 1))
        conv.acc = GDNN_F16;
    conv.math = conv.dtype == GDNN_F32 ? GDNN_MATH_TF32 : GDNN_MATH_F32;
    conv.mode = (gdnn_mode)test_pick(random, GDNN_XCORR, GDNN_CONV);
    conv.spatial = (int)test_pick(random, 1, 3);
    conv.groups = test_pick(random, 2, 4);
    conv.n = test_pick(random, 1, 3);
    conv.c = conv.groups * test_pick(random, 1, 3);
    conv.k = conv.groups * test_pick(random, 1, 3);
    for (int i = 0; i < conv.spatial; i++) {
        conv.filter[i] = test_pick(random, 1, 3);
        conv.dilation[i] = test_pick(random, 1, 2);
        conv.stride[i] = test_pick(random, 1, 3);
        conv.pad[i] = test_pick(random, 0, 2);
        conv.pad_after[i] = test_pick(random, 0, 2);
        int64_t needed =
            (conv.filter[i] - 1) * conv.dilation[i] + 1 - conv.pad[i] - conv.pad_after[i];
        conv.in[i] = (needed > 1 ? needed : 1) + test_pick(random, 0, 4);
    }
    conv.alpha = one_of(random, 1, 0.1f, 0);
    if (conv.dir != GDNN_FWD || test_pick(random, 0, 1)) {
        conv.beta = one_of(random, 0, 1, -0.5);
    } else {
        conv.z = (int)test_pick(random, 0, 1);
        conv.bias = (int)test_pick(random, 0, 1);
        conv.act = (gdnn_act)test_pick(random, GDNN_ACT_NONE, GDNN_ACT_RELU);
        if (conv.bias && conv.n == 1) /* else the bias may be z */
            conv.n = 2;
        if (conv.z)
            conv.alpha2 = one_of(random, 1, 0, 3);
    }

    int layout = (int)test_pick(random, 0, 3);
    if (layout <= GDNN_NHWC) {
        assert_int_equal(gdnn_conv_set_layout(&conv, (gdnn_layout)layout), GDNN_OK);
        return conv;
    }
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(&conv, GDNN_ROLE_X, size);
    random_strides(random, gdnn_dims(&conv), size, conv.x_stride);
    gdnn_sizes(&conv, GDNN_ROLE_W, size);
    random_strides(random, gdnn_dims(&conv), size, conv.w_stride);
    gdnn_sizes(&conv, GDNN_ROLE_Y, size);
    random_strides(random, gdnn_dims(&conv), size, conv.y_stride);
    random_strides(random, gdnn_dims(&conv), size, conv.z_stride);
    return conv;
}

static graph_style random_style(uint64_t *random, const gdnn_conv *conv)
{
    uint64_t bits = test_random(random);
    static const int types[] = {[GDNN_F16] = CUDNN_DATA_HALF,
                                [GDNN_BF16] = CUDNN_DATA_BFLOAT16,
                                [GDNN_F32] = CUDNN_DATA_FLOAT,
                                [GDNN_F64] = CUDNN_DATA_DOUBLE};
    return (graph_style){.grouped_x = bits & 1,
                         .grouped_w = bits & 2,
                         .grouped_y = bits & 4,
                         .grouped_z = bits & 8,
                         .grouped_bias = bits & 16,
                         .ones = (graph_ones)(bits >> 8 & 3),
                         .virtual_type = types[bits & 32                 ? conv->dtype
                                               : conv->dtype == GDNN_F64 ? GDNN_F64
                                                                         : GDNN_F32],
                         .swapped = bits & 64,
                         .scaled_later = bits & 128,
                         .shuffled = bits & 1024,
                         .random = test_random(random)};
}

/* What would say which problem it was. */
static void assert_read_alike(const gdnn_conv *conv, const gdnn_graph_problem *is,
                              const gdnn_graph_problem *wanted)
{
    char text[1024];
    gdnn_conv_format(conv, text, sizeof text);
    if (memcmp(is, wanted, sizeof *is))
        fail_msg("%s: read differently in another style", text);
}

static void reads_every_spelling(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int i = 0; i < 20000; i++) {
        gdnn_conv conv = random_problem(&random);
        assert_int_equal(gdnn_check(&conv), GDNN_OK);
        graph_style plain = random_style(&random, &conv), style = random_style(&random, &conv);
        plain.grouped_x = plain.grouped_w = plain.grouped_y = plain.grouped_z = false;
        gdnn_graph graph = graph_of(&conv, plain), other = graph_of(&conv, style);
        gdnn_graph_problem problem = graph_read(&graph), same = graph_read(&other);
        assert_same_problem(&problem.conv, &conv);
        assert_read_alike(&conv, &same, &problem);
        assert_int_equal(problem.x, 'x');
        assert_int_equal(problem.w, 'w');
        assert_int_equal(problem.y, 'y');
        assert_int_equal(problem.z, conv.z ? 'z' : 0);
        assert_int_equal(problem.bias, conv.bias ? 'b' : 0);
    }
}

/* Packed problems have the strides of their layout, also along axes of size 1. */
static void settles_packed_strides(void **state)
{
    (void)state;
    gdnn_conv conv;
    gdnn_conv_parse("dir=fwd dtype=f16 layout=nhwc n=1 c=4 in=1x5 k=4 filter=1x3 groups=4 z=1",
                    &conv);
    for (graph_ones ones = ONES_AS_GIVEN; ones <= ONES_RANDOM; ones++) {
        gdnn_graph graph =
            graph_of(&conv, (graph_style){.ones = ones, .virtual_type = CUDNN_DATA_FLOAT});
        gdnn_graph_problem problem = graph_read(&graph);
        assert_memory_equal(&problem.conv, &conv, sizeof conv);
    }
}

/* --- Hostile values. --- */

static void make_bool(bool *value)
{
    *(unsigned char *)value &= 1;
}

/* C does not allow other bytes in a bool. */
static void make_bools(gdnn_graph *graph)
{
    make_bool(&graph->unknown);
    for (int i = 0; i < GDNN_GRAPH_NODES; i++) {
        gdnn_graph_node *node = &graph->node[i];
        gdnn_graph_tensor *tensors[] = {&node->x, &node->w, &node->y, &node->b};
        bool *bools[] = {&node->has_x,
                         &node->has_w,
                         &node->has_y,
                         &node->has_b,
                         &node->unknown,
                         &node->convolution.unknown,
                         &node->pointwise.unknown};
        for (size_t j = 0; j < COUNT_OF(bools); j++)
            make_bool(bools[j]);
        for (size_t j = 0; j < COUNT_OF(tensors); j++) {
            make_bool(&tensors[j]->is_virtual);
            make_bool(&tensors[j]->by_value);
            make_bool(&tensors[j]->unknown);
        }
    }
}

static void survives(const gdnn_graph *graph, int seen[GDNN_REASONS])
{
    gdnn_graph_problem a, b;
    char text[1024];
    memset(&a, 0, sizeof a);
    memset(&b, 0xff, sizeof b);
    gdnn_reason reason = gdnn_graph_problem_read(graph, &a);
    assert_int_equal(reason, gdnn_graph_problem_read(graph, &b));
    seen[reason]++;
    if (reason != GDNN_REASON_TAKEN)
        return;
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.conv.spatial >= 1 && a.conv.spatial <= GDNN_MAX_SPATIAL);
    assert_true(a.conv.groups > 1);
    assert_true(a.conv.c % a.conv.groups == 0 && a.conv.k % a.conv.groups == 0);
    gdnn_check(&a.conv);
    gdnn_conv_format(&a.conv, text, sizeof text);
}

static void survives_hostile_values(void **state)
{
    (void)state;
    static const int64_t nasty[] = {
        INT64_MAX, INT64_MIN,        INT64_MAX - 1,   -1, 0, 1, 2, 3, 4, 5,
        7,         (int64_t)1 << 32, (int64_t)1 << 62};
    uint64_t random = test_seed();
    int seen[GDNN_REASONS] = {0}, runs = 200000;
    gdnn_graph graph;
    for (int i = 0; i < runs; i++) {
        if (i % 16 == 0) {
            gdnn_conv conv = random_problem(&random);
            graph = graph_of(&conv, random_style(&random, &conv));
        }
        gdnn_graph broken = graph;
        for (int64_t changes = test_pick(&random, 1, 3); changes; changes--) {
            gdnn_graph_node *node = &broken.node[test_pick(&random, 0, graph.nodes - 1)];
            size_t word = (size_t)test_pick(&random, 0, sizeof *node / sizeof(int64_t) - 1);
            int64_t value = test_pick(&random, 0, 9) ? nasty[test_pick(&random, 0, 12)]
                                                     : (int64_t)test_random(&random);
            memcpy((char *)node + word * sizeof value, &value, sizeof value);
            if (test_pick(&random, 0, 99) == 0)
                broken.nodes = nasty[test_pick(&random, 0, 12)];
        }
        make_bools(&broken);
        survives(&broken, seen);
    }
    static const gdnn_reason all[] = {
        GDNN_REASON_TAKEN, GDNN_REASON_NOT_GROUPED, GDNN_REASON_TYPE,   GDNN_REASON_FORMAT,
        GDNN_REASON_GRAPH, GDNN_REASON_ACTIVATION,  GDNN_REASON_INVALID};
    int known = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        print_message("# %s: %d\n", gdnn_reason_name(all[i]), seen[all[i]]);
        assert_true(seen[all[i]] > 0);
        known += seen[all[i]];
    }
    assert_int_equal(known, runs); /* no other reason */
}

static void survives_random_bytes(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    int seen[GDNN_REASONS] = {0};
    gdnn_graph graph;
    for (int i = 0; i < 2000; i++) {
        for (size_t at = 0; at < sizeof graph; at += sizeof random) {
            uint64_t word = test_random(&random);
            memcpy((char *)&graph + at, &word, sizeof word);
        }
        graph.nodes = test_pick(&random, -1, GDNN_GRAPH_NODES + 1);
        make_bools(&graph);
        survives(&graph, seen);
    }
    memset(&graph, 0x7f, sizeof graph);
    make_bools(&graph);
    survives(&graph, seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_spelling),
        cmocka_unit_test(settles_packed_strides),
        cmocka_unit_test(survives_hostile_values),
        cmocka_unit_test(survives_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
