/* The float64 reference on random problems: against the definition, and its directions against one
 * another. */
#include "reference_fixture.h"
#include "unit.h"

static fixture f, g, dx, dw;

static double dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Indices of up to three axes, last one fastest: moves `at` on and says whether there is a next. */
static bool next(const int64_t size[3], int64_t at[3])
{
    for (int a = 2; a >= 0; a--) {
        if (++at[a] < size[a])
            return true;
        at[a] = 0;
    }
    return false;
}

static int64_t place(const int64_t size[3], const int64_t at[3])
{
    return (at[0] * size[1] + at[1]) * size[2] + at[2];
}

/* Sizes of three axes, those that the problem does not have being 1 and in front. */
static int64_t widen(const gdnn_conv *c, const int64_t *size, int64_t wide[3])
{
    for (int a = 0; a < 3; a++)
        wide[a] = a < 3 - c->spatial ? 1 : size[a - (3 - c->spatial)];
    return wide[0] * wide[1] * wide[2];
}

/* The input that output `o` meets at tap `tap`; false if it is padding. */
static bool meets(const gdnn_conv *c, const int64_t o[3], const int64_t tap[3], int64_t i[3])
{
    memset(i, 0, 3 * sizeof *i);
    for (int a = 0, s = 3 - c->spatial; a < c->spatial; a++, s++) {
        const int64_t used = c->mode == GDNN_CONV ? c->filter[a] - 1 - tap[s] : tap[s];
        i[s] = o[s] * c->stride[a] + used * c->dilation[a] - c->pad[a];
        if (i[s] < 0 || i[s] >= c->in[a])
            return false;
    }
    return true;
}

/* One element of y: all channels of its group, all taps. */
static double sum_of_taps(const fixture *t, int64_t n, int64_t k, const int64_t o[3])
{
    const gdnn_conv *c = &t->conv;
    const int64_t cpg = c->c / c->groups, group = k / (c->k / c->groups);
    int64_t in[3], filter[3], i[3];
    const int64_t n_in = widen(c, c->in, in), n_filter = widen(c, c->filter, filter);
    double sum = 0;

    for (int64_t ch = 0; ch < cpg; ch++) {
        const double *x = &t->x[(n * c->c + group * cpg + ch) * n_in];
        const double *w = &t->w[(k * cpg + ch) * n_filter];
        int64_t tap[3] = {0};
        do {
            if (meets(c, o, tap, i))
                sum += w[place(filter, tap)] * x[place(in, i)];
        } while (next(filter, tap));
    }
    return sum;
}

/* The forward direction straight from its definition: every output asks every tap for its input. */
static void by_definition(const fixture *t, double *y)
{
    const gdnn_conv *c = &t->conv;
    int64_t out[3];

    widen(c, t->out, out);
    for (int64_t nk = 0; nk < c->n * c->k; nk++) {
        int64_t o[3] = {0};
        do
            *y++ = sum_of_taps(t, nk / c->k, nk % c->k, o);
        while (next(out, o));
    }
}

static void random_problems_follow_the_definition(void **state)
{
    static double y[FIXTURE_ELEMENTS];

    (void)state;
    fixture_random = test_seed();
    for (int i = 0; i < 300; i++) {
        random_problem(&f);
        by_definition(&f, y);
        run(&f, GDNN_FWD);
        assert_equal(f.y, y, f.n_y);
    }
}

/* <conv(x, w), dy> = <x, dx> = <w, dw>, and dx and dw are what y changes by, element by element. */
static void gradients_are_adjoint(void **state)
{
    (void)state;
    fixture_random = test_seed();
    for (int i = 0; i < 200; i++) {
        random_problem(&f);
        g = f;
        run(&g, GDNN_FWD); /* g.y = conv(x, w), f.y = dy */
        const double expected = dot(g.y, f.y, f.n_y);

        dx = dw = f;
        run(&dx, GDNN_BWD_DATA);
        run(&dw, GDNN_BWD_FILTER);
        assert_true(dot(f.x, dx.x, f.n_x) == expected);
        assert_true(dot(f.w, dw.w, f.n_w) == expected);

        for (int j = 0; j < 4; j++) {
            const int64_t at_x = test_pick(&fixture_random, 0, f.n_x - 1),
                          at_w = test_pick(&fixture_random, 0, f.n_w - 1);
            f.x[at_x]++;
            g = f;
            run(&g, GDNN_FWD);
            assert_true(dot(g.y, f.y, f.n_y) - expected == dx.x[at_x]);
            f.x[at_x]--;
            f.w[at_w]++;
            g = f;
            run(&g, GDNN_FWD);
            assert_true(dot(g.y, f.y, f.n_y) - expected == dw.w[at_w]);
            f.w[at_w]--;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems_follow_the_definition),
        cmocka_unit_test(gradients_are_adjoint),
    };
    return cmocka_run_group_tests_name("reference, random problems", tests, NULL, NULL);
}
