#include "candidate.h"
#include "mapped_file.h"
#include "sublibrary.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The owner of the note that every copy of the drop-in carries. */
static const char own_note[] = "groupdnn";

/* How much of a file is looked through for the names of sub-libraries: the dispatchers have some
 * 130 KB. */
enum { SCANNED_SIZE = 4 << 20 };

/* Where the version of the library `name` begins if that is cuDNN's; else NULL. */
static const char *cudnn_version(const char *name)
{
    static const char stem[] = "libcudnn";
    if (strncmp(name, stem, sizeof stem - 1))
        return NULL;
    const char *rest = name + sizeof stem - 1;
    if (*rest == '-')
        rest += strcspn(rest, "./");
    return strncmp(rest, ".so.", 4) ? NULL : rest + 4;
}

bool gdnn_is_cudnn_name(const char *name)
{
    const char *version = cudnn_version(name);
    return version && version[0] == '9' && (!version[1] || version[1] == '.');
}

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_386: return "i386";
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "AArch64";
    case EM_PPC64: return "PowerPC";
    case EM_RISCV: return "RISC-V";
    }
    return "another machine";
}

/* True if this very code is in the file. */
static bool holds_this(const gdnn_mapped_file *file)
{
    Dl_info own;
    struct stat facts;
    return dladdr((const void *)gdnn_candidate_check, &own) && own.dli_fname &&
           !stat(own.dli_fname, &facts) && facts.st_dev == file->device &&
           facts.st_ino == file->inode;
}

static bool names_sublibrary(const gdnn_mapped_file *file)
{
    static const char name[] = GDNN_SUBLIBRARY_STEM;
    size_t size = file->size < SCANNED_SIZE ? file->size : SCANNED_SIZE;
    return memmem(file->bytes, size, name, sizeof name - 1);
}

static bool check_elf(const char *path, const gdnn_mapped_file *file, char *sublibrary, char *why,
                      size_t size)
{
    gdnn_elf elf;
    const char *wrong = gdnn_elf_read(&elf, file->bytes, file->size);
    if (!wrong && elf.type != ET_DYN)
        wrong = "is no shared library";
    if (!wrong && elf.machine == GDNN_ELF_MACHINE && !elf.whole)
        wrong = "is cut short: parts that would be loaded are missing";
    if (wrong) {
        snprintf(why, size, "%s", wrong);
        return false;
    }
    if (elf.machine != GDNN_ELF_MACHINE) {
        snprintf(why, size, "is for %s, this program for %s", machine_name(elf.machine),
                 machine_name(GDNN_ELF_MACHINE));
        return false;
    }
    if (gdnn_elf_has_note(&elf, own_note) || holds_this(file)) {
        snprintf(why, size, "is groupdnn itself; the real cuDNN is needed");
        return false;
    }
    const char *soname = elf.soname ? elf.soname : "", *version = cudnn_version(soname);
    if (!gdnn_is_cudnn_name(soname)) {
        if (version)
            snprintf(why, size, "is %.100s, version 9 is needed", soname);
        else
            snprintf(why, size, "is not cuDNN: its SONAME is \"%.100s\", not " GDNN_CUDNN_SONAME,
                     soname);
        return false;
    }
    return !names_sublibrary(file) || gdnn_sublibrary_find(path, &elf, sublibrary, why, size);
}

bool gdnn_candidate_check(const char *path, char sublibrary[PATH_MAX], char *why, size_t size)
{
    gdnn_mapped_file file;
    *sublibrary = '\0';
    if (!gdnn_map_file(&file, path, why, size))
        return false;
    bool fits = check_elf(path, &file, sublibrary, why, size);
    gdnn_unmap_file(&file);
    return fits;
}
