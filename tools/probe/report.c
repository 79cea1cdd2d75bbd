#include "probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {[OUTCOME_MEASURED] = "measured",
                                    [OUTCOME_RIGHT] = "right",
                                    [OUTCOME_WRONG] = "WRONG",
                                    [OUTCOME_SKIPPED] = "skipped"};

static void print_row(const row *r, FILE *out)
{
    fprintf(out, "  %-42s ", r->name);
    if (r->outcome != OUTCOME_MEASURED) {
        fprintf(out, "%s%s%s\n", words[r->outcome], *r->text ? ": " : "", r->text);
        return;
    }
    fprintf(out, "%8.4g %-8s %6.1f%%", r->median, r->unit, 100 * r->spread);
    if (r->assumed > 0)
        fprintf(out, " %8.4g %6.0f%%", r->assumed, 100 * r->median / r->assumed);
    else
        fprintf(out, "%*s", r->mhz > 0 ? 17 : 0, "");
    if (r->mhz > 0)
        fprintf(out, " %6.0f", r->mhz);
    fputc('\n', out);
}

void probe_print(const probe *p, FILE *out)
{
    const gdnn_device *d = &p->session.facts;
    fprintf(out,
            "%s: compute capability %d.%d, %d multiprocessors, %lld KiB of shared memory a block, "
            "driver for CUDA %d.%d\n",
            d->name, d->sm / 10, d->sm % 10, d->multiprocessors, (long long)d->shared_bytes / 1024,
            p->session.driver->version / 1000, p->session.driver->version % 1000 / 10);
    fprintf(out, "  %-42s %8s %-8s %7s %8s %7s %6s\n", "", "median", "", "spread", "assumed",
            "of it", "MHz");
    for (int i = 0; i < p->row_count; i++) {
        const row *r = &p->rows[i];
        if (i == 0 || strcmp(r->section, r[-1].section) != 0)
            fprintf(out, "%s\n", r->section);
        print_row(r, out);
    }
}

static void number(json *j, const char *key, double value)
{
    if (value > 0)
        json_number(j, key, value);
    else
        json_null(j, key);
}

void probe_write(const probe *p, json *j)
{
    int counts[4] = {0};
    for (int i = 0; i < p->row_count; i++) {
        const row *r = &p->rows[i];
        const bool measured = r->outcome == OUTCOME_MEASURED;
        counts[r->outcome]++;
        json_begin(j);
        json_text(j, "section", r->section);
        json_text(j, "name", r->name);
        json_text(j, "outcome", words[r->outcome]);
        json_text(j, "text", r->text);
        json_text(j, "unit", r->unit);
        number(j, "median", r->median);
        if (measured)
            json_number(j, "spread", r->spread);
        else
            json_null(j, "spread");
        number(j, "assumed", r->assumed);
        number(j, "mhz", r->mhz);
        json_end(j);
    }
    json_begin(j);
    json_integer(j, "measured", counts[OUTCOME_MEASURED]);
    json_integer(j, "right", counts[OUTCOME_RIGHT]);
    json_integer(j, "wrong", counts[OUTCOME_WRONG]);
    json_integer(j, "skipped", counts[OUTCOME_SKIPPED]);
    json_text(j, "device", p->session.facts.name);
    json_end(j);
}
