#include "layout.h"
#include "ld_cache.h"
#include "unit.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *layout_fakes;
static char folder[PATH_MAX / 2];

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

void layout_end(void)
{
    if (*folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *folder = '\0';
}

void layout_begin(void)
{
    layout_end();
    const char *above = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/groupdnn-search-XXXXXX", above ? above : "/tmp");
    assert_non_null(mkdtemp(folder));
}

const char *layout_path(const char *name)
{
    static char paths[64][PATH_MAX];
    static int next;
    char *path = paths[next++ % 64];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static const char *new_path(const char *name)
{
    char *path = (char *)layout_path(name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        assert_true(!mkdir(path, 0777) || errno == EEXIST);
        *slash = '/';
    }
    return path;
}

const char *layout_write(const char *name, const void *bytes, size_t size)
{
    const char *path = new_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *layout_link(const char *to, const char *name)
{
    const char *path = new_path(name);
    assert_int_equal(symlink(to, path), 0);
    return path;
}

const char *layout_ld_cache(const char *name, const char *soname, const char *path)
{
    static const char magic[] = "glibc-ld.so.cache1.1";
    unsigned char cache[48 + 24 + 2 * PATH_MAX] = {0};
    const uint32_t one = 1, entry[] = {GDNN_LD_CACHE_FLAGS, 72, 72 + (uint32_t)strlen(soname) + 1};
    memcpy(cache, magic, sizeof magic - 1);
    memcpy(cache + 20, &one, sizeof one);
    memcpy(cache + 48, entry, sizeof entry);
    strcpy((char *)cache + entry[1], soname);
    strcpy((char *)cache + entry[2], path);
    return layout_write(name, cache, entry[2] + strlen(path) + 1);
}

unsigned char *layout_read(const char *from, size_t *size)
{
    char path[PATH_MAX];
    struct stat facts;
    if (strchr(from, '/'))
        snprintf(path, sizeof path, "%s", from);
    else
        snprintf(path, sizeof path, "%s/%s", layout_fakes, from);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &facts))
        fail_msg("%s: %s", path, strerror(errno));
    *size = (size_t)facts.st_size;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (*size + page - 1) / page * page;
    unsigned char *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + room, page, PROT_NONE), 0);
    memory += room - *size;
    for (size_t got = 0; got < *size;) {
        ssize_t more = read(fd, memory + got, *size - got);
        assert_true(more > 0);
        got += (size_t)more;
    }
    close(fd);
    return memory;
}

const char *layout_copy(const char *from, const char *name)
{
    size_t size, page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *bytes = layout_read(from, &size);
    const char *path = layout_write(name, bytes, size);
    unsigned char *start = bytes - (page - size % page) % page;
    assert_int_equal(chmod(path, 0755), 0);
    munmap(start, (size_t)(bytes + size - start) + page);
    return path;
}
