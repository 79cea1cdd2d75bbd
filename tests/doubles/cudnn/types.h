/* What cuDNN's data types are. */
#ifndef GDNN_CUDNN_DOUBLE_TYPES_H
#define GDNN_CUDNN_DOUBLE_TYPES_H

/* Bytes of an element, a vector's all together; 0 if there can be no tensor of the type. */
int type_size(int type);
/* Channels in an element: 4 or 32 for vectors, else 1. */
int type_vector(int type);

#endif
