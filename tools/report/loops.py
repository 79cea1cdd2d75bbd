"""The loops of a function, and which of them is its main loop."""

import re
from collections import namedtuple

from . import sass

# start, end  positions in the function's instructions; next: positions at which blocks begin that may follow
Block = namedtuple("Block", "start end next")

# header   position of its first instruction
# label    of that instruction, or its address
# all      positions of its instructions, in order
# own      those that are in no loop inside it
# depth    1 for a loop that is in no other
Loop = namedtuple("Loop", "header label all own depth")

ENDS = ("EXIT", "RET", "JMP", "BRX", "BRA", "KILL")


def always(instruction):
    """True where every thread takes a branch. Conditions are also operands, as in BRA.U !UP0, `(.L_x_1), or meant by the
    opcode: BRA.DIV is taken where the threads of the warp are not together."""
    return (not instruction.predicate and not {"DIV", "CONV"} & set(sass.suffixes(instruction))
            and not any(re.fullmatch(r"!?U?P\d+", o) for o in instruction.operands))


def blocks_of(function):
    """Basic blocks by the position of their first instruction. Calls and convergence barriers are passed through."""
    code = function.instructions
    place = {instruction.address: i for i, instruction in enumerate(code)}
    jumps = {}
    starts = {0} | {place[a] for a in function.labels.values() if a in place}
    for i, instruction in enumerate(code):
        if sass.base(instruction) in ENDS:
            goal = place.get(sass.target(function, instruction)) if sass.base(instruction) in ("BRA", "JMP") else None
            jumps[i] = goal
            starts |= {i + 1} | ({goal} if goal is not None else set())
    starts = sorted(s for s in starts if s < len(code))
    blocks = {}
    for start, end in zip(starts, starts[1:] + [len(code)]):
        last, following = end - 1, []
        if last in jumps and jumps[last] is not None:
            following.append(jumps[last])
        if end < len(code) and not (last in jumps and always(code[last])):
            following.append(end)
        blocks[start] = Block(start, end, following)
    return blocks


def find(function):
    """All loops. A branch back to a block closes one: all blocks from which that branch is reached without passing the
    block it goes to. Branches back to the same block are one loop."""
    if not function.instructions:
        return []
    blocks = blocks_of(function)
    before = {start: [] for start in blocks}
    for block in blocks.values():
        for goal in block.next:
            before[goal].append(block.start)
    bodies = {}
    for block in blocks.values():
        for header in block.next:
            if header > block.start:
                continue
            body, open_blocks = {header}, [block.start]
            while open_blocks:
                start = open_blocks.pop()
                if start not in body:
                    body.add(start)
                    open_blocks += before[start]
            if 0 not in body or header == 0: # else a way in that passes the header: no loop of this one
                bodies.setdefault(header, set()).update(body)

    names = {address: name for name, address in function.labels.items()} # of several labels the last: .L_x_0
    loops = []
    for header, body in bodies.items():
        inner = [other for other, its in bodies.items() if other != header and other in body and its <= body]
        outer = [other for other, its in bodies.items() if other != header and header in its and body <= its]
        inside = set().union(*(bodies[i] for i in inner)) if inner else set()
        address = function.instructions[header].address
        loops.append(Loop(header, names.get(address, hex(address)), positions(blocks, body),
                          positions(blocks, body - inside), 1 + len(outer)))
    return sorted(loops)


def positions(blocks, starts):
    return [i for start in sorted(starts) for i in range(start, blocks[start].end)]


def main_loop(function, work, accesses):
    """The loop whose own instructions do the most floating-point work; without any, the one that accesses memory the
    most. Of equals the innermost, then the first. None without such a loop. `work` and `accesses` weigh an instruction."""
    found = find(function)
    for weigh in (work, accesses):
        def weight(loop):
            return sum(weigh(function.instructions[i]) for i in loop.own)
        best = max(found, key=lambda loop: (weight(loop), loop.depth, -loop.header), default=None)
        if best and weight(best):
            return best
    return None
