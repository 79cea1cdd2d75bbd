#include "shadow.hpp"
#include "thread.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace emu
{
static std::vector<Region *> &regions = *new std::vector<Region *>; // sorted by base
static Region *last_found;

// Zero, and taking memory only where touched.
static void *lazy_memory(size_t bytes)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        kernel_error(Where(), "no memory to watch %zu bytes", bytes);
    return memory;
}

static bool in_extent(const Region &region, const char *pointer)
{
    return pointer >= region.base - region.before &&
           pointer < region.base + region.bytes + region.after;
}

static std::vector<Region *>::iterator first_above(const char *pointer)
{
    return std::upper_bound(
        regions.begin(), regions.end(), pointer,
        [](const char *p, const Region *region) { return p < region->base - region->before; });
}

Region *find_region(const void *pointer)
{
    const char *p = static_cast<const char *>(pointer);
    if (last_found && in_extent(*last_found, p))
        return last_found;
    const auto above = first_above(p);
    if (above == regions.begin() || !in_extent(**(above - 1), p))
        return nullptr;
    return last_found = *(above - 1);
}

void forget_shared()
{
    for (Region *region : regions)
        if (region->space == watch::Space::shared)
            memset(region->written, 0, region->written_bytes);
}

void Region::mark_range_written(size_t at, size_t count)
{
    for (; count && at % 8; at++, count--)
        mark_written(at, 1);
    memset(written + at / 8, 0xff, count / 8);
    for (at += count & ~(size_t)7, count %= 8; count; at++, count--)
        mark_written(at, 1);
}

namespace watch
{
void add(const void *base, size_t bytes, Space space, size_t before, size_t after)
{
    if (!bytes)
        return;
    Region *region = new Region();
    region->base = static_cast<const char *>(base);
    region->bytes = bytes;
    region->before = before;
    region->after = after;
    region->space = space;
    region->cells = static_cast<Cell *>(lazy_memory(region->cells_bytes()));
    region->written_bytes = bytes / 8 + 1;
    region->written = static_cast<unsigned char *>(lazy_memory(region->written_bytes));
    if (space == Space::global) {
        region->sectors = region->sector_of(bytes - 1) + 1;
        region->sector_read = static_cast<uint32_t *>(lazy_memory(region->sectors * 8));
        region->sector_written = region->sector_read + region->sectors;
    }
    regions.insert(first_above(region->base), region);
}

void remove(const void *base)
{
    for (auto i = regions.begin(); i != regions.end(); ++i) {
        Region *region = *i;
        if (region->base != base)
            continue;
        munmap(region->cells, region->cells_bytes());
        munmap(region->written, region->written_bytes);
        if (region->sectors)
            munmap(region->sector_read, region->sectors * 8);
        regions.erase(i);
        last_found = nullptr;
        delete region;
        return;
    }
}

void initialise(const void *base, size_t bytes)
{
    if (Region *region = find_region(base))
        region->mark_range_written((size_t)(static_cast<const char *>(base) - region->base), bytes);
}

void copy(const void *base, const void *from, size_t bytes)
{
    Region *to = find_region(base);
    const Region *source = find_region(from);
    if (!to || !source)
        return;
    const size_t at = (size_t)(static_cast<const char *>(base) - to->base);
    const size_t start = (size_t)(static_cast<const char *>(from) - source->base);
    if (source->all_written)
        to->mark_range_written(at, bytes);
    else
        for (size_t i = 0; i < bytes; i++)
            to->set_written(at + i, source->is_written(start + i, 1));
}

void initialise_all(const void *base)
{
    if (Region *region = find_region(base))
        region->all_written = true;
}
} // namespace watch
} // namespace emu
