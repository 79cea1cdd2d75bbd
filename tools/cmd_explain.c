#include "columns.h"
#include "commands.h"
#include "device.h"
#include "facts.h"
#include "flags.h"
#include "jobs.h"
#include "json.h"
#include "problem.h"
#include "table.h"
#include <math.h>
#include <string.h>

static const char *facts, *dtypes, *layouts, *dirs, *workspace_text, *json_path;

static const flag flags[] = {
    {"device-facts", "h200|a100|t4|FILE",
     "the GPU to decide for (h200); a model of the list above; gpu: the one here; or a file of "
     "lines key=value, the keys name sm multiprocessors shared_bytes bandwidth_gbs fp32_tflops "
     "tensor16_tflops",
     &facts, NULL},
    {"dtype", "LIST", "types for problems that name none: f16, bf16, f32, f64 (f16,bf16,f32)",
     &dtypes, NULL},
    {"layout", "LIST", "layouts for problems that name none: nchw, nhwc (nchw)", &layouts, NULL},
    {"dir", "LIST", "directions for problems that name none: fwd, bwd_data, bwd_filter (all three)",
     &dirs, NULL},
    {"workspace", "BYTES", "on offer to kernels (0)", &workspace_text, NULL},
    {"json", "FILE|-", "write a record a row and a summary as JSON lines", &json_path, NULL},
};

static const command face = {
    .name = "explain",
    .arguments = "FILE...|'PROBLEM'...|-",
    .help = "Says what the drop-in would do with each problem under the GROUPDNN_* options of the "
            "environment: the route (groupdnn or cudnn), our kernel, also where it would not be "
            "used, the reason, and the time that no kernel can beat on this GPU. predicted_us is "
            "null where nothing was measured. No GPU is needed.\n"
            "Known models:"
#define GDNN_DEVICE(name, model, sm, multiprocessors, shared, gbs, fp32, tensor16) " " name
#include "devices.def"
#undef GDNN_DEVICE
            ".",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
};

static bool read_list(gdnn_enum which, const char *option, const char *list, unsigned *bits)
{
    if (!list || jobs_words(which, list, bits) == GDNN_OK)
        return true;
    usage_error(&face, "--%s %s", option, gdnn_last_error());
    return false;
}

typedef struct totals {
    int explained, taken, forwarded;
} totals;

static int explain(const job *row, const gdnn_device *device, size_t workspace, table *t, json *j,
                   totals *sum)
{
    char text[2048], sentence[512];
    gdnn_explanation e;
    if (gdnn_explain(&row->conv, device, workspace, &e) != GDNN_OK)
        return usage_error(&face, "%s", gdnn_last_error());
    const char *dir = gdnn_enum_word(GDNN_ENUM_dir, (int)row->conv.dir);
    const char *route = e.taken ? "groupdnn" : "cudnn";
    sum->explained++;
    sum->taken += e.taken;
    sum->forwarded += !e.taken;

    table_row(t, row);
    fprintf(t->out, "%-10s %-5s %-8s %-27s %9.1f  %s\n", dir,
            gdnn_enum_word(GDNN_ENUM_dtype, (int)row->conv.dtype), route, e.kernel ? e.kernel : "-",
            e.floor_us, e.reason);
    fflush(t->out);
    snprintf(sentence, sizeof sentence, "%s: %s", e.reason, e.sentence);
    if (!e.taken)
        table_note(t, e.reason, sentence);
    gdnn_text_format(&row->conv, *row->name ? row->name : NULL, text, sizeof text);
    json_begin(j);
    json_text(j, "problem", text);
    json_text(j, "dir", dir);
    json_text(j, "route", route);
    json_text(j, "kernel", e.kernel);
    json_text(j, "reason", e.reason);
    json_text(j, "evidence", e.evidence);
    json_integer(j, "workspace", (long long)e.workspace);
    json_number(j, "floor_us", e.floor_us > 0 ? e.floor_us : NAN);
    json_null(j, "predicted_us"); /* no kernel has a measured model yet */
    json_end(j);
    return EXIT_PASS;
}

static int explain_all(const jobs *jobs, const gdnn_device *device, size_t workspace)
{
    json j;
    totals sum = {0};
    int code = EXIT_PASS;
    FILE *out = json_path && !strcmp(json_path, "-") ? stderr : stdout;
    if (json_open(&j, json_path) != GDNN_OK)
        return usage_error(&face, "%s", gdnn_last_error());
    table t = table_of(jobs, out);
    fputs("For ", out);
    columns_text(out, device->name);
    fprintf(out, " (sm_%d, %d multiprocessors).\n", device->sm, device->multiprocessors);
    table_head(&t);
    fprintf(out, "%-10s %-5s %-8s %-27s %9s  %s\n", "dir", "dtype", "route", "kernel", "floor us",
            "reason");
    for (int i = 0; i < jobs->count && code == EXIT_PASS; i++)
        code = explain(&jobs->list[i], device, workspace, &t, &j, &sum);
    table_notes(&t);
    fprintf(out, "\n%d explained: groupdnn runs %d, cuDNN %d.\n", sum.explained, sum.taken,
            sum.forwarded);
    json_begin(&j);
    json_integer(&j, "explained", sum.explained);
    json_integer(&j, "taken", sum.taken);
    json_integer(&j, "forwarded", sum.forwarded);
    json_text(&j, "device", device->name);
    json_end(&j);
    if (json_close(&j) != GDNN_OK)
        return environment_error(&face, "%s", gdnn_last_error());
    return finish_output(&face, code);
}

int cmd_explain(int argc, char **argv)
{
    int count;
    int code = flags_parse(&face, argc, argv, &count);
    jobs_choice choice = jobs_default();
    jobs jobs = {.count = 0};
    gdnn_device device;
    unsigned long long workspace = 0;
    if (code >= 0)
        return code;
    if (!read_list(GDNN_ENUM_dtype, "dtype", dtypes, &choice.dtypes) ||
        !read_list(GDNN_ENUM_layout, "layout", layouts, &choice.layouts) ||
        !read_list(GDNN_ENUM_dir, "dir", dirs, &choice.dirs) ||
        (workspace_text &&
         !flags_number(&face, "workspace", workspace_text, INT64_MAX, &workspace)))
        return EXIT_USAGE;
    if (count == 0)
        return usage_error(&face, "what to explain? Give files of problems, or problems as text");
    gdnn_status status = facts_read(facts ? facts : "h200", &device);
    for (int i = 0; i < count && status == GDNN_OK; i++)
        status = jobs_add(&jobs, argv[i], &choice);
    if (status == GDNN_INVALID)
        code = usage_error(&face, "%s", gdnn_last_error());
    else if (status != GDNN_OK)
        code = environment_error(&face, "%s", gdnn_last_error());
    else
        code = explain_all(&jobs, &device, (size_t)workspace);
    jobs_free(&jobs);
    return code;
}
