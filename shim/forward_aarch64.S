/* The face of libcudnn.so.9 on 64-bit Arm, by AAPCS64. A function is four instructions: the slot that it jumps through
 * holds the real function once that is known. Nothing here knows a signature, so nothing that can carry an argument may
 * change on the way: x0-x7, x8 (where a large result goes), q0-q7, the link register and the stack. x16 and x17 carry
 * none. */

.macro trampoline name
        bti     c
        adrp    x16, .Lslot_\name
        ldr     x16, [x16, :lo12:.Lslot_\name]
        br      x16
.endm

.macro first_call_stub number
        bti     c
        mov     w17, \number
        b       gdnn_forward_first
.endm

#define FRAME    224
#define INTEGERS 16
#define VECTORS  96

/* The first call of a function, its number in w17: asks for its address with all arguments kept, and goes there as if
 * the caller had called it. */
        .text
        .balign 16
        .type   gdnn_forward_first, %function
gdnn_forward_first:
        .cfi_startproc
        stp     x29, x30, [sp, -FRAME]!
        .cfi_def_cfa_offset FRAME
        .cfi_offset x29, -FRAME
        .cfi_offset x30, -FRAME + 8
        mov     x29, sp
        stp     x0, x1, [sp, INTEGERS]
        stp     x2, x3, [sp, INTEGERS + 16]
        stp     x4, x5, [sp, INTEGERS + 32]
        stp     x6, x7, [sp, INTEGERS + 48]
        str     x8, [sp, INTEGERS + 64]
        stp     q0, q1, [sp, VECTORS]
        stp     q2, q3, [sp, VECTORS + 32]
        stp     q4, q5, [sp, VECTORS + 64]
        stp     q6, q7, [sp, VECTORS + 96]

        mov     w0, w17
        bl      gdnn_first_call
        mov     x16, x0

        ldp     q6, q7, [sp, VECTORS + 96]
        ldp     q4, q5, [sp, VECTORS + 64]
        ldp     q2, q3, [sp, VECTORS + 32]
        ldp     q0, q1, [sp, VECTORS]
        ldr     x8, [sp, INTEGERS + 64]
        ldp     x6, x7, [sp, INTEGERS + 48]
        ldp     x4, x5, [sp, INTEGERS + 32]
        ldp     x2, x3, [sp, INTEGERS + 16]
        ldp     x0, x1, [sp, INTEGERS]
        ldp     x29, x30, [sp], FRAME
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        br      x16
        .cfi_endproc
        .size   gdnn_forward_first, . - gdnn_forward_first

#include "forward.inc"

/* Says that indirect jumps land on bti only. */
        .section .note.gnu.property, "a", %note
        .balign 8
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000000 /* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
        .long   4, 1, 0    /* BTI */
