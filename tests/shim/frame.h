/* What a function of cuDNN is called with, and what it was called with: shared by the caller (call_x86_64.S), the
 * recorder (recorder_x86_64.S) and the test. The two assembly files use the offsets. */
#ifndef GDNN_TESTS_FRAME_H
#define GDNN_TESTS_FRAME_H

#define FRAME_INTEGERS 0   /* rdi rsi rdx rcx r8 r9 */
#define FRAME_RAX      48  /* al: the number of vector arguments of a variadic call */
#define FRAME_RSP      56  /* at the function's first instruction */
#define FRAME_STACK    64  /* 12 words from the return address up */
#define FRAME_KEPT     160 /* rbx rbp r14 r15 */
#define FRAME_MASK     192 /* of xsave; 0: fxsave */
#define FRAME_NUMBER   200 /* of the function that was reached */
#define FRAME_VECTORS  256 /* an xsave area */

#define FRAME_STACK_WORDS 12

/* What every recorder returns: FRAME_RETURNS + its number. A version that a cuDNN 9 can have. */
#define FRAME_RETURNS 90000

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

typedef struct frame {
    uint64_t integers[6];
    uint64_t rax;
    uint64_t rsp;
    uint64_t stack[FRAME_STACK_WORDS];
    uint64_t kept[4];
    uint64_t mask;
    uint64_t number;
    uint64_t unused[6];
    unsigned char vectors[4096 - FRAME_VECTORS];
} __attribute__((aligned(64))) frame;

_Static_assert(offsetof(frame, integers) == FRAME_INTEGERS && offsetof(frame, rax) == FRAME_RAX &&
                   offsetof(frame, rsp) == FRAME_RSP && offsetof(frame, stack) == FRAME_STACK &&
                   offsetof(frame, kept) == FRAME_KEPT && offsetof(frame, mask) == FRAME_MASK &&
                   offsetof(frame, number) == FRAME_NUMBER &&
                   offsetof(frame, vectors) == FRAME_VECTORS,
               "the offsets of the assembly files");

/* Calls `function` with all of `given`, in which it sets rsp and kept[]; `seen` is where a recorder writes. Returns
 * rax. */
uint64_t frame_call(void *function, frame *given, frame *seen);
#endif

#endif
