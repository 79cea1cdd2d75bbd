#include "device_memory.hpp"
#include "streams.hpp"
#include "watch.hpp"

#include <cstring>
#include <map>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISONING 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONING 1
#endif
#endif
#ifdef POISONING
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace fake
{
static const size_t page = 4096, alignment = 256; // cuMemAlloc promises no more than 256
static const size_t guard = (size_t)1 << 20;      // on both sides: address space is cheap
static const size_t fill_limit = (size_t)512 << 20;
static const unsigned char canary = 0xa5;

static std::map<CUdeviceptr, Allocation> &allocations = *new std::map<CUdeviceptr, Allocation>;

static size_t round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

const Allocation *find_allocation(CUdeviceptr pointer, size_t bytes)
{
    auto above = allocations.upper_bound(pointer);
    if (above == allocations.begin())
        return nullptr;
    const Allocation &candidate = (--above)->second;
    const size_t at = (size_t)(pointer - above->first);
    return at < candidate.bytes && bytes <= candidate.bytes - at ? &candidate : nullptr;
}

const Allocation *nearest_allocation(const void *address)
{
    for (const auto &entry : allocations) {
        const Allocation &a = entry.second;
        if (address >= a.map && address < a.map + a.map_bytes)
            return &a;
    }
    return nullptr;
}

size_t live_allocations(const Device *device)
{
    size_t count = 0;
    for (const auto &entry : allocations)
        count += entry.second.device == device;
    return count;
}

void count_memory(gdnn_fake_counts *counts)
{
    counts->allocations = allocations.size();
    counts->bytes_allocated = 0;
    for (const auto &entry : allocations)
        counts->bytes_allocated += entry.second.bytes;
}

static void protect(const Allocation &a, int protection)
{
    mprotect(a.map + guard, a.map_bytes - 2 * guard, protection);
}

static int accessible_depth;

Accessible::Accessible()
{
    if (accessible_depth++ == 0)
        for (const auto &entry : allocations)
            protect(entry.second, PROT_READ | PROT_WRITE);
}

Accessible::~Accessible()
{
    if (--accessible_depth == 0)
        for (const auto &entry : allocations)
            protect(entry.second, PROT_NONE);
}

static void set_canaries(const Allocation &a)
{
    memset(a.base - a.before, canary, a.before);
    memset(a.base + a.bytes, canary, a.after);
    ASAN_POISON_MEMORY_REGION(a.base - a.before, a.before);
    ASAN_POISON_MEMORY_REGION(a.base + a.bytes, a.after);
}

static bool intact(const char *bytes, size_t count)
{
    return !count || ((unsigned char)bytes[0] == canary && !memcmp(bytes, bytes + 1, count - 1));
}

void check_canaries(const char *what)
{
#ifdef POISONING
    (void)what; // ASan has reported the write itself
    (void)intact;
#else
    for (const auto &entry : allocations) {
        const Allocation &a = entry.second;
        const bool before = !intact(a.base - a.before, a.before);
        if (before || !intact(a.base + a.bytes, a.after))
            die(what, "wrote %s an allocation of %zu bytes at %p",
                before ? "before the start of" : "past the end of", a.bytes, (void *)a.base);
    }
#endif
}
} // namespace fake

using namespace fake;

DRIVER cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    ENTER_CONTEXT(cuMemAlloc);
    if (!pointer || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!allowed_in_capture())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (bytes > settings.memory - device->bytes_in_use)
        return CUDA_ERROR_OUT_OF_MEMORY;
    // The end lies as close to the guard as the alignment lets it.
    const size_t body = round_up(bytes, alignment);
    const size_t inner = round_up(alignment + body, page);
    Allocation a = {device, nullptr, bytes, 0, body - bytes, nullptr, inner + 2 * guard};
    void *map =
        mmap(nullptr, a.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a.map = static_cast<char *>(map);
    a.base = a.map + guard + inner - body;
    a.before = inner - body;
    protect(a, PROT_READ | PROT_WRITE);
    set_canaries(a);
    emu::watch::add(a.base, bytes, emu::watch::Space::global, a.before, a.after);
    if (bytes <= fill_limit)
        memset(a.base, 0xff, bytes);
    else
        emu::watch::initialise_all(a.base);
    protect(a, PROT_NONE);
    device->bytes_in_use += bytes;
    *pointer = (CUdeviceptr)(uintptr_t)a.base;
    allocations[*pointer] = a;
    return CUDA_SUCCESS;
}

DRIVER cuMemFree_v2(CUdeviceptr pointer)
{
    ENTER_CONTEXT(cuMemFree);
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    if (!allowed_in_capture())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const auto found = allocations.find(pointer);
    if (found == allocations.end())
        die(self, "%#llx is not the start of a live allocation", pointer);
    run_all_work(); // as the driver does
    const Allocation a = found->second;
    {
        Accessible now;
        check_canaries("work before cuMemFree");
    }
    a.device->bytes_in_use -= a.bytes;
    allocations.erase(found);
    emu::watch::remove(a.base);
    ASAN_UNPOISON_MEMORY_REGION(a.map, a.map_bytes);
    munmap(a.map, a.map_bytes);
    return CUDA_SUCCESS;
}

DRIVER cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    ENTER_CONTEXT(cuMemGetInfo);
    *free_bytes = settings.memory - device->bytes_in_use;
    *total = settings.memory;
    return CUDA_SUCCESS;
}

static void require_inside(const char *function, const char *role, CUdeviceptr pointer,
                           size_t bytes)
{
    if (bytes && !find_allocation(pointer, bytes))
        die(function, "%s %#llx + %zu bytes does not lie in a live allocation", role, pointer,
            bytes);
}

DRIVER cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemcpyHtoDAsync);
    require_inside(self, "destination", dst, bytes);
    // Pageable memory: the driver has staged it when it returns.
    const char *begin = static_cast<const char *>(src);
    const std::vector<char> staged(begin, begin + bytes);
    return enqueue(self, device, handle, [=] {
        memcpy((void *)dst, staged.data(), bytes);
        emu::watch::initialise((void *)dst, bytes);
    });
}

DRIVER cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemcpyDtoHAsync);
    require_inside(self, "source", src, bytes);
    const CUresult result =
        enqueue(self, device, handle, [=] { memcpy(dst, (const void *)src, bytes); });
    if (result == CUDA_SUCCESS)
        memset(dst, 0xff, bytes); // nobody may read it before a synchronisation
    return result;
}

DRIVER cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemsetD8Async);
    require_inside(self, "destination", dst, bytes);
    return enqueue(self, device, handle, [=] {
        memset((void *)dst, value, bytes);
        emu::watch::initialise((void *)dst, bytes);
    });
}
