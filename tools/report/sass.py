"""Disassembly as `nvdisasm -c` prints it: functions, instructions, and the registers that they read and write."""

import functools
import re
from collections import namedtuple

# address     in bytes from the start of the function
# predicate   "@!P0", or "" where the instruction is always executed
# opcode      with all its suffixes: LDG.E.128.CONSTANT
# operands    as text, in order
Instruction = namedtuple("Instruction", "address predicate opcode operands")

# labels: name to address, of everything in the function's section
Function = namedtuple("Function", "name instructions labels")

SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")
OTHER_SECTION = re.compile(r"^\s*\.section\s")
LABEL = re.compile(r"^([.$\w]+):\s*$")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s*\{?\s*(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
REGISTER = re.compile(r"\b(U?R)(\d+)\b((?:\.\w+)*)")

WITHOUT_RESULT = re.compile(r"(ST|STG|STS|STL|STAS|RED|REDG|REDAS|LDGSTS|LDGDEPBAR|DEPBAR|UBLKCP|UTMALDG|UTMASTG|BAR"
                            r"|BRA|BRX|EXIT|BSSY|BSYNC|BREAK|CALL|RET|JMP|NOP|MEMBAR|WARPSYNC|SYNCS|ARRIVES|CCTL|R2P|"
                            r"U?[IFDH]SETP2?|U?PLOP3)(\.|$)")


def parse(text):
    """The functions of a disassembly, in order. What is no instruction, label or section is passed over."""
    functions = []
    current = None
    waiting = []
    for line in text.splitlines():
        section = SECTION.match(line)
        if section:
            current = Function(section[1], [], {})
            functions.append(current)
            waiting = []
            continue
        if OTHER_SECTION.match(line):
            current = None
        if current is None:
            continue
        label = LABEL.match(line)
        if label:
            waiting.append(label[1])
            continue
        found = INSTRUCTION.match(line)
        if found:
            address = int(found[1], 16)
            current.labels.update((name, address) for name in waiting)
            waiting = []
            current.instructions.append(
                Instruction(address, (found[2] or "").strip(), found[3], split(found[4])))
    return functions


def split(operands):
    """Operands, at the commas that stand outside of brackets."""
    parts, depth, part = [], 0, ""
    for letter in operands:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    if part.strip():
        parts.append(part.strip())
    return tuple(parts)


def target(function, instruction):
    """The address to which a branch goes; None where it is no label of the function."""
    for operand in instruction.operands:
        label = re.search(r"`\(([^)]+)\)", operand)
        if label:
            return function.labels.get(label[1])
        if re.fullmatch(r"0x[0-9a-f]+", operand):
            return int(operand, 16)
    return None


def base(instruction):
    return instruction.opcode.split(".")[0]


def suffixes(instruction):
    return instruction.opcode.split(".")[1:]


def is_wide(instruction):
    """True for operations on pairs of registers."""
    return (base(instruction) in ("DFMA", "DADD", "DMUL", "FFMA2", "FADD2", "FMUL2")
            or bool({"64", "WIDE", "F64"} & set(suffixes(instruction)))
            or base(instruction) in ("IMNMX", "UIMNMX") and bool({"U64", "S64"} & set(suffixes(instruction)))
            or base(instruction) == "CS2R" and "32" not in suffixes(instruction))


def access_bytes(instruction):
    """What one thread reads or writes with a load or store."""
    for suffix in suffixes(instruction):
        width = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32, "ENL2": 32}.get(suffix)
        if width:
            return width
    return 4


def result_registers(instruction):
    """How many registers a result fills."""
    name = base(instruction)
    if name == "LDSM":
        return next((int(s) for s in suffixes(instruction) if s in ("2", "4")), 1)
    if name.startswith(("LD", "ULD")):
        return max(1, access_bytes(instruction) // 4)
    if name in ("HMMA", "QMMA", "IMMA"):
        return 4 if "F32" in suffixes(instruction) or name == "IMMA" else 2
    return 2 if is_wide(instruction) else 1


def registers(text, count=1):
    """Names of the registers in a text, `count` following ones for each; pairs where the text says .64, and one for .U32."""
    names = set()
    for kind, number, suffix in REGISTER.findall(text):
        filled = 1 if ".U32" in suffix else max(count, 2 if ".64" in suffix else 1)
        names.update(kind + str(int(number) + i) for i in range(filled))
    return names


def result_operand(instruction):
    """Which operand is the register that an instruction writes; None where it writes none."""
    if WITHOUT_RESULT.match(instruction.opcode):
        return None
    for place, operand in enumerate(instruction.operands):
        if re.match(r"U?R(\d+|Z)\b", operand):
            return place
        if not re.fullmatch(r"!?U?P(T|\d+)", operand):
            return None
    return None


@functools.lru_cache(maxsize=None)
def writes(instruction):
    place = result_operand(instruction)
    if place is None:
        return set()
    return registers(instruction.operands[place], result_registers(instruction))


@functools.lru_cache(maxsize=None)
def reads(instruction):
    place = result_operand(instruction)
    name = base(instruction)
    if name in ("HMMA", "QMMA", "IMMA"):
        count = 4
    elif name.startswith(("ST", "RED")):
        count = max(1, access_bytes(instruction) // 4)
    else:
        count = 2 if is_wide(instruction) and "WIDE" not in suffixes(instruction) else 1
    names = address_registers(instruction)
    for i, operand in enumerate(instruction.operands):
        if i != place:
            names |= registers(operand, 1 if "[" in operand else count)
    return names


def address_registers(instruction):
    """The registers in the addresses of a load or store; descriptors of memory are none. sm_75 writes the register pair of a
    64-bit address, which .E stands for, as [R2]; later ones say [R2.64]."""
    text = " ".join(instruction.operands)
    text = re.sub(r"desc\[[^]]*\]", "", text)
    pairs = "E" in suffixes(instruction) and base(instruction) != "LDGSTS"
    names = set()
    for inside in re.findall(r"\[([^]]*)\]", text):
        names |= registers(inside, 2 if pairs else 1)
    return names
