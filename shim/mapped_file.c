#include "mapped_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is wrong with a file of this kind; NULL if it can be mapped. */
static const char *unfit(const struct stat *facts)
{
    if (S_ISDIR(facts->st_mode))
        return "is a folder, not a file";
    if (!S_ISREG(facts->st_mode))
        return "is not a regular file";
    if (facts->st_size <= 0)
        return "is empty";
    return (uint64_t)facts->st_size > SIZE_MAX ? "is too large" : NULL;
}

bool gdnn_map_file(gdnn_mapped_file *file, const char *path, char *why, size_t why_size)
{
    struct stat facts;
    const char *wrong;
    /* Looked at before it is opened, since opening a pipe or a device does something to it. */
    if (stat(path, &facts)) {
        snprintf(why, why_size, errno == ENOENT ? "does not exist" : "cannot be looked at: %m");
        return false;
    }
    if ((wrong = unfit(&facts))) {
        snprintf(why, why_size, "%s", wrong);
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        snprintf(why, why_size, "cannot be read: %m");
        return false;
    }
    bool mapped = false;
    if (fstat(fd, &facts)) {
        snprintf(why, why_size, "cannot be looked at: %m");
    } else if ((wrong = unfit(&facts))) {
        snprintf(why, why_size, "%s", wrong);
    } else {
        *file = (gdnn_mapped_file){
            .size = (size_t)facts.st_size, .device = facts.st_dev, .inode = facts.st_ino};
        file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
        mapped = file->bytes != MAP_FAILED;
        if (!mapped)
            snprintf(why, why_size, "cannot be mapped: %m");
    }
    close(fd);
    return mapped;
}

void gdnn_unmap_file(gdnn_mapped_file *file)
{
    munmap(file->bytes, file->size);
}
