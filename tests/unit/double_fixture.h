/* What tests on the double of libcuda.so.1 share.
 *
 * The library keeps what it learns about the driver for the life of the process, so each test runs
 * in a child of its own, and finds a fresh one there. In a child a check that fails ends it; the
 * parent reports. */
#ifndef DOUBLE_FIXTURE_H
#define DOUBLE_FIXTURE_H

#include "driver.h"
#include "fake_cuda.h"
#include "plan.h"
#include "unit.h"
#include <unistd.h>

/* The program's two arguments: the double, and a driver that lacks functions. Ends the process if
 * they are missing. */
void double_paths(int argc, char **argv);
extern const char *driver_path, *old_driver_path;

/* Fails unless `body` comes back in a child. */
void in_child(void (*body)(void));

/* A test whose body runs in a child. */
#define IN_CHILD(name)                                                                             \
    static void name##_child(void);                                                                \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        in_child(name##_child);                                                                    \
    }                                                                                              \
    static void name##_child(void)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s; last error: %s\n", __FILE__, __LINE__, #condition, \
                    gdnn_last_error());                                                            \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define CHECK_ERROR(piece)                                                                         \
    do {                                                                                           \
        if (!strstr(gdnn_last_error(), piece)) {                                                   \
            fprintf(stderr, "%s:%d: \"%s\" does not hold \"%s\"\n", __FILE__, __LINE__,            \
                    gdnn_last_error(), piece);                                                     \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* Of open_devices. */
extern const gdnn_driver *cu;
extern CUcontext contexts[2];

/* Loads the double for the library to use, and does not start it. */
void open_driver(void);

/* The double with the primary contexts of `devices` devices; that of device 0 is current. */
void open_devices(int devices);

/* A function of fake_cuda.h. */
void *double_symbol(const char *name);

/* Tells the double which call fails, as GDNN_FAKE_FAIL says it; "": none. */
void fail_next(const char *what);

/* Forward, one channel in each of 2 groups, and a filter of one tap: y is x times the group's
 * weight. */
gdnn_conv example(gdnn_dir dir, gdnn_dtype dtype);

/* Mode force, else the defaults. */
gdnn_options forced(void);

/* A plan of the example in float32. */
gdnn_status make(gdnn_plan **plan, gdnn_dir dir, gdnn_decision *decision);

/* That no such plan is made, with this status and reason. */
void check_refused(gdnn_dir dir, gdnn_status status, gdnn_reason reason);

/* Device memory of the forward example in float32, with data in x and w. */
typedef struct memory {
    CUdeviceptr x, w, y;
} memory;

memory allocate(void);
gdnn_tensors tensors_of(const memory *m);
void check_result(const memory *m);
void release(memory *m);

/* Makes and runs a plan from nothing, in the current context. */
void check_works(void);

#endif
