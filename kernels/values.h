/* Neighbouring elements moved as one access: V values of type T, aligned to V * sizeof(T) bytes, which are at most 16. */
#ifndef GDNN_VALUES_H
#define GDNN_VALUES_H

#include "conv.h"

template <class T>
struct Pair;
template <>
struct Pair<__half> {
    typedef __half2 type;
};
template <>
struct Pair<__nv_bfloat16> {
    typedef __nv_bfloat162 type;
};

/* Words of 4 bytes that are moved as one. */
template <int WORDS>
struct Access;
template <>
struct Access<1> {
    typedef uint32_t type;
};
template <>
struct Access<2> {
    typedef uint2 type;
};
template <>
struct Access<4> {
    typedef uint4 type;
};
template <class T, int V>
union Words {
    static const int COUNT = V * (int)sizeof(T) / 4;
    typename Access<COUNT>::type access;
    uint32_t word[COUNT];
};

template <class T, int WORDS, int V>
static __device__ __forceinline__ void unpack_words(const uint32_t (&word)[WORDS],
                                                    float (&values)[V])
{
    GPU_UNROLL
    for (int i = 0; i < WORDS; i++) {
        if constexpr (sizeof(T) == 4)
            values[i] = __uint_as_float(word[i]);
        else
            gpu_unpack(reinterpret_cast<const typename Pair<T>::type &>(word[i]), values[2 * i],
                       values[2 * i + 1]);
    }
}

template <class T, int V>
static __device__ __forceinline__ void load_values(const T *from, float (&values)[V])
{
    if constexpr (V == 1) {
        values[0] = load(from);
    } else {
        Words<T, V> raw;
        raw.access = *reinterpret_cast<const decltype(raw.access) *>(from);
        unpack_words<T>(raw.word, values);
    }
}

template <class T, int V>
static __device__ __forceinline__ void load_values(gpu_shared from, float (&values)[V])
{
    if constexpr (V * sizeof(T) == 2) {
        uint16_t word[1];
        gpu_load_shared(word, from);
        values[0] = load(reinterpret_cast<const T *>(word));
    } else {
        uint32_t word[V * sizeof(T) / 4];
        gpu_load_shared(word, from);
        unpack_words<T>(word, values);
    }
}

/* The values of a thread's channels: one access, or one by one from places of their own, 4 bits each. */
template <class T, bool WIDE, int VECTOR>
static __device__ __forceinline__ void load_channels(const T *from, uint32_t places,
                                                     float (&x)[VECTOR])
{
    if constexpr (WIDE) {
        load_values<T, VECTOR>(from, x);
    } else {
        GPU_UNROLL
        for (int v = 0; v < VECTOR; v++)
            x[v] = load(from + (places >> 4 * v & 15));
    }
}

template <class T, int V>
static __device__ __forceinline__ void pack_words(Words<T, V> &raw, const float (&values)[V])
{
    GPU_UNROLL
    for (int i = 0; i < raw.COUNT; i++) {
        if constexpr (sizeof(T) == 4)
            raw.word[i] = __float_as_uint(values[i]);
        else
            gpu_pack(values[2 * i], values[2 * i + 1],
                     reinterpret_cast<typename Pair<T>::type &>(raw.word[i]));
    }
}

template <class T, int V>
static __device__ __forceinline__ void store_values(T *to, const float (&values)[V])
{
    if constexpr (V == 1) {
        store(to, values[0]);
    } else {
        Words<T, V> raw;
        pack_words(raw, values);
        *reinterpret_cast<decltype(raw.access) *>(to) = raw.access;
    }
}

template <class T, int V>
static __device__ __forceinline__ void store_values(gpu_shared to, const float (&values)[V])
{
    Words<T, V> raw;
    pack_words(raw, values);
    gpu_store_shared(to, raw.access);
}

#endif
