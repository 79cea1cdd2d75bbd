// __half and __nv_bfloat16, bit for bit as on the GPU: conversions round to nearest even, NaN
// becomes 0x7fff. Arithmetic goes through float: with 24 >= 2 * 11 + 2 bits the second rounding
// changes nothing.
#ifndef GDNN_EMULATOR_HALF_HPP
#define GDNN_EMULATOR_HALF_HPP

#include "vectors.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace emu
{
template <class To, class From>
static inline To bit_cast(From from)
{
    static_assert(sizeof(To) == sizeof(From), "bit_cast between sizes");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

static inline float half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t rest = (uint32_t)(half & 0x7fff) << 13;
    // Seen as a float, `rest` is the value times 2^-112, subnormals included: the multiplication is
    // exact.
    const uint32_t magnitude = rest >= 0x0f800000u
                                   ? rest | 0x7f800000u
                                   : bit_cast<uint32_t>(bit_cast<float>(rest) * 0x1p112f);
    return bit_cast<float>(magnitude | sign);
}

static inline float bfloat16_to_float(uint16_t bfloat16)
{
    return bit_cast<float>((uint32_t)bfloat16 << 16);
}

static inline uint16_t float_to_half(float value)
{
    const uint32_t bits = bit_cast<uint32_t>(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000u)
        return 0x7fff;
    if (magnitude >= 0x477ff000u) // 65520: halfway between the largest half and 2^16
        return sign | 0x7c00;
    if (magnitude >= 0x38800000u) // 2^-14: normal
        return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13));
    // Adding 0.5, whose last place is 2^-24 as a subnormal half's, lets the FPU round.
    const float shifted = bit_cast<float>(magnitude) + 0.5f;
    return (uint16_t)(sign | (bit_cast<uint32_t>(shifted) - 0x3f000000u));
}

static inline uint16_t float_to_bfloat16(float value)
{
    const uint32_t bits = bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Rounds a double to float such that a second rounding, to fewer bits, gives what one rounding of
// value + tail would: to odd, that is the last bit is set if anything was lost.
static inline float round_to_odd(double value, double tail = 0)
{
    float nearest = (float)value;
    if (std::isnan(value) || std::isinf(nearest) || ((double)nearest == value && tail == 0))
        return nearest;
    // Towards zero first.
    const double error = (double)nearest - value;
    const bool away = error != 0 ? (error > 0) == (value > 0) : (tail > 0) != (value > 0);
    uint32_t bits = bit_cast<uint32_t>(nearest);
    if (away)
        bits--;
    return bit_cast<float>(bits | 1);
}

// a * b + c rounded to odd; the product of two 16-bit values is exact in double.
static inline float fma_to_odd(float a, float b, float c)
{
    const double product = (double)a * (double)b, sum = product + (double)c;
    const double part = sum - product; // two-sum (Knuth): sum + tail is exact
    const double tail = (product - (sum - part)) + ((double)c - part);
    return round_to_odd(sum, std::isfinite(sum) ? tail : 0);
}
} // namespace emu

#define EMU_16_BIT_TYPE(H, H2, to_float, from_float)                                               \
    struct alignas(2) H {                                                                          \
        uint16_t x;                                                                                \
        H() = default;                                                                             \
        H(float value) : x(emu::from_float(value))                                                 \
        {                                                                                          \
        }                                                                                          \
        H(double value) : x(emu::from_float(emu::round_to_odd(value)))                             \
        {                                                                                          \
        }                                                                                          \
        H(int value) : H((double)value)                                                            \
        {                                                                                          \
        }                                                                                          \
        operator float() const                                                                     \
        {                                                                                          \
            return emu::to_float(x);                                                               \
        }                                                                                          \
    };                                                                                             \
    struct alignas(4) H2 {                                                                         \
        H x, y;                                                                                    \
        H2() = default;                                                                            \
        H2(H a, H b) : x(a), y(b)                                                                  \
        {                                                                                          \
        }                                                                                          \
    };                                                                                             \
    static inline H operator+(H a, H b)                                                            \
    {                                                                                              \
        return H((float)a + (float)b);                                                             \
    }                                                                                              \
    static inline H operator-(H a, H b)                                                            \
    {                                                                                              \
        return H((float)a - (float)b);                                                             \
    }                                                                                              \
    static inline H operator*(H a, H b)                                                            \
    {                                                                                              \
        return H((float)a * (float)b);                                                             \
    }                                                                                              \
    static inline H operator/(H a, H b)                                                            \
    {                                                                                              \
        return H((float)a / (float)b);                                                             \
    }                                                                                              \
    static inline H operator-(H a)                                                                 \
    {                                                                                              \
        a.x ^= 0x8000;                                                                             \
        return a;                                                                                  \
    }                                                                                              \
    static inline H __hadd(H a, H b)                                                               \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    static inline H __hsub(H a, H b)                                                               \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    static inline H __hmul(H a, H b)                                                               \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    static inline H __hmax(H a, H b)                                                               \
    {                                                                                              \
        return H(fmaxf(a, b));                                                                     \
    }                                                                                              \
    static inline H __hmin(H a, H b)                                                               \
    {                                                                                              \
        return H(fminf(a, b));                                                                     \
    }                                                                                              \
    static inline H __hfma(H a, H b, H c)                                                          \
    {                                                                                              \
        return H(emu::fma_to_odd(a, b, c));                                                        \
    }                                                                                              \
    static inline H2 __hadd2(H2 a, H2 b)                                                           \
    {                                                                                              \
        return H2(a.x + b.x, a.y + b.y);                                                           \
    }                                                                                              \
    static inline H2 __hsub2(H2 a, H2 b)                                                           \
    {                                                                                              \
        return H2(a.x - b.x, a.y - b.y);                                                           \
    }                                                                                              \
    static inline H2 __hmul2(H2 a, H2 b)                                                           \
    {                                                                                              \
        return H2(a.x * b.x, a.y * b.y);                                                           \
    }                                                                                              \
    static inline H2 __hfma2(H2 a, H2 b, H2 c)                                                     \
    {                                                                                              \
        return H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                   \
    }                                                                                              \
    static inline H2 __hmax2(H2 a, H2 b)                                                           \
    {                                                                                              \
        return H2(__hmax(a.x, b.x), __hmax(a.y, b.y));                                             \
    }                                                                                              \
    static inline H2 __hmin2(H2 a, H2 b)                                                           \
    {                                                                                              \
        return H2(__hmin(a.x, b.x), __hmin(a.y, b.y));                                             \
    }                                                                                              \
    static inline H __low2##H(H2 a)                                                                \
    {                                                                                              \
        return a.x;                                                                                \
    }                                                                                              \
    static inline H __high2##H(H2 a)                                                               \
    {                                                                                              \
        return a.y;                                                                                \
    }                                                                                              \
    static inline float __low2float(H2 a)                                                          \
    {                                                                                              \
        return (float)a.x;                                                                         \
    }                                                                                              \
    static inline float __high2float(H2 a)                                                         \
    {                                                                                              \
        return (float)a.y;                                                                         \
    }
EMU_16_BIT_TYPE(__half, __half2, half_to_float, float_to_half)
EMU_16_BIT_TYPE(__nv_bfloat16, __nv_bfloat162, bfloat16_to_float, float_to_bfloat16)
#undef EMU_16_BIT_TYPE

typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

static inline float __half2float(__half a)
{
    return (float)a;
}
static inline __half __float2half(float a)
{
    return __half(a);
}
static inline __half __float2half_rn(float a)
{
    return __half(a);
}
static inline __half __double2half(double a)
{
    return __half(a);
}
static inline __half2 __floats2half2_rn(float a, float b)
{
    return __half2(__half(a), __half(b));
}
static inline __half2 __float2half2_rn(float a)
{
    return __half2(__half(a), __half(a));
}
static inline __half2 __float22half2_rn(float2 a)
{
    return __half2(__half(a.x), __half(a.y));
}
static inline __half2 __halves2half2(__half a, __half b)
{
    return __half2(a, b);
}
static inline __half2 __half2half2(__half a)
{
    return __half2(a, a);
}
static inline float2 __half22float2(__half2 a)
{
    return {(float)a.x, (float)a.y};
}
static inline unsigned short __half_as_ushort(__half a)
{
    return a.x;
}
static inline __half __ushort_as_half(unsigned short bits)
{
    return emu::bit_cast<__half>(bits);
}

static inline float __bfloat162float(__nv_bfloat16 a)
{
    return (float)a;
}
static inline __nv_bfloat16 __float2bfloat16(float a)
{
    return __nv_bfloat16(a);
}
static inline __nv_bfloat16 __float2bfloat16_rn(float a)
{
    return __nv_bfloat16(a);
}
static inline __nv_bfloat16 __double2bfloat16(double a)
{
    return __nv_bfloat16(a);
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
static inline __nv_bfloat162 __float2bfloat162_rn(float a)
{
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(a));
}
static inline __nv_bfloat162 __float22bfloat162_rn(float2 a)
{
    return __nv_bfloat162(__nv_bfloat16(a.x), __nv_bfloat16(a.y));
}
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat162(a, b);
}
static inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a)
{
    return __nv_bfloat162(a, a);
}
static inline float2 __bfloat1622float2(__nv_bfloat162 a)
{
    return {(float)a.x, (float)a.y};
}
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a)
{
    return a.x;
}
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    return emu::bit_cast<__nv_bfloat16>(bits);
}

static inline void gpu_unpack(__half2 pair, float &low, float &high)
{
    low = __low2float(pair);
    high = __high2float(pair);
}
static inline void gpu_unpack(__nv_bfloat162 pair, float &low, float &high)
{
    low = __low2float(pair);
    high = __high2float(pair);
}
static inline void gpu_pack(float low, float high, __half2 &pair)
{
    pair = __floats2half2_rn(low, high);
}
static inline void gpu_pack(float low, float high, __nv_bfloat162 &pair)
{
    pair = __floats2bfloat162_rn(low, high);
}

#endif
