// Settings from the environment, and calls that are told to fail.
#include "double.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fake
{
std::recursive_mutex mutex;
Settings settings;

struct Failure {
    std::string function;
    long calls_left;
    CUresult result;
};
static std::vector<Failure> failures;
static bool configured;
static uint64_t calls;

void die(const char *function, const char *format, ...)
{
    fflush(stdout);
    fprintf(stderr, "libcuda double: error: %s: ", function);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

static bool number(const char *name, uint64_t *value)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return false;
    char *end;
    *value = strtoull(text, &end, 0);
    if (*end)
        die(name, "%s is not a number", text);
    return true;
}

// "CUDA C programming guide", table of technical specifications per compute capability.
static size_t max_shared_of(int sm)
{
    switch (sm) {
    case 75: return 64 * 1024;
    case 80:
    case 87: return 163 * 1024;
    case 86:
    case 89:
    case 120:
    case 121: return 99 * 1024;
    default: return 227 * 1024;
    }
}

static void read_failures()
{
    failures.clear();
    const char *text = getenv("GDNN_FAKE_FAIL");
    while (text && *text) {
        const size_t length = strcspn(text, ",");
        const std::string item(text, length);
        char function[64];
        long n;
        int result = CUDA_ERROR_UNKNOWN;
        if (sscanf(item.c_str(), "%63[^:]:%ld:%d", function, &n, &result) < 2 || n < 1)
            die("GDNN_FAKE_FAIL", "%s is not fn:n or fn:n:result", item.c_str());
        failures.push_back({function, n, (CUresult)result});
        text += length + (text[length] == ',');
    }
}

void configure()
{
    settings = Settings();
    configured = true;
    uint64_t value;
    if (number("GDNN_FAKE_DEVICES", &value))
        settings.devices = (int)value;
    if (number("GDNN_FAKE_SM", &value)) {
        settings.sm = (int)value;
        settings.max_shared = max_shared_of(settings.sm);
    }
    if (number("GDNN_FAKE_SHARED", &value))
        settings.max_shared = (size_t)value;
    if (number("GDNN_FAKE_MEMORY", &value))
        settings.memory = (size_t)value;
    if (number("GDNN_FAKE_DRIVER", &value))
        settings.driver_version = (int)value;
    if (const char *name = getenv("GDNN_FAKE_NAME"))
        settings.name = name;
    read_failures();
}

bool injected_failure(const char *function, CUresult *result)
{
    if (!configured)
        configure();
    calls++;
    bool fails = false;
    for (Failure &failure : failures)
        if (failure.function == function && --failure.calls_left == 0) {
            *result = failure.result;
            fails = true;
        }
    return fails;
}

uint64_t count_of_calls()
{
    return calls;
}
} // namespace fake

extern "C" EXPORT void gdnn_fake_configure(void)
{
    std::lock_guard<std::recursive_mutex> lock(fake::mutex);
    fake::configure();
}
