#include "context.hpp"
#include "thread.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#if EMU_ASAN
#include <sanitizer/common_interface_defs.h>
// Frames that are alive when a fiber ends leave no redzones behind on the stack, which is used
// again.
#define EMU_NO_REDZONES __attribute__((no_sanitize_address))
#else
#define EMU_NO_REDZONES
#endif

namespace emu
{
static const size_t stack_size = 256 << 10, guard_size = 1 << 20;

void context_of_caller(Context *context)
{
#if EMU_ASAN // which must know the bounds; the look-up reads /proc/self/maps
    static thread_local void *stack;
    static thread_local size_t bytes;
    if (!stack) {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &stack, &bytes);
        pthread_attr_destroy(&attributes);
    }
    context->stack = static_cast<char *>(stack);
    context->stack_bytes = bytes;
#else
    (void)context;
#endif
}

void context_make_stack(Context *context, unsigned index)
{
    void *map = mmap(nullptr, stack_size + guard_size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        kernel_error(Where(), "no memory for the stack of a thread: %s", strerror(errno));
    mprotect(map, guard_size, PROT_NONE);
    context->stack = static_cast<char *>(map) + guard_size;
    context->stack_bytes = stack_size - index % 16 * 256;
}

bool context_guards(const Context &context, const void *address)
{
    return address >= context.stack - guard_size && address < context.stack;
}

#if EMU_USE_UCONTEXT
void context_start(Context *context, void (*entry)())
{
    getcontext(&context->registers);
    context->registers.uc_stack.ss_sp = context->stack;
    context->registers.uc_stack.ss_size = context->stack_bytes;
    context->registers.uc_link = nullptr;
    makecontext(&context->registers, entry, 0);
}

static inline void switch_stacks(Context *from, Context *to)
{
    swapcontext(&from->registers, &to->registers);
}
#else
extern "C" void emu_switch_stacks(void **save, void *load);
__asm__(".text\n"
        ".globl emu_switch_stacks\n"
        ".hidden emu_switch_stacks\n"
        ".type emu_switch_stacks, @function\n"
        "emu_switch_stacks:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size emu_switch_stacks, .-emu_switch_stacks\n");

EMU_NO_REDZONES void context_start(Context *context, void (*entry)())
{
    // As emu_switch_stacks leaves it: six registers and the address to go to. Above it a null
    // return address, which also puts the stack pointer where the ABI wants it at a function's
    // entry.
    void **top = reinterpret_cast<void **>(context->stack + context->stack_bytes);
    *--top = nullptr;
    *--top = reinterpret_cast<void *>(entry);
    for (int i = 0; i < 6; i++)
        *--top = nullptr;
    context->stack_pointer = top;
}

static inline void switch_stacks(Context *from, Context *to)
{
    emu_switch_stacks(&from->stack_pointer, to->stack_pointer);
}
#endif

EMU_NO_REDZONES void context_switch(Context *from, Context *to)
{
#if EMU_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
#endif
    switch_stacks(from, to);
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

EMU_NO_REDZONES void context_leave(Context *from, Context *to)
{
#if EMU_ASAN
    __sanitizer_start_switch_fiber(nullptr, to->stack, to->stack_bytes);
#endif
    switch_stacks(from, to);
    __builtin_unreachable();
}

EMU_NO_REDZONES void context_entered()
{
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}
} // namespace emu
