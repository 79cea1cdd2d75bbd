#include "statistics.h"
#include "unit.h"
#include <math.h>

static void expect_spread(double *samples, int count, double median, double least, double most)
{
    spread s = spread_of(samples, count);
    assert_int_equal(s.count, count);
    assert_true(s.median == median && s.least == least && s.most == most);
}

static void samples_are_summarised(void **state)
{
    (void)state;
    expect_spread((double[]){3}, 1, 3, 3, 3);
    expect_spread((double[]){3, 1}, 2, 2, 1, 3);
    expect_spread((double[]){9, 1, 4}, 3, 4, 1, 9);
    expect_spread((double[]){100, 2, 4, 3}, 4, 3.5, 2,
                  100); /* one that is slow does not count much */
    expect_spread((double[]){5, 5, 5, 1, 9}, 5, 5, 1, 9);
    spread none = spread_of(NULL, 0);
    assert_true(none.count == 0 && isnan(none.median) && isnan(none.least) && isnan(none.most));
}

static void ratios_have_a_geometric_mean(void **state)
{
    geomean g = {0};
    (void)state;
    assert_true(isnan(geomean_value(&g)));
    geomean_add(&g, 4);
    assert_true(fabs(geomean_value(&g) - 4) < 1e-12);
    geomean_add(&g, 0.25);
    assert_true(fabs(geomean_value(&g) - 1) < 1e-12);
    geomean_add(&g, 8);
    assert_true(fabs(geomean_value(&g) - 2) < 1e-12);
    assert_int_equal(g.below_one, 1);
    geomean_add(&g, 1); /* as fast is not slower */
    assert_int_equal(g.below_one, 1);
    assert_int_equal(g.count, 4);
}

static void what_was_not_measured_is_left_out(void **state)
{
    geomean g = {0};
    (void)state;
    geomean_add(&g, 3);
    geomean_add(&g, NAN);
    geomean_add(&g, 0);
    geomean_add(&g, -1);
    geomean_add(&g, INFINITY);
    assert_true(g.count == 1 && g.below_one == 0 && fabs(geomean_value(&g) - 3) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_summarised),
        cmocka_unit_test(ratios_have_a_geometric_mean),
        cmocka_unit_test(what_was_not_measured_is_left_out),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
