#include "stats.h"
#include "enums.h"
#include "log.h"
#include "problem.h"
#include "real.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIRECTIONS = GDNN_BWD_FILTER + 1 };

/* Most lines of the table; and of them, the calls whose problem was never read, a line a reason. */
enum { LINES = 30, REASON_LINES = 8 };

/* No problem's text is shown longer. GROUPDNN_TRACE has all of it. */
enum { TEXT_WIDTH = 110 };

/* One problem with one fate: the routes that differ in device, algorithm or workspace only. */
typedef struct row {
    const gdnn_route *route; /* one of them */
    uint64_t hash, calls, compared, differed, skipped;
    double worst;
} row;

/* What a forked child had counted before it was born: its parent's. */
static uint64_t inherited[DIRECTIONS][GDNN_REASONS];

/* A forked child may never call cuDNN itself. */
static bool is_child;

static void begin_child(void)
{
    is_child = true;
    for (gdnn_route *r = gdnn_routes_newest(); r; r = r->next) {
        atomic_store(&r->calls, 0);
        atomic_store(&r->compared, 0);
        atomic_store(&r->differed, 0);
        atomic_store(&r->skipped, 0);
        atomic_store(&r->worst, 0);
    }
    for (int dir = 0; dir < DIRECTIONS; dir++)
        for (int reason = 0; reason < GDNN_REASONS; reason++)
            inherited[dir][reason] = gdnn_routes_counted((gdnn_dir)dir, (gdnn_reason)reason);
}

static uint64_t counted(int dir, int reason)
{
    return gdnn_routes_counted((gdnn_dir)dir, (gdnn_reason)reason) - inherited[dir][reason];
}

static uint64_t counted_in_all(int reason)
{
    uint64_t calls = 0;
    for (int dir = 0; dir < DIRECTIONS; dir++)
        calls += counted(dir, reason);
    return calls;
}

/* Equal problems have equal numbers. */
static uint64_t hash_problem(const gdnn_conv *conv)
{
    const int64_t facts[] = {conv->dir, conv->dtype, conv->n,      conv->c,
                             conv->k,   conv->in[0], conv->groups, conv->filter[0]};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        hash = (hash ^ (uint64_t)facts[i]) * 0x9e3779b97f4a7c15u;
    return hash;
}

static bool same_fate(const row *a, const row *b)
{
    return a->hash == b->hash && a->route->reason == b->route->reason &&
           a->route->shape.kernel == b->route->shape.kernel &&
           gdnn_conv_equal(&a->route->key.conv, &b->route->key.conv);
}

static int by_hash(const void *left, const void *right)
{
    const row *a = left, *b = right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

static int by_calls(const void *left, const void *right)
{
    const row *a = left, *b = right;
    return (a->calls < b->calls) - (a->calls > b->calls);
}

/* Adds the last row to one before it that has the same hash and fate. True: it is there. */
static bool merge_last(row *rows, int last)
{
    const row *from = &rows[last];
    for (int i = last - 1; i >= 0 && rows[i].hash == from->hash; i--) {
        row *to = &rows[i];
        if (!same_fate(to, from))
            continue;
        to->calls += from->calls;
        to->compared += from->compared;
        to->differed += from->differed;
        to->skipped += from->skipped;
        if (!(to->worst >= from->worst)) /* a NaN stays */
            to->worst = from->worst;
        return true;
    }
    return false;
}

/* The rows, most calls first, in memory of the caller's; NULL if there is none. */
static row *gather(int *count)
{
    int routes = 0, merged = 0;
    const gdnn_route *newest = gdnn_routes_newest();
    *count = 0;
    for (const gdnn_route *r = newest; r; r = r->next)
        routes++;
    row *rows = routes ? malloc((size_t)routes * sizeof *rows) : NULL;
    if (!rows)
        return NULL;
    int used = 0;
    for (const gdnn_route *r = newest; r; r = r->next) {
        row one = {r,
                   hash_problem(&r->key.conv),
                   atomic_load(&r->calls),
                   atomic_load(&r->compared),
                   atomic_load(&r->differed),
                   atomic_load(&r->skipped),
                   atomic_load(&r->worst)};
        if (one.calls)
            rows[used++] = one;
    }
    qsort(rows, (size_t)used, sizeof *rows, by_hash);
    for (int i = 0; i < used; i++) {
        rows[merged] = rows[i];
        merged += !merge_last(rows, merged);
    }
    qsort(rows, (size_t)merged, sizeof *rows, by_calls);
    *count = merged;
    return rows;
}

static bool verifies(void)
{
    return gdnn_options_get()->mode == GDNN_MODE_VERIFY;
}

/* Who runs a call. */
typedef enum runner { GROUPDNN, CUDNN, BOTH, RUNNERS } runner;

static const char *const runner_names[RUNNERS] = {"groupdnn", "cudnn", "both"};

/* Calls by who ran them. */
typedef struct totals {
    uint64_t by[RUNNERS];
} totals;

static runner runner_of(gdnn_reason reason)
{
    if (reason != GDNN_REASON_TAKEN || gdnn_options_get()->mode == GDNN_MODE_OBSERVE)
        return CUDNN;
    return verifies() ? BOTH : GROUPDNN;
}

/* A line of the table; `check` has the columns of mode verify. */
static void print_line(const char *calls, const char *who, const char *what, const char *check,
                       const char *text)
{
    if (verifies())
        gdnn_log_report("%10s  %-8s  %-22s  %38s  %s", calls, who, what, check, text);
    else
        gdnn_log_report("%10s  %-8s  %-22s  %s", calls, who, what, text);
}

static void print_count(uint64_t calls, const char *who, const char *what, const char *check,
                        const char *text)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, calls);
    print_line(number, who, what, check, text);
}

static void print_row(const row *r, bool shown, totals *sum)
{
    const gdnn_route *route = r->route;
    const bool taken = route->reason == GDNN_REASON_TAKEN;
    const runner by = runner_of(route->reason);
    char text[1024 + 1], what[64], check[96] = "";
    sum->by[by] += r->calls;
    if (!shown)
        return;
    gdnn_conv_format(&route->key.conv, text, sizeof text);
    if (strlen(text) > TEXT_WIDTH)
        strcpy(text + TEXT_WIDTH - 3, "...");
    snprintf(what, sizeof what, taken && by == CUDNN ? "(%s)" : "%s",
             taken ? route->shape.kernel->name : gdnn_reason_name(route->reason));
    if (by == BOTH)
        snprintf(check, sizeof check, "%8" PRIu64 "  %8" PRIu64 "  %8" PRIu64 "  %8.2g",
                 r->compared, r->differed, r->skipped, r->worst);
    print_count(r->calls, runner_names[by], what, check, text);
}

/* "1200 fwd, 600 bwd_data". */
static void print_reason(int reason, uint64_t calls)
{
    char text[128] = "";
    size_t used = 0;
    for (int dir = 0; dir < DIRECTIONS; dir++)
        if (counted(dir, reason))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 " %s",
                                     used ? ", " : "", counted(dir, reason),
                                     gdnn_enum_word(GDNN_ENUM_dir, dir));
    const char *what =
        reason == GDNN_REASON_TAKEN ? "further problems" : gdnn_reason_name((gdnn_reason)reason);
    print_count(calls, runner_names[runner_of((gdnn_reason)reason)], what, "", text);
}

/* How many of the reasons have calls, and how many calls. */
static int count_reasons(totals *sum)
{
    int reasons = 0;
    for (int reason = 0; reason < GDNN_REASONS; reason++) {
        uint64_t calls = counted_in_all(reason);
        reasons += calls > 0;
        sum->by[runner_of((gdnn_reason)reason)] += calls;
    }
    return reasons;
}

static void print_reasons(void)
{
    uint64_t others = 0;
    int printed = 0;
    for (int reason = 0; reason < GDNN_REASONS; reason++) {
        uint64_t calls = counted_in_all(reason);
        if (calls && printed++ < REASON_LINES)
            print_reason(reason, calls);
        else
            others += calls;
    }
    if (others)
        print_count(others, "cudnn", "other reasons", "", "");
}

static void print_head(void)
{
    char real[600] = "no cuDNN";
    const gdnn_real_library *library = gdnn_real_open();
    if (library)
        snprintf(real, sizeof real, "cuDNN %zu.%zu.%zu %s (%s)", library->version / 10000,
                 library->version / 100 % 100, library->version % 100, library->path,
                 library->origin);
    gdnn_log_report("version %s in process %ld (%s), mode %s, %s", gdnn_version(), (long)getpid(),
                    program_invocation_short_name, gdnn_mode_word(gdnn_options_get()->mode), real);
}

static void print_columns(void)
{
    print_line("calls", "by", "kernel or reason", "compared  differed   skipped     worst",
               "problem");
}

/* That cuDNN was called, and nothing that is counted. */
static void print_nothing(void)
{
    print_head();
    if (gdnn_options_get()->mode == GDNN_MODE_OFF)
        gdnn_log_report("nothing was counted: mode off forwards every call unseen");
    else
        gdnn_log_report(
            "nothing was counted: cuDNN was called, but no convolution was seen to run");
}

static void print_table(void)
{
    int problems, saved = errno;
    totals sum = {0};
    row *rows = gather(&problems);
    int reasons = count_reasons(&sum);
    if (problems || reasons) {
        print_head();
        print_columns();
        int room = LINES - 4 - (reasons < REASON_LINES ? reasons : REASON_LINES + 1);
        for (int i = 0; i < problems; i++)
            print_row(&rows[i], i < room, &sum);
        if (problems > room)
            gdnn_log_report("%10d  more problems", problems - room);
        print_reasons();
        gdnn_log_report("%10" PRIu64 "  calls: %" PRIu64 " by groupdnn, %" PRIu64
                        " by cudnn, %" PRIu64 " by both",
                        sum.by[GROUPDNN] + sum.by[CUDNN] + sum.by[BOTH], sum.by[GROUPDNN],
                        sum.by[CUDNN], sum.by[BOTH]);
    } else if (!is_child) {
        print_nothing();
    }
    free(rows);
    errno = saved;
}

static void begin(void)
{
    if (!gdnn_options_get()->stats && !verifies())
        return;
    pthread_atfork(NULL, NULL, begin_child);
    atexit(print_table);
}

void gdnn_stats_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
}
