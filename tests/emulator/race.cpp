// The race and initialisation checker: an access is an error if it reads a byte that nobody wrote,
// lies outside its memory, or is not ordered with an earlier access to the same byte of which one
// is a write. What it finds does not depend on the schedule.
#include "race.hpp"
#include "clocks.hpp"
#include "conflicts.hpp"
#include "counters.hpp"
#include "memory.hpp"
#include "race_report.hpp"
#include "scheduler.hpp"
#include "shadow.hpp"
#include "watch.hpp"

#include <algorithm>

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

static unsigned read_warp(const Cell &cell, unsigned which)
{
    return which ? cell.read_warp_1 : cell.read_warp_0;
}

static bool read_is_ordered(const Cell &cell, unsigned which, unsigned thread)
{
    return happened_before(cell.read[which].time, read_warp(cell, which), cell.read[which].lanes,
                           thread);
}

static void put_read(Cell *cell, unsigned which, unsigned thread)
{
    cell->read[which] = {clocks.own[thread], 1u << thread % warp_lanes};
    if (which)
        cell->read_warp_1 = thread / warp_lanes % max_block_warps;
    else
        cell->read_warp_0 = thread / warp_lanes % max_block_warps;
}

static void remember_read(Cell *cell, unsigned thread, Site site)
{
    const unsigned warp = thread / warp_lanes, lane = 1u << thread % warp_lanes;
    cell->read_site = site;
    for (unsigned i = 0; i < 2; i++)
        if (in_this_block(cell->read[i].time) && read_warp(*cell, i) == warp) {
            // Whoever is ordered after this read is ordered after those that are before it.
            if (cell->read[i].time == clocks.own[thread])
                cell->read[i].lanes |= lane;
            else if (read_is_ordered(*cell, i, thread))
                cell->read[i] = {clocks.own[thread], lane};
            else
                cell->read[i].lanes |= lane;
            return;
        }
    for (unsigned i = 0; i < 2; i++)
        if (read_is_ordered(*cell, i, thread)) {
            put_read(cell, i, thread);
            return;
        }
    // Two unordered readers are kept already. Whoever writes later, in this block or one that comes
    // after it, is unordered with one of them if he is with this one.
}

// Checks `count` bytes that share their history: one, or a word. False after an error, so that an
// access is reported once.
static bool check_cell(Region *region, size_t at, unsigned count, unsigned thread, Access access,
                       Site site)
{
    Cell *cell = &region->cells[at];
    forget_the_past(*region, cell);
    if (cell->pending)
        return report_race("access to the destination of a cp.async that nobody has waited for",
                           *region, at, thread, site, cell->write_time, cell->writer,
                           cell->write_site);
    if (access != Access::write && !region->is_written(at, count)) {
        region->mark_written(at, count);
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
    for (unsigned i = 0; i < 2; i++)
        if (!read_is_ordered(*cell, i, thread))
            return report_race("race: write, not ordered with a read", *region, at, thread, site,
                               cell->read[i].time,
                               read_warp(*cell, i) * warp_lanes +
                                   (unsigned)__builtin_ctz(cell->read[i].lanes),
                               cell->read_site);
    cell->read[0] = cell->read[1] = {0, 0};
    cell->write_time = clocks.own[thread];
    cell->writer = thread % max_block_threads;
    cell->atomic = access == Access::atomic;
    cell->write_site = site;
    if (!region->all_written)
        region->mark_written(at, count);
    return true;
}

static void split_word(Cell *word)
{
    if (word->split)
        return;
    word[1] = word[2] = word[3] = word[0];
    word->split = 1;
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
        if (last[i] != clocks.block_serial) {
            last[i] = clocks.block_serial;
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
    const size_t end = (size_t)at + bytes;
    for (size_t i = (size_t)at; i < end;) {
        Cell *word = &region->cells[i & ~(size_t)3];
        const bool whole = i % 4 == 0 && end - i >= 4;
        if (!whole)
            split_word(word);
        if (!word->split) {
            if (!check_cell(region, i, 4, thread, access, site))
                return;
            i += 4;
            continue;
        }
        for (const size_t stop = std::min(end, (i & ~(size_t)3) + 4); i < stop; i++)
            if (!check_cell(region, i, 1, thread, access, site))
                return;
        if (whole && access != Access::read)
            word->split = 0; // its bytes have one history again
    }
}

void check_alignment(unsigned thread, const void *pointer, size_t bytes, Site site)
{
    Region *region = find_region(pointer);
    if (region)
        report_race(bytes == 16 ? "misaligned access of 16 bytes" : "misaligned access", *region,
                    (size_t)(static_cast<const char *>(pointer) - region->base), thread, site, 0, 0,
                    0);
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

// The data may arrive at any time from here to the wait, so the write must be in order here
// already, and until the wait nobody may touch the bytes.
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
        cell.write_time = clocks.own[current->linear];
    }
}
} // namespace watch

void note_atomic(const void *pointer, size_t bytes, Where where)
{
    check_access(current->linear, pointer, bytes, Access::atomic, site_of(where));
}
} // namespace emu
