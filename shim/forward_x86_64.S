/* The face of libcudnn.so.9 on x86-64, by the System V ABI. A function is two instructions: the slot that it jumps
 * through holds the real function once that is known. Nothing here knows a signature, so nothing that can carry an
 * argument may change on the way: rdi rsi rdx rcx r8 r9, al, the vector registers in full width, and the stack. r10 and
 * r11 carry none. */

.macro trampoline name
        endbr64
        jmp     *.Lslot_\name(%rip)
.endm

.macro first_call_stub number
        endbr64
        movl    $\number, %r11d
        jmp     gdnn_forward_first
.endm

#define HAS_XSAVE      (1 << 27) /* cpuid 1, ecx: the system saves extended state */
#define SSE_AND_AVX    0x06      /* xsave's components: xmm, upper halves of ymm; */
#define AVX512         0xe0      /* opmask, upper halves of zmm0-15, zmm16-31 */
#define FXSAVE_BYTES   512
#define ARGUMENT_BYTES (8 * 8)   /* rbx and the seven below it, pushed under the frame pointer */

/* The first call of a function, its number in r11d: asks for its address with all arguments kept, and goes there as if
 * the caller had called it. */
        .text
        .balign 16
        .type   gdnn_forward_first, %function
gdnn_forward_first:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rbx
        .cfi_offset %rbx, -24
        pushq   %rax
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9

        movl    $1, %eax
        cpuid
        xorl    %ebx, %ebx
        testl   $HAS_XSAVE, %ecx
        jz      1f
        /* ebx: bytes for all components that the system has enabled; more than those asked for below. */
        movl    $0xd, %eax
        xorl    %ecx, %ecx
        cpuid
        subq    %rbx, %rsp
        andq    $-64, %rsp
        /* xsave leaves most of its header as it was, and xrstor refuses what should be zero there. */
        xorl    %eax, %eax
        .irp at, 0, 8, 16, 24, 32, 40, 48, 56
        movq    %rax, FXSAVE_BYTES + \at(%rsp)
        .endr
        movl    $(SSE_AND_AVX | AVX512), %eax
        xorl    %edx, %edx
        xsave   (%rsp)
        jmp     2f
1:      subq    $FXSAVE_BYTES, %rsp
        andq    $-64, %rsp
        fxsave  (%rsp)

2:      movl    %r11d, %edi
        call    gdnn_first_call
        movq    %rax, %r11

        testl   %ebx, %ebx
        jz      3f
        movl    $(SSE_AND_AVX | AVX512), %eax
        xorl    %edx, %edx
        xrstor  (%rsp)
        jmp     4f
3:      fxrstor (%rsp)

4:      leaq    -ARGUMENT_BYTES(%rbp), %rsp
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        popq    %rax
        popq    %rbx
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        jmp     *%r11
        .cfi_endproc
        .size   gdnn_forward_first, . - gdnn_forward_first

#include "forward.inc"

/* Says that indirect jumps land on endbr64 only, and that the shadow stack stays in step. */
        .section .note.gnu.property, "a", %note
        .balign 8
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002 /* GNU_PROPERTY_X86_FEATURE_1_AND */
        .long   4, 3, 0    /* IBT and SHSTK */
