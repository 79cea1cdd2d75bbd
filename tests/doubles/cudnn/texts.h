/* Statuses as text, and the text of the last error. */
#ifndef GDNN_CUDNN_DOUBLE_TEXTS_H
#define GDNN_CUDNN_DOUBLE_TEXTS_H

#include <stddef.h>

/* Name of a status; static. */
const char *text_of(int status);

/* The last error of this thread: set, and taken away cut to `size`. */
void keep_text(const char *text);
void take_text(char *text, size_t size);

#endif
