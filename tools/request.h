/* What the command lines of `compare` and `bench` come to: the same options, and the rows to run. */
#ifndef REQUEST_H
#define REQUEST_H

#include "flags.h"
#include "given.h"
#include "options.h"
#include "session.h"

typedef struct request {
    const command *face; /* for messages */
    session_choice device;
    gdnn_options options;
    jobs_choice choice, asked;
    unsigned long long seed, workspace;
    given given;
    bool own;    /* the tensors are the user's */
    bool scales; /* large problems are made smaller */
    bool device_reference;
    const char *dump, *json_path;
    jobs jobs;
} request;

/* The options of both commands, for their `command`. */
extern const flag request_flags[];
extern const int request_flag_count;

/* Reads a command line, with `workspace` bytes on offer if it does not say, and makes the folder of --dump.
 * -1: go on; else the exit status. To be given to request_free whatever comes back. */
int request_read(request *q, const command *face, unsigned long long workspace, int argc,
                 char **argv);

void request_free(request *q);

#endif
