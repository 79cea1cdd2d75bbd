/* The heuristics' lists of configurations, and which of them are ours. A list begins with a copy of cuDNN's first
 * configuration that is ours; further on, each configuration that is the first to pass some filter on numerical notes
 * is ours too, and its copy, cuDNN's own, stands at the end. All of cuDNN's stay, in their order: a program that tries
 * or times them all finds both, one that rejects ours finds cuDNN's first, and each filter has a first survivor of ours.
 *
 * Rule: a configuration is ours if groupdnn takes its graph with an engine of its notes, and no earlier one of the list
 * has a subset of its notes.
 *
 * How cuDNN fills lists (measured with 9.19): a request for fewer than there are gives the first of them. It fills one
 * after the other, and stops, with success, at one that it cannot fill: NULL, of another type, finalised or filled
 * before. One that was set but not finalised can be filled. Reading a list takes milliseconds each time: it is read
 * once. */
#ifndef GDNN_GRAPH_LIST_H
#define GDNN_GRAPH_LIST_H

#include "graph_config.h"
#include <pthread.h>

/* Whose list it is. `context` is the caller's. */
typedef struct gdnn_graph_chooser {
    void *context;
    /* Whether groupdnn takes the graph over with an engine that has these notes (gdnn_graph_config.notes). Asked some
     * times for each list, also about notes that no engine of it has. */
    bool (*takes)(void *context, unsigned notes);
} gdnn_graph_chooser;

/* What a program is told to have room for where cuDNN says `most`. */
int64_t gdnn_graph_list_most(int64_t most);

/* Answers the program's cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, BACKEND_DESCRIPTOR,
 * requested, count, configs) with requested >= 1; `count` may be NULL. Every configuration that is in the list then is
 * told of, in its order: filled(context, config, ours). With `changes` false, or room for one, the list is cuDNN's own,
 * and ours are those of cuDNN's that the rule names; nothing is put in front either where cuDNN's first is not taken.
 * Copies that cannot be made are left out. Returns cuDNN's status; where that is no success nothing was told. */
cudnnStatus_t gdnn_graph_list_get(cudnnBackendDescriptor_t heuristics, int64_t requested,
                                  int64_t *count, cudnnBackendDescriptor_t *configs, bool changes,
                                  const gdnn_graph_chooser *chooser,
                                  void (*filled)(void *context, cudnnBackendDescriptor_t config,
                                                 bool ours));

/* The lists of one graph, read when a configuration is looked for that came from none. */
typedef struct gdnn_graph_lists {
    pthread_mutex_t lock;
    struct gdnn_graph_known *list[3]; /* of the modes B, A, FALLBACK; NULL: not read yet */
} gdnn_graph_lists;

void gdnn_graph_lists_begin(gdnn_graph_lists *lists);
void gdnn_graph_lists_end(gdnn_graph_lists *lists);

/* Whether a plan of `config`, which the program made itself from an engine's number and knobs, or from a plan's text, is
 * ours: if it would be in the first of the lists B, A and FALLBACK that holds one with its engine and knobs. Any thread;
 * where another one is reading the same lists they are read again, as in a child that was forked meanwhile. */
bool gdnn_graph_lists_choose(gdnn_graph_lists *lists, cudnnBackendDescriptor_t config,
                             const gdnn_graph_chooser *chooser);

#endif
