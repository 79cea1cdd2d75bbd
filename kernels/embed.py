#!/usr/bin/env python3
"""embed.py SYMBOL IMAGE OUT.S: assembly that embeds IMAGE, read-only and aligned, between SYMBOL and SYMBOL_end.
embed.py --stub OUT: a stand-in for an image, for builds without nvcc.

The assembly is rewritten whenever the image is, so that it is assembled again: no dependency file sees .incbin."""
import os
import sys

TEMPLATE = """\
    .section .rodata,"a",%progbits
    .balign 64
    .globl {symbol}
    .hidden {symbol}
    .type {symbol}, %object
{symbol}:
    .incbin "{path}"
    .globl {symbol}_end
    .hidden {symbol}_end
{symbol}_end:
    .size {symbol}, {symbol}_end - {symbol}
    .section .note.GNU-stack,"",%progbits
"""

if sys.argv[1] == "--stub":
    with open(sys.argv[2], "wb") as out:
        out.write(b"GDNNSTUB")
else:
    symbol, image, out = sys.argv[1:4]
    with open(out, "w", encoding="ascii") as out:
        out.write(TEMPLATE.format(symbol=symbol, path=os.path.abspath(image)))
