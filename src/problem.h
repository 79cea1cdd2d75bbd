/* What follows from a problem: sizes, counts, strides. Everything here expects a problem that
 * passed gdnn_check unless it says otherwise, and then cannot overflow. */
#ifndef GDNN_PROBLEM_H
#define GDNN_PROBLEM_H

#include "groupdnn.h"
#include <stdbool.h>
#include <stddef.h>

/* The three tensors by role, whatever the direction. */
typedef enum gdnn_role { GDNN_ROLE_X, GDNN_ROLE_W, GDNN_ROLE_Y } gdnn_role;

/* Bytes of one element. */
size_t gdnn_dtype_size(gdnn_dtype dtype);

/* Role of the tensor that the direction writes. */
gdnn_role gdnn_written(gdnn_dir dir);

/* Output size along one spatial axis; below 1 means that there is no output. Any problem. */
int64_t gdnn_out_size(const gdnn_conv *conv, int axis);

/* Number of axes of every tensor: spatial + 2. */
int gdnn_dims(const gdnn_conv *conv);

/* Sizes of a tensor in logical order: N, C, in...; K, C/groups, filter...; N, K, out... */
void gdnn_sizes(const gdnn_conv *conv, gdnn_role role, int64_t size[GDNN_MAX_DIMS]);

/* Strides of a tensor, in elements, in the same order. */
const int64_t *gdnn_strides(const gdnn_conv *conv, gdnn_role role);

/* Packed strides for these sizes. Any sizes: the strides wrap where they do not fit. */
void gdnn_packed(int dims, const int64_t *size, gdnn_layout layout, int64_t *stride);

/* True if every axis longer than 1 has its packed stride; axes of size 1 may have any. */
bool gdnn_is_packed(int dims, const int64_t *size, const int64_t *stride, gdnn_layout layout);

/* True if x, w, y (and z) are all packed in `layout`. */
bool gdnn_packed_as(const gdnn_conv *conv, gdnn_layout layout);

/* The layout in which x, w, y (and z) are all packed; false if there is none. Where both fit: NCHW. */
bool gdnn_common_layout(const gdnn_conv *conv, gdnn_layout *layout);

/* True if two elements may share memory: unless each stride steps over everything that the axes with smaller strides
 * span. Axes of size 1 may have any stride. A few interleaved layouts that do not overlap are called overlapping. */
bool gdnn_may_overlap(int dims, const int64_t *size, const int64_t *stride);

/* Elements of a tensor (logical), and elements that its memory spans, gaps included. */
int64_t gdnn_elements(const gdnn_conv *conv, gdnn_role role);
int64_t gdnn_span(const gdnn_conv *conv, gdnn_role role);

/* Channels of x and of y in one group. */
int64_t gdnn_cpg(const gdnn_conv *conv);
int64_t gdnn_kpg(const gdnn_conv *conv);

/* True if nothing but the convolution itself is asked for: alpha is 1, and there is no beta, bias, z or activation. */
bool gdnn_is_plain(const gdnn_conv *conv);

/* Taps of the filter, products of sizes, and multiply-adds of one call counting padding taps, as a
 * double: it can exceed 64 bits. */
int64_t gdnn_taps(const gdnn_conv *conv);
double gdnn_macs(const gdnn_conv *conv);

/* Bytes that must move at least: x, w and y once each. */
double gdnn_bytes(const gdnn_conv *conv);

/* True if the two problems are equal in everything that decides and computes: strides of axes of size 1 are not
 * looked at, nor z's factor and strides where there is no z. */
bool gdnn_conv_equal(const gdnn_conv *a, const gdnn_conv *b);

#endif
