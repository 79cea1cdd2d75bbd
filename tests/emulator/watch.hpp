// What the runtime tells the race and initialisation checker. Two implementations: watch_off.cpp
// does nothing; race.cpp checks, and is linked where kernels are compiled with -fsanitize=thread.
#ifndef GDNN_EMULATOR_WATCH_HPP
#define GDNN_EMULATOR_WATCH_HPP

#include "thread.hpp"

#include <cstddef>

namespace emu
{
namespace watch
{
enum class Space { shared, global };

// True where accesses of kernels are seen.
bool checking();

// Memory whose accesses are checked, at first uninitialised. An access to the `before` and `after`
// bytes around it is out of bounds.
void add(const void *base, size_t bytes, Space space, size_t before = 0, size_t after = 0);
void remove(const void *base);
// The host wrote it.
void initialise(const void *base, size_t bytes);
// The bytes became those of `from`, written or not.
void copy(const void *base, const void *from, size_t bytes);
// All of it counts as written: for memory that is too large to be marked.
void initialise_all(const void *base);

void begin_launch();
void begin_block();
void end_block();
void barrier();
void warp_barrier(unsigned warp, unsigned mask);

// A read by thread `linear` of the block, which need not be the current one.
void access_by(unsigned linear, const void *pointer, size_t bytes, Where where);

// While one of these lives, copies that the runtime makes are not taken for the kernel's. Compilers
// believe that memcpy reads no flag: hence the barriers.
struct Unchecked {
    static bool active;
    Unchecked()
    {
        active = true;
        __asm__ volatile("" ::: "memory");
    }
    ~Unchecked()
    {
        __asm__ volatile("" ::: "memory");
        active = false;
    }
};

void copy_issued(const void *dst, size_t bytes, Where where);
void copy_reads(const void *src, size_t bytes, Where where);
void copy_complete(const void *dst, size_t bytes);
} // namespace watch
} // namespace emu

#endif
