// CUDA's vector types, with CUDA's sizes and alignments: UBSan then reports a misaligned vector
// access. Where one is assigned, that is one access of all its bytes, up to 16, as on a GPU: of a
// struct compilers make one for each field, which the race checker would take for instructions of
// their own.
#ifndef GDNN_EMULATOR_VECTORS_HPP
#define GDNN_EMULATOR_VECTORS_HPP

#include <cstdint>

namespace emu
{
template <int BYTES>
struct Whole;
template <>
struct Whole<2> {
    typedef uint16_t type;
};
template <>
struct Whole<4> {
    typedef uint32_t type;
};
template <>
struct Whole<8> {
    typedef uint64_t type;
};
template <>
struct Whole<16> {
    typedef unsigned __int128 type;
};

template <class T>
static inline void assign_whole(T *to, const T *from)
{
    const int bytes = sizeof(T) < 16 ? sizeof(T) : 16;
    typedef typename Whole<bytes>::type W;
    for (int i = 0; i < (int)sizeof(T) / bytes; i++)
        reinterpret_cast<W *>(to)[i] = reinterpret_cast<const W *>(from)[i];
}
} // namespace emu

/* The copy constructor is the compiler's, so that these stay aggregates. */
#define EMU_WHOLE(name)                                                                            \
    name(const name &) = default;                                                                  \
    name &operator=(const name &from)                                                              \
    {                                                                                              \
        emu::assign_whole(this, &from);                                                            \
        return *this;                                                                              \
    }
#define EMU_VECTORS(T, name, align2, align4)                                                       \
    struct name##1                                                                                 \
    {                                                                                              \
        T x;                                                                                       \
    };                                                                                             \
    struct alignas(align2) name##2                                                                 \
    {                                                                                              \
        T x, y;                                                                                    \
        name##2() = default;                                                                       \
        EMU_WHOLE(name##2)                                                                         \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct alignas(align4) name##4                                                                 \
    {                                                                                              \
        T x, y, z, w;                                                                              \
        name##4() = default;                                                                       \
        EMU_WHOLE(name##4)                                                                         \
    };                                                                                             \
    static inline name##1 make_##name##1(T x)                                                      \
    {                                                                                              \
        return {x};                                                                                \
    }                                                                                              \
    static inline name##2 make_##name##2(T x, T y)                                                 \
    {                                                                                              \
        return {x, y};                                                                             \
    }                                                                                              \
    static inline name##3 make_##name##3(T x, T y, T z)                                            \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }                                                                                              \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                       \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
EMU_VECTORS(signed char, char, 2, 4)
EMU_VECTORS(unsigned char, uchar, 2, 4)
EMU_VECTORS(short, short, 4, 8)
EMU_VECTORS(unsigned short, ushort, 4, 8)
EMU_VECTORS(int, int, 8, 16)
EMU_VECTORS(unsigned, uint, 8, 16)
EMU_VECTORS(long long, longlong, 16, 16)
EMU_VECTORS(unsigned long long, ulonglong, 16, 16)
EMU_VECTORS(float, float, 8, 16)
EMU_VECTORS(double, double, 16, 16)
#undef EMU_VECTORS
#undef EMU_WHOLE

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

#endif
