// What the race checker remembers of each byte of checked memory.
#ifndef GDNN_EMULATOR_SHADOW_HPP
#define GDNN_EMULATOR_SHADOW_HPP

#include "sites.hpp"
#include "watch.hpp"

#include <cstddef>
#include <cstdint>

namespace emu
{
// Times are values of the checker's clock, 0 for never. The reads that count are those since the last write. Readers of two
// different warps are kept: whoever writes later is unordered with one of them if he is with any.
struct Cell {
    uint32_t write_time;
    Site write_site;
    struct Read {
        uint32_t time;  // of the earliest of these lanes
        uint32_t lanes; // of one warp
    } read[2];
    Site read_site; // the last
    uint32_t writer : 10, atomic : 1, pending : 1, read_warp_0 : 5, read_warp_1 : 5;
};
static_assert(sizeof(Cell) == 32, "a cell a byte: keep it small");

struct Region {
    const char *base;
    size_t bytes, before, after;
    watch::Space space;
    Cell *cells;            // mapped at first touch
    unsigned char *written; // a bit a byte
    size_t written_bytes;
    bool all_written;
    // The last block that touched each 32-byte sector.
    uint32_t *sector_read, *sector_written;
    size_t sectors;

    bool is_written(size_t at) const
    {
        return all_written || (written[at / 8] >> at % 8 & 1);
    }
    void mark_written(size_t at)
    {
        written[at / 8] |= (unsigned char)(1u << at % 8);
    }
    void mark_written(size_t at, size_t count);
    size_t sector_of(size_t at) const
    {
        return ((uintptr_t)base + at) / 32 - (uintptr_t)base / 32;
    }
};

// The region in whose extent, `before` and `after` included, the pointer lies; or null.
Region *find_region(const void *pointer);
// All shared memory becomes uninitialised.
void forget_shared();
} // namespace emu

#endif
