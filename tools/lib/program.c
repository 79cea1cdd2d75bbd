#include "program.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or why the file cannot be executed. */
static int refusal(const char *path)
{
    struct stat facts;
    if (stat(path, &facts))
        return errno;
    return S_ISREG(facts.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

bool program_find(const char *word, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    int why = ENOENT;
    if (strchr(word, '/')) {
        snprintf(path, PATH_MAX, "%s", word);
        errno = refusal(path);
        return errno == 0;
    }
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *word;) {
        int length = (int)strcspn(at, ":"); /* an empty folder is this one */
        int used = snprintf(path, PATH_MAX, "%.*s%s%s", length, at, length ? "/" : "./", word);
        int here = used < PATH_MAX ? refusal(path) : ENAMETOOLONG;
        if (!here)
            return true;
        if (here == EACCES)
            why = EACCES;
        if (!at[length])
            break;
        at += length + 1;
    }
    errno = why;
    return false;
}

/* True if the file is a program for the kernel alone: ELF that asks for no loader. */
static bool is_static(const char *path)
{
    union {
        unsigned char bytes[4096];
        Elf64_Ehdr head;
    } file;
    FILE *stream = fopen(path, "rb");
    size_t size = stream ? fread(&file, 1, sizeof file, stream) : 0;
    if (stream)
        fclose(stream);
    const Elf64_Ehdr *head = &file.head;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_phentsize != sizeof(Elf64_Phdr) ||
        head->e_phoff > size ||
        head->e_phnum > (size - head->e_phoff) / sizeof(Elf64_Phdr)) /* odd: nothing is claimed */
        return false;
    for (int i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, file.bytes + head->e_phoff + (size_t)i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_INTERP)
            return false;
    }
    return true;
}

const char *program_ignores_preload(const char *path)
{
    struct stat facts;
    if (stat(path, &facts))
        return NULL;
    if (((facts.st_mode & S_ISUID) && facts.st_uid != getuid()) ||
        ((facts.st_mode & S_ISGID) && facts.st_gid != getgid()))
        return "it is setuid or setgid";
    return is_static(path) ? "it is statically linked" : NULL;
}
