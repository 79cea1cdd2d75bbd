// Barriers, shuffles, votes and reductions under their CUDA names.
//
// A collective of a warp is a meeting: each lane leaves a pointer to its operand, the last lane of
// the mask to come combines them for all. Lanes that come to different collectives, masks that
// cross, exited lanes and results that CUDA leaves undefined are errors.
#ifndef GDNN_EMULATOR_COLLECTIVES_HPP
#define GDNN_EMULATOR_COLLECTIVES_HPP

#include "thread.hpp"

#include <cstddef>
#include <type_traits>

namespace emu
{
// What the last lane to come sees: the operands of the lanes in `mask`.
struct Meeting {
    unsigned mask;
    unsigned warp;
    void *operand[warp_lanes];
    Where where;
};
typedef void (*Combine)(const Meeting &);

enum class Scope { some_lanes, whole_warp };

// Waits for all lanes of `mask`; `what` names the collective.
void meet(const char *what, unsigned mask, Scope scope, void *operand, Combine combine,
          Where where);
// The same, and orders the memory accesses of the lanes, as __syncwarp does and the others do not.
void meet_and_order(const char *what, unsigned mask, Where where);

enum class Count { any, all, number };
int block_barrier(Count count, bool predicate, Where where);

enum class Shuffle { index, up, down, exclusive_or };
struct ShuffleOperand {
    const void *in;
    void *out;
    size_t bytes;
    Shuffle kind;
    int source, width;
};
void shuffle(const Meeting &);

struct VoteOperand {
    bool predicate;
    unsigned ballot;
};
void vote(const Meeting &);

struct MatchOperand {
    unsigned long long value;
    unsigned equal; // lanes with the same value
};
void match(const Meeting &);

enum class Reduce { add, min, max, bit_and, bit_or, bit_xor };
struct ReduceOperand {
    unsigned value;
    bool is_signed;
    Reduce kind;
};
void reduce(const Meeting &);

template <class T>
static inline T shuffle_sync(const char *what, Shuffle kind, unsigned mask, T value, int source,
                             int width, Where where)
{
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 8, "type of a shuffle");
    T out;
    ShuffleOperand operand = {&value, &out, sizeof value, kind, source, width};
    meet(what, mask, Scope::some_lanes, &operand, shuffle, where);
    return out;
}

static inline unsigned ballot(const char *what, unsigned mask, bool predicate, Where where)
{
    VoteOperand operand = {predicate, 0};
    meet(what, mask, Scope::some_lanes, &operand, vote, where);
    return operand.ballot;
}

template <class T>
static inline T reduce_sync(const char *what, Reduce kind, unsigned mask, T value, Where where)
{
    static_assert(std::is_same<T, int>::value || std::is_same<T, unsigned>::value, "int, unsigned");
    ReduceOperand operand = {(unsigned)value, std::is_signed<T>::value, kind};
    meet(what, mask, Scope::some_lanes, &operand, reduce, where);
    return (T)operand.value;
}
} // namespace emu

static inline void __syncthreads(emu::Where where = emu::Where())
{
    emu::block_barrier(emu::Count::any, false, where);
}
static inline int __syncthreads_or(int predicate, emu::Where where = emu::Where())
{
    return emu::block_barrier(emu::Count::any, predicate != 0, where);
}
static inline int __syncthreads_and(int predicate, emu::Where where = emu::Where())
{
    return emu::block_barrier(emu::Count::all, predicate != 0, where);
}
static inline int __syncthreads_count(int predicate, emu::Where where = emu::Where())
{
    return emu::block_barrier(emu::Count::number, predicate != 0, where);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, emu::Where where = emu::Where())
{
    emu::meet_and_order("__syncwarp", mask, where);
}

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32,
                            emu::Where where = emu::Where())
{
    return emu::shuffle_sync("__shfl_sync", emu::Shuffle::index, mask, value, source, width, where);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                               emu::Where where = emu::Where())
{
    return emu::shuffle_sync("__shfl_up_sync", emu::Shuffle::up, mask, value, (int)delta, width,
                             where);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                 emu::Where where = emu::Where())
{
    return emu::shuffle_sync("__shfl_down_sync", emu::Shuffle::down, mask, value, (int)delta, width,
                             where);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                                emu::Where where = emu::Where())
{
    return emu::shuffle_sync("__shfl_xor_sync", emu::Shuffle::exclusive_or, mask, value, lane_mask,
                             width, where);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate, emu::Where where = emu::Where())
{
    return emu::ballot("__ballot_sync", mask, predicate != 0, where);
}
static inline int __any_sync(unsigned mask, int predicate, emu::Where where = emu::Where())
{
    return emu::ballot("__any_sync", mask, predicate != 0, where) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, emu::Where where = emu::Where())
{
    return emu::ballot("__all_sync", mask, predicate == 0, where) == 0;
}
template <class T>
static inline unsigned __match_any_sync(unsigned mask, T value, emu::Where where = emu::Where())
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "type of a match");
    emu::MatchOperand operand = {0, 0};
    __builtin_memcpy(&operand.value, &value, sizeof value);
    emu::meet("__match_any_sync", mask, emu::Scope::some_lanes, &operand, emu::match, where);
    return operand.equal;
}

template <class T>
static inline T __reduce_add_sync(unsigned mask, T value, emu::Where where = emu::Where())
{
    return emu::reduce_sync("__reduce_add_sync", emu::Reduce::add, mask, value, where);
}
template <class T>
static inline T __reduce_min_sync(unsigned mask, T value, emu::Where where = emu::Where())
{
    return emu::reduce_sync("__reduce_min_sync", emu::Reduce::min, mask, value, where);
}
template <class T>
static inline T __reduce_max_sync(unsigned mask, T value, emu::Where where = emu::Where())
{
    return emu::reduce_sync("__reduce_max_sync", emu::Reduce::max, mask, value, where);
}
static inline unsigned __reduce_and_sync(unsigned mask, unsigned value,
                                         emu::Where where = emu::Where())
{
    return emu::reduce_sync("__reduce_and_sync", emu::Reduce::bit_and, mask, value, where);
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned value,
                                        emu::Where where = emu::Where())
{
    return emu::reduce_sync("__reduce_or_sync", emu::Reduce::bit_or, mask, value, where);
}
static inline unsigned __reduce_xor_sync(unsigned mask, unsigned value,
                                         emu::Where where = emu::Where())
{
    return emu::reduce_sync("__reduce_xor_sync", emu::Reduce::bit_xor, mask, value, where);
}

#endif
