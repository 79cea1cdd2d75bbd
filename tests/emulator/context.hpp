// Switching between stacks of one operating-system thread.
#ifndef GDNN_EMULATOR_CONTEXT_HPP
#define GDNN_EMULATOR_CONTEXT_HPP

#include <cstddef>

#if defined(GDNN_EMU_UCONTEXT) || !defined(__x86_64__)
#define EMU_USE_UCONTEXT 1
#include <ucontext.h>
#else
#define EMU_USE_UCONTEXT 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#ifndef EMU_ASAN
#define EMU_ASAN 0
#endif

namespace emu
{
struct Context {
    char *stack = nullptr; // lowest address
    size_t stack_bytes = 0;
    void *stack_pointer = nullptr; // while not running
    void *fake_stack = nullptr;    // ASan's
#if EMU_USE_UCONTEXT
    ucontext_t registers;
#endif
};

// Takes the calling thread's own stack.
void context_of_caller(Context *context);
// Makes a stack with a guard below it. `index` staggers the tops: stacks whose tops share cache
// sets are slow.
void context_make_stack(Context *context, unsigned index);
// Whether the address lies in that guard.
bool context_guards(const Context &context, const void *address);
// The next switch to the context calls `entry`, which must not return.
void context_start(Context *context, void (*entry)());

void context_switch(Context *from, Context *to);
// The last switch away from `from`, until it is started anew.
[[noreturn]] void context_leave(Context *from, Context *to);
// To be called first thing on a new stack.
void context_entered();
} // namespace emu

#endif
