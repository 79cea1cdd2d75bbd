#include "commands.h"
#include "compare.h"
#include "kernel.h"
#include "problem.h"
#include "progress.h"
#include "scale.h"
#include "suggest.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *device, *dtypes, *layouts, *dirs, *kernel, *seed_text, *dump, *workspace_text,
    *json_path;
static const char *x_path, *w_path, *dy_path, *z_path, *bias_path;
static bool no_scale;

static const flag flags[] = {
    {"device", "auto|gpu|emulated", "where to run; auto: a GPU if there is one", &device, NULL},
    {"dtype", "LIST", "types for problems that name none: f16, bf16, f32, f64 (f16,bf16,f32)",
     &dtypes, NULL},
    {"layout", "LIST", "layouts for problems that name none: nchw, nhwc (nchw)", &layouts, NULL},
    {"dir", "LIST", "directions for problems that name none: fwd, bwd_data, bwd_filter (all three)",
     &dirs, NULL},
    {"kernel", "NAME", "run this kernel only; groupdnn kernels lists them", &kernel, NULL},
    {"no-scale", NULL, "run large problems whole", NULL, &no_scale},
    {"seed", "NUMBER", "of the data (1)", &seed_text, NULL},
    {"dump", "FOLDER",
     "write problem.txt and x w y dy dx dw z bias ref as .npy, and what y dx dw held before as y0 "
     "dx0 dw0, where the problem has them; a numbered folder a row if there are several. bf16 is "
     "stored as <u2, its bits; ref is float64",
     &dump, NULL},
    {"workspace", "BYTES", "on offer to kernels (268435456)", &workspace_text, NULL},
    {"x", "FILE.npy", "your own x; also sizes that the problem leaves out", &x_path, NULL},
    {"w", "FILE.npy", "your own w", &w_path, NULL},
    {"dy", "FILE.npy", "your own dy, for the backward directions", &dy_path, NULL},
    {"z", "FILE.npy", "your own z", &z_path, NULL},
    {"bias", "FILE.npy", "your own bias", &bias_path, NULL},
    {"json", "FILE|-",
     "write a record a row and a summary as JSON lines; numbers that are not finite are null",
     &json_path, NULL},
};

static const command face = {
    .name = "compare",
    .arguments = "FILE...|'PROBLEM'...|-",
    .help =
        "Runs every problem with groupdnn's kernels and with a float64 reference, and compares.\n"
        "A problem is one line of text, such as\n"
        "    n=8 c=64 in=28x28 k=64 filter=3x3 pad=1 groups=32\n"
        "A file has one a line; - is standard input. What a problem leaves open (dir, dtype, "
        "layout) is run in all ways that were asked for.\n"
        "With --x and --w (and --dy) the tensors are yours, in logical order whatever the "
        "layout.\n"
        "A problem that no kernel runs is skipped, with the reason; it does not count as passed.",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
};

/* What the command line comes to. */
typedef struct request {
    session_choice device;
    gdnn_options options;
    jobs_choice choice, asked;
    unsigned long long seed, workspace;
    given given;
    bool own; /* the tensors are the user's */
    jobs jobs;
} request;

static bool read_device(session_choice *choice)
{
    static const char *const words[] = {"auto", "gpu", "emulated"};
    *choice = SESSION_AUTO;
    for (int i = 0; device && i < 3; i++)
        if (!strcmp(device, words[i])) {
            *choice = (session_choice)i;
            return true;
        }
    if (device)
        usage_error(&face, "--device %s: must be one of auto, gpu, emulated", device);
    return !device;
}

static bool read_list(gdnn_enum which, const char *option, const char *list, unsigned *bits,
                      unsigned *asked)
{
    if (!list)
        return true;
    if (jobs_words(which, list, bits) != GDNN_OK) {
        usage_error(&face, "--%s %s", option, gdnn_last_error());
        return false;
    }
    *asked = *bits;
    return true;
}

static bool read_kernel(gdnn_options *options)
{
    const char *names[64];
    int count = 0;
    if (!kernel)
        return true;
    if (gdnn_kernel_find(kernel)) {
        snprintf(options->kernel, sizeof options->kernel, "%s", kernel);
        return true;
    }
    for (int i = 0; i < gdnn_kernel_count && count < 64; i++)
        names[count++] = gdnn_kernels[i].name;
    const char *near = suggest(kernel, names, count);
    usage_error(&face, "--kernel %s: there is no such kernel%s%s; groupdnn kernels lists them",
                kernel, near ? ", did you mean " : "", near ? near : "");
    return false;
}

static bool read_options(request *q)
{
    q->options = *gdnn_options_get();
    q->options.mode = GDNN_MODE_FORCE;
    q->choice = jobs_default();
    q->seed = 1;
    q->workspace = 256u << 20;
    return read_device(&q->device) &&
           read_list(GDNN_ENUM_dtype, "dtype", dtypes, &q->choice.dtypes, &q->asked.dtypes) &&
           read_list(GDNN_ENUM_layout, "layout", layouts, &q->choice.layouts, &q->asked.layouts) &&
           read_list(GDNN_ENUM_dir, "dir", dirs, &q->choice.dirs, &q->asked.dirs) &&
           read_kernel(&q->options) &&
           (!seed_text || flags_number(&face, "seed", seed_text, INT64_MAX, &q->seed)) &&
           (!workspace_text ||
            flags_number(&face, "workspace", workspace_text, INT64_MAX, &q->workspace));
}

/* With the user's own tensors there is at most one problem, and it is text. */
static int check_own(int count, char **arguments)
{
    if (count == 1 && *arguments[0] && jobs_is_file(arguments[0]))
        return usage_error(&face,
                           "'%s': with your own tensors a problem text is needed, such as 'pad=1 "
                           "groups=4', not a file",
                           arguments[0]);
    if (count < 2)
        return EXIT_PASS;
    char all[512] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? " " : "", arguments[i]);
    }
    return usage_error(
        &face, "with your own tensors there can be one problem only; put it in quotes: '%s'", all);
}

/* The rows to run, from files and texts or from the user's tensors; and the folder for them, once
 * there are rows. */
static int read_jobs(request *q, int count, char **arguments)
{
    const char *const paths[TENSORS] = {x_path, w_path, dy_path, z_path, bias_path};
    gdnn_status status = GDNN_OK;
    memcpy(q->given.path, paths, sizeof paths);
    for (int i = 0; i < TENSORS; i++)
        q->own |= paths[i] != NULL;
    if (q->own && check_own(count, arguments) != EXIT_PASS)
        return EXIT_USAGE;
    if (!q->own && count == 0)
        return usage_error(&face, "what to compare? Give files of problems, or problems as text");
    if (q->own) {
        status = given_read(&q->given);
        if (status == GDNN_OK)
            status = compare_given(&q->given, count ? arguments[0] : "", &q->choice, &q->asked,
                                   &q->jobs);
    }
    for (int i = 0; !q->own && i < count && status == GDNN_OK; i++)
        status = jobs_add(&q->jobs, arguments[i], &q->choice);
    if (status == GDNN_OK && dump)
        status = dump_folder(dump);
    if (status == GDNN_INVALID)
        return usage_error(&face, "%s", gdnn_last_error());
    return status == GDNN_OK ? EXIT_PASS : environment_error(&face, "%s", gdnn_last_error());
}

/* Writes row `i`; `folder` gets its place. */
static int dump_one(const request *q, int i, const gdnn_conv *from, const trial_result *result,
                    char folder[static PATH_MAX])
{
    if (q->jobs.count == 1)
        snprintf(folder, PATH_MAX, "%s", dump);
    else
        snprintf(folder, PATH_MAX, "%s/%d", dump, i + 1);
    gdnn_status status = dump_row(folder, &q->jobs.list[i], from, result);
    return status == GDNN_OK ? EXIT_PASS : environment_error(&face, "%s", gdnn_last_error());
}

static int run_row(const request *q, int i, session *s, report *r, double macs)
{
    job *row = &q->jobs.list[i];
    const gdnn_conv from = row->conv;
    bool scaled = macs > 0 && scale_problem(&row->conv, macs);
    trial t = {.conv = &row->conv,
               .options = &q->options,
               .workspace = (size_t)q->workspace,
               .seed = q->seed};
    for (int role = 0; role < TENSORS; role++)
        if (role != (int)gdnn_written(row->conv.dir))
            t.given[role] = q->given.file[role].data;
    trial_result result;
    gdnn_status status = trial_run(s, &t, &result);

    char folder[PATH_MAX];
    bool dumped = dump && status == GDNN_OK;
    int code = dumped ? dump_one(q, i, scaled ? &from : NULL, &result, folder) : EXIT_PASS;
    report_row(r, row, scaled ? &from : NULL, status, &result, dumped ? folder : NULL);
    trial_release(&result);
    return code;
}

static int run_rows(const request *q, session *s, report *r)
{
    bool scales = !no_scale && !q->own;
    double macs = s->emulated ? SCALE_EMULATED : SCALE_GPU;
    int code = EXIT_PASS;
    report_begin(r, s, scales, macs);
    for (int i = 0; i < q->jobs.count && code == EXIT_PASS; i++) {
        const job *row = &q->jobs.list[i];
        char label[512];
        gdnn_text_format(&row->conv, *row->name ? row->name : NULL, label, sizeof label);
        progress_show(i + 1, q->jobs.count, label);
        code = run_row(q, i, s, r, scales ? macs : 0);
    }
    report_end(r, s, q->seed);
    if (code != EXIT_PASS)
        return code;
    return r->failed || !r->passed ? EXIT_MISMATCH : EXIT_PASS;
}

static int compare(const request *q)
{
    session s;
    FILE *out = json_path && !strcmp(json_path, "-") ? stderr : stdout;
    report r = {.table = table_of(&q->jobs, out)};
    if (session_open(&s, q->device) != GDNN_OK) {
        session_close(&s);
        return environment_error(&face, "%s", gdnn_last_error());
    }
    int code = EXIT_PASS;
    if (json_open(&r.json, json_path) != GDNN_OK)
        code = usage_error(&face, "%s", gdnn_last_error());
    else
        code = run_rows(q, &s, &r);
    session_close(&s);
    if (json_close(&r.json) != GDNN_OK)
        code = environment_error(&face, "%s", gdnn_last_error());
    return finish_output(&face, code);
}

int cmd_compare(int argc, char **argv)
{
    int count;
    int code = flags_parse(&face, argc, argv, &count);
    if (code >= 0)
        return code;
    request q = {.own = false};
    if (!read_options(&q))
        return EXIT_USAGE;
    code = read_jobs(&q, count, argv);
    if (code == EXIT_PASS)
        code = compare(&q);
    jobs_free(&q.jobs);
    given_free(&q.given);
    return code;
}
