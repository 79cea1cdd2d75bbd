// Fatbins: a header (magic, version, header size, size of the rest) and entries (kind 1 PTX, 2
// cubin; sizes of header and payload; architecture). A cubin is an ELF file. Its sections .nv.info
// (for all kernels, by symbol) and .nv.info.<kernel> are lists of attributes: format, number, and,
// for format 4, a size and that many bytes. An entry may be a Zstandard frame, as its flags at 40 say.
#include "image.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <vector>
#ifdef GDNN_ZSTD
#include <zstd.h>
#endif

namespace fake
{
enum { kind_ptx = 1, kind_cubin = 2 };
enum {
    attribute_max_threads = 0x05,
    attribute_frame_size = 0x11,
    attribute_parameter = 0x17,
    attribute_registers = 0x2f
};

template <class T>
static T read(const unsigned char *at)
{
    T value;
    memcpy(&value, at, sizeof value);
    return value;
}

class Cubin
{
  public:
    explicit Cubin(const unsigned char *elf) : elf_(elf), header_(read<Elf64_Ehdr>(elf))
    {
    }

    void read_kernels(Image *image) const
    {
        for (unsigned i = 0; i < header_.e_shnum; i++) {
            const std::string name = section_name(i);
            if (!name.compare(0, 6, ".text."))
                image->kernels[name.substr(6)];
        }
        for (unsigned i = 0; i < header_.e_shnum; i++) {
            const std::string name = section_name(i);
            if (!name.compare(0, 9, ".nv.info."))
                read_own_attributes(section(i), &image->kernels[name.substr(9)]);
            else if (name == ".nv.info")
                read_common_attributes(section(i), image);
            else if (!name.compare(0, 11, ".nv.shared."))
                image->kernels[name.substr(11)].shared_bytes = (unsigned)section(i).sh_size;
        }
        image->is_read = true;
    }

  private:
    const unsigned char *elf_;
    Elf64_Ehdr header_;

    Elf64_Shdr section(unsigned i) const
    {
        return read<Elf64_Shdr>(elf_ + header_.e_shoff + i * sizeof(Elf64_Shdr));
    }

    const char *text(const Elf64_Shdr &strings, size_t at) const
    {
        return reinterpret_cast<const char *>(elf_ + strings.sh_offset + at);
    }

    std::string section_name(unsigned i) const
    {
        return text(section(header_.e_shstrndx), section(i).sh_name);
    }

    std::string symbol_name(unsigned index) const
    {
        for (unsigned i = 0; i < header_.e_shnum; i++) {
            const Elf64_Shdr symbols = section(i);
            if (symbols.sh_type != SHT_SYMTAB || index >= symbols.sh_size / sizeof(Elf64_Sym))
                continue;
            const Elf64_Sym symbol =
                read<Elf64_Sym>(elf_ + symbols.sh_offset + index * sizeof(Elf64_Sym));
            return text(section(symbols.sh_link), symbol.st_name);
        }
        return "";
    }

    template <class F>
    void each_attribute(const Elf64_Shdr &list, F visit) const
    {
        const unsigned char *at = elf_ + list.sh_offset, *const end = at + list.sh_size;
        while (at + 4 <= end) {
            const unsigned format = at[0], attribute = at[1], size = read<uint16_t>(at + 2);
            at += 4;
            if (format != 4)
                continue;
            visit(attribute, at);
            at += size;
        }
    }

    void read_own_attributes(const Elf64_Shdr &list, KernelFacts *facts) const
    {
        each_attribute(list, [&](unsigned attribute, const unsigned char *value) {
            if (attribute == attribute_parameter) {
                const size_t ordinal = read<uint16_t>(value + 4);
                if (ordinal >= facts->parameter_bytes.size())
                    facts->parameter_bytes.resize(ordinal + 1);
                facts->parameter_bytes[ordinal] = read<uint32_t>(value + 8) >> 18;
            } else if (attribute == attribute_max_threads) {
                facts->max_threads =
                    read<uint32_t>(value) * read<uint32_t>(value + 4) * read<uint32_t>(value + 8);
            }
        });
    }

    void read_common_attributes(const Elf64_Shdr &list, Image *image) const
    {
        each_attribute(list, [&](unsigned attribute, const unsigned char *value) {
            if (attribute != attribute_registers && attribute != attribute_frame_size)
                return;
            const auto kernel = image->kernels.find(symbol_name(read<uint32_t>(value)));
            if (kernel == image->kernels.end())
                return;
            const unsigned amount = read<uint32_t>(value + 4);
            if (attribute == attribute_registers)
                kernel->second.registers = amount & 0xffff;
            else
                kernel->second.local_bytes = amount;
        });
    }
};

// What an entry holds; nothing if it cannot be unpacked.
static std::vector<unsigned char> unpacked(const unsigned char *payload, size_t size,
                                           uint64_t flags)
{
    const uint64_t zstd = 0x8000;
    if (!(flags & zstd))
        return std::vector<unsigned char>(payload, payload + size);
#ifdef GDNN_ZSTD
    const size_t frame = ZSTD_findFrameCompressedSize(payload, size);
    if (ZSTD_isError(frame))
        return {};
    std::vector<unsigned char> contents(ZSTD_getFrameContentSize(payload, frame));
    if (ZSTD_decompress(contents.data(), contents.size(), payload, frame) == contents.size())
        return contents;
#endif
    return {};
}

CUresult read_image(const void *bytes, int sm, Image *image)
{
    const unsigned char *const begin = static_cast<const unsigned char *>(bytes);
    if (!memcmp(begin, "GDNNSTUB", 8)) {
        image->stub = true;
        return CUDA_SUCCESS;
    }
    if (read<uint32_t>(begin) != 0xba55ed50u)
        return CUDA_ERROR_INVALID_IMAGE;
    const unsigned char *entry = begin + read<uint16_t>(begin + 6);
    const unsigned char *const end = entry + read<uint64_t>(begin + 8);
    bool runs = false;
    int chosen = -1;
    while (entry + 64 <= end) {
        const unsigned kind = read<uint16_t>(entry);
        const unsigned char *const payload = entry + read<uint32_t>(entry + 4);
        const int arch = (int)read<uint32_t>(entry + 28);
        const uint64_t flags = read<uint64_t>(entry + 40);
        const size_t size = read<uint64_t>(entry + 8);
        entry = payload + size;
        if (kind == kind_ptx) {
            runs |= arch <= sm;
        } else if (kind == kind_cubin && arch / 10 == sm / 10 && arch <= sm) {
            runs = true;
            const std::vector<unsigned char> cubin = unpacked(payload, size, flags);
            if (arch > chosen && cubin.size() > SELFMAG && !memcmp(cubin.data(), ELFMAG, SELFMAG)) {
                chosen = arch;
                image->kernels.clear();
                Cubin(cubin.data()).read_kernels(image);
            }
        }
    }
    return runs ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
}
} // namespace fake
