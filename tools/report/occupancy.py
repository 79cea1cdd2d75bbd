"""What a multiprocessor (SM) holds, and how many blocks of a kernel fit into it."""

from collections import namedtuple

Limits = namedtuple("Limits", "warps blocks registers shared shared_block reserved shared_unit barriers")

KIB = 1024
REGISTER_UNIT = 256  # registers are given to warps in pieces of this size
PARTITIONS = 4       # of an SM; each has a quarter of its registers

# Warps, blocks, 32-bit registers and bytes of shared memory an SM; the most shared memory that a block can ask for: CUDA
# Programming Guide, appendix Compute Capabilities, technical specifications per compute capability. Shared memory that the
# system keeps of each block, the unit in which it is given out, and barriers an SM (0: no limit): cuda_occupancy.h of the
# toolkit.
LIMITS = {
    75: Limits(32, 16, 65536, 64 * KIB, 64 * KIB, 0, 256, 0),
    80: Limits(64, 32, 65536, 164 * KIB, 163 * KIB, KIB, 128, 0),
    86: Limits(48, 16, 65536, 100 * KIB, 99 * KIB, KIB, 128, 0),
    87: Limits(48, 16, 65536, 164 * KIB, 163 * KIB, KIB, 128, 0),
    89: Limits(48, 24, 65536, 100 * KIB, 99 * KIB, KIB, 128, 0),
    90: Limits(64, 32, 65536, 228 * KIB, 227 * KIB, KIB, 128, 64),
    100: Limits(64, 32, 65536, 228 * KIB, 227 * KIB, KIB, 128, 64),
    103: Limits(64, 32, 65536, 228 * KIB, 227 * KIB, KIB, 128, 64),
    110: Limits(48, 24, 65536, 228 * KIB, 227 * KIB, KIB, 128, 24),
    120: Limits(48, 24, 65536, 100 * KIB, 99 * KIB, KIB, 128, 24),
    121: Limits(48, 24, 65536, 100 * KIB, 99 * KIB, KIB, 128, 24),
}


def round_up(value, unit):
    return -(-value // unit) * unit


def blocks_by_limit(arch, threads, registers, shared, barriers=0):
    """How many blocks of so many threads, registers a thread, bytes of shared memory a block and barriers each
    limit lets an SM of the architecture (90 for sm_90) hold."""
    sm = LIMITS[arch]
    warps = -(-threads // 32)
    found = {"warps": sm.warps // warps, "blocks": sm.blocks}
    if registers:
        a_warp = round_up(registers * 32, REGISTER_UNIT)
        found["registers"] = sm.registers // PARTITIONS // a_warp * PARTITIONS // warps
    a_block = round_up(shared + sm.reserved, sm.shared_unit)
    if a_block:
        found["shared"] = sm.shared // a_block
    if barriers and sm.barriers:
        found["barriers"] = sm.barriers // barriers
    return found


def occupancy(arch, threads, registers, shared, barriers=0):
    """Blocks an SM, the share of its warps that they fill, and the limits that hold them there."""
    found = blocks_by_limit(arch, threads, registers, shared, barriers)
    blocks = min(found.values())
    return {
        "blocks": blocks,
        "occupancy": blocks * -(-threads // 32) / LIMITS[arch].warps,
        "limits": sorted(name for name, value in found.items() if value == blocks),
    }
