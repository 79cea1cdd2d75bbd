// What the files of the double share: the lock, devices and contexts, failure.
#ifndef GDNN_DOUBLE_HPP
#define GDNN_DOUBLE_HPP

#include "fake_cuda.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#define EXPORT __attribute__((visibility("default")))

// What begins the definition of a driver function. With C linkage other parameters than the table's
// do not compile.
#define DRIVER extern "C" EXPORT CUresult

extern "C" {
#define GDNN_CU(name, symbol, parameters) EXPORT CUresult symbol parameters;
#include "capture_api.def"
#include "driver_api.def"
#undef GDNN_CU
}

namespace fake
{
struct Device {
    int ordinal;
    int retained; // of the primary context, whose handle is this struct's address
    size_t bytes_in_use;
};

struct Settings {
    int devices = 1;
    int sm = 90; // major * 10 + minor
    size_t max_shared = 227 * 1024;
    size_t memory = (size_t)256 << 30;
    int driver_version = 13000;
    std::string name; // empty: one that says what it is
};

extern std::recursive_mutex mutex;
extern Settings settings;
extern bool initialised;

void configure();
std::vector<Device> &devices();
// Null if the handle is no retained context.
Device *device_of(CUcontext context);
// The device of the calling thread's current context; null if there is none, or it has been
// released.
Device *current_device();
bool is_device(CUdevice device);

// Counts a call; true if it is told to fail, with *result.
bool injected_failure(const char *function, CUresult *result);
uint64_t count_of_calls();

// Reports wrong use of the driver that a GPU would not survive, and aborts.
[[noreturn]] void die(const char *function, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
} // namespace fake

// What each function of the double begins with.
#define ENTER_UNINITIALISED(function)                                                              \
    std::lock_guard<std::recursive_mutex> lock(fake::mutex);                                       \
    static const char *const self = #function;                                                     \
    (void)self;                                                                                    \
    do {                                                                                           \
        CUresult injected;                                                                         \
        if (fake::injected_failure(self, &injected))                                               \
            return injected;                                                                       \
    } while (0)

#define ENTER(function)                                                                            \
    ENTER_UNINITIALISED(function);                                                                 \
    do {                                                                                           \
        if (!fake::initialised)                                                                    \
            return CUDA_ERROR_NOT_INITIALIZED;                                                     \
    } while (0)

// And functions that need a current context.
#define ENTER_CONTEXT(function)                                                                    \
    ENTER(function);                                                                               \
    fake::Device *const device = fake::current_device();                                           \
    (void)device;                                                                                  \
    do {                                                                                           \
        if (!device)                                                                               \
            return CUDA_ERROR_INVALID_CONTEXT;                                                     \
    } while (0)

#endif
