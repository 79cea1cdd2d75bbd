/* groupdnn: grouped convolutions with CUDA kernels of their own, as a library.
 *
 * A program describes one convolution in a `gdnn_conv`, asks what would happen (`gdnn_check`,
 * `gdnn_explain`), and runs it on its own device memory and stream (`gdnn_run`, or a `gdnn_plan` for
 * many calls of one problem).
 *
 * Names and shapes are cuDNN's. With G groups and 1 to 3 spatial axes:
 *
 *     x, dx  (N, C, in...)             K must be a multiple of G, and so must C
 *     w, dw  (K, C/G, filter...)
 *     y, dy  (N, K, out...)            out = (in + pad + pad_after - (filter - 1) * dilation - 1) / stride + 1
 *
 *     forward          y  = act(alpha * conv(x, w) + beta * y + alpha2 * z + bias)
 *     backward-data    dx = alpha * (gradient by x of the convolution, applied to dy) + beta * dx
 *     backward-filter  dw = alpha * (gradient by w of the convolution, applied to dy) + beta * dw
 *
 * Output channel k belongs to group k / (K/G) and reads input channels of that group only. A tap that falls
 * on padding is never multiplied: an infinite or NaN weight there does not spread.
 *
 * Sums are kept in float32 (float64 for double data) and rounded once. The same problem, workspace size and
 * inputs give the same bits. One call is one kernel launch (backward-filter with a workspace: at most two),
 * whatever the number of groups; nothing is allocated on the device and nothing synchronises.
 *
 * Threads: every function may be called from any thread. Nothing is printed unless GROUPDNN_LOG asks for it.
 * The library never ends the process. */
#ifndef GROUPDNN_H
#define GROUPDNN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GDNN_API __attribute__((visibility("default")))
#else
#define GDNN_API
#endif

#define GDNN_VERSION_MAJOR 0
#define GDNN_VERSION_MINOR 1
#define GDNN_VERSION_PATCH 0

/* Most spatial axes a problem can have, and most axes of a tensor: N or K, channels, spatial. */
#define GDNN_MAX_SPATIAL 3
#define GDNN_MAX_DIMS    5

/* What a call came to. `gdnn_last_error` has the sentence. */
typedef enum gdnn_status {
    GDNN_OK = 0,
    /* The caller's problem or arguments contradict the rules above; no library could run them. */
    GDNN_INVALID = 1,
    /* A valid problem that groupdnn declines: no kernel covers it, an option excludes it, or this machine
     * (driver, GPU, context) cannot run our kernels. The caller can use another library. */
    GDNN_UNSUPPORTED = 2,
    /* The CUDA driver refused a call that should have worked, a launch for example. */
    GDNN_FAILED = 3
} gdnn_status;

typedef enum gdnn_dir { GDNN_FWD = 0, GDNN_BWD_DATA = 1, GDNN_BWD_FILTER = 2 } gdnn_dir;

/* Type of the elements of x, w, y, z and bias. */
typedef enum gdnn_dtype { GDNN_F16 = 0, GDNN_BF16 = 1, GDNN_F32 = 2, GDNN_F64 = 3 } gdnn_dtype;

/* Memory order of a packed tensor: channels before or after the spatial axes, for any number of axes. */
typedef enum gdnn_layout { GDNN_NCHW = 0, GDNN_NHWC = 1 } gdnn_layout;

/* Cross-correlation uses filter tap t at offset t; convolution uses it at offset filter - 1 - t. */
typedef enum gdnn_mode { GDNN_XCORR = 0, GDNN_CONV = 1 } gdnn_mode;

/* Whether products of float32 data may be rounded to TF32. groupdnn may always be more exact than asked. */
typedef enum gdnn_math { GDNN_MATH_F32 = 0, GDNN_MATH_TF32 = 1 } gdnn_math;

typedef enum gdnn_act { GDNN_ACT_NONE = 0, GDNN_ACT_RELU = 1 } gdnn_act;

/* One convolution. Fill it with `gdnn_conv_init`, set what differs, then `gdnn_conv_set_layout` or the strides.
 * Arrays over spatial axes start with the slowest axis: (D, H, W), (H, W) or (W) in entries 0 to spatial-1.
 * Stride arrays are in elements: entry 0 for N (K for w), entry 1 for the channels, then the spatial axes. */
typedef struct gdnn_conv {
    gdnn_dir dir;
    gdnn_dtype dtype;
    /* Type of the sums: GDNN_F64 for f64 data, else GDNN_F32; GDNN_F16 is accepted and treated as GDNN_F32. */
    gdnn_dtype acc;
    gdnn_mode mode;
    gdnn_math math;
    gdnn_act act; /* forward only */
    int spatial;  /* number of spatial axes, 1 to 3 */
    int bias;     /* 1: add bias (K elements, packed) per output channel; forward only */
    int z;        /* 1: add alpha2 * z; forward only. z is not read if alpha2 == 0 */

    int64_t n, c, k, groups;
    int64_t in[GDNN_MAX_SPATIAL];        /* sizes of x */
    int64_t filter[GDNN_MAX_SPATIAL];    /* sizes of w */
    int64_t pad[GDNN_MAX_SPATIAL];       /* zeros before the first element; >= 0 */
    int64_t pad_after[GDNN_MAX_SPATIAL]; /* zeros after the last element; >= 0 */
    int64_t stride[GDNN_MAX_SPATIAL];    /* >= 1 */
    int64_t dilation[GDNN_MAX_SPATIAL];  /* >= 1 */

    int64_t x_stride[GDNN_MAX_DIMS]; /* of x or dx */
    int64_t w_stride[GDNN_MAX_DIMS]; /* of w or dw */
    int64_t y_stride[GDNN_MAX_DIMS]; /* of y or dy */
    int64_t z_stride[GDNN_MAX_DIMS]; /* of z, which has y's sizes */

    /* Scale of the result, of its prior contents (never read if beta == 0), and of z. Finite; for other than f64 data
     * rounded to float32, and finite there too. */
    double alpha, beta, alpha2;

    uint64_t reserved[8]; /* must be 0 */
} gdnn_conv;

/* Device memory of one call. Each pointer must be aligned to its element's size; no more is needed.
 * `x`, `w` and `y` hold x or dx, w or dw, y or dy: the direction says which one is written. `z` and `bias` may
 * be NULL where the problem has none. z may be y itself if its strides are y's; no other overlap with the
 * written tensor is allowed. The memory stays the caller's. */
typedef struct gdnn_tensors {
    void *x;
    void *w;
    void *y;
    const void *z;
    const void *bias;
} gdnn_tensors;

/* The facts of a GPU that a decision depends on. */
typedef struct gdnn_device {
    char name[64];
    int sm;                 /* compute capability: 10 * major + minor, 90 for an H200 */
    int multiprocessors;    /* number of SMs */
    int64_t shared_bytes;   /* largest shared memory of a block, with opt-in */
    double bandwidth_gbs;   /* memory bandwidth that a copy reaches, GB/s; 0: not known */
    double fp32_tflops;     /* FMA peak in float32; 0: not known */
    double tensor16_tflops; /* dense f16 and bf16 tensor-core peak; 0: not known */
} gdnn_device;

/* What would happen to a problem, and why. Texts are static. */
typedef struct gdnn_explanation {
    gdnn_status status; /* what gdnn_run would return where the device is usable */
    /* 1: under the current options the drop-in runs it with `kernel`; 0: it forwards. */
    int taken;
    /* Our kernel, also where the drop-in forwards although one would fit; NULL: none fits. */
    const char *kernel;
    const char *reason;   /* short name from the list of reasons; "taken" if taken */
    const char *sentence; /* the rule behind the reason */
    const char *evidence; /* that the kernel wins here: "measured", "counted" or "none" */
    size_t workspace;     /* bytes of workspace that the kernel uses of those offered */
    int launches;         /* kernel launches of one call */
    /* Time that no kernel can beat on this device: memory, arithmetic or launch; 0: not known. */
    double floor_us;
} gdnn_explanation;

/* A problem made ready: checked, decided, its kernel loaded. Immutable; any thread may run it at the same time. */
typedef struct gdnn_plan gdnn_plan;

/* Version of the library as text, "0.1.0". Static. */
GDNN_API const char *gdnn_version(void);

/* The status as a word: "ok", "invalid", "unsupported", "failed". Static; never NULL. */
GDNN_API const char *gdnn_status_name(gdnn_status status);

/* What went wrong in this thread's last call that did not return GDNN_OK: the value, the rule, what to do.
 * Valid until this thread's next call. Never NULL; "" if nothing has gone wrong. */
GDNN_API const char *gdnn_last_error(void);

/* A forward cross-correlation in float32 with 2 spatial axes: groups, stride, dilation, alpha and alpha2 are 1,
 * everything else is 0. */
GDNN_API void gdnn_conv_init(gdnn_conv *conv);

/* Fills x_stride, w_stride, y_stride and z_stride for packed tensors in `layout`. Sizes must be set before.
 * GDNN_INVALID: `conv` or `layout` is wrong, see gdnn_check. */
GDNN_API gdnn_status gdnn_conv_set_layout(gdnn_conv *conv, gdnn_layout layout);

/* Sizes of y, one per spatial axis, into `out`.
 * GDNN_INVALID: a size is out of range, or an output would be smaller than 1. */
GDNN_API gdnn_status gdnn_conv_out(const gdnn_conv *conv, int64_t out[GDNN_MAX_SPATIAL]);

/* Checks every rule a problem must obey, without a device.
 * GDNN_INVALID: gdnn_last_error names the first rule broken and the value. */
GDNN_API gdnn_status gdnn_check(const gdnn_conv *conv);

/* Reads one problem in the text form, `n=32 c=64 in=56x56 k=64 filter=3x3 pad=1 groups=64 dtype=f16 layout=nhwc`
 * (README, "Problems as text"). GDNN_INVALID: gdnn_last_error names the key and the value. */
GDNN_API gdnn_status gdnn_conv_parse(const char *text, gdnn_conv *conv);

/* Writes `conv` in the text form, which gdnn_conv_parse reads back to an equal problem, into `text` of `size`
 * bytes; always ends it with a zero. Returns the length that the whole text has, without the zero (as snprintf);
 * 1024 bytes are always enough for a problem that passes gdnn_check. A problem that does not is written too, for
 * messages. 0, and the reason in gdnn_last_error: `conv` is NULL, or `text` is and `size` is not 0. */
GDNN_API size_t gdnn_conv_format(const gdnn_conv *conv, char *text, size_t size);

/* The facts of the GPU of the calling thread's current context, or of device 0 if there is no context.
 * GDNN_UNSUPPORTED: no driver, or no GPU. GDNN_FAILED: the driver refused. */
GDNN_API gdnn_status gdnn_device_current(gdnn_device *device);

/* Facts of a GPU known by name: "h200", "a100", "t4" and others that `groupdnn explain --help` lists.
 * GDNN_INVALID: the name is not known. */
GDNN_API gdnn_status gdnn_device_known(const char *name, gdnn_device *device);

/* Says what would happen to `conv` on `device` (NULL: an H200) with `workspace` bytes on offer, under the options
 * of the environment. Needs no driver. Returns GDNN_OK and fills `out` also where the answer is "forwarded".
 * GDNN_INVALID: the problem breaks a rule, or an argument is NULL. */
GDNN_API gdnn_status gdnn_explain(const gdnn_conv *conv, const gdnn_device *device,
                                  size_t workspace, gdnn_explanation *out);

/* Makes a plan for the calling thread's current CUDA context. `workspace` is how many bytes every gdnn_plan_run
 * will offer; 0 always works. Loads the kernel; legal while a stream is being captured. On success *plan is the
 * caller's, to be given to gdnn_plan_destroy; else *plan is NULL.
 * GDNN_INVALID: the problem breaks a rule, or an argument is NULL.
 * GDNN_UNSUPPORTED: no kernel covers the problem, GROUPDNN_DISABLE or GROUPDNN_KERNEL exclude it, or there is no
 *   driver, current context or image for this GPU.
 * GDNN_FAILED: the driver refused. */
GDNN_API gdnn_status gdnn_plan_create(gdnn_plan **plan, const gdnn_conv *conv, size_t workspace);

/* Bytes of workspace that a run of `plan` uses; at most what was offered. */
GDNN_API size_t gdnn_plan_workspace(const gdnn_plan *plan);

/* Name of the kernel that `plan` runs. Lives as long as the library. */
GDNN_API const char *gdnn_plan_kernel(const gdnn_plan *plan);

/* Enqueues the convolution on `stream` (a CUstream or cudaStream_t; NULL: the default stream) and returns. `workspace`
 * is device memory of gdnn_plan_workspace bytes, aligned to 16, for the duration of the kernel; its contents do
 * not matter. The plan's context must be current. Legal while `stream` is being captured.
 * GDNN_INVALID: a pointer is missing or misaligned. GDNN_FAILED: the driver refused the launch. */
GDNN_API gdnn_status gdnn_plan_run(const gdnn_plan *plan, const gdnn_tensors *tensors,
                                   void *workspace, void *stream);

/* Frees `plan`; NULL is allowed. Work that was enqueued is not affected. */
GDNN_API void gdnn_plan_destroy(gdnn_plan *plan);

/* gdnn_plan_create, gdnn_plan_run and gdnn_plan_destroy in one; what they return, it returns. */
GDNN_API gdnn_status gdnn_run(const gdnn_conv *conv, const gdnn_tensors *tensors, void *workspace,
                              size_t workspace_bytes, void *stream);

#ifdef __cplusplus
}
#endif
#endif
