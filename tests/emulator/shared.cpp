#include "shared.hpp"
#include "memory.hpp"
#include "watch.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace emu
{
struct Array {
    const void *key; // null for the dynamic one
    size_t bytes;
    char *data;
    uint64_t launch, block; // that last used it
};

// Arrays stay allocated for the next launch of their kernel, and to the end: the vector is never
// destroyed.
static std::vector<Array> &arrays = *new std::vector<Array>;
static Array dynamic_array;
static uint64_t launch_number, block_number;
static size_t static_bytes, max_bytes;

static constexpr size_t max_static_bytes = 48 * 1024;

static char *allocate(size_t bytes, size_t align)
{
    void *data;
    if (posix_memalign(&data, align < 16 ? 16 : align, bytes))
        kernel_error(Where(), "no memory for %zu bytes of shared memory", bytes);
    watch::add(data, bytes, watch::Space::shared);
    return static_cast<char *>(data);
}

static void use_in_block(Array *array)
{
    if (array->block == block_number)
        return;
    array->block = block_number;
    watch::Unchecked unchecked;
    if (array->bytes)
        memset(array->data, 0xff, array->bytes);
}

void begin_shared(size_t dynamic_bytes, size_t max)
{
    launch_number++;
    static_bytes = 0;
    max_bytes = max;
    if (dynamic_array.bytes == dynamic_bytes)
        return;
    if (dynamic_array.data) {
        watch::remove(dynamic_array.data);
        free(dynamic_array.data);
    }
    dynamic_array = {};
    dynamic_array.bytes = dynamic_bytes;
    if (dynamic_bytes)
        dynamic_array.data = allocate(dynamic_bytes, 16);
}

void begin_shared_block()
{
    block_number++;
    use_in_block(&dynamic_array);
}

void *shared_array(const void *key, const char *name, size_t bytes, size_t align, Where where)
{
    Array *array = nullptr;
    for (Array &candidate : arrays)
        if (candidate.key == key)
            array = &candidate;
    if (!array) {
        arrays.push_back({key, bytes, allocate(bytes, align), 0, 0});
        array = &arrays.back();
    }
    if (array->launch != launch_number) {
        array->launch = launch_number;
        static_bytes += bytes;
        if (static_bytes > max_static_bytes)
            kernel_error(where, "%s: static shared memory of %zu bytes, more than 48 KiB", name,
                         static_bytes);
        if (static_bytes + dynamic_array.bytes > max_bytes)
            kernel_error(where,
                         "%s: %zu bytes of static and %zu of dynamic shared memory, more than %zu",
                         name, static_bytes, dynamic_array.bytes, max_bytes);
    }
    use_in_block(array);
    return array->data;
}

void *shared_dynamic()
{
    if (!dynamic_array.bytes)
        kernel_error(Where(), "dynamic shared memory is used, but the launch gives none");
    return dynamic_array.data;
}

static bool holds(const Array &array, const char *pointer, size_t bytes)
{
    return array.block == block_number && pointer >= array.data &&
           pointer + bytes <= array.data + array.bytes;
}

bool in_shared(const void *pointer, size_t bytes)
{
    const char *start = static_cast<const char *>(pointer);
    if (dynamic_array.bytes && holds(dynamic_array, start, bytes))
        return true;
    for (const Array &array : arrays)
        if (holds(array, start, bytes))
            return true;
    return false;
}
} // namespace emu
