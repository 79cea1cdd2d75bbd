#include "request.h"
#include "compare.h"
#include "kernel.h"
#include "suggest.h"
#include <string.h>

static const char *device, *dtypes, *layouts, *dirs, *kernel, *seed_text, *dump, *workspace_text,
    *json_path;
static const char *reference;
static const char *x_path, *w_path, *dy_path, *z_path, *bias_path;
static bool no_scale;

const flag request_flags[] = {
    {"device", "auto|gpu|emulated", "where to run; auto: a GPU if there is one", &device, NULL},
    {"dtype", "LIST", "types for problems that name none: f16, bf16, f32, f64 (f16,bf16,f32)",
     &dtypes, NULL},
    {"layout", "LIST", "layouts for problems that name none: nchw, nhwc (nchw)", &layouts, NULL},
    {"dir", "LIST", "directions for problems that name none: fwd, bwd_data, bwd_filter (all three)",
     &dirs, NULL},
    {"kernel", "NAME", "run this kernel only; groupdnn kernels lists them", &kernel, NULL},
    {"no-scale", NULL, "run large problems whole", NULL, &no_scale},
    {"reference", "cpu|device",
     "what computes the float64 reference (cpu); device: the direct kernels in float64, where the "
     "kernel runs, for large problems of other types than f64",
     &reference, NULL},
    {"seed", "NUMBER", "of the data (1)", &seed_text, NULL},
    {"dump", "FOLDER",
     "write problem.txt and x w y dy dx dw z bias ref as .npy, and what y dx dw held before as y0 "
     "dx0 dw0, where the problem has them; a numbered folder a row if there are several. bf16 is "
     "stored as <u2, its bits; ref is float64",
     &dump, NULL},
    {"workspace", "BYTES", "on offer to kernels, and to cuDNN (268435456; of bench 1073741824)",
     &workspace_text, NULL},
    {"x", "FILE.npy", "your own x; also sizes that the problem leaves out", &x_path, NULL},
    {"w", "FILE.npy", "your own w", &w_path, NULL},
    {"dy", "FILE.npy", "your own dy, for the backward directions", &dy_path, NULL},
    {"z", "FILE.npy", "your own z", &z_path, NULL},
    {"bias", "FILE.npy", "your own bias", &bias_path, NULL},
    {"json", "FILE|-",
     "write a record a row and a summary as JSON lines; numbers that are not finite are null",
     &json_path, NULL},
};

const int request_flag_count = sizeof request_flags / sizeof request_flags[0];

static bool read_device(request *q)
{
    static const char *const words[] = {"auto", "gpu", "emulated"};
    q->device = SESSION_AUTO;
    for (int i = 0; device && i < 3; i++)
        if (!strcmp(device, words[i])) {
            q->device = (session_choice)i;
            return true;
        }
    if (device)
        usage_error(q->face, "--device %s: must be one of auto, gpu, emulated", device);
    return !device;
}

static bool read_list(request *q, gdnn_enum which, const char *option, const char *list,
                      unsigned *bits, unsigned *asked)
{
    if (!list)
        return true;
    if (jobs_words(which, list, bits) != GDNN_OK) {
        usage_error(q->face, "--%s %s", option, gdnn_last_error());
        return false;
    }
    *asked = *bits;
    return true;
}

static bool read_kernel(request *q)
{
    const char *names[64];
    int count = 0;
    if (!kernel)
        return true;
    if (gdnn_kernel_find(kernel)) {
        snprintf(q->options.kernel, sizeof q->options.kernel, "%s", kernel);
        return true;
    }
    for (int i = 0; i < gdnn_kernel_count && count < 64; i++)
        names[count++] = gdnn_kernels[i].name;
    const char *near = suggest(kernel, names, count);
    usage_error(q->face, "--kernel %s: there is no such kernel%s%s; groupdnn kernels lists them",
                kernel, near ? ", did you mean " : "", near ? near : "");
    return false;
}

static bool read_reference(request *q)
{
    q->device_reference = reference && !strcmp(reference, "device");
    if (!reference || q->device_reference || !strcmp(reference, "cpu"))
        return true;
    usage_error(q->face, "--reference %s: must be cpu or device", reference);
    return false;
}

static bool read_options(request *q)
{
    q->options = *gdnn_options_get();
    q->options.mode = GDNN_MODE_FORCE;
    q->choice = jobs_default();
    q->seed = 1;
    q->json_path = json_path;
    q->dump = dump;
    q->scales = !no_scale;
    return read_device(q) &&
           read_list(q, GDNN_ENUM_dtype, "dtype", dtypes, &q->choice.dtypes, &q->asked.dtypes) &&
           read_list(q, GDNN_ENUM_layout, "layout", layouts, &q->choice.layouts,
                     &q->asked.layouts) &&
           read_list(q, GDNN_ENUM_dir, "dir", dirs, &q->choice.dirs, &q->asked.dirs) &&
           read_kernel(q) && read_reference(q) &&
           (!seed_text || flags_number(q->face, "seed", seed_text, INT64_MAX, &q->seed)) &&
           (!workspace_text ||
            flags_number(q->face, "workspace", workspace_text, INT64_MAX, &q->workspace));
}

/* With the user's own tensors there is at most one problem, and it is text. */
static int check_own(const request *q, int count, char **arguments)
{
    if (count == 1 && *arguments[0] && jobs_is_file(arguments[0]))
        return usage_error(q->face,
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
        q->face, "with your own tensors there can be one problem only; put it in quotes: '%s'",
        all);
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
    q->scales = q->scales && !q->own;
    if (q->own && check_own(q, count, arguments) != EXIT_PASS)
        return EXIT_USAGE;
    if (!q->own && count == 0)
        return usage_error(q->face, "what to %s? Give files of problems, or problems as text",
                           q->face->name);
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
        return usage_error(q->face, "%s", gdnn_last_error());
    return status == GDNN_OK ? EXIT_PASS : environment_error(q->face, "%s", gdnn_last_error());
}

int request_read(request *q, const command *face, unsigned long long workspace, int argc,
                 char **argv)
{
    int count;
    *q = (request){.face = face, .workspace = workspace};
    int code = flags_parse(face, argc, argv, &count);
    if (code >= 0)
        return code;
    if (!read_options(q))
        return EXIT_USAGE;
    code = read_jobs(q, count, argv);
    return code == EXIT_PASS ? -1 : code;
}

void request_free(request *q)
{
    jobs_free(&q->jobs);
    given_free(&q->given);
}
