/* A problem run with each element placed by itself, for what the ordinary trial cannot hold:
 * tensors that span more memory than there is, and tensors that share it. Only the elements are
 * written and read, so of a huge allocation only their pages exist. */
#ifndef SPARSE_H
#define SPARSE_H

#include "subject.h"

typedef struct sparse {
    gdnn_conv conv; /* what the kernel is told */
    /* A small problem with the same sums; its strides say where its elements stand. Equal to
     * `conv` unless sizes themselves are huge: then most elements are never touched. */
    gdnn_conv small;
    bool alias_z; /* z is y */
} sparse;

/* Runs the case, if the subject takes it, and compares with the reference. */
void sparse_try(subject *s, const sparse *c);

#endif
