// What tests and the tool ask the double.
#include "capture.hpp"
#include "counters.hpp"
#include "device_memory.hpp"
#include "double.hpp"
#include "launches.hpp"
#include "watch.hpp"

#include <cstring>

using namespace fake;

extern "C" EXPORT void gdnn_fake_counters(gdnn_fake_counts *counts)
{
    std::lock_guard<std::recursive_mutex> lock(fake::mutex);
    *counts = gdnn_fake_counts();
    counts->calls = count_of_calls();
    counts->launches = count_of_launches();
    counts->capture_exchanges = count_of_capture_exchanges();
    count_memory(counts);
    const emu::Counters &done = emu::counters;
    counts->blocks = done.blocks;
    counts->threads = done.threads;
    counts->barriers = done.barriers;
    counts->warp_ops = done.warp_ops;
    counts->mma = done.mma;
    counts->sectors_read = done.sectors_read;
    counts->sectors_written = done.sectors_written;
    counts->shared_bytes = done.shared_bytes;
    counts->conflict_cycles = done.conflict_cycles;
    counts->errors = done.errors;
}

// One of what the emulator counts.
struct Counted {
    const char *name;
    uint64_t emu::Counters::*value;
};

static const Counted counted[] = {
    {"threads", &emu::Counters::threads},
    {"barriers", &emu::Counters::barriers},
    {"warp_ops", &emu::Counters::warp_ops},
    {"mma", &emu::Counters::mma},
    {"sectors_read", &emu::Counters::sectors_read},
    {"sectors_written", &emu::Counters::sectors_written},
    {"shared_bytes", &emu::Counters::shared_bytes},
    {"conflict_cycles", &emu::Counters::conflict_cycles},
};

extern "C" EXPORT int gdnn_fake_counter(const char *name, uint64_t *value)
{
    std::lock_guard<std::recursive_mutex> lock(fake::mutex);
    for (const Counted &one : counted)
        if (!strcmp(one.name, name)) {
            *value = emu::counters.*one.value;
            return 1;
        }
    return 0;
}

extern "C" EXPORT uint64_t gdnn_fake_launches(void)
{
    std::lock_guard<std::recursive_mutex> lock(fake::mutex);
    return count_of_launches();
}

extern "C" EXPORT int gdnn_fake_checks_races(void)
{
    return emu::watch::checking();
}
