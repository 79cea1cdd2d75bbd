/* The few functions of cuDNN that these programs are linked with. */
#ifndef CLIENT_API_H
#define CLIENT_API_H

#include <stddef.h>

size_t cudnnGetVersion(void);
const char *cudnnGetErrorString(int status);
int cudnnCreateTensorDescriptor(void **descriptor);
int cudnnDestroyTensorDescriptor(void *descriptor);

#endif
