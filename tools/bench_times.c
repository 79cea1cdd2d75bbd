#include "bench.h"
#include "cudnn_graph.h"
#include "cudnn_legacy.h"
#include "cudnn_trial.h"
#include "device.h"
#include "plan.h"
#include "problem.h"
#include "timer.h"
#include <math.h>
#include <string.h>

/* A row under way. */
typedef struct row {
    bench_times *b;
    session *s;
    const gdnn_conv *conv;
    rotation memory;
    timer timer;
    gdnn_plan *plan;
    cudnn_legacy legacy;
    cudnn_graph graph;
    timed ours, theirs_legacy, theirs_graph;
} row;

static gdnn_status enqueue_ours(void *context, int copy)
{
    const row *r = context;
    const gdnn_tensors t = rotation_tensors(&r->memory, copy);
    return gdnn_plan_run(r->plan, &t, rotation_workspace(&r->memory), r->s->stream);
}

void bench_times_begin(bench_times *b, FILE *out, const session *s)
{
    char version[32];
    b->real = s->real_time;
    b->has_cudnn = cudnn_calls_open(&b->cudnn, s) == GDNN_OK;
    if (b->has_cudnn) {
        cudnn_version_text(b->cudnn.file.version, version);
        fprintf(out, "Beside cuDNN %s, %s.\n", version, b->cudnn.file.path);
    } else {
        fprintf(out, "Without cuDNN: %s\n", gdnn_last_error());
    }
    if (!b->real)
        fputs("The driver stands in for NVIDIA's: times mean nothing.\n", out);
}

/* Remembers the last error, once. */
static void remember(bench_reasons *r)
{
    const char *reason = gdnn_last_error();
    for (int i = 0; i < r->count; i++)
        if (!strncmp(r->text[i], reason, sizeof r->text[i] - 1))
            return;
    if (r->count < (int)(sizeof r->text / sizeof r->text[0]))
        snprintf(r->text[r->count++], sizeof r->text[0], "%s", reason);
}

/* The fastest of the plans; false if none runs. */
static bool choose_plan(row *r)
{
    double best = INFINITY;
    int fastest = -1;
    for (int i = 0; i < r->graph.plan_count; i++) {
        r->graph.plan = i;
        if (timer_try(&r->timer, &r->theirs_graph) == GDNN_OK && r->theirs_graph.ms < best) {
            best = r->theirs_graph.ms;
            fastest = i;
        }
    }
    r->graph.plan = fastest;
    r->theirs_graph.ms = best;
    return fastest >= 0;
}

/* Both interfaces of cuDNN, as far as they run the problem. */
static void prepare_cudnn(row *r, timed *list[3])
{
    if (!r->b->has_cudnn)
        return;
    r->theirs_legacy = (timed){.enqueue = cudnn_legacy_enqueue, .context = &r->legacy};
    r->theirs_graph = (timed){.enqueue = cudnn_graph_enqueue, .context = &r->graph};
    if (cudnn_legacy_open(&r->legacy, &r->b->cudnn, r->conv, &r->memory) == GDNN_OK &&
        timer_try(&r->timer, &r->theirs_legacy) == GDNN_OK)
        list[1] = &r->theirs_legacy;
    else
        remember(&r->b->refused);
    if (cudnn_graph_open(&r->graph, &r->b->cudnn, r->conv, &r->memory) == GDNN_OK && choose_plan(r))
        list[2] = &r->theirs_graph;
    else
        remember(&r->b->refused);
}

static void conclude(row *r, timed *const list[3])
{
    bench_times *b = r->b;
    spread *to[3] = {&b->ours, &b->legacy, &b->graph};
    for (int i = 0; i < 3; i++)
        if (list[i])
            *to[i] = spread_of(list[i]->samples, list[i]->count);
    b->cudnn_ms = fmin(b->legacy.median, b->graph.median); /* of NaN and a number the number */
    b->ratio = b->cudnn_ms / b->ours.median;
    b->floor_us = gdnn_floor_us(r->conv, &r->s->facts);
    b->gbps = gdnn_bytes(r->conv) / b->ours.median * 1e-6;
    geomean_add(&b->ratios[r->conv->dir], b->ratio);
    geomean_add(&b->all, b->ratio);
    b->timed++;
    b->beside += isfinite(b->cudnn_ms);
}

static gdnn_status time_row(row *r, const trial *t)
{
    gdnn_decision decision;
    timed *list[3] = {&r->ours, NULL, NULL};
    gdnn_status status = rotation_open(r->s, &r->memory, r->conv, t->workspace);
    if (status == GDNN_OK)
        status = timer_open(&r->timer, r->s, r->memory.l2_bytes, gdnn_bytes(r->conv));
    if (status == GDNN_OK)
        status =
            gdnn_plan_make(&r->plan, r->conv, r->memory.workspace_bytes, t->options, &decision);
    r->ours = (timed){.enqueue = enqueue_ours, .context = r};
    if (status == GDNN_OK)
        status = timer_try(&r->timer, &r->ours);
    if (status != GDNN_OK)
        return status;
    prepare_cudnn(r, list);
    status = timer_run(&r->timer, list, 3);
    if (status != GDNN_OK)
        return status;
    r->b->kernel = decision.launch.kernel->name;
    conclude(r, list);
    return GDNN_OK;
}

gdnn_status bench_times_row(bench_times *b, session *s, const trial *t, const gdnn_conv *conv,
                            trial_result *result)
{
    static const spread nothing = {NAN, NAN, NAN, 0};
    row r = {.b = b, .s = s, .conv = conv, .timer = {.s = s}};
    r.legacy.calls = r.graph.calls = &b->cudnn;
    r.graph.memory = &r.memory;
    b->ours = b->legacy = b->graph = nothing;
    b->cudnn_ms = b->ratio = b->gbps = b->floor_us = NAN;
    b->kernel = NULL;
    if (b->has_cudnn && cudnn_trial(&b->cudnn, s, t->conv, t->workspace, result) != GDNN_OK)
        remember(&b->refused);
    gdnn_status status = time_row(&r, t);
    if (status == GDNN_UNSUPPORTED)
        remember(&b->untimed);
    if (b->has_cudnn) {
        cudnn_graph_close(&r.graph);
        cudnn_legacy_close(&r.legacy);
    }
    gdnn_plan_destroy(r.plan);
    timer_close(&r.timer);
    rotation_close(s, &r.memory);
    return status == GDNN_UNSUPPORTED ? GDNN_OK : status;
}

void bench_times_head(FILE *out)
{
    fprintf(out, "%9s%9s%7s%7s", "us", "cuDNN us", "ratio", "%floor");
}

static void cell(FILE *out, int width, int digits, bool measured, double value)
{
    if (measured && isfinite(value))
        fprintf(out, "%*.*f", width, digits, value);
    else
        fprintf(out, "%*s", width, "-");
}

static double percent_of_floor(const bench_times *b)
{
    return b->floor_us > 0 ? b->floor_us / (10 * b->ours.median) : NAN;
}

void bench_times_cells(const bench_times *b, FILE *out, bool measured)
{
    cell(out, 9, 1, measured, 1e3 * b->ours.median);
    cell(out, 9, 1, measured, 1e3 * b->cudnn_ms);
    cell(out, 7, 2, measured, b->ratio);
    cell(out, 7, 1, measured, percent_of_floor(b));
}

void bench_times_members(const bench_times *b, json *j, bool measured)
{
    /* json_number writes null for NaN. */
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"ms", b->ours.median},
        {"ms_min", b->ours.least},
        {"ms_max", b->ours.most},
        {"cudnn_ms", b->cudnn_ms},
        {"cudnn_legacy_ms", b->legacy.median},
        {"cudnn_graph_ms", b->graph.median},
        {"ratio", b->ratio},
        {"gbps", b->gbps},
        {"floor_us", b->floor_us > 0 ? b->floor_us : NAN},
        {"percent_of_floor", percent_of_floor(b)},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        json_number(j, numbers[i].key, measured ? numbers[i].value : NAN);
    json_integer(j, "samples", measured ? b->ours.count : 0);
    json_text(j, "timed_kernel", measured ? b->kernel : NULL);
    json_flag(j, "real_time", b->real);
}

void bench_times_end(bench_times *b, FILE *out, json *j)
{
    static const char *const keys[] = {[GDNN_FWD] = "ratio_fwd",
                                       [GDNN_BWD_DATA] = "ratio_bwd_data",
                                       [GDNN_BWD_FILTER] = "ratio_bwd_filter"};
    for (int i = 0; i < b->untimed.count; i++)
        fprintf(out, "Not timed: %s\n", b->untimed.text[i]);
    for (int i = 0; i < b->refused.count; i++)
        fprintf(out, "cuDNN, where it does not run a problem: %s\n", b->refused.text[i]);
    fprintf(out, "%d timed, %d of them beside cuDNN: %d below 1.0; geometric means:", b->timed,
            b->beside, b->all.below_one);
    for (int i = 0; i < 3; i++)
        if (b->ratios[i].count)
            fprintf(out, " %s %.3f,", keys[i] + sizeof "ratio", geomean_value(&b->ratios[i]));
    if (b->all.count)
        fprintf(out, " all %.3f", geomean_value(&b->all));
    else
        fputs(" none", out);
    fputs(b->real ? ".\n" : ". Times mean nothing here.\n", out);
    json_integer(j, "timed", b->timed);
    json_integer(j, "beside_cudnn", b->beside);
    json_integer(j, "below_one", b->all.below_one);
    json_number(j, "ratio", geomean_value(&b->all));
    for (int i = 0; i < 3; i++)
        json_number(j, keys[i], geomean_value(&b->ratios[i]));
    json_text(j, "cudnn", b->has_cudnn ? b->cudnn.file.path : NULL);
    json_flag(j, "real_time", b->real);
    if (b->has_cudnn)
        cudnn_calls_close(&b->cudnn);
}
