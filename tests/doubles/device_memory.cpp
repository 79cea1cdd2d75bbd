#include "device_memory.hpp"
#include "capture.hpp"
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

const Allocation *require_live(const char *function, const char *role, CUdeviceptr pointer,
                               size_t bytes, bool running)
{
    const Allocation *found = find_allocation(pointer, bytes);
    if (!found)
        die(function, "%s %#llx + %zu bytes does not lie in a live allocation%s", role, pointer,
            bytes, running ? " when its turn comes" : "");
    if (!running && found->ended)
        die(function, "%s %#llx lies in memory that was given to cuMemFreeAsync", role, pointer);
    if (running && !found->begun)
        die(function, "%s %#llx is used before the stream of cuMemAllocAsync comes to it", role,
            pointer);
    return found;
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

static CUresult allocate(CUdeviceptr *pointer, Device *device, size_t bytes, bool ordered)
{
    if (bytes > settings.memory - device->bytes_in_use)
        return CUDA_ERROR_OUT_OF_MEMORY;
    // The end lies as close to the guard as the alignment lets it.
    const size_t body = round_up(bytes, alignment);
    const size_t inner = round_up(alignment + body, page);
    Allocation a = {device,  nullptr,           bytes,   0,        body - bytes,
                    nullptr, inner + 2 * guard, ordered, !ordered, false};
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

static void release(const char *work, CUdeviceptr pointer)
{
    const auto found = allocations.find(pointer);
    const Allocation a = found->second;
    {
        Accessible now;
        check_canaries(work);
    }
    a.device->bytes_in_use -= a.bytes;
    allocations.erase(found);
    emu::watch::remove(a.base);
    ASAN_UNPOISON_MEMORY_REGION(a.map, a.map_bytes);
    munmap(a.map, a.map_bytes);
}

static Allocation &require_start(const char *function, CUdeviceptr pointer)
{
    const auto found = allocations.find(pointer);
    if (found == allocations.end())
        die(function, "%#llx is not the start of a live allocation", pointer);
    if (found->second.ended)
        die(function, "%#llx was given to cuMemFreeAsync before", pointer);
    return found->second;
}

DRIVER cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    ENTER_CONTEXT(cuMemAlloc);
    if (!pointer || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!allowed_in_capture())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return allocate(pointer, device, bytes, false);
}

DRIVER cuMemFree_v2(CUdeviceptr pointer)
{
    ENTER_CONTEXT(cuMemFree);
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    if (!allowed_in_capture())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    require_start(self, pointer);
    run_all_work(); // as the driver does
    release("work before cuMemFree", pointer);
    return CUDA_SUCCESS;
}

DRIVER cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemAllocAsync);
    if (!pointer || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_capturing(self, device, handle))
        die(self, "memory of a graph is not modelled");
    if (bytes > settings.memory - device->bytes_in_use)
        run_all_work(); // which may free some
    CUdeviceptr made;
    CUresult result = allocate(&made, device, bytes, true);
    if (result != CUDA_SUCCESS)
        return result;
    result = enqueue(self, device, handle, [=] { allocations.at(made).begun = true; });
    if (result == CUDA_SUCCESS)
        *pointer = made;
    else
        release(self, made);
    return result;
}

DRIVER cuMemFreeAsync(CUdeviceptr pointer, CUstream handle)
{
    ENTER_CONTEXT(cuMemFreeAsync);
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_capturing(self, device, handle))
        die(self, "memory of a graph is not modelled");
    Allocation &allocation = require_start(self, pointer);
    if (!allocation.ordered)
        die(self, "%#llx is not of cuMemAllocAsync", pointer);
    const CUresult result = enqueue(self, device, handle, [=] {
        require_live(self, "memory", pointer, 1, true);
        release("work before cuMemFreeAsync", pointer);
    });
    if (result == CUDA_SUCCESS)
        allocation.ended = true;
    return result;
}

DRIVER cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    ENTER_CONTEXT(cuMemGetInfo);
    *free_bytes = settings.memory - device->bytes_in_use;
    *total = settings.memory;
    return CUDA_SUCCESS;
}

// Zero bytes may lie anywhere.
static void require_inside(const char *function, const char *role, CUdeviceptr pointer,
                           size_t bytes, bool running = false)
{
    if (bytes)
        require_live(function, role, pointer, bytes, running);
}

DRIVER cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemcpyHtoDAsync);
    require_inside(self, "destination", dst, bytes);
    // Pageable memory: the driver has staged it when it returns.
    const char *begin = static_cast<const char *>(src);
    const std::vector<char> staged(begin, begin + bytes);
    return enqueue(self, device, handle, [=] {
        require_inside(self, "destination", dst, bytes, true);
        memcpy((void *)dst, staged.data(), bytes);
        emu::watch::initialise((void *)dst, bytes);
    });
}

DRIVER cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemcpyDtoHAsync);
    require_inside(self, "source", src, bytes);
    const CUresult result = enqueue(self, device, handle, [=] {
        require_inside(self, "source", src, bytes, true);
        memcpy(dst, (const void *)src, bytes);
    });
    if (result == CUDA_SUCCESS)
        memset(dst, 0xff, bytes); // nobody may read it before a synchronisation
    return result;
}

DRIVER cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemcpyDtoDAsync);
    require_inside(self, "destination", dst, bytes);
    require_inside(self, "source", src, bytes);
    if (dst < src + bytes && src < dst + bytes)
        die(self, "source and destination overlap");
    return enqueue(self, device, handle, [=] {
        require_inside(self, "destination", dst, bytes, true);
        require_inside(self, "source", src, bytes, true);
        memcpy((void *)dst, (const void *)src, bytes);
        emu::watch::copy((void *)dst, (const void *)src, bytes);
    });
}

DRIVER cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream handle)
{
    ENTER_CONTEXT(cuMemsetD8Async);
    require_inside(self, "destination", dst, bytes);
    return enqueue(self, device, handle, [=] {
        require_inside(self, "destination", dst, bytes, true);
        memset((void *)dst, value, bytes);
        emu::watch::initialise((void *)dst, bytes);
    });
}
