/* The real cuDNN: found, checked, opened. */
#ifndef GDNN_REAL_H
#define GDNN_REAL_H

#include <stddef.h>

typedef struct gdnn_real_library {
    void *handle;
    const char *path;   /* absolute */
    const char *origin; /* where from: an origin of gdnn_search, static */
    size_t version;     /* of cudnnGetVersion, 91900 */
} gdnn_real_library;

/* The library, opened at the first call and never closed. NULL: there is none that can be used; said
 * once on standard error, with every place that was tried and what was wrong with each. Any thread,
 * and never a lock: threads that come at once each look, and all get what the first one found, which
 * is kept. Keeps errno.
 *
 * A call from within the opening, from a constructor of the real library, gets NULL and nothing is
 * kept; so does one for which there is not even memory to look. gdnn_real_failure is "" then. */
const gdnn_real_library *gdnn_real_open(void);

/* Why there is no library: the sentence that was shown; "" if there is one or nobody has looked. */
const char *gdnn_real_failure(void);

#endif
