#include "gpus.h"
#include <stdio.h>
#include <string.h>

/* What differs between GPUs, in the order of the text below. */
static const struct gpu {
    const char *name;
    int multiprocessors, shared_optin, shared_reserved, blocks, threads;
    int clock_khz, memory_khz, l2_bytes;
    const char *full_name;
    int version; /* compute capability, times 100 */
    long long memory;
} gpus[] = {
    {"h200", 132, 232448, 1024, 32, 2048, 1980000, 3201000, 62914560, "NVIDIA H200", 900,
     150754820096},
    {"a100", 108, 166912, 1024, 32, 2048, 1410000, 1593000, 41943040, "NVIDIA A100-SXM4-80GB", 800,
     85094825984},
    {"t4", 40, 65536, 0, 16, 1024, 1590000, 5001000, 4194304, "Tesla T4", 750, 15828320256},
};

int gpu_properties(const char *name, char *text, size_t size)
{
    const struct gpu *it = gpus;
    while (it < gpus + sizeof gpus / sizeof *gpus && strcmp(it->name, name) != 0)
        it++;
    if (it == gpus + sizeof gpus / sizeof *gpus)
        return 0;
    const int length = snprintf(
        text, size,
        "{\"maxGridSize\": [2147483647, 65535, 65535], \"maxBlockSize\": [1024, 1024, 64],"
        " \"regsPerBlock\": 65536, \"multiProcessorCount\": %d, \"warpSize\": 32,"
        " \"maxSharedMemoryPerBlock\": 49152, \"maxSharedMemoryPerBlockOptin\": %d,"
        " \"reservedSharedMemoryPerBlock\": %d, \"maxRegistersPerSM\": 65536,"
        " \"maxCtasPerSM\": %d, \"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": %d,"
        " \"pciDeviceId\": 0, \"isTccDriver\": 0, \"supportCoopLaunch\": 1,"
        " \"smClockRateKHz\": %d, \"memClockRateKHz\": %d, \"l2CacheSize\": %d,"
        " \"deviceName\": \"%s\", \"deviceVer\": %d, \"driverVer\": 13000,"
        " \"cudaDeviceId\": 0, \"totalGlobalMem\": %lld}",
        it->multiprocessors, it->shared_optin, it->shared_reserved, it->blocks, it->threads,
        it->clock_khz, it->memory_khz, it->l2_bytes, it->full_name, it->version, it->memory);
    return length > 0 && (size_t)length < size ? length : 0;
}
