// Lanes run one after another here, so what a warp does at once has to be found out: the n-th
// access of each lane at one place since the last barrier is taken to be one instruction. 32 banks
// of 4 bytes; a wide access takes a pass for each 128 bytes, that is for each half (8 bytes a lane)
// or quarter (16 bytes) of the warp; lanes that want the same word share it.
#include "conflicts.hpp"
#include "counters.hpp"
#include "thread.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace emu
{
struct Instruction {
    uint32_t lanes = 0;
    uint32_t bytes = 0;
    uint32_t offset[warp_lanes];
};

struct Stream { // of a warp at a site
    uint32_t count[warp_lanes] = {};
    std::vector<Instruction> instructions;
};

static std::vector<std::unique_ptr<Stream>> &streams = *new std::vector<std::unique_ptr<Stream>>;
static std::vector<Stream *> &active = *new std::vector<Stream *>;

void note_shared_access(unsigned thread, size_t offset, size_t bytes, Site site)
{
    const size_t key = (size_t)site * max_block_warps + thread / warp_lanes;
    const unsigned lane = thread % warp_lanes;
    if (key >= streams.size())
        streams.resize(key + max_block_warps);
    if (!streams[key])
        streams[key] = std::make_unique<Stream>();
    Stream &stream = *streams[key];
    if (stream.instructions.empty())
        active.push_back(&stream);
    const uint32_t n = stream.count[lane]++;
    if (n == stream.instructions.size())
        stream.instructions.emplace_back();
    Instruction &instruction = stream.instructions[n];
    instruction.lanes |= 1u << lane;
    instruction.bytes = std::max(instruction.bytes, (uint32_t)bytes);
    instruction.offset[lane] = (uint32_t)offset;
}

// Cycles beyond the one that a pass takes anyway.
static uint64_t conflicts_of_pass(const Instruction &instruction, unsigned first, unsigned lanes)
{
    uint32_t words[warp_lanes * 4];
    unsigned count = 0;
    for (unsigned lane = first; lane < first + lanes; lane++) {
        if (!(instruction.lanes >> lane & 1))
            continue;
        const uint32_t begin = instruction.offset[lane] / 4;
        const uint32_t end = (instruction.offset[lane] + instruction.bytes + 3) / 4;
        for (uint32_t word = begin; word < end && count < warp_lanes * 4; word++)
            words[count++] = word;
    }
    std::sort(words, words + count);
    count = (unsigned)(std::unique(words, words + count) - words);
    unsigned in_bank[32] = {}, most = 1;
    for (unsigned i = 0; i < count; i++)
        most = std::max(most, ++in_bank[words[i] % 32]);
    return most - 1;
}

void count_conflicts()
{
    for (Stream *stream : active) {
        for (const Instruction &instruction : stream->instructions) {
            const unsigned lanes = instruction.bytes <= 4 ? 32 : instruction.bytes <= 8 ? 16 : 8;
            for (unsigned first = 0; first < warp_lanes; first += lanes)
                counters.conflict_cycles += conflicts_of_pass(instruction, first, lanes);
        }
        stream->instructions.clear();
        std::fill(stream->count, stream->count + warp_lanes, 0);
    }
    active.clear();
}
} // namespace emu
