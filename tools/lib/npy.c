#include "npy.h"
#include "error.h"
#include "half.h"
#include "npy_header.h"
#include "problem.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longest header text that is read; NumPy itself refuses more than 10000 bytes. */
#define HEADER_MAX 65535

/* Bytes of elements that are converted at a time. */
#define CHUNK 65536

static const char MAGIC[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* Number of elements; false if their float64 values cannot be counted in 63 bits. An empty axis
 * makes it 0, whatever the others are. */
static bool count_elements(int dims, const int64_t *size, int64_t *count)
{
    *count = 1;
    for (int i = 0; i < dims; i++) {
        if (size[i] == 0) {
            *count = 0;
            return true;
        }
    }
    for (int i = 0; i < dims; i++) {
        if (__builtin_mul_overflow(*count, size[i], count))
            return false;
    }
    return *count <= INT64_MAX / (int64_t)sizeof(double);
}

/* Reads exactly `size` bytes; a file that ends before is damaged. */
static gdnn_status read_bytes(FILE *file, const char *path, void *out, size_t size)
{
    if (fread(out, 1, size, file) == size)
        return GDNN_OK;
    if (ferror(file))
        return gdnn_fail(GDNN_FAILED, "%s: cannot be read: %s; check the disk", path,
                         strerror(errno));
    return gdnn_fail(GDNN_INVALID, "%s: it ends too early; write the file again with numpy.save",
                     path);
}

/* Reads the length of the header's text and the text. */
static gdnn_status read_text(FILE *file, const char *path, int length_bytes,
                             gdnn_npy_header *header)
{
    unsigned char bytes[4] = {0};
    gdnn_status status = read_bytes(file, path, bytes, (size_t)length_bytes);

    if (status != GDNN_OK)
        return status;
    const uint32_t length =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    if (length > HEADER_MAX)
        return gdnn_fail(GDNN_INVALID,
                         "%s: its header of %" PRIu32 " bytes is longer than %d; save a plain "
                         "array with numpy.save",
                         path, length, HEADER_MAX);

    char *text = malloc(length + 1);
    if (text == NULL)
        return gdnn_fail(GDNN_FAILED, "%s: no memory for its header", path);
    status = read_bytes(file, path, text, length);
    if (status == GDNN_OK)
        status = gdnn_npy_header_parse(path, text, length, header);
    free(text);
    return status;
}

/* Reads everything before the elements. */
static gdnn_status read_header(FILE *file, const char *path, gdnn_npy_header *header)
{
    unsigned char start[8];
    const gdnn_status status = read_bytes(file, path, start, sizeof start);

    if (status != GDNN_OK)
        return status;
    if (memcmp(start, MAGIC, sizeof MAGIC) != 0)
        return gdnn_fail(GDNN_INVALID, "%s: not a .npy file; write one with numpy.save", path);
    const int major = start[6], minor = start[7];
    if (major < 1 || major > 3 || minor != 0)
        return gdnn_fail(GDNN_INVALID,
                         "%s: .npy format %d.%d is not known; save it with numpy.save, which "
                         "writes 1.0, 2.0 or 3.0",
                         path, major, minor);
    return read_text(file, path, major == 1 ? 2 : 4, header);
}

/* Reads `count` elements in the order in which the file has them. */
static gdnn_status read_elements(FILE *file, const char *path, const gdnn_npy_header *header,
                                 double *out, size_t count)
{
    unsigned char chunk[CHUNK];
    const size_t bytes = gdnn_dtype_size(header->type);

    while (count > 0) {
        const size_t now = count < CHUNK / bytes ? count : CHUNK / bytes;
        const gdnn_status status = read_bytes(file, path, chunk, now * bytes);
        if (status != GDNN_OK)
            return status;
        gdnn_decode(header->type, chunk, out, now);
        out += now;
        count -= now;
    }
    return GDNN_OK;
}

/* Copies elements that lie in Fortran order, first axis contiguous, into C order. */
static void from_fortran(const gdnn_npy_header *header, const double *in, double *out,
                         int64_t count)
{
    int64_t index[GDNN_NPY_DIMS] = {0};

    for (int64_t i = 0; i < count; i++) {
        int64_t offset = 0;
        for (int axis = header->dims - 1; axis >= 0; axis--)
            offset = offset * header->size[axis] + index[axis];
        out[i] = in[offset];
        for (int axis = header->dims - 1; axis >= 0; axis--) {
            if (++index[axis] < header->size[axis])
                break;
            index[axis] = 0;
        }
    }
}

static gdnn_status read_file(FILE *file, const char *path, int64_t file_size, gdnn_npy *npy)
{
    gdnn_npy_header header;
    int64_t count, bytes;
    gdnn_status status = read_header(file, path, &header);

    if (status != GDNN_OK)
        return status;
    const int64_t rest = file_size - (int64_t)ftello(file);
    if (!count_elements(header.dims, header.size, &count) ||
        __builtin_mul_overflow(count, (int64_t)gdnn_dtype_size(header.type), &bytes))
        return gdnn_fail(GDNN_INVALID,
                         "%s: the shape in its header is too large for any file; write the file "
                         "again with numpy.save",
                         path);
    if (bytes != rest)
        return gdnn_fail(GDNN_INVALID,
                         "%s: its shape and type need %" PRId64 " bytes behind the header, but it "
                         "has %" PRId64 "; write the file again with numpy.save",
                         path, bytes, rest);

    const size_t memory = (size_t)(count > 0 ? count : 1) * sizeof(double);
    double *data = malloc(memory);
    double *c_order = header.fortran ? malloc(memory) : data;
    if (data == NULL || c_order == NULL)
        status = gdnn_fail(GDNN_FAILED, "%s: no memory for its %" PRId64 " elements", path, count);
    else
        status = read_elements(file, path, &header, data, (size_t)count);
    if (status == GDNN_OK && header.fortran)
        from_fortran(&header, data, c_order, count);
    if (header.fortran)
        free(data);
    if (status != GDNN_OK) {
        free(c_order);
        return status;
    }
    *npy = (gdnn_npy){.dims = header.dims, .type = header.type, .data = c_order};
    memcpy(npy->size, header.size, sizeof header.size);
    return GDNN_OK;
}

gdnn_status gdnn_npy_read(const char *path, gdnn_npy *npy)
{
    struct stat facts;
    FILE *file = NULL;
    gdnn_status status;

    *npy = (gdnn_npy){0};
    /* O_NONBLOCK: opening a pipe must not wait for somebody to write to it. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return gdnn_fail(GDNN_INVALID, "%s: cannot be opened: %s; check the name", path,
                         strerror(errno));
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        file = fdopen(fd, "rb");
    if (file == NULL) {
        close(fd);
        return gdnn_fail(GDNN_INVALID, "%s: not a regular file; give the name of a .npy file",
                         path);
    }
    status = read_file(file, path, (int64_t)facts.st_size, npy);
    fclose(file);
    return status;
}

static bool write_header(FILE *file, const char *text, size_t length)
{
    const unsigned char version_and_length[4] = {1, 0, (unsigned char)(length & 0xff),
                                                 (unsigned char)(length >> 8)};

    return fwrite(MAGIC, sizeof MAGIC, 1, file) == 1 &&
           fwrite(version_and_length, sizeof version_and_length, 1, file) == 1 &&
           fwrite(text, length, 1, file) == 1;
}

static bool write_elements(FILE *file, gdnn_dtype type, const double *in, size_t count)
{
    unsigned char chunk[CHUNK];
    const size_t bytes = gdnn_dtype_size(type);

    while (count > 0) {
        const size_t now = count < CHUNK / bytes ? count : CHUNK / bytes;
        gdnn_encode(type, in, chunk, now);
        if (fwrite(chunk, bytes, now, file) != now)
            return false;
        in += now;
        count -= now;
    }
    return true;
}

gdnn_status gdnn_npy_write(const char *path, const gdnn_npy *npy)
{
    char text[GDNN_NPY_HEADER_TEXT];
    int64_t count;

    if (npy->dims < 0 || npy->dims > GDNN_NPY_DIMS)
        return gdnn_fail(GDNN_INVALID, "%s: %d axes cannot be written; give 0 to %d", path,
                         npy->dims, GDNN_NPY_DIMS);
    for (int i = 0; i < npy->dims; i++) {
        if (npy->size[i] < 0)
            return gdnn_fail(GDNN_INVALID, "%s: size %" PRId64 " of axis %d is negative", path,
                             npy->size[i], i);
    }
    if (!count_elements(npy->dims, npy->size, &count))
        return gdnn_fail(GDNN_INVALID, "%s: too many elements for any file", path);
    const size_t length = gdnn_npy_header_format(npy->type, npy->dims, npy->size, text);
    if (length == 0)
        return gdnn_fail(GDNN_INVALID, "%s: %d is no element type", path, (int)npy->type);

    FILE *file = fopen(path, "wbe");
    if (file == NULL)
        return gdnn_fail(GDNN_FAILED, "%s: cannot be created: %s; check the folder", path,
                         strerror(errno));
    const bool written = write_header(file, text, length) &&
                         write_elements(file, npy->type, npy->data, (size_t)count);
    if (fclose(file) != 0 || !written)
        return gdnn_fail(GDNN_FAILED, "%s: cannot be written: %s; check the space on the disk",
                         path, strerror(errno));
    return GDNN_OK;
}
