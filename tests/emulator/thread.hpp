// The running CUDA thread and its block, as kernel text sees them.
#ifndef GDNN_EMULATOR_THREAD_HPP
#define GDNN_EMULATOR_THREAD_HPP

#include "vectors.hpp"

namespace emu
{
// A place in kernel text. As a default argument it is the place of the call.
struct Where {
    const char *file;
    int line;
    constexpr Where(const char *file_ = __builtin_FILE(), int line_ = __builtin_LINE())
        : file(file_), line(line_)
    {
    }
};

bool same_place(const Where &a, const Where &b);

constexpr unsigned warp_lanes = 32, max_block_threads = 1024, max_block_warps = 32;

struct Thread {
    uint3 index;     // threadIdx
    unsigned linear; // in its block, x fastest
    unsigned warp, lane;
};

struct Block {
    uint3 index;
    dim3 size, grid;
};

extern Thread *current; // null outside kernels
extern Block block;

// Reports an error of the kernel with its name, block and thread, and aborts.
[[noreturn]] void kernel_error(Where where, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
} // namespace emu

#define threadIdx (::emu::current->index)
#define blockIdx  (::emu::block.index)
#define blockDim  (::emu::block.size)
#define gridDim   (::emu::block.grid)
#define warpSize  32

#endif
