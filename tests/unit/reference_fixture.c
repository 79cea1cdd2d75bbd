#include "reference_fixture.h"
#include "reference.h"
#include "unit.h"

uint64_t fixture_random = 1;

static int64_t random_between(int64_t low, int64_t high)
{
    return test_pick(&fixture_random, low, high);
}

static void fill(double *data, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        data[i] = (double)random_between(-8, 8);
}

void fill_with(double *data, int64_t count, double value)
{
    for (int64_t i = 0; i < count; i++)
        data[i] = value;
}

/* Counts the outputs of an axis by trying: 0 if the filter does not fit. */
static int64_t count_outputs(const gdnn_conv *c, int axis)
{
    int64_t out = 0;

    while (out * c->stride[axis] + (c->filter[axis] - 1) * c->dilation[axis] <
           c->pad[axis] + c->in[axis] + c->pad_after[axis])
        out++;
    return out;
}

bool prepare(fixture *t)
{
    const gdnn_conv *c = &t->conv;

    t->n_x = c->n * c->c;
    t->n_w = c->k * (c->c / c->groups);
    t->n_y = c->n * c->k;
    for (int i = 0; i < c->spatial; i++) {
        t->out[i] = count_outputs(c, i);
        t->n_x *= c->in[i];
        t->n_w *= c->filter[i];
        t->n_y *= t->out[i];
    }
    if (t->n_y == 0)
        return false;
    assert_true(t->n_x <= FIXTURE_ELEMENTS && t->n_w <= FIXTURE_ELEMENTS &&
                t->n_y <= FIXTURE_ELEMENTS && c->k <= 64);
    fill(t->x, t->n_x);
    fill(t->w, t->n_w);
    fill(t->y, t->n_y);
    fill(t->z, t->n_y);
    fill(t->bias, c->k);
    return true;
}

void read_problem(fixture *t, const char *text)
{
    if (gdnn_conv_parse(text, &t->conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    assert_true(prepare(t));
}

void run(fixture *t, gdnn_dir dir)
{
    gdnn_reference tensors = {t->x, t->w, t->y, t->z, t->bias, t->magnitude};

    t->conv.dir = dir;
    gdnn_reference_run(&t->conv, &tensors);
}

void assert_equal(const double *a, const double *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(a[i] == b[i]))
            fail_msg("element %lld is %g, expected %g", (long long)i, a[i], b[i]);
}

void random_problem(fixture *t)
{
    do {
        gdnn_conv *c = &t->conv;
        gdnn_conv_init(c);
        c->spatial = (int)random_between(1, 3);
        c->groups = random_between(1, 4);
        c->n = random_between(1, 2);
        c->c = c->groups * random_between(1, 3);
        c->k = c->groups * random_between(1, 3);
        c->mode = (gdnn_mode)random_between(0, 1);
        for (int i = 0; i < c->spatial; i++) {
            c->in[i] = random_between(1, 6);
            c->filter[i] = random_between(1, 4);
            c->pad[i] = random_between(0, 3);
            c->pad_after[i] = random_between(0, 3);
            c->stride[i] = random_between(1, 3);
            c->dilation[i] = random_between(1, 3);
        }
    } while (!prepare(t));
}
