/* Which taps of a filter of stride 2 the elements of a pair of dx have: see dw_up.h. */
#ifndef GDNN_DW_PAIRS_H
#define GDNN_DW_PAIRS_H

#include "dw_ring_host.h"
#include "gpu.h"

/* The tap that element `e` of a pair has for number `d` of the elements of dy that meet the pair; outside of the filter if
 * it has none. */
template <class S>
static constexpr __device__ int up_tap(int e, int d, int shift)
{
    return 2 * (S::FILTER_H - 1 - d) + e - shift;
}

template <class S>
static constexpr __device__ bool is_tap(int t)
{
    return t >= 0 && t < S::FILTER;
}

#endif
