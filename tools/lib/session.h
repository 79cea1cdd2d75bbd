/* A device to try kernels on: a GPU, or the emulated device of tests/doubles, which is another
 * libcuda.so.1 that runs the same kernels on the CPU. One a process, since the driver is chosen
 * once.
 *
 * Functions that return a gdnn_status leave the sentence in gdnn_last_error. */
#ifndef SESSION_H
#define SESSION_H

#include "driver.h"
#include <stdbool.h>

typedef enum session_choice {
    SESSION_AUTO, /* a GPU if there is one, else the emulated device */
    SESSION_GPU,
    SESSION_EMULATED
} session_choice;

/* What the device has counted since the process began. */
typedef struct session_counts {
#define GDNN_COUNTER(name, meaning) uint64_t name;
#include "counters.def"
#undef GDNN_COUNTER
} session_counts;

typedef struct session {
    const gdnn_driver *driver;
    CUdevice device;
    CUcontext context; /* current in the thread that opened the session */
    CUstream stream;
    bool emulated;
    gdnn_device facts;
    bool real_time;                   /* the driver is NVIDIA's: events measure a GPU */
    uint64_t (*count_launches)(void); /* of the emulated device; NULL on a GPU */
    /* Of the emulated device that counts; NULL elsewhere. */
    int (*counter)(const char *name, uint64_t *value);
} session;

/* Opens the first device. The emulated driver is `../tests/doubles/plain/libcuda.so.1` beside the
 * folder of the running program, or what GDNN_EMULATED_DRIVER names.
 * GDNN_UNSUPPORTED: there is no such device, or no such driver. GDNN_FAILED: the driver refused. */
gdnn_status session_open(session *s, session_choice choice);

/* The same, but the emulated device is the one that checks races and counts, slower by about ten times: its driver
 * is `../tests/doubles/race/libcuda.so.1`, or what GDNN_EMULATED_DRIVER names. */
gdnn_status session_open_counting(session *s, session_choice choice);

/* The same with another device than the first. */
gdnn_status session_open_device(session *s, session_choice choice, int ordinal);

/* The devices that session_open_device has with `choice`: 0 where there is no driver. */
int session_devices(session_choice choice);

/* Undoes session_open, also where that failed. */
void session_close(session *s);

/* Waits for the stream. GDNN_FAILED: something that was enqueued failed. */
gdnn_status session_wait(session *s);

/* Launches made so far, where the device counts them; else -1. */
long long session_launches(const session *s);

/* Reads the counters; false where the device does not count. */
bool session_read_counts(const session *s, session_counts *counts);

/* Where the emulated driver is looked for, into `path`. */
void session_emulated_path(char *path, size_t size);

/* Device memory with a guard zone on both sides. Contents and guards start as bytes 0xff, which is
 * NaN in every type: what is read by mistake shows, and what is written by mistake is found. */
typedef struct buffer {
    CUdeviceptr allocation;
    size_t start; /* of the contents, from the allocation */
    size_t bytes;
} buffer;

/* Allocates `bytes` of contents, `shift` bytes off an alignment of 256.
 * GDNN_UNSUPPORTED: the device has too little memory. GDNN_FAILED: the driver refused. */
gdnn_status buffer_open(session *s, buffer *b, size_t bytes, size_t shift);

/* The contents' address, as gdnn_tensors takes it. */
void *buffer_address(const buffer *b);

/* Copies `bytes` bytes into the contents. Asynchronous; `from` must live until session_wait. */
gdnn_status buffer_write(session *s, buffer *b, const void *from);

/* Waits, copies the contents to `to`, and says whether both guards are untouched. */
gdnn_status buffer_read(session *s, const buffer *b, void *to, bool *intact);

void buffer_close(session *s, buffer *b);

#endif
