// The race and initialisation checker: an access is an error if it reads a byte that nobody wrote, lies outside its memory,
// or is not ordered with an earlier access to the same byte of which one is a write. What it finds does not depend on the
// schedule.
#include "race.hpp"
#include "clocks.hpp"
#include "conflicts.hpp"
#include "counters.hpp"
#include "memory.hpp"
#include "race_report.hpp"
#include "scheduler.hpp"
#include "shadow.hpp"
#include "watch.hpp"

namespace emu
{
static bool forgotten(const Region &region, uint32_t time)
{
    return region.space == watch::Space::shared ? !in_this_block(time) : !in_this_launch(time);
}

// Shared memory has no past beyond its block, global memory none beyond the launch.
static void forget_the_past(const Region &region, Cell *cell)
{
    if (forgotten(region, cell->write_time)) {
        cell->write_time = 0;
        cell->pending = 0;
    }
    for (Cell::Read &read : cell->read)
        if (forgotten(region, read.time))
            read = {0, 0};
}

static bool write_is_ordered(const Cell &cell, unsigned thread)
{
    return happened_before(cell.write_time, cell.writer / warp_lanes,
                           1u << cell.writer % warp_lanes, thread);
}

static bool read_is_ordered(const Cell &cell, unsigned which, unsigned thread)
{
    return happened_before(cell.read[which].time, which ? cell.read_warp_1 : cell.read_warp_0,
                           cell.read[which].lanes, thread);
}

static void put_read(Cell *cell, unsigned which, uint32_t time, unsigned thread)
{
    cell->read[which] = {time, 1u << thread % warp_lanes};
    if (which)
        cell->read_warp_1 = thread / warp_lanes % 32;
    else
        cell->read_warp_0 = thread / warp_lanes % 32;
}

static void remember_read(Cell *cell, unsigned thread, Site site)
{
    const uint32_t time = time_of(thread);
    const unsigned warp = thread / warp_lanes;
    cell->read_site = site;
    for (unsigned i = 0; i < 2; i++) {
        Cell::Read &read = cell->read[i];
        if (read_is_ordered(*cell, i, thread)) {
            // Whoever is ordered after this read is ordered after that one too. The other slot may hold this warp.
            const Cell::Read &other = cell->read[1];
            if (i == 0 && other.time && in_this_block(other.time) && cell->read_warp_1 == warp)
                continue;
            put_read(cell, i, time, thread);
            return;
        }
        if (in_this_block(read.time) && (i ? cell->read_warp_1 : cell->read_warp_0) == warp) {
            read.lanes |= 1u << thread % warp_lanes;
            return;
        }
    }
    // Two unordered readers are kept already. They must not both be of one block if this is another.
    if (!in_this_block(cell->read[0].time) && !in_this_block(cell->read[1].time) &&
        block_of(cell->read[0].time) == block_of(cell->read[1].time))
        put_read(cell, 1, time, thread);
}

// False after an error, so that one access is reported once.
static bool check_byte(Region *region, size_t at, unsigned thread, Access access, Site site)
{
    Cell *cell = &region->cells[at];
    forget_the_past(*region, cell);
    if (cell->pending)
        return report_race("access to the destination of a cp.async that nobody has waited for",
                           *region, at, thread, site, cell->write_time, cell->writer,
                           cell->write_site);
    if (access != Access::write && !region->is_written(at)) {
        region->mark_written(at);
        return report_race("read of memory that nobody wrote", *region, at, thread, site, 0, 0, 0);
    }
    const bool both_atomic = access == Access::atomic && cell->atomic;
    if (cell->write_time && !both_atomic && !write_is_ordered(*cell, thread))
        return report_race(access == Access::read ? "race: read, not ordered with a write"
                                                  : "race: write, not ordered with a write",
                           *region, at, thread, site, cell->write_time, cell->writer,
                           cell->write_site);
    if (access == Access::read) {
        remember_read(cell, thread, site);
        return true;
    }
    for (unsigned i = 0; i < 2; i++) {
        const Cell::Read &read = cell->read[i];
        if (!read_is_ordered(*cell, i, thread)) {
            const unsigned warp = i ? cell->read_warp_1 : cell->read_warp_0;
            return report_race("race: write, not ordered with a read", *region, at, thread, site,
                               read.time, warp * 32 + (unsigned)__builtin_ctz(read.lanes),
                               cell->read_site);
        }
    }
    cell->read[0] = cell->read[1] = {0, 0};
    cell->write_time = time_of(thread);
    cell->writer = thread % max_block_threads;
    cell->atomic = access == Access::atomic;
    cell->write_site = site;
    if (!region->all_written)
        region->mark_written(at);
    return true;
}

static void count(Region *region, size_t at, size_t bytes, Access access)
{
    if (region->space == watch::Space::shared) {
        counters.shared_bytes += bytes;
        return;
    }
    for (size_t i = region->sector_of(at); i <= region->sector_of(at + bytes - 1); i++) {
        uint32_t *last = access == Access::read ? region->sector_read : region->sector_written;
        uint64_t *counter =
            access == Access::read ? &counters.sectors_read : &counters.sectors_written;
        if (last[i] != this_block()) {
            last[i] = this_block();
            ++*counter;
        }
    }
}

void check_access(unsigned thread, const void *pointer, size_t bytes, Access access, Site site)
{
    Region *region = find_region(pointer);
    if (!region || !bytes)
        return;
    const ptrdiff_t at = static_cast<const char *>(pointer) - region->base;
    if (at < 0 || (size_t)at + bytes > region->bytes) {
        report_race("access out of bounds", *region, (size_t)at, thread, site, 0, 0, 0);
        return;
    }
    count(region, (size_t)at, bytes, access);
    if (region->space == watch::Space::shared)
        note_shared_access(thread, (size_t)at, bytes, site);
    for (size_t i = 0; i < bytes; i++)
        if (!check_byte(region, (size_t)at + i, thread, access, site))
            return;
}

namespace watch
{
bool checking()
{
    return true;
}

void begin_launch()
{
    clocks_begin_launch();
}

void begin_block()
{
    clocks_begin_block();
    forget_shared();
}

void end_block()
{
    count_conflicts();
}

void barrier()
{
    count_conflicts();
    clocks_barrier();
}

void warp_barrier(unsigned warp, unsigned mask)
{
    clocks_warp_barrier(warp, mask);
}

void access_by(unsigned linear, const void *pointer, size_t bytes, Where where)
{
    check_access(linear, pointer, bytes, Access::read, site_of(where));
}

// The data may arrive at any time from here to the wait, so the write must be in order here already, and until the wait
// nobody may touch the bytes.
void copy_issued(const void *dst, size_t bytes, Where where)
{
    check_access(current->linear, dst, bytes, Access::write, site_of(where));
    Region *region = find_region(dst);
    for (size_t i = 0; region && i < bytes; i++)
        region->cells[(const char *)dst - region->base + (ptrdiff_t)i].pending = 1;
}

void copy_reads(const void *src, size_t bytes, Where where)
{
    check_access(current->linear, src, bytes, Access::read, site_of(where));
}

void copy_complete(const void *dst, size_t bytes)
{
    Region *region = find_region(dst);
    for (size_t i = 0; region && i < bytes; i++) {
        Cell &cell = region->cells[(const char *)dst - region->base + (ptrdiff_t)i];
        cell.pending = 0;
        cell.write_time = time_of(current->linear);
    }
}
} // namespace watch

void note_atomic(const void *pointer, size_t bytes, Where where)
{
    check_access(current->linear, pointer, bytes, Access::atomic, site_of(where));
}
} // namespace emu
