/* A tensor's values in logical order, and the same as its bytes lie in a device's memory. */
#ifndef TENSOR_H
#define TENSOR_H

#include "groupdnn.h"
#include <stdbool.h>
#include <stddef.h>

/* The tensors of a problem. Which of the first three is written, the direction says. */
typedef enum tensor_name {
    TENSOR_X,
    TENSOR_W,
    TENSOR_Y,
    TENSOR_Z,
    TENSOR_BIAS,
    TENSORS
} tensor_name;

typedef struct tensor {
    gdnn_dtype dtype;
    int dims;
    int64_t size[GDNN_MAX_DIMS];
    int64_t stride[GDNN_MAX_DIMS]; /* in elements, at least 0 */
} tensor;

/* The name under which people know the tensor in this direction: "x" or "dx", "w" or "dw", "y" or
 * "dy", "z", "bias". */
const char *tensor_label(gdnn_dir dir, tensor_name name);

/* True if the problem reads or writes the tensor. */
bool tensor_used(const gdnn_conv *conv, tensor_name name);

/* The tensor's place in memory, as the problem, which passed gdnn_check, has it. */
tensor tensor_of(const gdnn_conv *conv, tensor_name name);

/* Elements, and bytes from the first to the last of them, gaps included. */
int64_t tensor_elements(const tensor *t);
size_t tensor_bytes(const tensor *t);

/* Puts `values`, rounded to the tensor's type, in their places in `image` of tensor_bytes bytes. */
void tensor_scatter(const tensor *t, const double *values, void *image);

/* Takes the values out of `image`. */
void tensor_gather(const tensor *t, const void *image, double *values);

/* Overwrites the elements in `image` with bytes 0xff and leaves the gaps. */
void tensor_erase(const tensor *t, void *image);

#endif
