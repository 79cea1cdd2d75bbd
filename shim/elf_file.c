#include "elf_file.h"
#include <elf.h>
#include <string.h>

/* The file's structures may lie at any address, so they are copied out before use. */
#define COPY(into, from) memcpy(&(into), (from), sizeof(into))

/* `size` bytes from `offset`, cut where the file ends. */
static gdnn_elf_bytes bytes_at(const gdnn_elf *elf, uint64_t offset, uint64_t size)
{
    if (offset >= elf->file.size)
        return (gdnn_elf_bytes){NULL, 0};
    size_t room = elf->file.size - (size_t)offset;
    return (gdnn_elf_bytes){elf->file.at + offset, size < room ? (size_t)size : room};
}

/* The program header `index`; false past the last. */
static bool program_header(const gdnn_elf *elf, size_t index, Elf64_Phdr *header)
{
    if (index >= elf->headers.size / sizeof *header)
        return false;
    COPY(*header, elf->headers.at + index * sizeof *header);
    return true;
}

/* What the loader would map at `address`, to the end of its segment. */
static gdnn_elf_bytes mapped_at(const gdnn_elf *elf, uint64_t address)
{
    Elf64_Phdr p;
    for (size_t i = 0; program_header(elf, i, &p); i++) {
        uint64_t into = address - p.p_vaddr;
        if (p.p_type == PT_LOAD && address >= p.p_vaddr && into < p.p_filesz &&
            p.p_offset <= UINT64_MAX - into)
            return bytes_at(elf, p.p_offset + into, p.p_filesz - into);
    }
    return (gdnn_elf_bytes){NULL, 0};
}

/* The dynamic entry `index`; false past the last. */
static bool dynamic_entry(const gdnn_elf *elf, size_t index, Elf64_Dyn *entry)
{
    if (index >= elf->dynamic.size / sizeof *entry)
        return false;
    COPY(*entry, elf->dynamic.at + index * sizeof *entry);
    return entry->d_tag != DT_NULL;
}

/* The value of the first entry with `tag`; 0 if there is none. */
static uint64_t dynamic_value(const gdnn_elf *elf, int64_t tag)
{
    Elf64_Dyn entry;
    for (size_t i = 0; dynamic_entry(elf, i, &entry); i++)
        if (entry.d_tag == tag)
            return entry.d_un.d_val;
    return 0;
}

/* The table whose address the entry with `tag` gives. */
static gdnn_elf_bytes dynamic_table(const gdnn_elf *elf, int64_t tag)
{
    uint64_t address = dynamic_value(elf, tag);
    return address ? mapped_at(elf, address) : (gdnn_elf_bytes){NULL, 0};
}

/* The text at `offset` of the dynamic strings; NULL if it does not end among them. */
static const char *string_at(const gdnn_elf *elf, uint64_t offset)
{
    if (offset >= elf->strings.size)
        return NULL;
    const unsigned char *text = elf->strings.at + offset;
    return memchr(text, 0, elf->strings.size - (size_t)offset) ? (const char *)text : NULL;
}

const char *gdnn_elf_read(gdnn_elf *elf, const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    *elf = (gdnn_elf){.file = {bytes, size}};
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG))
        return "is not an ELF file";
    if (size < sizeof header)
        return "is cut short: it ends within its ELF header";
    COPY(header, elf->file.at);
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return "is not a 64-bit ELF file";
    if (header.e_ident[EI_DATA] != ELFDATA2LSB)
        return "is not a little-endian ELF file";
    elf->type = header.e_type;
    elf->machine = header.e_machine;

    size_t headers = header.e_phnum * sizeof(Elf64_Phdr);
    if (header.e_phnum && header.e_phentsize != sizeof(Elf64_Phdr))
        return "is damaged: its program headers have a wrong size";
    elf->headers = bytes_at(elf, header.e_phoff, headers);
    if (elf->headers.size != headers)
        return "is cut short: its program headers lie beyond its end";

    elf->whole = true;
    Elf64_Phdr p;
    for (size_t i = 0; program_header(elf, i, &p); i++) {
        if (p.p_type == PT_DYNAMIC)
            elf->dynamic = bytes_at(elf, p.p_offset, p.p_filesz);
        if (p.p_type == PT_LOAD && p.p_filesz &&
            bytes_at(elf, p.p_offset, p.p_filesz).size != p.p_filesz)
            elf->whole = false;
    }

    elf->strings = dynamic_table(elf, DT_STRTAB);
    uint64_t length = dynamic_value(elf, DT_STRSZ);
    if (length < elf->strings.size)
        elf->strings.size = (size_t)length;
    Elf64_Dyn entry;
    for (size_t i = 0; dynamic_entry(elf, i, &entry); i++) {
        if (entry.d_tag == DT_SONAME)
            elf->soname = string_at(elf, entry.d_un.d_val);
        else if (entry.d_tag == DT_RPATH)
            elf->rpath = string_at(elf, entry.d_un.d_val);
        else if (entry.d_tag == DT_RUNPATH)
            elf->runpath = string_at(elf, entry.d_un.d_val);
    }
    return NULL;
}

const char *gdnn_elf_needed(const gdnn_elf *elf, size_t index)
{
    Elf64_Dyn entry;
    for (size_t i = 0; dynamic_entry(elf, i, &entry); i++) {
        const char *name = entry.d_tag == DT_NEEDED ? string_at(elf, entry.d_un.d_val) : NULL;
        if (name && !index--)
            return name;
    }
    return NULL;
}

/* Looks for the owner in notes whose parts are padded to `align` bytes. */
static bool notes_hold(gdnn_elf_bytes notes, size_t align, const char *name)
{
    size_t length = strlen(name) + 1;
    Elf64_Nhdr note;
    while (notes.size >= sizeof note) {
        COPY(note, notes.at);
        const unsigned char *owner = notes.at + sizeof note;
        size_t room = notes.size - sizeof note;
        if (note.n_namesz == length && length <= room && !memcmp(owner, name, length))
            return true;
        uint64_t descriptor = (sizeof note + (uint64_t)note.n_namesz + align - 1) & ~(align - 1);
        uint64_t next = (descriptor + note.n_descsz + align - 1) & ~(uint64_t)(align - 1);
        if (next >= notes.size)
            return false;
        notes.at += next;
        notes.size -= (size_t)next;
    }
    return false;
}

bool gdnn_elf_has_note(const gdnn_elf *elf, const char *name)
{
    Elf64_Phdr p;
    for (size_t i = 0; program_header(elf, i, &p); i++)
        if (p.p_type == PT_NOTE &&
            notes_hold(bytes_at(elf, p.p_offset, p.p_filesz), p.p_align == 8 ? 8 : 4, name))
            return true;
    return false;
}

/* How many symbols a DT_GNU_HASH table covers: the end of the longest chain. */
static uint64_t gnu_hash_symbols(gdnn_elf_bytes table)
{
    uint32_t header[4]; /* buckets, first symbol covered, words of the filter, its shift */
    if (table.size < sizeof header)
        return 0;
    COPY(header, table.at);
    uint64_t words = (table.size - sizeof header) / sizeof(uint32_t);
    uint64_t before = (uint64_t)header[2] * 2, last = 0;
    if (before > words || header[0] > words - before)
        return 0;
    const unsigned char *buckets = table.at + sizeof header + before * sizeof(uint32_t);
    const unsigned char *chains = buckets + header[0] * sizeof(uint32_t);
    uint64_t chained = words - before - header[0];
    uint32_t word;
    for (uint32_t i = 0; i < header[0]; i++) {
        COPY(word, buckets + i * sizeof word);
        if (word > last)
            last = word;
    }
    if (last < header[1])
        return header[1];
    /* The last word of a chain is odd. */
    for (uint64_t at = last - header[1]; at < chained; at++, last++) {
        COPY(word, chains + at * sizeof word);
        if (word & 1)
            return last + 1;
    }
    return 0;
}

/* The size of the dynamic symbol table as the section headers give it. */
static uint64_t section_symbols(const gdnn_elf *elf)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    COPY(header, elf->file.at);
    if (header.e_shentsize != sizeof section)
        return 0;
    gdnn_elf_bytes sections = bytes_at(elf, header.e_shoff, header.e_shnum * sizeof section);
    for (size_t i = 0; i < sections.size / sizeof section; i++) {
        COPY(section, sections.at + i * sizeof section);
        if (section.sh_type == SHT_DYNSYM)
            return section.sh_size / sizeof(Elf64_Sym);
    }
    return 0;
}

static uint64_t symbol_count(const gdnn_elf *elf)
{
    gdnn_elf_bytes table = dynamic_table(elf, DT_HASH);
    uint32_t header[2]; /* buckets, symbols */
    if (table.size >= sizeof header) {
        COPY(header, table.at);
        return header[1];
    }
    table = dynamic_table(elf, DT_GNU_HASH);
    uint64_t count = gnu_hash_symbols(table);
    return count ? count : section_symbols(elf);
}

/* The name of the version node `index` among those that the file defines; "" if it is not there. */
static const char *version_name(const gdnn_elf *elf, unsigned index)
{
    gdnn_elf_bytes nodes = dynamic_table(elf, DT_VERDEF);
    Elf64_Verdef node;
    Elf64_Verdaux name;
    while (nodes.size >= sizeof node) {
        COPY(node, nodes.at);
        if (node.vd_ndx == index) {
            if (node.vd_aux > nodes.size || nodes.size - node.vd_aux < sizeof name)
                return "";
            COPY(name, nodes.at + node.vd_aux);
            const char *text = string_at(elf, name.vda_name);
            return text ? text : "";
        }
        /* Steps at least over itself, so that this ends. */
        if (node.vd_next < sizeof node || node.vd_next > nodes.size)
            break;
        nodes.at += node.vd_next;
        nodes.size -= node.vd_next;
    }
    return "";
}

static bool is_export(const Elf64_Sym *symbol)
{
    unsigned bind = ELF64_ST_BIND(symbol->st_info), see = ELF64_ST_VISIBILITY(symbol->st_other);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
           (see == STV_DEFAULT || see == STV_PROTECTED);
}

bool gdnn_elf_exports(const gdnn_elf *elf, gdnn_elf_visit *visit, void *context)
{
    gdnn_elf_bytes symbols = dynamic_table(elf, DT_SYMTAB);
    gdnn_elf_bytes versions = dynamic_table(elf, DT_VERSYM);
    uint64_t count = symbol_count(elf);
    Elf64_Sym symbol;
    for (size_t i = 1; i < count && i < symbols.size / sizeof symbol; i++) {
        COPY(symbol, symbols.at + i * sizeof symbol);
        const char *name = is_export(&symbol) ? string_at(elf, symbol.st_name) : NULL;
        if (!name)
            continue;
        uint16_t index = VER_NDX_GLOBAL;
        if (i < versions.size / sizeof index)
            COPY(index, versions.at + i * sizeof index);
        index &= 0x7fff; /* without the mark of versions that are not the default */
        if (visit(name, index > VER_NDX_GLOBAL ? version_name(elf, index) : "", context))
            return true;
    }
    return false;
}
