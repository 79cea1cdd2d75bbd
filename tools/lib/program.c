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

const char *program_not_found(const char *word, int why)
{
    if (why != ENOENT)
        return strerror(why);
    return strchr(word, '/') ? "there is no such command" : "there is no such command in PATH";
}

/* The words after #! in the script's first line: the interpreter, and its one argument, "" if there is
 * none. False: it is no script. */
static bool read_script(const char *path, char line[PATH_MAX], const char **argument)
{
    FILE *stream = fopen(path, "rb");
    bool script = stream && fgets(line, PATH_MAX, stream) && line[0] == '#' && line[1] == '!';
    if (stream)
        fclose(stream);
    if (!script)
        return false;
    char *word = line + 2 + strspn(line + 2, " \t");
    line[strcspn(line, "\n")] = 0;
    size_t length = strcspn(word, " \t");
    *argument = word + length + strspn(word + length, " \t");
    word[length] = 0;
    memmove(line, word, length + 1);
    return length > 0;
}

/* Scripts may name scripts; the kernel follows a few. */
enum { MOST_SCRIPTS = 4 };

void program_image(const char *path, char image[PATH_MAX])
{
    char line[PATH_MAX], word[PATH_MAX], found[PATH_MAX];
    const char *argument;
    snprintf(image, PATH_MAX, "%s", path);
    for (int i = 0; i < MOST_SCRIPTS && read_script(image, line, &argument); i++) {
        const char *base = strrchr(line, '/');
        bool split = !strncmp(argument, "-S", 2);
        const char *command = argument + (split ? 2 + strspn(argument + 2, " \t") : 0);
        snprintf(word, sizeof word, "%.*s", (int)strcspn(command, " \t"), command);
        bool env = base && !strcmp(base, "/env") && *word;
        snprintf(image, PATH_MAX, "%s", env && program_find(word, found) ? found : line);
    }
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
