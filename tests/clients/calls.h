/* The groups of calls that the client makes. */
#ifndef GDNN_CLIENT_CALLS_H
#define GDNN_CLIENT_CALLS_H

/* Without a device. */
void call_library(void);
void call_tensors(void);
void call_filters(void);
void call_convolutions(void);
void call_outputs(void);
void call_activations(void);
void call_without_handle(void);

/* With one. */
void call_handles(void);
void call_algorithms(void);
void call_right(void);
void call_fused(void);
void call_bias(void);
void call_wrong(void);

#endif
