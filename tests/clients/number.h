/* Elements of the data types: made at random, read as float64, and how exact they are. */
#ifndef GDNN_CLIENT_NUMBER_H
#define GDNN_CLIENT_NUMBER_H

#include "cudnn_client.h"

/* Bytes of an element of FLOAT, DOUBLE, HALF or BFLOAT16. */
size_t number_size(cudnnDataType_t type);

/* An element between 0.125 and 2 or their negatives, exact in the type. The same ones in every
 * run. */
void number_random(cudnnDataType_t type, void *element);
/* Begins the sequence of random elements anew. */
void number_seed(unsigned seed);

double number_read(cudnnDataType_t type, const void *element);
/* Puts infinity, negative or not. */
void number_infinite(cudnnDataType_t type, void *element, int negative);

/* Half of the distance between neighbours around `value`: what rounding once can do. */
double number_half_step(cudnnDataType_t type, double value);

#endif
