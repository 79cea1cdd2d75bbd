/* Making a problem small enough for a machine without a GPU, or for a float64 reference on a CPU.
 *
 * Only N, the number of groups and the spatial sizes shrink; channels per group, filter, stride,
 * dilation and padding stay, and so do the remainders that kernels see: N and groups modulo the
 * kernels' tiles, spatial sizes of x modulo tile times stride, which keeps those of y as well. A
 * spatial size stays at least one filter extent, so that there are pixels that no padding touches,
 * and a grouped problem keeps two groups. What these rules do not allow to shrink is left larger.
 *
 * The limit on multiply-adds also keeps backward-filter cheap, which has several threads a weight:
 * a problem with many weights is left few pixels. */
#ifndef SCALE_H
#define SCALE_H

#include "groupdnn.h"
#include <stdbool.h>

/* Multiply-adds to aim at. Tensors are held to an eighth as many elements. */
#define SCALE_EMULATED 2e6  /* a few hundredths of a second on the emulated device */
#define SCALE_GPU      64e6 /* about a second in the float64 reference */
#define SCALE_COUNTED                                                                              \
    32e6 /* a second or two, and a gigabyte, on the emulated device that counts: most layers keep
                             * their planes and channels, on which the counts depend */

/* Shrinks `conv`, which passed gdnn_check, towards `macs` multiply-adds; true if it changed. A
 * problem whose strides are those of no layout is left as it is. */
bool scale_problem(gdnn_conv *conv, double macs);

#endif
