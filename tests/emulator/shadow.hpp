// What the race checker remembers of each byte of checked memory.
#ifndef GDNN_EMULATOR_SHADOW_HPP
#define GDNN_EMULATOR_SHADOW_HPP

#include "sites.hpp"
#include "watch.hpp"

#include <cstddef>
#include <cstdint>

namespace emu
{
// One a byte; but while all bytes of an aligned word share their history, the first byte's cell
// stands for the word. Times are values of the checker's clock, 0 for never. The reads that count
// are those since the last write, of two different warps or blocks.
struct Cell {
    uint32_t write_time;
    Site write_site;
    struct Read {
        uint32_t time;  // of the earliest of these lanes
        uint32_t lanes; // of one warp
    } read[2];
    Site read_site; // the last
    uint32_t writer : 10, read_warp_0 : 5, read_warp_1 : 5;
    uint32_t atomic : 1;  // the write was
    uint32_t pending : 1; // a cp.async will write it
    uint32_t split : 1;   // in a word's first cell: its bytes have cells of their own
};
static_assert(sizeof(Cell) == 32, "keep it small");

struct Region {
    const char *base;
    size_t bytes, before, after;
    watch::Space space;
    Cell *cells;
    unsigned char *written; // a bit a byte
    size_t written_bytes;
    bool all_written;
    uint32_t *sector_read, *sector_written; // the last block that touched each 32-byte sector
    size_t sectors;

    // `count` bytes, which do not cross a multiple of 4.
    bool is_written(size_t at, unsigned count) const
    {
        const unsigned mask = (1u << count) - 1;
        return all_written || (written[at / 8] >> at % 8 & mask) == mask;
    }
    void mark_written(size_t at, unsigned count)
    {
        written[at / 8] |= (unsigned char)(((1u << count) - 1) << at % 8);
    }
    void set_written(size_t at, bool is)
    {
        const unsigned char bit = (unsigned char)(1u << at % 8);
        written[at / 8] = (unsigned char)(is ? written[at / 8] | bit : written[at / 8] & ~bit);
    }
    void mark_range_written(size_t at, size_t count);
    size_t cells_bytes() const
    {
        return (bytes + 3) / 4 * 4 * sizeof(Cell);
    }
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
