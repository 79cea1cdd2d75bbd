#include "reference.h"
#include <math.h>

/* One spatial axis. A problem with fewer than three has axes of size 1 in front: they change
 * nothing. */
typedef struct axis {
    int64_t in, filter, out, pad, stride, dilation;
} axis;

/* Outputs of an axis: first <= o < end. */
typedef struct range {
    int64_t first, end;
} range;

/* The problem with what follows from it at hand. */
typedef struct problem {
    const gdnn_conv *conv;
    const gdnn_reference *t;
    int64_t cpg, kpg; /* channels of x and of y in one group */
    axis d, h, w;
    int64_t in, taps, out; /* positions in all axes together */
    double alpha, beta, alpha2;
} problem;

static axis axis_of(const gdnn_conv *conv, int i)
{
    if (i < 0)
        return (axis){.in = 1, .filter = 1, .out = 1, .pad = 0, .stride = 1, .dilation = 1};

    const int64_t padded = conv->pad[i] + conv->in[i] + conv->pad_after[i];
    const int64_t extent = (conv->filter[i] - 1) * conv->dilation[i] + 1;
    return (axis){.in = conv->in[i],
                  .filter = conv->filter[i],
                  .out = (padded - extent) / conv->stride[i] + 1,
                  .pad = conv->pad[i],
                  .stride = conv->stride[i],
                  .dilation = conv->dilation[i]};
}

/* Output o and this tap meet at input o * stride + offset. */
static int64_t offset_of(const axis *a, gdnn_mode mode, int64_t tap)
{
    const int64_t place = mode == GDNN_CONV ? a->filter - 1 - tap : tap;

    return place * a->dilation - a->pad;
}

/* The outputs whose input is not padding: 0 <= o < out and 0 <= o * stride + offset < in. */
static range inside(const axis *a, int64_t offset)
{
    range r = {0, 0};

    if (offset < 0)
        r.first = (-offset + a->stride - 1) / a->stride;
    if (offset < a->in)
        r.end = (a->in - 1 - offset) / a->stride + 1;
    if (r.end > a->out)
        r.end = a->out;
    return r;
}

/* to[i] += factor * from[i], and the absolute value to magnitude[i], for `count` values of i. */
static void add_scaled(double *to, double *magnitude, int64_t to_step, double factor,
                       const double *from, int64_t from_step, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i * to_step] += factor * from[i * from_step];
    if (magnitude == NULL)
        return;
    for (int64_t i = 0; i < count; i++)
        magnitude[i * to_step] += fabs(factor * from[i * from_step]);
}

/* to += factor * a[i] * b[i], and the absolute value to magnitude, for `count` values of i. */
static void add_product(double *to, double *magnitude, double factor, const double *a,
                        int64_t a_step, const double *b, int64_t count)
{
    double sum = 0, absolute = 0;

    for (int64_t i = 0; i < count; i++) {
        const double term = a[i * a_step] * b[i];
        sum += term;
        absolute += fabs(term);
    }
    *to += factor * sum;
    if (magnitude != NULL)
        *magnitude += fabs(factor) * absolute;
}

/* Adds the terms of one weight and `count` outputs in a row: x, w and y are where the first one's
 * stand, and the next output stands at y + 1 and x + stride. */
static void add_row(const problem *p, int64_t x, int64_t w, int64_t y, int64_t count)
{
    const gdnn_reference *t = p->t;
    const double alpha = p->alpha;
    const int64_t stride = p->w.stride;
    double *m = t->magnitude;

    switch (p->conv->dir) {
    case GDNN_FWD:
        add_scaled(&t->y[y], m ? &m[y] : NULL, 1, alpha * t->w[w], &t->x[x], stride, count);
        break;
    case GDNN_BWD_DATA:
        add_scaled(&t->x[x], m ? &m[x] : NULL, stride, alpha * t->w[w], &t->y[y], 1, count);
        break;
    case GDNN_BWD_FILTER:
        add_product(&t->w[w], m ? &m[w] : NULL, alpha, &t->x[x], stride, &t->y[y], count);
        break;
    }
}

/* Adds the terms of one tap, image n and output channel k. */
static void add_tap(const problem *p, int64_t n, int64_t k, int64_t fd, int64_t fh, int64_t fw)
{
    const gdnn_mode mode = p->conv->mode;
    const int64_t tap = (fd * p->h.filter + fh) * p->w.filter + fw;
    const int64_t first_c = k / p->kpg * p->cpg;
    const int64_t offset_d = offset_of(&p->d, mode, fd);
    const int64_t offset_h = offset_of(&p->h, mode, fh);
    const int64_t offset_w = offset_of(&p->w, mode, fw);
    const range rd = inside(&p->d, offset_d);
    const range rh = inside(&p->h, offset_h);
    const range rw = inside(&p->w, offset_w);

    if (rw.first >= rw.end)
        return;
    for (int64_t c = 0; c < p->cpg; c++) {
        const int64_t x_plane = (n * p->conv->c + first_c + c) * p->in;
        const int64_t y_plane = (n * p->conv->k + k) * p->out;
        const int64_t weight = (k * p->cpg + c) * p->taps + tap;

        for (int64_t od = rd.first; od < rd.end; od++) {
            for (int64_t oh = rh.first; oh < rh.end; oh++) {
                const int64_t ow = rw.first;
                const int64_t id = od * p->d.stride + offset_d;
                const int64_t ih = oh * p->h.stride + offset_h;
                const int64_t iw = ow * p->w.stride + offset_w;

                add_row(p, x_plane + (id * p->h.in + ih) * p->w.in + iw, weight,
                        y_plane + (od * p->h.out + oh) * p->w.out + ow, rw.end - rw.first);
            }
        }
    }
}

/* Adds alpha times the sum of products to what is written. The convolution is
 *
 *     y[n][k][o] = sum over c, f of w[k][c][f] * x[n][k / kpg * cpg + c][o * stride + offset(f)]
 *
 * over those taps f that fall on x. Its gradients are sums of the same terms, with dy in y's place,
 * added up where x or w stands. */
static void add_terms(const problem *p)
{
    for (int64_t n = 0; n < p->conv->n; n++)
        for (int64_t k = 0; k < p->conv->k; k++)
            for (int64_t fd = 0; fd < p->d.filter; fd++)
                for (int64_t fh = 0; fh < p->h.filter; fh++)
                    for (int64_t fw = 0; fw < p->w.filter; fw++)
                        add_tap(p, n, k, fd, fh, fw);
}

/* Puts everything but the sum of products where the result will stand. Only the forward direction
 * can have z and bias. */
static void begin(const problem *p, double *written, int64_t count)
{
    const gdnn_conv *conv = p->conv;
    const gdnn_reference *t = p->t;

    for (int64_t i = 0; i < count; i++) {
        const double prior = p->beta != 0 ? p->beta * written[i] : 0;
        double z = 0, bias = 0;

        if (conv->z && p->alpha2 != 0)
            z = p->alpha2 * t->z[i];
        if (conv->bias)
            bias = t->bias[i / p->out % conv->k];
        written[i] = prior + z + bias;
        if (t->magnitude != NULL)
            t->magnitude[i] = fabs(prior) + fabs(z) + fabs(bias);
    }
}

/* A NaN is not below zero, and stays. */
static void apply_relu(double *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (y[i] < 0)
            y[i] = 0;
}

/* A factor as the definition has it: a float32 unless the data are float64. gcc 12 drops the
 * conversion where it vectorises two of them, but for volatile. */
static double factor(const gdnn_conv *conv, double value)
{
    const volatile float narrow = (float)value;
    return conv->dtype == GDNN_F64 ? value : narrow;
}

void gdnn_reference_run(const gdnn_conv *conv, const gdnn_reference *tensors)
{
    problem p = {.conv = conv,
                 .t = tensors,
                 .cpg = conv->c / conv->groups,
                 .kpg = conv->k / conv->groups,
                 .d = axis_of(conv, conv->spatial - 3),
                 .h = axis_of(conv, conv->spatial - 2),
                 .w = axis_of(conv, conv->spatial - 1),
                 .alpha = factor(conv, conv->alpha),
                 .beta = factor(conv, conv->beta),
                 .alpha2 = factor(conv, conv->alpha2)};
    p.in = p.d.in * p.h.in * p.w.in;
    p.taps = p.d.filter * p.h.filter * p.w.filter;
    p.out = p.d.out * p.h.out * p.w.out;

    switch (conv->dir) {
    case GDNN_FWD: begin(&p, tensors->y, conv->n * conv->k * p.out); break;
    case GDNN_BWD_DATA: begin(&p, tensors->x, conv->n * conv->c * p.in); break;
    case GDNN_BWD_FILTER: begin(&p, tensors->w, conv->k * p.cpg * p.taps); break;
    }
    add_terms(&p);
    if (conv->act == GDNN_ACT_RELU)
        apply_relu(tensors->y, conv->n * conv->k * p.out);
}
