/* The places where the real library was looked for in vain, as the sentence that is shown. */
#ifndef GDNN_TRIED_H
#define GDNN_TRIED_H

#include <stddef.h>

/* A line of the log holds this and a path. */
enum { GDNN_TRIED_SIZE = 1800 };

/* Begins as zeros. What does not fit is cut. */
typedef struct gdnn_tried {
    char text[GDNN_TRIED_SIZE];
    size_t used;
} gdnn_tried;

/* Adds a place, and what is wrong with the file there: a text that continues "this file ...". */
void gdnn_tried_add(gdnn_tried *tried, const char *path, const char *origin, const char *why);

/* Makes it the message that there is no real library, and what to do. */
void gdnn_tried_none(gdnn_tried *tried);

#endif
