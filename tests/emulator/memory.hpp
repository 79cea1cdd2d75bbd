// Shared memory, cp.async, atomics and cached loads.
#ifndef GDNN_EMULATOR_MEMORY_HPP
#define GDNN_EMULATOR_MEMORY_HPP

#include "half.hpp"
#include "thread.hpp"

#include <cstddef>

namespace emu
{
// Each array lies in a heap block of its own, of exactly its size, so that ASan sees an overflow;
// every block of the grid finds it filled with 0xff, a NaN in every format.
void *shared_array(const void *key, const char *name, size_t bytes, size_t align, Where where);
void *shared_dynamic();
bool in_shared(const void *pointer, size_t bytes);

void copy_async(void *dst, const void *src, int bytes, int src_bytes, Where where);
void copy_commit();
void copy_wait(int open);

// Told before each atomic access, for the race checker.
void note_atomic(const void *pointer, size_t bytes, Where where);
} // namespace emu

#define GPU_SHARED(T, name, dims)                                                                  \
    typedef T emu_##name##_type dims;                                                              \
    static char emu_##name##_key;                                                                  \
    emu_##name##_type &name = *static_cast<emu_##name##_type *>(                                   \
        emu::shared_array(&emu_##name##_key, #name, sizeof(emu_##name##_type),                     \
                          alignof(emu_##name##_type), emu::Where()))
#define GPU_DYN_SHARED(T, name) T *const name = static_cast<T *>(emu::shared_dynamic())

template <int BYTES>
static inline void gpu_cp_async(void *dst, const void *src, int src_bytes = BYTES,
                                emu::Where where = emu::Where())
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
    emu::copy_async(dst, src, BYTES, src_bytes, where);
}
typedef unsigned char *gpu_shared;
static inline gpu_shared gpu_shared_address(const void *pointer)
{
    return static_cast<gpu_shared>(const_cast<void *>(pointer));
}
template <class W, int WORDS>
static inline void gpu_load_shared(W (&word)[WORDS], gpu_shared at)
{
    typedef typename emu::Whole<WORDS * sizeof(W)>::type all_words;
    all_words all = *reinterpret_cast<const all_words *>(at);
    for (int i = 0; i < WORDS; i++, all >>= 8 * sizeof(W) % (8 * sizeof all))
        word[i] = (W)all;
}
static inline void gpu_load_shared(float (&word)[4], gpu_shared at)
{
    uint32_t bits[4];
    gpu_load_shared(bits, at);
    for (int i = 0; i < 4; i++)
        word[i] = emu::bit_cast<float>(bits[i]);
}
template <class T>
static inline T gpu_shared_value(gpu_shared at)
{
    return *reinterpret_cast<const T *>(at);
}
template <class T>
static inline void gpu_store_shared(gpu_shared at, T value)
{
    *reinterpret_cast<T *>(at) = value;
}
template <int BYTES>
static inline void gpu_copy_shared(gpu_shared at, const void *from, emu::Where where = emu::Where())
{
    emu::copy_async(at, from, BYTES, BYTES, where);
}
static inline void gpu_cp_async_commit()
{
    emu::copy_commit();
}
template <int OPEN>
static inline void gpu_cp_async_wait()
{
    emu::copy_wait(OPEN);
}

// Fibers are never preempted, so a plain read-modify-write is atomic. Not instrumented: note_atomic
// tells the checker.
#define EMU_NOT_CHECKED __attribute__((no_sanitize("thread"), noinline))
#define EMU_ATOMIC(name, result)                                                                   \
    template <class T>                                                                             \
    EMU_NOT_CHECKED static T name(T *pointer, decltype(T() + T()) operand,                         \
                                  emu::Where where = emu::Where())                                 \
    {                                                                                              \
        emu::note_atomic(pointer, sizeof(T), where);                                               \
        const T old = *pointer, value = (T)operand;                                                \
        (void)value;                                                                               \
        *pointer = (T)(result);                                                                    \
        return old;                                                                                \
    }
EMU_ATOMIC(atomicAdd, old + value)
EMU_ATOMIC(atomicSub, old - value)
EMU_ATOMIC(atomicMax, old > value ? old : value)
EMU_ATOMIC(atomicMin, old < value ? old : value)
EMU_ATOMIC(atomicExch, value)
EMU_ATOMIC(atomicAnd, old &value)
EMU_ATOMIC(atomicOr, old | value)
EMU_ATOMIC(atomicXor, old ^ value)
#undef EMU_ATOMIC
template <class T>
EMU_NOT_CHECKED static T atomicCAS(T *pointer, T expected, T value, emu::Where where = emu::Where())
{
    emu::note_atomic(pointer, sizeof(T), where);
    const T old = *pointer;
    if (old == expected)
        *pointer = value;
    return old;
}
#undef EMU_NOT_CHECKED

template <class T>
static inline T __ldg(const T *pointer)
{
    return *pointer;
}
template <class T>
static inline T __ldcs(const T *pointer)
{
    return *pointer;
}
template <class T>
static inline T __ldcg(const T *pointer)
{
    return *pointer;
}
template <class T>
static inline T __ldca(const T *pointer)
{
    return *pointer;
}
template <class T>
static inline void __stcs(T *pointer, T value)
{
    *pointer = value;
}
template <class T>
static inline void __stcg(T *pointer, T value)
{
    *pointer = value;
}
template <class T>
static inline void __stwt(T *pointer, T value)
{
    *pointer = value;
}
static inline void __threadfence()
{
}
static inline void __threadfence_block()
{
}

#endif
