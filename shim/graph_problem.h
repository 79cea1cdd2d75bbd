/* Operation graphs as problems. A pure function of its argument: no cuDNN, no CUDA. */
#ifndef GDNN_GRAPH_PROBLEM_H
#define GDNN_GRAPH_PROBLEM_H

#include "decide.h"
#include "graph_values.h"

/* A problem, and which tensor of a variant pack plays which role. */
typedef struct gdnn_graph_problem {
    gdnn_conv conv;           /* every byte is set; need not pass gdnn_check */
    int64_t x, w, y, z, bias; /* unique ids; z and bias are 0 where conv.z, conv.bias are 0 */
} gdnn_graph_problem;

/* Reads `graph` as one convolution:
 *
 *   forward, backward-data or backward-filter alone; or
 *   forward, then in this order any of: add of a tensor z with y's sizes, add of a bias (1, K, 1...), relu.
 *
 * Operations may be listed in any order: unique ids tell what flows where, and must differ. All tensors between
 * operations are virtual, and each is used once. They may have the type of the data or of our sums (f32, f64
 * for f64 data): we round neither, so results are at least as exact. Arithmetic must be in the type of our
 * sums.
 *
 * Either operand of an add may be the virtual one. Its factor goes to alpha, and alpha2, where that is 1:
 * another product might not be exact. The factor of z is alpha2, that of a bias must be 1. An add that could be
 * of z or of a bias, y having K elements, is z's. Prior contents (beta) are added only to what a convolution
 * alone writes.
 *
 * Groups: tensors have batch, channels and spatial axes, and groups = C of x / C of w; or all of them have one
 * axis more which counts the groups: x (N, G, C/G, ...), w (G, K/G, C/G, ...), y (N, G, K/G, ...), bias (1, G,
 * K/G, 1...). Both lead to the same problem if the group axis steps over whole groups of channels; else FORMAT.
 * (cuDNN wants one spelling for all tensors of an operation; here each may have its own.)
 *
 * Strides of axes of size 1 address nothing and are set by convention only: a problem that is packed in a
 * layout gets those of gdnn_conv_set_layout, another gets 1. So graphs that differ in nothing else are the same
 * problem.
 *
 * conv.math is TF32 for f32 data: no descriptor tells whether a program permits it. The caller lowers it where
 * the engine has no tensor-core note, or the process forbids TF32.
 *
 * GDNN_REASON_TAKEN: read; `problem` is filled. Else why it is no problem of ours, and `problem` is undefined.
 * Where several hold, unknown things come first (GRAPH), and that there is one group comes before all that is
 * said about types:
 *   NOT_GROUPED  one group
 *   TYPE         types that our kernels have not, or mixed ones, of tensors, sums or arithmetic
 *   FORMAT       vectorised or reordered tensors, other than 1 to 3 spatial axes, tensors by value, a group axis
 *                that does not step over whole groups, a bias that is not packed
 *   ACTIVATION   a pointwise operation other than add and plain relu
 *   GRAPH        operations that are not of the form above, or something unknown was said about them
 *   INVALID      sizes contradict each other, or are out of range */
gdnn_reason gdnn_graph_problem_read(const gdnn_graph *graph, gdnn_graph_problem *problem);

/* As gdnn_graph_problem_read, but one group is as good as any other number. */
gdnn_reason gdnn_graph_problem_any(const gdnn_graph *graph, gdnn_graph_problem *problem);

#endif
