/* Configurations of engines: what tells one from another of the same graph, and copies of them. Everything is asked of
 * the real library. */
#ifndef GDNN_GRAPH_CONFIG_H
#define GDNN_GRAPH_CONFIG_H

#include "graph_types.h"
#include <stdbool.h>
#include <stdint.h>

enum { GDNN_GRAPH_KNOBS = 64 }; /* fewer than that are read; cuDNN 9 has 44 types */

typedef struct gdnn_graph_knob {
    int type;
    int64_t value;
} gdnn_graph_knob;

typedef struct gdnn_graph_config {
    int64_t engine; /* number of the engine in its graph */
    int knobs;
    gdnn_graph_knob knob[GDNN_GRAPH_KNOBS]; /* by type */
    unsigned
        notes; /* a bit for each numerical note, 1 << number; without STRICT_NAN_PROP, which no filter asks for */
} gdnn_graph_config;

/* Reads a finalised configuration, or one that cuDNN filled. False: cuDNN does not tell all of it. */
bool gdnn_graph_config_read(cudnnBackendDescriptor_t config, gdnn_graph_config *facts);

/* The numerical notes alone: a few microseconds less. False: cuDNN does not tell. */
bool gdnn_graph_config_notes(cudnnBackendDescriptor_t config, unsigned *notes);

/* Whether they have the same knobs; both by type. */
bool gdnn_graph_knobs_same(const gdnn_graph_knob *a, int knobs_a, const gdnn_graph_knob *b,
                           int knobs_b);

/* Whether they have the same engine and knobs. */
bool gdnn_graph_config_same(const gdnn_graph_config *a, const gdnn_graph_config *b);

/* Makes `copy`, a descriptor that is not finalised, the same configuration as `config`, and finalises it. What that
 * makes is first tried on another descriptor, read back and compared. False: it is not the same, and not finalised
 * either: cuDNN still accepts it to be set or filled. */
bool gdnn_graph_config_clone(cudnnBackendDescriptor_t config, cudnnBackendDescriptor_t copy);

/* The descriptor of `type` that the attribute `name` of `from` is; to be destroyed with the real library's function.
 * NULL: cuDNN does not tell. `from` may be NULL. */
cudnnBackendDescriptor_t gdnn_graph_part(cudnnBackendDescriptor_t from,
                                         cudnnBackendAttributeName_t name,
                                         cudnnBackendDescriptorType_t type);

/* Drops the text that cuDNN keeps of the last error, where that was no call of the program. */
void gdnn_graph_drop_text(void);

/* Destroys with the real library's function. NULL: nothing happens. */
void gdnn_graph_part_drop(cudnnBackendDescriptor_t part);

#endif
