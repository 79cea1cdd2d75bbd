#include "fill.h"

#include "half.h"

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, with the
 * constants of David Stafford's variant 13. */
static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

uint64_t fill_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t start = mix(mix(seed + golden) + (stream + 1) * golden);
    return mix(start + (index + 1) * golden);
}

static double value_of(fill_kind kind, uint64_t bits)
{
    switch (kind) {
    case FILL_UNIFORM: return (double)(bits >> 11) * 0x1p-52 - 1;
    case FILL_INTEGERS: return (double)(bits % 5) - 2;
    case FILL_ONES: break;
    }
    return 1;
}

void fill_values(double *out, int64_t count, fill_kind kind, uint64_t seed, fill_stream stream,
                 gdnn_dtype dtype)
{
    for (int64_t i = 0; i < count; i++) {
        double value = value_of(kind, fill_bits(seed, (uint64_t)stream, (uint64_t)i));
        out[i] = gdnn_round_to(dtype, value);
    }
}
