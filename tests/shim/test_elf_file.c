#include "elf_file.h"
#include "layout.h"
#include "unit.h"
#include <elf.h>

/* Everything that the reader offers, over any bytes; texts must lie in them. */
static void assert_inside(const char *text, const unsigned char *bytes, size_t size)
{
    if (!text)
        return;
    const unsigned char *at = (const unsigned char *)text;
    assert_true(at >= bytes && at < bytes + size);
    assert_non_null(memchr(at, 0, (size_t)(bytes + size - at)));
}

typedef struct span {
    const unsigned char *bytes;
    size_t size, exports;
} span;

static bool check_export(const char *name, const char *version, void *context)
{
    span *s = context;
    assert_inside(name, s->bytes, s->size);
    if (*version)
        assert_inside(version, s->bytes, s->size);
    s->exports++;
    return false;
}

/* Returns whether the file could be read and is whole. */
static bool read_all(const unsigned char *bytes, size_t size)
{
    gdnn_elf elf;
    span s = {bytes, size, 0};
    if (gdnn_elf_read(&elf, bytes, size))
        return false;
    assert_inside(elf.soname, bytes, size);
    assert_inside(elf.rpath, bytes, size);
    assert_inside(elf.runpath, bytes, size);
    const char *needed;
    for (size_t i = 0; (needed = gdnn_elf_needed(&elf, i)); i++)
        assert_inside(needed, bytes, size);
    gdnn_elf_has_note(&elf, "groupdnn");
    gdnn_elf_exports(&elf, check_export, &s);
    return elf.whole;
}

static void facts_of_a_library(void **state)
{
    (void)state;
    size_t size;
    gdnn_elf elf;
    const unsigned char *bytes = layout_read("fake_cudnn_renamed.so", &size);
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_int_equal(elf.type, ET_DYN);
    assert_int_equal(elf.machine, GDNN_ELF_MACHINE);
    assert_true(elf.whole);
    assert_string_equal(elf.soname, "libcudnn-1a2b3c4d.so.9.1.0");
    assert_string_equal(elf.runpath, "$ORIGIN");
    assert_null(elf.rpath);

    bytes = layout_read("fake_symbols_gnu.so", &size);
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_string_equal(elf.rpath, "$ORIGIN/here");
    assert_null(elf.runpath);
    assert_string_equal(gdnn_elf_needed(&elf, 0), "libc.so.6");
    assert_null(gdnn_elf_needed(&elf, 1));
    assert_null(gdnn_elf_needed(&elf, 2));
}

static void notes(void **state)
{
    (void)state;
    size_t size;
    gdnn_elf elf;
    const unsigned char *bytes = layout_read("fake_cudnn_ours.so", &size);
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_true(gdnn_elf_has_note(&elf, "groupdnn"));
    assert_true(gdnn_elf_has_note(&elf, "GNU")); /* its build id, or its properties */
    assert_false(gdnn_elf_has_note(&elf, "groupdn"));
    assert_false(gdnn_elf_has_note(&elf, "groupdnn2"));
    bytes = layout_read("fake_cudnn.so", &size);
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_false(gdnn_elf_has_note(&elf, "groupdnn"));
}

/* What symbols.c exports, by symbols.map. */
static const struct {
    const char *name, *version;
} expected[] = {
    {"cudnnFirst", "libcudnn.so.9"},
    {"fake_data", "libcudnn.so.9"},
    {"fake_zeros", "libcudnn.so.9"},
    {"fake_thread_local", "libcudnn.so.9"},
    {"weak_function", "libcudnn.so.9"},
    {"cudnnSecond", "later.9"},
    {"uses", "later.9"},
};

static bool tick(const char *name, const char *version, void *context)
{
    int *seen = context;
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        if (!strcmp(name, expected[i].name)) {
            assert_string_equal(version, expected[i].version);
            seen[i]++;
            return false;
        }
    fail_msg("%s@%s is not exported", name, version);
    return true;
}

static void assert_exports(const unsigned char *bytes, size_t size)
{
    gdnn_elf elf;
    int seen[COUNT_OF(expected)] = {0};
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_false(gdnn_elf_exports(&elf, tick, seen));
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        if (seen[i] != 1)
            fail_msg("%s was visited %d times", expected[i].name, seen[i]);
}

/* The dynamic entry with the tag, in the file's bytes. */
static Elf64_Dyn *entry(unsigned char *bytes, Elf64_Sxword tag)
{
    Elf64_Ehdr *header = (void *)bytes;
    Elf64_Phdr *p = (void *)(bytes + header->e_phoff);
    for (; p->p_type != PT_DYNAMIC; p++)
        ;
    Elf64_Dyn *d = (void *)(bytes + p->p_offset);
    for (; d->d_tag != tag && d->d_tag != DT_NULL; d++)
        ;
    return d->d_tag == tag ? d : NULL;
}

static void exports_by_every_table(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = layout_read("fake_symbols_sysv.so", &size);
    assert_null(entry(bytes, DT_GNU_HASH));
    assert_exports(bytes, size);
    bytes = layout_read("fake_symbols_both.so", &size);
    assert_exports(bytes, size);
    bytes = layout_read("fake_symbols_gnu.so", &size);
    assert_null(entry(bytes, DT_HASH));
    assert_exports(bytes, size);
    /* Of a file without section headers. */
    Elf64_Ehdr *header = (void *)bytes;
    Elf64_Half sections = header->e_shnum;
    header->e_shnum = 0;
    assert_exports(bytes, size);
    /* Only the section headers tell. */
    header->e_shnum = sections;
    entry(bytes, DT_GNU_HASH)->d_tag = DT_DEBUG;
    assert_exports(bytes, size);
    /* Nothing tells. */
    header->e_shnum = 0;
    gdnn_elf elf;
    assert_null(gdnn_elf_read(&elf, bytes, size));
    span s = {bytes, size, 0};
    gdnn_elf_exports(&elf, check_export, &s);
    assert_int_equal(s.exports, 0);
}

/* Symbols that nobody can bind to, and versions that are not the default. */
static void marked_symbols(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = layout_read("fake_symbols_both.so", &size);
    Elf64_Sym *symbols = (void *)(bytes + entry(bytes, DT_SYMTAB)->d_un.d_val);
    uint16_t *versions = (void *)(bytes + entry(bytes, DT_VERSYM)->d_un.d_val);
    const char *strings = (char *)bytes + entry(bytes, DT_STRTAB)->d_un.d_val;
    size_t at = 1;
    while (strcmp(strings + symbols[at].st_name, "cudnnFirst"))
        at++;
    versions[at] |= 0x8000;
    assert_exports(bytes, size);
    symbols[at].st_other = STV_HIDDEN;
    gdnn_elf elf;
    span s = {bytes, size, 0};
    assert_null(gdnn_elf_read(&elf, bytes, size));
    gdnn_elf_exports(&elf, check_export, &s);
    assert_int_equal(s.exports, COUNT_OF(expected) - 1);
}

/* Texts that end with the table are texts; those that do not end in it are none. */
static void cut_strings(void **state)
{
    (void)state;
    size_t size;
    gdnn_elf elf;
    unsigned char *bytes = layout_read("fake_cudnn.so", &size);
    Elf64_Xword end = entry(bytes, DT_SONAME)->d_un.d_val + sizeof "libcudnn.so.9";
    entry(bytes, DT_STRSZ)->d_un.d_val = end;
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_string_equal(elf.soname, "libcudnn.so.9");
    entry(bytes, DT_STRSZ)->d_un.d_val = end - 1;
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_null(elf.soname);
}

/* The smallest file with a note, which ends within its owner's name. */
static void a_note_at_the_end(void **state)
{
    (void)state;
    static const char owner[] = "groupdnn";
    unsigned char file[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + sizeof(Elf64_Nhdr) + sizeof owner];
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                         .e_phoff = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1};
    Elf64_Phdr p = {.p_type = PT_NOTE, .p_offset = sizeof header + sizeof p, .p_filesz = 4096};
    Elf64_Nhdr note = {.n_namesz = sizeof owner};
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, &p, sizeof p);
    memcpy(file + p.p_offset, &note, sizeof note);
    memcpy(file + p.p_offset + sizeof note, owner, sizeof owner);
    for (size_t cut = 0; cut < sizeof owner + sizeof note; cut++) {
        size_t size;
        gdnn_elf elf;
        layout_begin();
        const unsigned char *bytes =
            layout_read(layout_write("note", file, sizeof file - cut), &size);
        layout_end();
        assert_null(gdnn_elf_read(&elf, bytes, size));
        assert_int_equal(gdnn_elf_has_note(&elf, owner), cut == 0);
    }
}

static bool stop(const char *name, const char *version, void *context)
{
    (void)name, (void)version;
    return ++*(int *)context == 3;
}

static void a_visit_stops(void **state)
{
    (void)state;
    size_t size;
    gdnn_elf elf;
    int visits = 0;
    const unsigned char *bytes = layout_read("fake_symbols_both.so", &size);
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_true(gdnn_elf_exports(&elf, stop, &visits));
    assert_int_equal(visits, 3);
}

static void without_version_nodes(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = layout_read("fake_symbols_both.so", &size);
    entry(bytes, DT_VERSYM)->d_tag = DT_DEBUG;
    gdnn_elf elf;
    assert_null(gdnn_elf_read(&elf, bytes, size));
    span s = {bytes, size, 0};
    gdnn_elf_exports(&elf, check_export, &s);
    assert_int_equal(s.exports, COUNT_OF(expected));
}

static void other_files(void **state)
{
    (void)state;
    size_t size;
    gdnn_elf elf;
    unsigned char *bytes = layout_read("fake_cudnn.so", &size);
    Elf64_Ehdr *header = (void *)bytes, before = *header;

    assert_string_equal(gdnn_elf_read(&elf, "", 0), "is not an ELF file");
    assert_string_equal(gdnn_elf_read(&elf, "GROUP ( libcudnn.so.9 )", 23), "is not an ELF file");
    assert_contains(gdnn_elf_read(&elf, bytes, sizeof *header - 1), "ends within its ELF header");
    header->e_ident[EI_CLASS] = ELFCLASS32;
    assert_contains(gdnn_elf_read(&elf, bytes, size), "not a 64-bit");
    *header = before;
    header->e_ident[EI_DATA] = ELFDATA2MSB;
    assert_contains(gdnn_elf_read(&elf, bytes, size), "not a little-endian");
    *header = before;
    header->e_machine = EM_S390;
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_int_equal(elf.machine, EM_S390);
    *header = before;
    header->e_phentsize--;
    assert_contains(gdnn_elf_read(&elf, bytes, size), "wrong size");
    *header = before;
    header->e_phnum = 0xffff;
    assert_contains(gdnn_elf_read(&elf, bytes, size), "beyond its end");
    *header = before;
    header->e_phoff = UINT64_MAX - 8;
    assert_contains(gdnn_elf_read(&elf, bytes, size), "beyond its end");
    *header = before;
    header->e_phnum = 0;
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_null(elf.soname);
    *header = before;
    assert_null(gdnn_elf_read(&elf, bytes, size));
    assert_string_equal(elf.soname, "libcudnn.so.9");
}

/* Tables that say wrong things about themselves. */
static void lying_tables(void **state)
{
    (void)state;
    static const Elf64_Sxword tags[] = {DT_SYMTAB, DT_STRTAB, DT_STRSZ,  DT_HASH,  DT_GNU_HASH,
                                        DT_VERSYM, DT_VERDEF, DT_SONAME, DT_RPATH, DT_NEEDED};
    size_t size;
    unsigned char *bytes = layout_read("fake_symbols_both.so", &size);
    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        Elf64_Dyn *d = entry(bytes, tags[i]);
        if (!d)
            fail_msg("no entry %llx", (unsigned long long)tags[i]);
        Elf64_Xword before = d->d_un.d_val;
        const Elf64_Xword values[] = {0,    1,        7,          size - 1,
                                      size, size + 1, UINT64_MAX, UINT64_MAX / 2};
        for (size_t v = 0; v < COUNT_OF(values); v++) {
            d->d_un.d_val = values[v];
            read_all(bytes, size);
        }
        d->d_un.d_val = before;
    }
    /* Every word of the tables of numbers: counts and distances. */
    Elf64_Sxword tables[] = {DT_HASH, DT_GNU_HASH, DT_VERDEF};
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        for (size_t word = 0; word < 16; word++) {
            uint32_t *at = (void *)(bytes + entry(bytes, tables[i])->d_un.d_val + word * 4);
            uint32_t before = *at;
            const uint32_t values[] = {0, 1, 3, 0x7fffffff, 0xffffffff, (uint32_t)size};
            Elf64_Dyn *other = tables[i] == DT_GNU_HASH ? entry(bytes, DT_HASH) : NULL;
            if (other)
                other->d_tag = DT_DEBUG;
            for (size_t v = 0; v < COUNT_OF(values); v++) {
                *at = values[v];
                read_all(bytes, size);
            }
            if (other)
                other->d_tag = DT_HASH;
            *at = before;
        }
    assert_exports(bytes, size);
}

/* Cut anywhere: never a byte behind the end, and never taken for whole. */
static void every_length(void **state)
{
    (void)state;
    size_t size, end = 0;
    unsigned char *bytes = layout_read("fake_symbols_both.so", &size);
    const Elf64_Ehdr *header = (void *)bytes;
    const Elf64_Phdr *p = (void *)(bytes + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_offset + p[i].p_filesz > end)
            end = p[i].p_offset + p[i].p_filesz;
    assert_true(end > 0 && end <= size);
    assert_true(read_all(bytes, size));
    for (size_t length = size; length-- > 0;) {
        /* The file moves up to its end. */
        memmove(bytes + size - length, bytes + size - length - 1, length);
        if (read_all(bytes + size - length, length) != (length >= end))
            fail_msg("%zu bytes of %zu are%s whole", length, size, length >= end ? " not" : "");
    }
}

static void wrong_bytes(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static const char *const files[] = {"fake_symbols_both.so", "fake_symbols_gnu.so",
                                        "fake_cudnn_ours.so"};
    for (size_t f = 0; f < COUNT_OF(files); f++) {
        size_t size;
        unsigned char *bytes = layout_read(files[f], &size), *good = malloc(size);
        assert_non_null(good);
        memcpy(good, bytes, size);
        const Elf64_Ehdr *header = (void *)good;
        /* Where it matters: headers, dynamic section and its tables, or anywhere. */
        size_t dynamic = (size_t)((unsigned char *)entry(good, DT_STRTAB) - good) & ~(size_t)255;
        size_t headers = sizeof *header + header->e_phnum * sizeof(Elf64_Phdr);
        const size_t from[] = {0, dynamic, headers, 0}, to[] = {headers, dynamic + 512, 4096, size};
        for (int round = 0; round < 8000; round++) {
            size_t where = (size_t)round % COUNT_OF(from);
            for (int64_t flips = test_pick(&seed, 1, 6); flips > 0; flips--) {
                int64_t last = (int64_t)(to[where] < size ? to[where] : size) - 1;
                bytes[test_pick(&seed, (int64_t)from[where], last)] =
                    (unsigned char)test_random(&seed);
            }
            read_all(bytes, size);
            memcpy(bytes, good, size);
        }
        free(good);
    }
}

int main(int count, char **arguments)
{
    layout_fakes = count > 1 ? arguments[1] : "fakes";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_a_library),
        cmocka_unit_test(notes),
        cmocka_unit_test(exports_by_every_table),
        cmocka_unit_test(marked_symbols),
        cmocka_unit_test(cut_strings),
        cmocka_unit_test(a_note_at_the_end),
        cmocka_unit_test(a_visit_stops),
        cmocka_unit_test(without_version_nodes),
        cmocka_unit_test(other_files),
        cmocka_unit_test(lying_tables),
        cmocka_unit_test(every_length),
        cmocka_unit_test(wrong_bytes),
    };
    return cmocka_run_group_tests_name("elf_file", tests, NULL, NULL);
}
