/* A program that asks the made-up cuDNN for lists, and lists to ask for. */
#ifndef GDNN_TESTS_LIST_PROGRAM_H
#define GDNN_TESTS_LIST_PROGRAM_H

#include "graph_list.h"
#include "list_library.h"

enum {
    TENSOR_CORE = 1 << 0,
    NONDETERMINISTIC = 1 << 4,
    STRICT_NAN = 1 << 9,
    NOTES = 10,
    ROOM = LIST_MOST + 10,
};

/* A program's chooser, and what it was told. */
typedef struct program {
    gdnn_graph_chooser chooser;
    unsigned refuses[4]; /* notes that are not taken */
    int refused;
    bool refuses_all;
    int told;
    cudnnBackendDescriptor_t config[ROOM];
    bool ours[ROOM];
} program;

/* A program whose chooser takes everything. Returns `p`. */
program *program_begin(program *p);

/* The functions that the library is handed; `context` is the program. */
bool program_takes(void *context, unsigned notes);
void program_filled(void *context, cudnnBackendDescriptor_t config, bool ours);

/* For each test; the last fails if descriptors are left, or a call was none that a program may make. */
int program_setup(void **state);
int program_nothing_is_left(void **state);

/* Adds a configuration of the engine, which has these notes; with knobs unless `value` is 0. */
void list_add(int mode, int engine, uint64_t notes, int64_t value);
/* Four filters, four first ones; behind each, one more of its kind. */
void list_add_four(int mode);
void list_add_random(int mode, uint64_t *random);

/* As a filter sees them. */
unsigned list_notes(const list_config *config);

/* The rule by what it is for: whether some filter on notes lets configuration `at` of a list through first, and it is
 * taken. All filters are tried. */
bool list_is_ours(const program *p, int mode, int at);

#endif
