#include "bench.h"
#include "problem.h"
#include <string.h>

/* Of the columns. */
static const int width[COSTS] = {11, 11, 10};

void bench_counts_row(bench_counts *b, const gdnn_conv *conv, const gdnn_conv *from,
                      const trial_result *result)
{
    b->counts = result->counts;
    b->counted = result->counted;
    b->floor = gdnn_bytes(conv);
    if (!b->counted)
        return;
    b->counted_rows++;
    budget_costs(conv, from, &b->counts, b->costs);
    bool missed = false;
    for (int i = 0; i < COSTS; i++)
        missed |= budget_missed(&b->costs[i]);
    b->missed += missed;
}

void bench_counts_head(FILE *out)
{
    static const char *const heads[COSTS] = {"L2/floor", "shared/out", "conflicts"};
    for (int i = 0; i < COSTS; i++)
        fprintf(out, "%*s", width[i], heads[i]);
}

/* A value, and the budget if it is missed. */
static void put_cost(const cost *c, int columns, FILE *out)
{
    char text[64];
    const char *percent = !strcmp(c->name, "conflict_percent") ? "%" : "";
    int digits = c->value >= 10 ? 1 : budget_missed(c) ? 3 : 2;
    int used = snprintf(text, sizeof text, "%.*f%s", digits, c->value, percent);
    if (budget_missed(c))
        snprintf(text + used, sizeof text - (size_t)used, ">%.4g%s", c->limit, percent);
    fprintf(out, "%*s", columns, text);
}

void bench_counts_cells(const bench_counts *b, FILE *out, bool measured)
{
    for (int i = 0; i < COSTS; i++)
        if (measured && b->counted)
            put_cost(&b->costs[i], width[i], out);
        else
            fprintf(out, "%*s", width[i], "-");
}

static void count(json *j, const char *key, bool known, uint64_t value)
{
    if (known)
        json_integer(j, key, (long long)value);
    else
        json_null(j, key);
}

void bench_counts_members(const bench_counts *b, json *j, bool measured)
{
    char text[256];
    bool known = measured && b->counted;
    if (measured)
        json_integer(j, "bytes_floor", (long long)b->floor);
    else
        json_null(j, "bytes_floor");
#define GDNN_COUNTER(name, meaning) count(j, #name, known, b->counts.name);
#include "counters.def"
#undef GDNN_COUNTER
#define GDNN_COST(name)                                                                            \
    if (known)                                                                                     \
        json_number(j, #name, b->costs[COST_##name].value);                                        \
    else                                                                                           \
        json_null(j, #name);
    GDNN_COST(l2_ratio)
    GDNN_COST(shared_per_output)
    GDNN_COST(conflict_percent)
#undef GDNN_COST
    json_text(j, "missed", known ? budget_text(b->costs, text, sizeof text) : NULL);
}

void bench_counts_end(const bench_counts *b, FILE *out, json *j)
{
    json_integer(j, "counted", b->counted_rows);
    json_integer(j, "missed", b->missed);
    if (b->counted_rows)
        fprintf(out, "%d counted: %d miss a budget, which the cell shows as value>budget.\n",
                b->counted_rows, b->missed);
    else
        fputs("Nothing was counted: this emulated device does not count.\n", out);
}
