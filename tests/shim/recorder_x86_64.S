/* A libcudnn.so.9 whose functions write down all that they were called with, in the frame that r12 points to if r13 is
 * its complement, and return FRAME_RETURNS + their number. With -DLACKS_A_THIRD every third function is not there. */
#include "frame.h"

        .text
        .type   record, @function
record:
        .cfi_startproc
        movq    %r12, %r10
        notq    %r10
        cmpq    %r10, %r13
        jne     3f

        movq    %rdi, FRAME_INTEGERS(%r12)
        movq    %rsi, FRAME_INTEGERS + 8(%r12)
        movq    %rdx, FRAME_INTEGERS + 16(%r12)
        movq    %rcx, FRAME_INTEGERS + 24(%r12)
        movq    %r8, FRAME_INTEGERS + 32(%r12)
        movq    %r9, FRAME_INTEGERS + 40(%r12)
        movq    %rax, FRAME_RAX(%r12)
        movq    %rsp, FRAME_RSP(%r12)
        movq    %rbx, FRAME_KEPT(%r12)
        movq    %rbp, FRAME_KEPT + 8(%r12)
        movq    %r14, FRAME_KEPT + 16(%r12)
        movq    %r15, FRAME_KEPT + 24(%r12)
        movq    %r11, FRAME_NUMBER(%r12)
        .set    at, 0
        .rept   FRAME_STACK_WORDS
        movq    8 + at(%rsp), %r10
        movq    %r10, FRAME_STACK + at(%r12)
        .set    at, at + 8
        .endr

        movq    FRAME_MASK(%r12), %rax
        xorl    %edx, %edx
        testl   %eax, %eax
        jz      2f
        xsave   FRAME_VECTORS(%r12)
        jmp     3f
2:      fxsave  FRAME_VECTORS(%r12)

3:      leaq    FRAME_RETURNS(%r11), %rax
        ret
        .cfi_endproc
        .size   record, . - record

#ifndef LACKS_A_THIRD
#define LACKS_A_THIRD 0
#endif
        .set    number, 0
.macro function name
        .set    here, !LACKS_A_THIRD || number % 3
        .ifc    \name, cudnnGetVersion /* by which a cuDNN 9 is known */
        .set    here, 1
        .endif
        .if     here
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        movl    $number, %r11d
        jmp     record
        .cfi_endproc
        .size   \name, . - \name
        .endif
        .set    number, number + 1
.endm
#define GDNN_CUDNN(name, returns, way) function name
#include "cudnn_api.def"

        .section .note.GNU-stack, "", @progbits
