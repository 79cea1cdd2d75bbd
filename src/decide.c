#include "decide.h"
#include "kernel_terms.h"
#include <limits.h>
#include <string.h>

static const struct {
    const char *name, *sentence;
} reasons[] = {
#define GDNN_REASON(id, name, sentence) {name, sentence},
#include "reasons.def"
#undef GDNN_REASON
};

const char *gdnn_reason_name(gdnn_reason reason)
{
    return reasons[reason].name;
}

const char *gdnn_reason_sentence(gdnn_reason reason)
{
    return reasons[reason].sentence;
}

#define MEASURED "measured"
#define COUNTED  "counted"

/* Evidence that `kernel` wins for `p` on `device`; NULL if there is none. */
static const char *evidence_for(const gdnn_kernel *kernel, const gdnn_conv *p,
                                const gdnn_device *device)
{
#define GDNN_WIN(winner, when, sm_min, sm_max, evidence, source)                                   \
    if (!strcmp(kernel->name, #winner) && device->sm >= sm_min && device->sm <= sm_max && (when))  \
        return evidence;
#include "wins.def"
#undef GDNN_WIN
    (void)kernel, (void)p, (void)device;
    return NULL;
}

/* Whether lanes should go along the channels of the tensor with these sizes and strides: where its
 * channels are closer together in memory than its pixels. Tensors with one pixel have only channels
 * to go along. */
static bool prefers_channels(int dims, const int64_t *size, const int64_t *stride)
{
    int64_t pixels = INT64_MAX;
    for (int i = 2; i < dims; i++)
        if (size[i] > 1 && stride[i] < pixels)
            pixels = stride[i];
    return size[1] > 1 && stride[1] < pixels;
}

/* Backward-filter's lanes go along the pixels only if there is one for each thread of a block of `threads`. */
static gdnn_layout preferred_variant(const gdnn_conv *p, int threads)
{
    int64_t size[GDNN_MAX_DIMS];
    if (p->dir == GDNN_BWD_FILTER && gdnn_elements(p, GDNN_ROLE_Y) / p->k < threads)
        return GDNN_NHWC;
    gdnn_role role = p->dir == GDNN_FWD ? GDNN_ROLE_Y : GDNN_ROLE_X;
    gdnn_sizes(p, role, size);
    return prefers_channels(gdnn_dims(p), size, gdnn_strides(p, role)) ? GDNN_NHWC : GDNN_NCHW;
}

/* The variant of `kernel` for `p`; false if it has none. */
static bool variant_for(const gdnn_kernel *kernel, const gdnn_conv *p, gdnn_layout *variant)
{
    if (!kernel->any_strides)
        return gdnn_kernel_packed(kernel, p, variant);
    /* only its direct backward-filter looks at the threads, which are the same in both variants */
    gdnn_grid grid = kernel->grid(p, GDNN_NCHW, 0);
    *variant = preferred_variant(p, grid.threads);
    return true;
}

/* Fills `launch` if `kernel` can run `p`; else says why not. */
static gdnn_reason fit(const gdnn_kernel *kernel, const gdnn_conv *p, int64_t workspace,
                       const gdnn_device *device, gdnn_launch_shape *launch)
{
    gdnn_layout variant;
    gdnn_grid grid;
    if (kernel->dir != p->dir || !(kernel->dtypes >> p->dtype & 1) ||
        !variant_for(kernel, p, &variant) ||
        !gdnn_kernel_grid(kernel, p, variant, workspace, &grid))
        return GDNN_REASON_NO_KERNEL;

    if (grid.blocks > INT_MAX && kernel->any_strides) {
        variant = variant == GDNN_NCHW ? GDNN_NHWC : GDNN_NCHW;
        grid = kernel->grid(p, variant, workspace);
    }
    if (grid.blocks > INT_MAX)
        return GDNN_REASON_TOO_LARGE;
    if (grid.shared > device->shared_bytes)
        return GDNN_REASON_SHARED_MEMORY;
    if (grid.workspace > workspace)
        return GDNN_REASON_WORKSPACE;
    *launch = (gdnn_launch_shape){.kernel = kernel,
                                  .variant = variant,
                                  .dtype = p->dtype,
                                  .plain = kernel->has_plain && gdnn_is_plain(p),
                                  .blocks = grid.blocks,
                                  .threads = grid.threads,
                                  .shared = grid.shared,
                                  .workspace = grid.workspace,
                                  .launches = grid.finish_blocks ? 2 : 1,
                                  .finish_blocks = grid.finish_blocks,
                                  .finish_threads = grid.finish_threads,
                                  .tiling = grid.tiling};
    return GDNN_REASON_TAKEN;
}

/* Rules that hold for every kernel; GDNN_REASON_TAKEN: none is broken. */
static gdnn_reason common_rules(const gdnn_conv *p, const gdnn_options *options)
{
    static const char *const direction[] = {"fwd", "bwd_data", "bwd_filter"};
    if (gdnn_check(p) != GDNN_OK)
        return GDNN_REASON_INVALID;
    if (options->mode == GDNN_MODE_OFF)
        return GDNN_REASON_MODE_OFF;
    if (gdnn_options_disables(options, "all") || gdnn_options_disables(options, direction[p->dir]))
        return GDNN_REASON_DISABLED;
    if (p->acc == GDNN_F64 && p->dtype != GDNN_F64)
        return GDNN_REASON_ACCUMULATOR;
    if (gdnn_cpg(p) > INT_MAX || gdnn_kpg(p) > INT_MAX)
        return GDNN_REASON_TOO_LARGE;
    for (int i = 0; i < p->spatial; i++)
        if (p->filter[i] > INT_MAX || p->stride[i] > INT_MAX || p->dilation[i] > INT_MAX)
            return GDNN_REASON_TOO_LARGE;

    int64_t size[GDNN_MAX_DIMS];
    gdnn_role written = gdnn_written(p->dir);
    gdnn_sizes(p, written, size);
    if (gdnn_may_overlap(gdnn_dims(p), size, gdnn_strides(p, written)))
        return GDNN_REASON_OVERLAP;
    return GDNN_REASON_TAKEN;
}

/* Of two reasons why kernels do not run a problem, the one that says more: a kernel that nearly
 * fits tells what it lacks. */
static gdnn_reason nearer(gdnn_reason a, gdnn_reason b)
{
    return a == GDNN_REASON_NO_KERNEL ? b : a;
}

gdnn_decision gdnn_decide(const gdnn_conv *conv, int64_t workspace, const gdnn_device *device,
                          const gdnn_options *options)
{
    gdnn_decision decision = {.evidence = "none"};
    decision.reason = common_rules(conv, options);
    if (decision.reason != GDNN_REASON_TAKEN)
        return decision;

    decision.reason = GDNN_REASON_NO_KERNEL;
    for (int i = 0; i < gdnn_kernel_count; i++) {
        const gdnn_kernel *kernel = &gdnn_kernels[i];
        gdnn_launch_shape launch;
        if (*options->kernel && strcmp(options->kernel, kernel->name) != 0)
            continue;
        const char *evidence = evidence_for(kernel, conv, device);
        if (decision.launch.kernel && !evidence) /* only evidence puts it before the one found */
            continue;
        gdnn_reason reason = fit(kernel, conv, workspace, device, &launch);
        if (reason == GDNN_REASON_TAKEN && gdnn_options_disables(options, kernel->name))
            reason = GDNN_REASON_DISABLED;
        if (reason != GDNN_REASON_TAKEN) {
            decision.reason = nearer(decision.reason, reason);
            continue;
        }

        decision.launch = launch;
        if (evidence) {
            decision.evidence = evidence;
            break;
        }
    }

    if (!decision.launch.kernel) {
        if (*options->kernel && decision.reason == GDNN_REASON_NO_KERNEL)
            decision.reason = GDNN_REASON_KERNEL_OPTION;
        return decision;
    }
    bool proven = strcmp(decision.evidence, "none") != 0;
    bool unasked = options->mode == GDNN_MODE_FORCE || options->mode == GDNN_MODE_VERIFY;
    decision.reason = proven || unasked ? GDNN_REASON_TAKEN : GDNN_REASON_NO_EVIDENCE;
    return decision;
}
