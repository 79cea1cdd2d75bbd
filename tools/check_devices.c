#include "check.h"
#include "child.h"
#include "enums.h"
#include "kernel.h"
#include "launch.h"
#include "session.h"
#include "trial.h"
#include <string.h>

/* Small problems of every kind of layer. For each kernel, type and layout the first that it can run is
 * tried. */
static const char *const problems[] = {
    "n=2 c=8 in=9x7 k=8 filter=3x3 pad=1 groups=8",          /* depthwise */
    "n=2 c=8 in=9x7 k=8 filter=3x3 pad=1 stride=2 groups=8", /* and its strided form */
    "n=2 c=8 in=9x7 k=8 filter=5x5 pad=2 groups=8",
    "n=2 c=8 in=9x7 k=8 filter=5x5 pad=2 stride=2 groups=8",
    "n=2 c=8 in=9x7 k=8 filter=7x7 pad=3 groups=8",
    "n=2 c=8 in=9x7 k=8 filter=7x7 pad=3 stride=2 groups=8",
    "n=2 c=8 in=5x13 k=8 filter=1x11 pad=0x5 groups=8",
    "n=2 c=8 in=13x5 k=8 filter=11x1 pad=5x0 groups=8",
    "n=2 c=8 in=9x7 k=8 filter=3x2 pad=2 dilation=2 groups=8",
    "n=2 c=8 in=17 k=8 filter=4 pad=3 pad_after=0 groups=8", /* causal, one axis */
    "n=2 c=16 in=9x7 k=16 filter=3x3 pad=1 groups=4",        /* 4 channels a group */
    "n=2 c=32 in=9x7 k=32 filter=3x3 pad=1 groups=4",        /* 8 */
    "n=2 c=64 in=9x7 k=64 filter=3x3 pad=1 groups=4",        /* 16 */
    "n=2 c=64 in=9x7 k=64 filter=3x3 pad=1 groups=2",        /* 32 */
    "n=2 c=64 in=9x7 k=64 filter=3x3 pad=1 stride=2 groups=2",
    "n=2 c=32 in=8x8 k=32 filter=1x1 groups=2",         /* pointwise */
    "n=2 c=8 in=5x6x7 k=8 filter=3x3x3 pad=1 groups=4", /* three axes */
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* How a kernel did. */
typedef struct score {
    int run, failed;
    double worst;     /* error in units of its tolerance */
    char fault[2048]; /* of the first that failed */
} score;

/* The first problem that `kernel` can run with this type and layout. */
static bool choose(const session *s, const gdnn_kernel *kernel, gdnn_dtype dtype,
                   gdnn_layout layout, const gdnn_options *options, gdnn_conv *conv)
{
    for (int i = 0; i < PROBLEMS; i++) {
        char text[256];
        snprintf(text, sizeof text, "dir=%s dtype=%s layout=%s %s",
                 gdnn_enum_word(GDNN_ENUM_dir, (int)kernel->dir),
                 gdnn_enum_word(GDNN_ENUM_dtype, (int)dtype),
                 gdnn_enum_word(GDNN_ENUM_layout, (int)layout), problems[i]);
        if (gdnn_conv_parse(text, conv) == GDNN_OK &&
            gdnn_decide(conv, INT64_MAX, &s->facts, options).reason == GDNN_REASON_TAKEN)
            return true;
    }
    return false;
}

static void try_one(session *s, const gdnn_conv *conv, const gdnn_options *options, score *total)
{
    trial t = {.conv = conv, .options = options, .workspace = 1 << 28, .seed = 1};
    trial_result result;
    gdnn_status status = trial_run(s, &t, &result);
    double error = status == GDNN_OK ? result.error.err_l2 / result.error.tol : 0;
    total->run++;
    if (error > total->worst)
        total->worst = error;
    if (status != GDNN_OK || !result.pass) {
        char text[1024];
        gdnn_conv_format(conv, text, sizeof text);
        if (!total->failed++)
            snprintf(total->fault, sizeof total->fault, "%s; try groupdnn compare '%s'",
                     status != GDNN_OK ? gdnn_last_error()
                     : *result.damage  ? result.damage
                                       : "the numbers are wrong",
                     text);
    }
    trial_release(&result);
}

static void try_kernel(check *c, session *s, const gdnn_kernel *kernel, const char *where)
{
    gdnn_options options;
    score total = {.run = 0};
    char what[128];
    gdnn_options_init(&options);
    options.mode = GDNN_MODE_FORCE;
    snprintf(options.kernel, sizeof options.kernel, "%s", kernel->name);
    snprintf(what, sizeof what, "%s on %s", kernel->name, where);
    for (int dtype = GDNN_F16; dtype <= GDNN_F64; dtype++)
        for (int layout = GDNN_NCHW; layout <= GDNN_NHWC; layout++) {
            gdnn_conv conv;
            if (kernel->dtypes >> dtype & kernel->layouts >> layout & 1 &&
                choose(s, kernel, (gdnn_dtype)dtype, (gdnn_layout)layout, &options, &conv))
                try_one(s, &conv, &options, &total);
        }
    if (total.failed)
        check_line(c, CHECK_FAILED, what, "%d of %d problems: %s", total.failed, total.run,
                   total.fault);
    else if (!total.run)
        check_line(c, CHECK_FAILED, what, "none of this command's problems fits it");
    else
        check_line(c, CHECK_OK, what, "%d problems, the largest error is %.2g of its tolerance",
                   total.run, total.worst);
}

/* Loads the instances of a kernel for one layout and type, and counts them. False: one does not load. */
static bool load_instances(const gdnn_launch_shape *wanted, int *loaded)
{
    for (int plain = 0; plain <= wanted->kernel->has_plain; plain++) {
        gdnn_launch_shape shape = *wanted;
        gdnn_functions functions;
        gdnn_reason reason;
        shape.plain = plain;
        if (gdnn_load(&shape, &functions, &reason) != GDNN_OK)
            return false;
        ++*loaded;
    }
    return true;
}

/* Loads every instance of every kernel, and prints a line. False: one does not load. */
static bool load_all(check *c, const session *s, const char *where)
{
    char sm[16] = "";
    int loaded = 0;
    if (!s->emulated) /* which has it in its name */
        snprintf(sm, sizeof sm, ", sm_%d", s->facts.sm);
    for (int i = 0; i < gdnn_kernel_count; i++) {
        const gdnn_kernel *kernel = &gdnn_kernels[i];
        for (int dtype = GDNN_F16; dtype <= GDNN_F64; dtype++)
            for (int layout = GDNN_NCHW; layout <= GDNN_NHWC; layout++) {
                gdnn_launch_shape shape = {
                    .kernel = kernel, .variant = (gdnn_layout)layout, .dtype = (gdnn_dtype)dtype};
                if (kernel->dtypes >> dtype & kernel->layouts >> layout & 1 &&
                    !load_instances(&shape, &loaded)) {
                    check_line(c, CHECK_FAILED, where, "%s%s: %s", s->facts.name, sm,
                               gdnn_last_error());
                    return false;
                }
            }
    }
    check_line(c, CHECK_OK, where, "%s%s: all %d instances of %d kernels load", s->facts.name, sm,
               loaded, gdnn_kernel_count);
    return true;
}

static void check_device(check *c, session_choice choice, int ordinal, const char *where)
{
    session s;
    if (session_open_device(&s, choice, ordinal) != GDNN_OK)
        check_line(c, CHECK_FAILED, where, "%s", gdnn_last_error());
    else if (load_all(c, &s, where))
        for (int i = 0; i < gdnn_kernel_count; i++)
            try_kernel(c, &s, &gdnn_kernels[i], where);
    session_close(&s);
}

/* Runs in a child, since a process keeps the driver that it asked first: why it has no GPU. */
static void ask_driver(void *unused, char *answer, size_t size)
{
    (void)unused;
    const gdnn_driver *driver = gdnn_driver_get();
    snprintf(answer, size, "%s", driver ? "the CUDA driver finds no GPU" : gdnn_last_error());
}

void check_devices(check *c)
{
    char why[512];
    /* First: CUDA does not work in the child of a process that has begun with it. */
    child_ask(ask_driver, NULL, why, sizeof why);
    int gpus = session_devices(SESSION_GPU);
    for (int i = 0; i < gpus; i++) {
        char where[32];
        snprintf(where, sizeof where, "gpu %d", i);
        check_device(c, SESSION_GPU, i, where);
    }
    if (gpus)
        return;
    check_line(c, CHECK_SKIPPED, "gpu", "%s", why);
    if (session_devices(SESSION_EMULATED))
        check_device(c, SESSION_EMULATED, 0, "emulated");
    else
        check_line(c, CHECK_SKIPPED, "emulated",
                   "there is no emulated device: it is part of a build "
                   "folder, with -Dtests=true");
}
