/* A program that is about to be run. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/* The file that a command's first word stands for, as execvp finds it: the word itself if it has a
 * slash, else the first executable file of that name in the folders of PATH. False: there is none;
 * errno is ENOENT, or EACCES if there are such files and none may be executed. */
bool program_find(const char *word, char path[PATH_MAX]);

/* What to say of a `word` that program_find did not find, after an errno of `why`: "there is no such command in
 * PATH". Static. */
const char *program_not_found(const char *word, int why);

/* The program that the kernel starts for the file `path`: the file, or the interpreter that a script names,
 * and the command behind it where that is env. */
void program_image(const char *path, char image[PATH_MAX]);

/* Why the loader will not look at LD_PRELOAD for this file: "it is setuid or setgid", "it is statically
 * linked"; NULL if it will, or if the file is no ELF program. Static. */
const char *program_ignores_preload(const char *path);

#endif
