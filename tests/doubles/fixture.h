/* The double under test, opened as the library opens a driver, with a context, a stream and the
 * image of probes.cu. */
#ifndef GDNN_DOUBLE_FIXTURE_H
#define GDNN_DOUBLE_FIXTURE_H

#include "fake_cuda.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct double_functions {
#define GDNN_CU(name, symbol, parameters) CUresult(*name) parameters;
#include "capture_api.def"
#include "driver_api.def"
#undef GDNN_CU
    void (*counters)(gdnn_fake_counts *);
    int (*counter)(const char *, uint64_t *);
    uint64_t (*launches)(void);
    int (*checks_races)(void);
    void (*configure)(void);
    void (*capture_begin)(CUstream);
    int (*capture_end)(CUstream);
} double_functions;

extern double_functions cu;

/* Opens the double at `path`; the environment should be set before. */
void open_double(const char *path);

/* cuInit, and the primary context of device 0 made current. */
void open_context(void);
/* Undoes open_context; dies of leaks. */
void close_context(void);
/* Both as cmocka's fixtures. */
int context_setup(void **state);
int context_teardown(void **state);

/* The image of probes.cu, in aligned memory; what nvcc made, or the stub that stands for it. */
const void *probe_image(void);
/* Where `path` of the image is. */
void set_probe_image(const char *path);
/* Whether it says anything about its kernels: a build with nvcc. */
bool image_is_real(void);

CUkernel get_kernel(const char *name);
/* Allocates `count` floats and fills them with `value`. */
CUdeviceptr floats(size_t count, float value);
/* Reads them back; waits for all work before. */
void read_floats(float *target, CUdeviceptr source, size_t count);
/* One block of `threads` threads, on the default stream. */
CUresult launch_kernel(CUkernel kernel, unsigned blocks, unsigned threads, unsigned shared,
                       void **parameters);

/* Enqueues a kernel that copies `n` floats, at most 32. */
CUresult copy_on(CUstream stream, CUdeviceptr dst, CUdeviceptr src, int n);

/* Runs `body` in a child process. The child must die of SIGABRT, SIGSEGV or a sanitizer, or exit
 * with `status` if that is not 0; and what it says on stderr must have `text` in it. */
void assert_dies(void (*body)(void), const char *text);
void assert_exits(void (*body)(void), int status, const char *text);

#define assert_result(call, result) assert_int_equal(call, result)
#define assert_success(call)        assert_int_equal(call, CUDA_SUCCESS)

#endif
