#include "compare.h"
#include "problem.h"
#include "progress.h"
#include "scale.h"
#include <limits.h>
#include <string.h>

/* Writes row `i`; `folder` gets its place. */
static int dump_one(const request *q, int i, const gdnn_conv *from, const trial_result *result,
                    char folder[static PATH_MAX])
{
    if (q->jobs.count == 1)
        snprintf(folder, PATH_MAX, "%s", q->dump);
    else
        snprintf(folder, PATH_MAX, "%s/%d", q->dump, i + 1);
    gdnn_status status = dump_row(folder, &q->jobs.list[i], from, result);
    return status == GDNN_OK ? EXIT_PASS : environment_error(q->face, "%s", gdnn_last_error());
}

/* Runs the scaled problem with the kernel that the whole one, `from`, gets, which might not be its own choice; if that
 * cannot run it, with its own. */
static gdnn_status run_scaled(session *s, const trial *t, const gdnn_conv *from,
                              trial_result *result)
{
    gdnn_options options = *t->options;
    trial same = *t;
    const gdnn_decision whole = gdnn_decide(from, (int64_t)t->workspace, &s->facts, t->options);
    if (whole.launch.kernel) {
        snprintf(options.kernel, sizeof options.kernel, "%s", whole.launch.kernel->name);
        same.options = &options;
        gdnn_status status = trial_run(s, &same, result);
        if (status != GDNN_UNSUPPORTED || !strcmp(result->reason, "memory"))
            return status;
        trial_release(result);
    }
    return trial_run(s, t, result);
}

static int run_row(const request *q, int i, session *s, report *r, double macs)
{
    job *row = &q->jobs.list[i];
    const gdnn_conv from = row->conv;
    bool scaled = macs > 0 && scale_problem(&row->conv, macs);
    trial t = {.conv = &row->conv,
               .options = &q->options,
               .workspace = (size_t)q->workspace,
               .seed = q->seed,
               .device_reference = q->device_reference};
    for (int role = 0; role < TENSORS; role++)
        if (role != (int)gdnn_written(row->conv.dir))
            t.given[role] = q->given.file[role].data;
    trial_result result;
    gdnn_status status = scaled ? run_scaled(s, &t, &from, &result) : trial_run(s, &t, &result);
    if (r->measures && status == GDNN_OK && result.pass)
        status =
            r->measures->row(r->measures->context, s, &t, scaled ? &from : &row->conv, &result);

    char folder[PATH_MAX];
    bool dumped = q->dump && status == GDNN_OK;
    int code = dumped ? dump_one(q, i, scaled ? &from : NULL, &result, folder) : EXIT_PASS;
    report_row(r, row, scaled ? &from : NULL, status, &result, dumped ? folder : NULL);
    trial_release(&result);
    return code;
}

static int run_rows(const request *q, session *s, report *r)
{
    const measures *m = r->measures;
    double macs =
        s->emulated ? (m ? m->emulated_macs : SCALE_EMULATED) : (m ? m->gpu_macs : SCALE_GPU);
    int code = EXIT_PASS;
    report_begin(r, s, q->scales, macs);
    for (int i = 0; i < q->jobs.count && code == EXIT_PASS; i++) {
        const job *row = &q->jobs.list[i];
        char label[512];
        gdnn_text_format(&row->conv, *row->name ? row->name : NULL, label, sizeof label);
        progress_show(i + 1, q->jobs.count, label);
        code = run_row(q, i, s, r, q->scales ? macs : 0);
    }
    report_end(r, s, q->seed);
    if (code != EXIT_PASS)
        return code;
    return r->failed || !r->passed ? EXIT_MISMATCH : EXIT_PASS;
}

int compare_run(const request *q, const measures *measures)
{
    session s;
    FILE *out = q->json_path && !strcmp(q->json_path, "-") ? stderr : stdout;
    report r = {.table = table_of(&q->jobs, out), .measures = measures};
    gdnn_status (*open)(session *, session_choice) = measures ? measures->open : session_open;
    if (open(&s, q->device) != GDNN_OK) {
        session_close(&s);
        return environment_error(q->face, "%s", gdnn_last_error());
    }
    int code = EXIT_PASS;
    if (json_open(&r.json, q->json_path) != GDNN_OK)
        code = usage_error(q->face, "%s", gdnn_last_error());
    else
        code = run_rows(q, &s, &r);
    session_close(&s);
    if (json_close(&r.json) != GDNN_OK)
        code = environment_error(q->face, "%s", gdnn_last_error());
    return finish_output(q->face, code);
}
