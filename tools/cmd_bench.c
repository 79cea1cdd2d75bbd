#include "bench.h"
#include "commands.h"

static command face = {
    .name = "bench",
    .arguments = "FILE...|'PROBLEM'...|-",
    .help =
        "Runs every problem as compare does, and says what it costs.\n"
        "On the emulated device: what one launch did, counted, beside x + w + y and the budgets "
        "below. L2/floor is the sectors that blocks read and write over the bytes of x, w and y; "
        "shared/out is bytes of shared memory for an output; conflicts is the share of bank "
        "conflicts in the cycles of shared memory. 1.31>1.15 is a missed budget. A problem that "
        "is scaled is counted as scaled.\n"
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
} bench;

static bench state;

static gdnn_status open_device(session *s, session_choice choice)
{
    gdnn_status status = session_open_counting(s, choice);
    state.emulated = s->emulated;
    return status;
}

static gdnn_status measure_row(void *context, session *s, const trial *t, const gdnn_conv *from,
                               const trial_result *result)
{
    bench *b = context;
    (void)s;
    bench_counts_row(&b->counts, t->conv, from, result);
    return GDNN_OK;
}

static void begin(void *context, FILE *out, const session *s)
{
    (void)context, (void)out, (void)s;
}

static void head(void *context, FILE *out)
{
    (void)context;
    bench_counts_head(out);
}

static void cells(void *context, FILE *out, bool ran)
{
    bench *b = context;
    bench_counts_cells(&b->counts, out, ran);
}

static void members(void *context, json *j, bool ran)
{
    bench *b = context;
    bench_counts_members(&b->counts, j, ran);
}

static void end(void *context, FILE *out, json *j)
{
    bench *b = context;
    bench_counts_end(&b->counts, out, j);
}

static const measures costs = {
    .context = &state,
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
