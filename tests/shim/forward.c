#include "forward.h"
#include "unit.h"
#include <cpuid.h>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>

/* The parts of an xsave area. */
enum { MXCSR = 24, XMM = 160, XMM_BYTES = 256, FXSAVE_BYTES = 512, XSTATE_BV = 512 };
enum { SSE = 1, AVX = 2, OPMASK = 5, ZMM_HIGH = 6, ZMM_16_31 = 7 };

static const struct {
    int component;
    const char *name;
} wide[] = {{AVX, "upper half of ymm"},
            {OPMASK, "opmask"},
            {ZMM_HIGH, "upper half of zmm"},
            {ZMM_16_31, "zmm16-31"}};

/* xsave's components that this processor has and the system saves; 0 if there is no xsave. */
static uint64_t vector_mask(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    uint64_t wanted = 1 << SSE;
    for (size_t i = 0; i < COUNT_OF(wide); i++)
        wanted |= UINT64_C(1) << wide[i].component;
    return low & wanted;
}

/* Where a component lies in an xsave area. */
static size_t place(int component, size_t *bytes)
{
    unsigned size, offset, c, d;
    __cpuid_count(0xd, component, size, offset, c, d);
    *bytes = size;
    return offset;
}

static void fill(void *memory, size_t bytes, uint64_t *random)
{
    unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)test_random(random);
}

void forward_fill(frame *given, uint64_t *random)
{
    memset(given, 0, sizeof *given);
    fill(given->integers, sizeof given->integers, random);
    fill(&given->rax, sizeof given->rax, random);
    fill(given->stack, sizeof given->stack, random);
    fill(given->kept, sizeof given->kept, random);
    given->mask = vector_mask();

    uint32_t mxcsr = 0x5f80; /* all exceptions masked, rounding up */
    memcpy(given->vectors + MXCSR, &mxcsr, sizeof mxcsr);
    fill(given->vectors + XMM, XMM_BYTES, random);
    memcpy(given->vectors + XSTATE_BV, &given->mask, sizeof given->mask);
    for (size_t i = 0; i < COUNT_OF(wide); i++)
        if (given->mask >> wide[i].component & 1) {
            size_t bytes, offset = place(wide[i].component, &bytes);
            fill(given->vectors + offset, bytes, random);
        }
}

static bool same(const char *part, const void *given, const void *seen, size_t bytes, size_t unit,
                 char *what, size_t size)
{
    const unsigned char *a = given, *b = seen;
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i]) {
            snprintf(what, size, "%s, %zu: byte %zu is 0x%02x, not 0x%02x", part, i / unit,
                     i % unit, b[i], a[i]);
            return false;
        }
    return true;
}

static bool same_vectors(const frame *given, const frame *seen, char *what, size_t size)
{
    const unsigned char *a = given->vectors, *b = seen->vectors;
    if (!same("mxcsr", a + MXCSR, b + MXCSR, 4, 4, what, size) ||
        !same("xmm", a + XMM, b + XMM, XMM_BYTES, 16, what, size))
        return false;
    if (!given->mask)
        return true;
    if (!same("live vector state", a + XSTATE_BV, b + XSTATE_BV, 8, 8, what, size))
        return false;
    for (size_t i = 0; i < COUNT_OF(wide); i++)
        if (given->mask >> wide[i].component & 1) {
            size_t bytes, offset = place(wide[i].component, &bytes);
            size_t unit = wide[i].component == ZMM_16_31  ? 64
                          : wide[i].component == ZMM_HIGH ? 32
                          : wide[i].component == AVX      ? 16
                                                          : 8;
            if (!same(wide[i].name, a + offset, b + offset, bytes, unit, what, size))
                return false;
        }
    return true;
}

bool forward_arrives(void *function, int number, uint64_t *random, char *what, size_t size)
{
    frame given, seen = {.number = UINT64_MAX};
    forward_fill(&given, random);
    uint64_t returned = frame_call(function, &given, &seen);
    if (seen.number != (uint64_t)number) {
        snprintf(what, size, "reached function %lld, not %d", (long long)seen.number, number);
        return false;
    }
    if (returned != (uint64_t)number + FRAME_RETURNS) {
        snprintf(what, size, "returned %llu", (unsigned long long)returned);
        return false;
    }
    return same("integer argument", given.integers, seen.integers, sizeof given.integers, 8, what,
                size) &&
           same("rax", &given.rax, &seen.rax, 8, 8, what, size) &&
           same("rsp", &given.rsp, &seen.rsp, 8, 8, what, size) &&
           same("stack word", given.stack, seen.stack, sizeof given.stack, 8, what, size) &&
           same("kept register", given.kept, seen.kept, sizeof given.kept, 8, what, size) &&
           same_vectors(&given, &seen, what, size);
}

/* Bounds of the object that is counted. */
static uintptr_t low, high;
static volatile sig_atomic_t steps;

static int find_bounds(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    if (info->dlpi_addr != (uintptr_t)base)
        return 0;
    low = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && low + segment->p_vaddr + segment->p_memsz > high)
            high = low + segment->p_vaddr + segment->p_memsz;
    }
    return 1;
}

/* Comes before every instruction while the trap flag is set. */
static void count_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (at >= low && at < high)
        steps++;
}

typedef uint64_t takes_eighteen(long, long, long, long, long, long, long, long, long, long, long,
                                long, long, long, long, long, long, long);

int forward_steps(void *function, uint64_t *returned)
{
    enum { TRAP_FLAG = 0x100 };
    Dl_info object;
    struct sigaction count = {.sa_sigaction = count_step, .sa_flags = SA_SIGINFO}, before;
    low = high = 0;
    steps = 0;
    if (!dladdr(function, &object) || !dl_iterate_phdr(find_bounds, object.dli_fbase) ||
        sigaction(SIGTRAP, &count, &before))
        return -1;
    takes_eighteen *call = (takes_eighteen *)function;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
    *returned = call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG);
    sigaction(SIGTRAP, &before, NULL);
    return steps;
}
