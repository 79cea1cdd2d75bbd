/* Files that lines are appended to, one write a line: the log and the trace. Lines of threads and
 * processes do not mix, and what was appended stays when the process dies. */
#ifndef GDNN_APPEND_H
#define GDNN_APPEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Static storage only: GDNN_APPEND_CLOSED, then the owner's pthread_once(&file.once, ...) with a function that calls
 * gdnn_append_open. A forked child begins anew: `%p` is its own number, and fork copies the descriptors before the
 * memory, so that a descriptor that another thread opened in between is known to the child but not open in it. */
typedef struct gdnn_append_file {
    pthread_once_t once;
    int fd; /* -1: closed */
    dev_t device;
    ino_t inode;
    struct gdnn_append_file *next; /* of all that were ever opened */
    bool listed;
    atomic_bool lost; /* a line could not be written */
} gdnn_append_file;

#define GDNN_APPEND_CLOSED                                                                         \
    {                                                                                              \
        .once = PTHREAD_ONCE_INIT, .fd = -1                                                        \
    }

/* Longest path with %p replaced. */
enum { GDNN_APPEND_PATH = 576 };

/* Opens, or makes, the file at `path`, in which %p stands for the process id. False: errno says why, ENXIO for a named
 * pipe that nobody reads. `shown` gets the path for messages. */
bool gdnn_append_open(gdnn_append_file *file, const char *path, char shown[GDNN_APPEND_PATH]);

/* True if the file is open. False also where the program closed our descriptor, daemons close all,
 * and may have got its number for a file of its own. */
bool gdnn_append_ready(const gdnn_append_file *file);

/* Writes `length` bytes with one write. Neither a closed pipe nor a limit on file sizes raises a
 * signal: what cannot be written is lost. Changes errno; false: errno says why not all was written. */
bool gdnn_append_write(int fd, const char *line, size_t length);

/* Writes a line to the file if it is open, as gdnn_append_write. True the first time that one is lost for another
 * reason than that the file is not open: errno says why. */
bool gdnn_append_loses(gdnn_append_file *file, const char *line, size_t length);

#endif
