// What kernels did since the process began; a launch's share is the difference.
#ifndef GDNN_EMULATOR_COUNTERS_HPP
#define GDNN_EMULATOR_COUNTERS_HPP

#include <cstdint>

namespace emu
{
struct Counters {
    uint64_t launches, blocks, threads;
    uint64_t barriers; // of whole blocks
    uint64_t warp_ops; // meetings of lanes
    uint64_t mma;
    // Seen by the race checker only, where each access is reported:
    uint64_t sectors_read,
        sectors_written;      // of global memory: distinct 32-byte sectors of a block, summed
    uint64_t shared_bytes;    // read and written
    uint64_t conflict_cycles; // of shared memory banks, where asked for
    uint64_t errors;          // found by the race checker
};

extern Counters counters;
} // namespace emu

#endif
