/* The text of a plan, as cuDNN 9 writes it. */
#ifndef GDNN_FUZZ_TEXTS_H
#define GDNN_FUZZ_TEXTS_H

#include "library.h"
#include <stddef.h>

enum { TEXT_MOST = 16384 };

/* Writes the text of a plan that has a configuration, and returns its length; 0: the library has no
 * words for it, or there is no room. */
size_t text_of_plan(const library_object *plan, char text[TEXT_MOST]);

#endif
