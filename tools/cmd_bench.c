#include "bench.h"
#include "commands.h"
#include "scale.h"

static command face = {
    .name = "bench",
    .arguments = "FILE...|'PROBLEM'...|-",
    .help =
        "Runs every problem as compare does, and says what it costs.\n"
        "On a GPU: the time of the whole problem, beside that of the real cuDNN in the same loop: "
        "the "
        "faster of the best algorithm of its legacy interface and the best of the plans that its "
        "heuristics name first. Medians, on buffers that the L2 cache does not hold, without the "
        "time "
        "that the host takes to launch. ratio is cuDNN's time over ours; %floor is the time that "
        "no "
        "kernel can beat, in percent of ours. Errors are those of the scaled problem.\n"
        "On the emulated device: what one launch did, counted, beside x + w + y and the budgets "
        "below. L2/floor is the sectors that blocks read and write over the bytes of x, w and y; "
        "shared/out is bytes of shared memory for an output; conflicts is the share of bank "
        "conflicts in the cycles of shared memory. 1.31>1.15 is a missed budget. A problem that "
        "is scaled is counted as scaled; kernels may cut a larger batch into larger pieces and "
        "read less twice, as --no-scale shows, which takes long.\n"
        "Budgets, the first that fits, for 2-D problems that move 10 MB or more before they are "
        "scaled:"
#define GDNN_BUDGET(counter, limit, kind, when) "\n    " #counter " " #limit ": " kind
#include "budgets.def"
#undef GDNN_BUDGET
    ,
    .flags = request_flags,
};

/* Workspace on offer, for cuDNN too. */
static const unsigned long long most_workspace = 1ull << 30;

typedef struct bench {
    bool emulated;
    bench_counts counts;
    bench_times times;
} bench;

static bench state;

static gdnn_status open_device(session *s, session_choice choice)
{
    gdnn_status status = session_open_counting(s, choice);
    state.emulated = s->emulated;
    return status;
}

static void begin(void *context, FILE *out, const session *s)
{
    bench *b = context;
    if (!b->emulated)
        bench_times_begin(&b->times, out, s);
}

static gdnn_status measure_row(void *context, session *s, const trial *t, const gdnn_conv *from,
                               trial_result *result)
{
    bench *b = context;
    if (!b->emulated)
        return bench_times_row(&b->times, s, t, from, result);
    bench_counts_row(&b->counts, t->conv, from, result);
    return GDNN_OK;
}

static void head(void *context, FILE *out)
{
    const bench *b = context;
    if (b->emulated)
        bench_counts_head(out);
    else
        bench_times_head(out);
}

static void cells(void *context, FILE *out, bool measured)
{
    const bench *b = context;
    if (b->emulated)
        bench_counts_cells(&b->counts, out, measured);
    else
        bench_times_cells(&b->times, out, measured);
}

static void members(void *context, json *j, bool measured)
{
    const bench *b = context;
    if (b->emulated)
        bench_counts_members(&b->counts, j, measured);
    else
        bench_times_members(&b->times, j, measured);
}

static void end(void *context, FILE *out, json *j)
{
    bench *b = context;
    if (b->emulated)
        bench_counts_end(&b->counts, out, j);
    else
        bench_times_end(&b->times, out, j);
}

static const measures costs = {
    .context = &state,
    .emulated_macs = SCALE_COUNTED,
    .gpu_macs = SCALE_EMULATED, /* there it is the time that matters: comparing is a guard */
    .open = open_device,
    .row = measure_row,
    .begin = begin,
    .head = head,
    .cells = cells,
    .members = members,
    .end = end,
};

int cmd_bench(int argc, char **argv)
{
    request q;
    face.flag_count = request_flag_count;
    int code = request_read(&q, &face, most_workspace, argc, argv);
    if (code < 0)
        code = compare_run(&q, &costs);
    request_free(&q);
    return code;
}
