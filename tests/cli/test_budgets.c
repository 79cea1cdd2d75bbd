#include "budget.h"
#include "problem.h"
#include "unit.h"
#include <math.h>

static gdnn_conv problem(const char *text)
{
    gdnn_conv conv;
    if (gdnn_conv_parse(text, &conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

/* Sectors and shared bytes of exactly `l2` and `shared` times the floor, and so many conflict cycles. */
static void costs_of(const gdnn_conv *conv, double l2, double shared, uint64_t conflicts,
                     cost costs[COSTS])
{
    double floor = gdnn_bytes(conv);
    session_counts counts = {.sectors_read = (uint64_t)(floor * l2 / 64),
                             .sectors_written = (uint64_t)(floor * l2 / 64),
                             .shared_bytes = (uint64_t)(floor * shared),
                             .conflict_cycles = conflicts};
    budget_costs(conv, conv, &counts, costs);
}

static void each_kind_has_its_limits(void **state)
{
    static const struct {
        const char *text;
        double shared; /* over the floor: above 1 the kernel stages its input */
        double l2, bytes, conflicts;
    } cases[] = {
        {"n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f16 layout=nhwc", 2, 1.05,
         10, 1},
        {"n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f16 layout=nhwc", 0, 1.15,
         10, 1},
        {"n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f32 layout=nhwc", 2, 1.05,
         18, 1},
        {"n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f64 layout=nhwc", 2, 1.05, 0,
         1},
        {"n=128 c=1024 in=7x7 k=1024 filter=5x5 pad=2 groups=1024 dtype=bf16 layout=nhwc", 2, 1.12,
         10, 1},
        {"n=128 c=1024 in=7x7 k=1024 filter=5x5 pad=2 groups=1024 dtype=bf16 layout=nhwc", 0, 1.15,
         10, 1},
        {"n=128 c=1024 in=14x14 k=1024 filter=3x3 pad=1 groups=1024 dtype=f16", 2, 1.05, 12, 1},
        {"n=128 c=1024 in=14x14 k=1024 filter=3x3 pad=1 groups=1024 dtype=f32", 2, 1.05, 24, 1},
        {"n=128 c=1024 in=15x15 k=1024 filter=3x3 pad=1 groups=1024 dtype=f32", 2, 1.05, 18, 1},
        {"n=128 c=256 in=56x56 k=512 filter=3x3 pad=1 groups=256 dtype=f16 stride=2", 2, 1.05, 28,
         1},
        {"n=128 c=256 in=56x56 k=512 filter=3x3 pad=1 groups=256 dtype=f32 stride=1x2", 2, 1.05, 28,
         1},
        {"dir=bwd_data n=128 c=256 in=56x56 k=256 filter=3x3 groups=256 dtype=f16", 2, 1.05, 10, 1},
        {"dir=bwd_filter n=128 c=256 in=56x56 k=256 filter=3x3 groups=256 dtype=f16", 2, 1.05, 14,
         1},
        {"dir=bwd_filter n=128 c=256 in=56x56 k=256 filter=3x3 groups=256 dtype=f32 stride=2", 2,
         1.05, 28, 1},
        {"n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=64 dtype=f16 layout=nhwc", 2, 1.10, 15,
         1},
        {"n=128 c=256 in=28x28 k=256 filter=3x3 pad=1 groups=32 dtype=bf16 layout=nhwc", 0, 1.10,
         15, 1},
        {"n=128 c=512 in=14x14 k=512 filter=3x3 pad=1 groups=32 dtype=f16 layout=nhwc", 2, 1.12, 12,
         1},
        {"n=128 c=1024 in=7x7 k=1024 filter=3x3 pad=1 groups=32 dtype=f16 layout=nhwc", 2, 1.20, 18,
         1},
        /* No budget: float32, more channels, other filters, 9x9, one axis, three; too few bytes. */
        {"n=128 c=256 in=28x28 k=256 filter=3x3 pad=1 groups=32 dtype=f32 layout=nhwc", 2, 0, 0, 0},
        {"n=128 c=1024 in=28x28 k=256 filter=3x3 pad=1 groups=16 dtype=f16 layout=nhwc", 2, 0, 0,
         0},
        {"n=128 c=256 in=28x28 k=256 filter=1x1 groups=32 dtype=f16 layout=nhwc", 2, 0, 0, 0},
        {"n=128 c=256 in=56x56 k=256 filter=9x9 pad=4 groups=256 dtype=f16 layout=nhwc", 2, 0, 0,
         0},
        {"n=128 c=256 in=5600 k=256 filter=3 pad=1 groups=256 dtype=f16 layout=nhwc", 2, 0, 0, 0},
        {"n=128 c=256 in=4x28x28 k=256 filter=1x3x3 groups=256 dtype=f16 layout=nhwc", 2, 0, 0, 0},
        {"n=2 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f16 layout=nhwc", 2, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = problem(cases[i].text);
        cost costs[COSTS];
        char text[256];
        costs_of(&conv, 1, cases[i].shared, 0, costs);
        const double wanted[COSTS] = {[COST_l2_ratio] = cases[i].l2,
                                      [COST_shared_per_output] = cases[i].bytes,
                                      [COST_conflict_percent] = cases[i].conflicts};
        for (int c = 0; c < COSTS; c++) {
            if (costs[c].limit != wanted[c])
                fail_msg("%s: %s has the limit %g instead of %g", cases[i].text, costs[c].name,
                         costs[c].limit, wanted[c]);
            assert_true((costs[c].kind != NULL) == (wanted[c] > 0));
        }
        if (wanted[COST_l2_ratio] == 0)
            assert_null(budget_text(costs, text, sizeof text));
    }
}

static void costs_are_what_was_counted(void **state)
{
    /* x and y have 800 elements, w 36; dy 200. */
    gdnn_conv conv = problem("n=2 c=4 in=10x10 k=4 filter=3x3 pad=1 groups=4 dtype=f16");
    session_counts counts = {
        .sectors_read = 70, .sectors_written = 30, .shared_bytes = 12800, .conflict_cycles = 25};
    cost costs[COSTS];
    (void)state;
    assert_true(gdnn_bytes(&conv) == 2 * (800 + 800 + 36));
    budget_costs(&conv, &conv, &counts, costs);
    assert_true(costs[COST_l2_ratio].value == 3200.0 / 3272);
    assert_true(costs[COST_shared_per_output].value == 16);
    assert_true(costs[COST_conflict_percent].value == 20); /* 100 passes of 128 bytes, 25 more */
    conv = problem("dir=bwd_data n=2 c=4 in=10x10 k=4 filter=2x2 stride=2 groups=4 dtype=f16");
    budget_costs(&conv, &conv, &counts, costs);
    assert_true(costs[COST_shared_per_output].value == 16); /* of dx */
    conv.dir = GDNN_FWD;
    budget_costs(&conv, &conv, &counts, costs);
    assert_true(costs[COST_shared_per_output].value == 64); /* of y */
    conv.dir = GDNN_BWD_FILTER;
    budget_costs(&conv, &conv, &counts, costs);
    assert_true(costs[COST_shared_per_output].value == 64); /* of dy */
    counts = (session_counts){0};
    budget_costs(&conv, &conv, &counts, costs);
    assert_true(costs[COST_conflict_percent].value == 0);
}

static void missed_budgets_are_named(void **state)
{
    gdnn_conv conv =
        problem("n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f16 layout=nhwc");
    gdnn_conv scaled =
        problem("n=1 c=256 in=56x56 k=256 filter=3x3 pad=1 groups=256 dtype=f16 layout=nhwc");
    cost costs[COSTS];
    char text[256];
    (void)state;
    costs_of(&conv, 1.04, 2, 0, costs);
    assert_string_equal(budget_text(costs, text, sizeof text), "none");
    costs_of(&conv, 1.06, 2, 0, costs);
    assert_true(budget_missed(&costs[COST_l2_ratio]));
    assert_string_equal(budget_text(costs, text, sizeof text), "l2_ratio 1.06 > 1.05");
    costs_of(&conv, 2, 4, UINT64_C(1) << 40, costs);
    assert_string_equal(budget_text(costs, text, sizeof text),
                        "l2_ratio 2 > 1.05, shared_per_output 16 > 10, conflict_percent 100 > 1");
    /* What the whole problem moves decides, whatever was counted. */
    session_counts counts = {.sectors_read = 1000000};
    budget_costs(&scaled, &conv, &counts, costs);
    assert_true(budget_missed(&costs[COST_l2_ratio]));
    budget_costs(&scaled, &scaled, &counts, costs);
    assert_false(budget_missed(&costs[COST_l2_ratio]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_limits),
        cmocka_unit_test(costs_are_what_was_counted),
        cmocka_unit_test(missed_budgets_are_named),
    };
    return cmocka_run_group_tests_name("budgets", tests, NULL, NULL);
}
