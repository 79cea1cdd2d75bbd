#include "compare.h"
#include "enums.h"
#include "problem.h"
#include "progress.h"
#include <string.h>

static const char *layout_word(const gdnn_conv *conv)
{
    gdnn_layout layout;
    return gdnn_common_layout(conv, &layout) ? gdnn_enum_word(GDNN_ENUM_layout, (int)layout)
                                             : "strided";
}

static const char *device_word(const session *s)
{
    return s->emulated ? "emulated" : s->facts.name;
}

void report_begin(report *r, const session *s, bool scales, double macs)
{
    FILE *out = r->table.out;
    if (s->emulated)
        fprintf(out, "Device: emulated on the CPU, as sm_%d: results are real, times are not.\n",
                s->facts.sm);
    else
        fprintf(out, "Device: %s (sm_%d).\n", s->facts.name, s->facts.sm);
    if (scales)
        fprintf(out,
                "Problems beyond %.0f million multiply-adds are scaled in n, groups and in, and "
                "marked 'scaled';\n--no-scale runs them whole.\n",
                macs * 1e-6);
    if (r->measures)
        r->measures->begin(r->measures->context, out, s);
    table_head(&r->table);
    fprintf(out, "%-10s %-5s %-7s %-27s ", "dir", "dtype", "layout", "kernel");
    if (r->measures)
        r->measures->head(r->measures->context, out);
    else
        fprintf(out, "%10s %10s", "error", "tolerance");
    fputc('\n', out);
    fflush(out);
}

/* "n 3, k 17, 5, 2": where the element at `at` of what is written lies. */
static void place_text(const gdnn_conv *conv, tensor_name written, int64_t at, char *text,
                       size_t room)
{
    tensor t = tensor_of(conv, written);
    int64_t index[GDNN_MAX_DIMS];
    size_t used = 0;
    for (int i = t.dims - 1; i >= 0; i--) {
        index[i] = at % t.size[i];
        at /= t.size[i];
    }
    for (int i = 0; i < t.dims && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%lld", i ? ", " : "",
                                 (long long)index[i]);
}

/* Everything that helps to find a fault, below its row. */
static void explain_failure(const report *r, const job *row, gdnn_status status,
                            const trial_result *result)
{
    char text[PROBLEM_TEXT], place[128];
    const char *label = tensor_label(row->conv.dir, result->written);
    int64_t at = result->error.worst_at;
    if (status != GDNN_OK) {
        fprintf(r->table.out, "    %s\n", gdnn_last_error());
    } else if (!result->error.pass) {
        place_text(&row->conv, result->written, at, place, sizeof place);
        fprintf(r->table.out,
                "    worst: %s[%s] is %.9g, the reference %.9g; %.3g times its bound\n", label,
                place, result->got[at], result->ref[at], result->error.worst);
    }
    if (*result->damage)
        fprintf(r->table.out, "    %s\n", result->damage);
    gdnn_conv_format(&row->conv, text, sizeof text);
    fprintf(r->table.out, "    problem: %s\n", text);
}

static void print_row(report *r, const job *row, bool scaled, gdnn_status status,
                      const trial_result *result)
{
    const gdnn_conv *conv = &row->conv;
    const gdnn_kernel *kernel = result->decision.launch.kernel;
    FILE *out = r->table.out;
    table_row(&r->table, row);
    fprintf(out, "%-10s %-5s %-7s %-27s ", gdnn_enum_word(GDNN_ENUM_dir, (int)conv->dir),
            gdnn_enum_word(GDNN_ENUM_dtype, (int)conv->dtype), layout_word(conv),
            kernel ? kernel->name : "-");
    const char *note = scaled ? "  scaled" : "";
    bool ran = status == GDNN_OK;
    if (r->measures)
        r->measures->cells(r->measures->context, out, ran && result->pass);
    else if (ran)
        fprintf(out, "%10.2e %10.2e", result->error.err_l2, result->error.tol);
    else
        fprintf(out, "%10s %10s", "-", "-");
    if (status == GDNN_UNSUPPORTED)
        fprintf(out, "  skipped: %s\n", result->reason);
    else
        fprintf(out, "  %s%s\n", ran && result->pass ? "ok" : "FAILED", note);
    if (status == GDNN_FAILED || (status == GDNN_OK && !result->pass))
        explain_failure(r, row, status, result);
    fflush(out);
}

/* A sentence for below the table; it begins with the reason. */
static void note_skipped(report *r, const char *reason)
{
    const char *why = gdnn_last_error();
    char sentence[512];
    bool said = !strncmp(why, reason, strlen(reason));
    snprintf(sentence, sizeof sentence, "%s%s%s", said ? "" : reason, said ? "" : ": ", why);
    table_note(&r->table, reason, sentence);
}

/* A member that is null for a row that did not run. */
static void measured(json *j, const char *key, bool ran, double value)
{
    if (ran)
        json_number(j, key, value);
    else
        json_null(j, key);
}

static void write_row(report *r, const job *row, const gdnn_conv *from, gdnn_status status,
                      const trial_result *result, const char *dump)
{
    char text[PROBLEM_TEXT];
    json *j = &r->json;
    bool ran = status == GDNN_OK;
    const gdnn_kernel *kernel = result->decision.launch.kernel;
    json_begin(j);
    gdnn_text_format(&row->conv, *row->name ? row->name : NULL, text, sizeof text);
    json_text(j, "problem", text);
    if (from)
        gdnn_text_format(from, *row->name ? row->name : NULL, text, sizeof text);
    json_text(j, "scaled_from", from ? text : NULL);
    json_text(j, "dir", gdnn_enum_word(GDNN_ENUM_dir, (int)row->conv.dir));
    json_text(j, "route", status == GDNN_UNSUPPORTED ? "cudnn" : "groupdnn");
    json_text(j, "kernel", kernel ? kernel->name : NULL);
    json_text(j, "reason", status == GDNN_FAILED ? "driver-error" : result->reason);
    measured(j, "err_l2", ran, result->error.err_l2);
    measured(j, "tol", ran, result->error.tol);
    measured(j, "cudnn_err_l2", ran, result->cudnn_err_l2);
    measured(j, "vs_cudnn_l2", ran, result->vs_cudnn_l2);
    if (ran)
        json_integer(j, "launches", result->launches);
    else
        json_null(j, "launches");
    if (status == GDNN_UNSUPPORTED)
        json_null(j, "pass");
    else
        json_flag(j, "pass", ran && result->pass);
    if (r->measures)
        r->measures->members(r->measures->context, j, ran && result->pass);
    if (dump)
        json_text(j, "dump", dump);
    json_end(j);
}

void report_row(report *r, const job *row, const gdnn_conv *from, gdnn_status status,
                const trial_result *result, const char *dump)
{
    progress_clear();
    print_row(r, row, from != NULL, status, result);
    if (status == GDNN_UNSUPPORTED)
        note_skipped(r, result->reason);
    write_row(r, row, from, status, result, dump);
    if (status == GDNN_UNSUPPORTED) {
        r->skipped++;
        return;
    }
    r->run++;
    if (status == GDNN_OK && result->pass)
        r->passed++;
    else
        r->failed++;
}

void report_end(report *r, const session *s, unsigned long long seed)
{
    FILE *out = r->table.out;
    progress_clear();
    table_notes(&r->table);
    fprintf(out, "\n%d run: %d passed, %d failed; %d skipped. Seed %llu, device %s.\n", r->run,
            r->passed, r->failed, r->skipped, seed, device_word(s));
    if (r->run == 0) {
        char reasons[256];
        fprintf(out, "nothing was run: every problem was skipped (%s)\n",
                table_reasons(&r->table, reasons, sizeof reasons));
    }
    json *j = &r->json;
    json_begin(j);
    json_integer(j, "run", r->run);
    json_integer(j, "passed", r->passed);
    json_integer(j, "failed", r->failed);
    json_integer(j, "skipped", r->skipped);
    json_integer(j, "seed", (long long)seed);
    json_text(j, "device", device_word(s));
    if (r->measures)
        r->measures->end(r->measures->context, out, j);
    json_end(j);
}
