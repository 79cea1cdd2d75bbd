/* uint64_t frame_call(void *function, frame *given, frame *seen) */
#include "frame.h"

        .text
        .globl  frame_call
        .type   frame_call, @function
frame_call:
        .cfi_startproc
        endbr64
        .irp    kept, rbp, rbx, r12, r13, r14, r15
        pushq   %\kept
        .cfi_adjust_cfa_offset 8
        .endr
        subq    $(8 + 8 * FRAME_STACK_WORDS), %rsp
        .cfi_adjust_cfa_offset 8 + 8 * FRAME_STACK_WORDS
        stmxcsr 8 * FRAME_STACK_WORDS(%rsp)

        movq    %rdi, %rbx
        movq    %rsi, %r14
        movq    %rdx, %r12 /* a recorder writes where r12 says, if r13 agrees */
        movq    %rdx, %r13
        notq    %r13

        .set    at, 0
        .rept   FRAME_STACK_WORDS
        movq    FRAME_STACK + at(%r14), %rax
        movq    %rax, at(%rsp)
        .set    at, at + 8
        .endr

        movq    FRAME_MASK(%r14), %rax
        movq    %rax, FRAME_MASK(%r12)
        xorl    %edx, %edx
        testl   %eax, %eax
        jz      1f
        xrstor  FRAME_VECTORS(%r14)
        jmp     2f
1:      fxrstor FRAME_VECTORS(%r14)

2:      movq    FRAME_KEPT + 8(%r14), %rbp
        movq    FRAME_KEPT + 24(%r14), %r15
        movq    %rbx, FRAME_KEPT(%r14)
        movq    %r14, FRAME_KEPT + 16(%r14)
        leaq    -8(%rsp), %rax
        movq    %rax, FRAME_RSP(%r14)
        movq    FRAME_INTEGERS(%r14), %rdi
        movq    FRAME_INTEGERS + 8(%r14), %rsi
        movq    FRAME_INTEGERS + 16(%r14), %rdx
        movq    FRAME_INTEGERS + 24(%r14), %rcx
        movq    FRAME_INTEGERS + 32(%r14), %r8
        movq    FRAME_INTEGERS + 40(%r14), %r9
        movq    FRAME_RAX(%r14), %rax
        call    *%rbx

        ldmxcsr 8 * FRAME_STACK_WORDS(%rsp)
        addq    $(8 + 8 * FRAME_STACK_WORDS), %rsp
        .cfi_adjust_cfa_offset -(8 + 8 * FRAME_STACK_WORDS)
        .irp    kept, r15, r14, r13, r12, rbx, rbp
        popq    %\kept
        .cfi_adjust_cfa_offset -8
        .endr
        ret
        .cfi_endproc
        .size   frame_call, . - frame_call

        .section .note.GNU-stack, "", @progbits
