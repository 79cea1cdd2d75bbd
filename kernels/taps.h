/* Which taps of an axis meet x, or reach an element of dx: found once, so that the loops over them hold no bounds test, no
 * division and no test of divisibility. */
#ifndef GDNN_TAPS_H
#define GDNN_TAPS_H

#include "conv.h"

/* Taps of one axis that meet x: first to end - 1, the first of them at coordinate `in`. */
struct TapRange {
    int first, end, in;
};

static __device__ __forceinline__ TapRange taps_of(const gdnn_axis &axis, int64_t out)
{
    int start = (int)(out * axis.stride.value - axis.pad), filter = (int)axis.filter_div.value;
    int first = max(-start, 0), end = (int)axis.in - start; /* of undilated taps */
    if (axis.dilation.value > 1) {
        first = (int)divide_ceil(first, axis.dilation);
        end = (int)divide_ceil(end, axis.dilation);
    }
    first = min(first, filter);
    return {first, max(min(end, filter), first),
            (int)((uint32_t)start + (uint32_t)first * (uint32_t)axis.dilation.value)};
}

/* The first tap with which an input could meet an output, if filters and outputs had no end; others are every tap_step.
 * `from` is the input plus the padding. -1 if there is none. */
static __device__ __forceinline__ int64_t first_tap(const gdnn_axis &axis, int64_t from)
{
    int64_t multiple = divide(from, axis.gcd);
    if (multiple * axis.gcd.value != from)
        return -1;
    int64_t residue = multiple, first;
    split(residue, axis.tap_step);
    first = residue * axis.inverse;
    split(first, axis.tap_step);
    return first;
}

/* Taps first, first + tap_step, ... (count of them) of one axis reach outputs out, out - out_step... */
struct DataTaps {
    int64_t first, out;
    int count;
};

static __device__ __forceinline__ DataTaps data_taps(const gdnn_axis &axis, int64_t in)
{
    int64_t from = in + axis.pad; /* tap 0 would need the output from / stride */
    int64_t first = first_tap(axis, from), last;
    if (first < 0)
        return {0, 0, 0};

    /* outputs below `out`: skip the first taps of the progression until p <= out - 1 */
    int64_t beyond = from - (axis.out - 1) * axis.stride.value;
    if (beyond > 0) {
        int64_t lowest = divide_ceil(beyond, axis.dilation);
        if (lowest > first)
            first += divide_ceil(lowest - first, axis.tap_step) * axis.tap_step.value;
    }
    /* and end where p would be negative, or the filter ends */
    last = divide(from, axis.dilation);
    if (last > axis.filter_div.value - 1)
        last = axis.filter_div.value - 1;
    if (first > last)
        return {0, 0, 0};
    return {first, divide(from - first * axis.dilation.value, axis.stride),
            (int)divide(last - first, axis.tap_step) + 1};
}

#endif
