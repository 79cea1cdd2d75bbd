/* One problem, run by a kernel and by the float64 reference, and compared. It goes through the
 * public functions (a plan is made and run), so what is tried is what is shipped. */
#ifndef TRIAL_H
#define TRIAL_H

#include "decide.h"
#include "fill.h"
#include "measure.h"
#include "session.h"
#include "tensor.h"

/* What to try. Zero-initialise, then set `conv`, `options`, and what matters. */
typedef struct trial {
    const gdnn_conv *conv;       /* passed gdnn_check */
    const gdnn_options *options; /* mode force, unless the rules of evidence are what is tried */
    size_t workspace;            /* bytes on offer */
    uint64_t seed;
    fill_kind fill;
    /* Values in logical order, rounded to the type of the problem; NULL: made from `seed`. For the
     * tensor that is written they are its prior contents, which count only if beta != 0. */
    const double *given[TENSORS];
    /* The reference is computed by the device, for problems of other types than f64 that are too
     * large for the CPU. */
    bool device_reference;
    int shift; /* how many elements the tensors' addresses are off an alignment of 256 bytes */
} trial;

typedef struct trial_result {
    gdnn_decision decision;
    const char *reason; /* the decision's, or "memory" */
    int launches;       /* made, where the device counts them; else what the decision says */
    bool counted;       /* by the device: `counts` is what the launch did */
    session_counts counts;
    measure error;
    /* Relative L2 errors of cuDNN's result to the reference, and of ours to cuDNN's; NaN: cuDNN did not run it. Not
     * trial_run's doing: cudnn_trial's. */
    double cudnn_err_l2, vs_cudnn_l2;
    /* What went wrong besides the numbers, "" if nothing did: bytes written outside of the written
     * tensor's elements, an input changed, a launch too many. */
    char damage[160];
    bool pass; /* the numbers are right and there is no damage */

    tensor_name written;
    /* In logical order, as the kernel got them; that of the written tensor is NULL if beta == 0. */
    double *values[TENSORS];
    double *got, *ref; /* what the kernel and the reference made */
} trial_result;

/* Runs `t` and fills `result`, to be given to trial_release whatever comes back.
 * GDNN_OK: it ran; result->pass says how well.
 * GDNN_UNSUPPORTED: no kernel runs it, or memory is short; result->reason says which.
 * GDNN_FAILED: the driver refused something. */
gdnn_status trial_run(session *s, const trial *t, trial_result *result);

void trial_release(trial_result *result);

#endif
