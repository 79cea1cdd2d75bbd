/* The one decision: which kernel runs a problem, or why none does. A pure function of its arguments
 * and the tables: no CUDA calls, no environment, no globals. The drop-in, the C API, the tool, the
 * tests and the fuzzers call it. */
#ifndef GDNN_DECIDE_H
#define GDNN_DECIDE_H

#include "groupdnn.h"
#include "kernel.h"
#include "options.h"

typedef enum gdnn_reason {
#define GDNN_REASON(id, name, sentence) GDNN_REASON_##id,
#include "reasons.def"
#undef GDNN_REASON
    GDNN_REASONS
} gdnn_reason;

const char *gdnn_reason_name(gdnn_reason reason);
const char *gdnn_reason_sentence(gdnn_reason reason);

/* A kernel with the launch that runs the problem. */
typedef struct gdnn_launch_shape {
    const gdnn_kernel *kernel;
    gdnn_layout variant;
    gdnn_dtype dtype;
    bool plain; /* the instance with a plain epilogue */
    int64_t blocks;
    int threads;
    int64_t shared;
    int64_t workspace; /* bytes that it uses of those offered */
    int launches;
    int64_t finish_blocks; /* of the second one, if there is one */
    int finish_threads;
    gdnn_tiling tiling;
} gdnn_launch_shape;

typedef struct gdnn_decision {
    gdnn_reason reason;       /* GDNN_REASON_TAKEN, or why it is forwarded */
    gdnn_launch_shape launch; /* .kernel is NULL where no kernel fits */
    const char *evidence;     /* "measured", "counted", "none" */
} gdnn_decision;

/* Decides `conv` (any problem: an invalid one gets the reason INVALID) with `workspace` bytes on
 * offer. The modes: off forwards; on and observe need evidence in wins.def; force and verify, which
 * keeps cuDNN's result, need none. groups == 1 is decided like any other number: only the drop-in forwards it. */
gdnn_decision gdnn_decide(const gdnn_conv *conv, int64_t workspace, const gdnn_device *device,
                          const gdnn_options *options);

#endif
