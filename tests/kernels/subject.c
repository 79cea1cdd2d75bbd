#include "subject.h"

#include "device_errors.h"
#include "enums.h"
#include "problem.h"
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long long number(const char *variable, long long fallback)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || !*text)
        return fallback;
    long long value = strtoll(text, &end, 10);
    if (*end || value < 1) {
        fprintf(stderr, "%s=%s: must be a whole number from 1\n", variable, text);
        exit(2);
    }
    return value;
}

uint64_t subject_seed(void)
{
    return (uint64_t)number("GDNN_TEST_SEED", 1);
}

int subject_thin(void)
{
    return (int)number("GDNN_TEST_THIN", 1);
}

subject subject_of(session *s, const gdnn_kernel *kernel, gdnn_layout layout, gdnn_dtype dtype)
{
    subject made = {.kernel = kernel,
                    .layout = layout,
                    .dtype = dtype,
                    .session = s,
                    .offered_bytes = INT64_MAX};
    gdnn_options_init(&made.options);
    made.options.mode = GDNN_MODE_FORCE;
    snprintf(made.options.kernel, sizeof made.options.kernel, "%s", kernel->name);
    return made;
}

bool subject_is_direct(const subject *s)
{
    return !strncmp(s->kernel->name, "direct_", strlen("direct_"));
}

gdnn_conv subject_conv(const subject *s, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(text + length, sizeof text - (size_t)length, " dir=%s dtype=%s layout=%s",
             gdnn_enum_word(GDNN_ENUM_dir, (int)s->kernel->dir),
             gdnn_enum_word(GDNN_ENUM_dtype, (int)s->dtype),
             gdnn_enum_word(GDNN_ENUM_layout, (int)s->layout));
    gdnn_conv conv;
    if (gdnn_conv_parse(text, &conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

void subject_fail(const subject *s, const gdnn_conv *conv, const char *format, ...)
{
    char problem[2048], what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    gdnn_conv_format(conv, problem, sizeof problem);
    print_error("--kernel %s '%s'\n", s->kernel->name, problem);
    fail_msg("%s", what);
}

/* How the kernel of `s` runs `conv`; all zero if it does not. */
static gdnn_grid grid_of(const subject *s, const gdnn_conv *conv)
{
    gdnn_grid grid = {0};
    return gdnn_kernel_grid(s->kernel, conv, s->layout, s->offered_bytes, &grid) ? grid
                                                                                 : (gdnn_grid){0};
}

int64_t subject_workspace(const subject *s, const gdnn_conv *conv)
{
    return grid_of(s, conv).workspace;
}

bool subject_takes(subject *s, const gdnn_conv *conv)
{
    int64_t workspace = subject_workspace(s, conv);
    gdnn_decision decision = gdnn_decide(conv, workspace, &s->session->facts, &s->options);
    if (decision.reason != GDNN_REASON_TAKEN) {
        if (subject_is_direct(s))
            subject_fail(s, conv, "the direct family must run every problem, and declines: %s",
                         gdnn_reason_sentence(decision.reason));
        return false;
    }
    int index = s->offered++;
    if (index && fill_bits(0, 0, (uint64_t)index) % (uint64_t)subject_thin())
        return false;
    s->cases++;
    if (!s->counting)
        device_errors_name(s->kernel->name, conv);
    return !s->counting;
}

double subject_work(const subject *s, const gdnn_conv *conv)
{
    gdnn_launch_shape launch =
        gdnn_decide(conv, subject_workspace(s, conv), &s->session->facts, &s->options).launch;
    return (double)launch.blocks * launch.threads + gdnn_macs(conv) / 8;
}

void subject_run(const subject *s, trial *t, trial_result *result)
{
    t->options = &s->options;
    t->workspace = (size_t)subject_workspace(s, t->conv);
    gdnn_status status = trial_run(s->session, t, result);
    trial_result r = *result;
    if (status == GDNN_OK && r.pass)
        return;

    double got = 0, ref = 0;
    if (status == GDNN_OK && r.error.worst_at < gdnn_elements(t->conv, (gdnn_role)r.written)) {
        got = r.got[r.error.worst_at];
        ref = r.ref[r.error.worst_at];
    }
    char damage[sizeof r.damage];
    memcpy(damage, r.damage, sizeof damage);
    trial_release(result);
    if (status != GDNN_OK)
        subject_fail(s, t->conv, "%s: %s", gdnn_status_name(status), gdnn_last_error());
    subject_fail(s, t->conv,
                 "--seed %llu, %d elements off: error %.3g of %.3g allowed; element %lld is %.9g "
                 "and should be %.9g, %.3g times the bound%s%s",
                 (unsigned long long)t->seed, t->shift, r.error.err_l2, r.error.tol,
                 (long long)r.error.worst_at, got, ref, r.error.worst, *damage ? "; " : "", damage);
}

void subject_try_trial(subject *s, const trial *wanted)
{
    trial t = *wanted;
    trial_result result;
    if (!subject_takes(s, t.conv))
        return;
    if (!t.seed)
        t.seed = subject_seed() + (uint64_t)s->offered;
    subject_run(s, &t, &result);
    trial_release(&result);
}

/* Backward-filter shares the pixels of a weight among a few threads where they are few, among a whole block where they
 * are many: a batch large enough for a pixel a thread. */
static gdnn_conv with_many_pixels(const subject *s, const gdnn_conv *conv)
{
    gdnn_conv many = *conv;
    int64_t pixels = gdnn_elements(conv, GDNN_ROLE_Y) / (conv->n * conv->k);
    many.n = grid_of(s, conv).threads / pixels + 1;
    if (conv->n == 1) { /* its strides may be anything */
        many.x_stride[0] = gdnn_span(conv, GDNN_ROLE_X);
        many.y_stride[0] = gdnn_span(conv, GDNN_ROLE_Y);
    }
    return many;
}

void subject_try(subject *s, const gdnn_conv *conv)
{
    subject_try_trial(s, &(trial){.conv = conv});
    if (conv->dir != GDNN_BWD_FILTER ||
        gdnn_elements(conv, GDNN_ROLE_Y) / conv->k >= grid_of(s, conv).threads)
        return;
    gdnn_conv many = with_many_pixels(s, conv);
    if (gdnn_check(&many) == GDNN_OK && subject_work(s, &many) <= SUBJECT_MOST_WORK)
        subject_try_trial(s, &(trial){.conv = &many});
}
