"""What the instructions of a loop are for, and how much of memory they have in flight."""

import re

from . import sass

# class: what it holds. Order of the report.
CLASSES = {
    "global": "loads, stores and atomics of global memory, also by way of generic addresses, and copies to shared memory",
    "shared": "loads and stores of shared memory, ldmatrix",
    "local": "loads and stores of local memory: spills, and arrays that are indexed",
    "fp32": "FFMA, FADD, FMUL, FMNMX",
    "half": "HFMA2, HADD2, HMUL2, HMNMX2, two values each",
    "fp64": "DFMA, DADD, DMUL",
    "mma": "HMMA and its like",
    "convert": "between types of numbers",
    "integer": "integers, bits, moves and selections",
    "address": "those of them whose result reaches an address of the same loop",
    "control": "comparisons and predicates, branches, barriers of convergence",
    "other": "everything else: constants, shuffles, barriers, special functions",
}

ACCESS = {"LDG": "global", "STG": "global", "LD": "global", "ST": "global", "RED": "global", "REDG": "global",
          "ATOM": "global", "ATOMG": "global", "LDGSTS": "global", "UBLKCP": "global", "UTMALDG": "global",
          "UTMASTG": "global", "LDS": "shared", "STS": "shared", "LDSM": "shared", "STSM": "shared", "ATOMS": "shared",
          "LDL": "local", "STL": "local"}
PATTERNS = [
    ("fp32", r"F(FMA|ADD|MUL)2?|FMNMX3?|FSEL"),
    ("half", r"H(FMA2|ADD2|MUL2|MNMX2)|VHMNMX"),
    ("fp64", r"D(FMA|ADD|MUL)"),
    ("mma", r"[HIQDB]MMA|[HIQ]GMMA|WGMMA|UTC\w*MMA"),
    ("convert", r"U?(F2F|F2FP|F2I|F2IP|I2F|I2FP|I2I|I2IP|FRND)"),
    ("control", r"U?[IFDH]SETP2?|HSETP2|U?PLOP3|VOTEU?|P2R|R2P|BRA|BRX|JMP|EXIT|BSSY|BSYNC|BREAK|CALL|RET|BMOV|WARPSYNC"
                r"|YIELD|U?CLC|KILL"),
    ("integer", r"U?(IMAD|IADD|IADD3|VIADD|VIADDMNMX|VIMNMX3?|IMNMX|IMUL|IABS|LEA|LOP3|LOP|SHF|SHL|SHR|SEL|MOV|PRMT|POPC"
                r"|FLO|BREV|BMSK|SGXT|IDP|R2UR|LOP32I|IMAD32I|MOV32I)|CS2R"),
]
KINDS = [(name, re.compile(pattern)) for name, pattern in PATTERNS]


def kind(instruction):
    """The class of an instruction, address left out: that takes a loop."""
    name = sass.base(instruction)
    if name in ACCESS:
        return ACCESS[name]
    if name in ("HADD2", "HFMA2", "HMUL2"):
        if name == "HADD2" and "F32" in sass.suffixes(instruction):
            return "convert"
        if name == "HFMA2" and [o for o in instruction.operands[1:] if o.lstrip("-") == "RZ"][1:]:
            return "integer" # 0 * 0 + constant: a move
    for word, pattern in KINDS:
        if pattern.fullmatch(name):
            return word
    return "other"


def work(instruction):
    """Floating-point operations a thread; those of a warp's matrix product are shared among its threads."""
    what, name = kind(instruction), sass.base(instruction)
    if what == "mma":
        shape = next((s for s in sass.suffixes(instruction) if re.fullmatch(r"\d{3,6}", s)), "1688")
        m, n, k = {"884": (8, 8, 4), "1688": (16, 8, 8), "16816": (16, 8, 16), "16832": (16, 8, 32),
                   "16864": (16, 8, 64)}.get(shape, (16, 8, 8))
        return 2 * m * n * k // 32
    if what not in ("fp32", "half", "fp64") or "MNMX" in name or name == "FSEL":
        return 0
    return (2 if "FMA" in name else 1) * (2 if name.endswith("2") else 1)


def accesses(instruction):
    return kind(instruction) in ("global", "shared")


def producers(body, place, register):
    """The instructions of a loop body whose result in a register may be what the one at `place` reads: the nearest before
    it, around the loop, and on to the next while that is predicated."""
    for back in range(1, len(body) + 1):
        i = (place - back) % len(body)
        if register in sass.writes(body[i]):
            yield i
            if not body[i].predicate:
                return


def address_places(body):
    """Places of the integer instructions whose results reach an address of a load or store of the body."""
    kinds = [kind(instruction) for instruction in body]
    waiting = [(i, r) for i, what in enumerate(kinds) if what in ("global", "shared", "local")
               for r in sass.address_registers(body[i])]
    seen, found = set(waiting), set()
    while waiting:
        place, register = waiting.pop()
        for i in producers(body, place, register):
            if kinds[i] != "integer" or i in found:
                continue
            found.add(i)
            for r in sass.reads(body[i]):
                if (i, r) not in seen:
                    seen.add((i, r))
                    waiting.append((i, r))
    return found


def count(body):
    """Instructions of each class in a loop body."""
    addresses = address_places(body)
    counts = dict.fromkeys(CLASSES, 0)
    for i, instruction in enumerate(body):
        counts["address" if i in addresses else kind(instruction)] += 1
    return counts


def in_flight(body, rounds=8):
    """The most bytes of global memory that one thread has asked for and not yet waited for, and by how many loads. A load
    is waited for, with all before it, where an instruction reads or overwrites its result; a copy to shared memory
    (cp.async) where a wait lets fewer groups than are open stay open. Enough rounds of a loop are walked to fill a ring of
    copies; without a wait in the body, those of a round are taken to be waited for behind it."""
    waits = any(is_wait(instruction) for instruction in body)
    loads = []   # (bytes, registers)
    groups = []  # (bytes, number of loads) of each closed group
    fresh = []   # bytes of the copies that no group has yet
    most = (0, 0)
    for _ in range(rounds):
        if not waits:
            groups, fresh = [], []
        for instruction in body:
            name = sass.base(instruction)
            touched = sass.reads(instruction) | sass.writes(instruction)
            last = max((i for i, (_, names) in enumerate(loads) if names & touched), default=-1)
            del loads[:last + 1]
            if name in ("LDG", "LD"):
                loads.append((sass.access_bytes(instruction), sass.writes(instruction)))
            elif name == "LDGSTS":
                fresh.append(sass.access_bytes(instruction))
            elif name == "LDGDEPBAR":
                groups.append((sum(fresh), len(fresh)))
                fresh = []
            elif is_wait(instruction):
                stay = int(instruction.operands[1], 0)
                del groups[:max(0, len(groups) - stay)]
            most = max(most, (sum(b for b, _ in loads + groups) + sum(fresh),
                              len(loads) + sum(n for _, n in groups) + len(fresh)))
    return {"bytes": most[0], "loads": most[1]}


def is_wait(instruction):
    """A wait for all but so many groups of copies: DEPBAR.LE SB0, 0x1."""
    return (sass.base(instruction) == "DEPBAR" and "LE" in sass.suffixes(instruction) and len(instruction.operands) > 1
            and re.fullmatch(r"0x[0-9a-f]+|\d+", instruction.operands[1]) is not None)
