/* The few functions of the CUDA runtime that cudnn-frontend calls, on the driver: NVIDIA's runtime does not take a double
 * of that. A library of its own, since cudnn-frontend looks for one. */
#ifndef GDNN_CLIENT_CUDART_H
#define GDNN_CLIENT_CUDART_H

/* The library's file; for the environment variable CUDNN_FRONTEND_CUDART_LIB_NAME. */
const char *cudart_path(void);

#endif
