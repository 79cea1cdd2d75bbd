// Device memory: host memory that is accessible only while a kernel or a copy runs.
#ifndef GDNN_DOUBLE_DEVICE_MEMORY_HPP
#define GDNN_DOUBLE_DEVICE_MEMORY_HPP

#include "double.hpp"

#include <cstddef>

namespace fake
{
// Laid out as guard (never accessible), canary, the bytes, canary, guard.
struct Allocation {
    Device *device;
    char *base;
    size_t bytes;
    size_t before, after; // bytes of canary
    char *map;
    size_t map_bytes;
    // Of cuMemAllocAsync: there is memory once the stream has come to the allocation, and until it
    // comes to the end; for the host it ends with the call of cuMemFreeAsync.
    bool ordered, begun, ended;
};

// The live allocation in which all of the bytes lie; null if there is none.
const Allocation *find_allocation(CUdeviceptr pointer, size_t bytes);
// Dies unless the bytes, what `role` names, lie in a live allocation. `running`: the work that uses
// them runs now; else it is being enqueued.
const Allocation *require_live(const char *function, const char *role, CUdeviceptr pointer,
                               size_t bytes, bool running = false);
// The one whose surroundings hold the address, for reports.
const Allocation *nearest_allocation(const void *address);
size_t live_allocations(const Device *device);
void count_memory(gdnn_fake_counts *counts);

// Memory is accessible while one of these lives.
class Accessible
{
  public:
    Accessible();
    ~Accessible();
};

// Dies if a canary was overwritten; `what` ran last.
void check_canaries(const char *what);
} // namespace fake

#endif
