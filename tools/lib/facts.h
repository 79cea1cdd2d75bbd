/* The facts of a GPU as a user names them: a known model, the GPU here, or a file. */
#ifndef FACTS_H
#define FACTS_H

#include "groupdnn.h"

/* `name` is a model that gdnn_device_known knows, "gpu" for the one of this machine, or a file of
 * lines `key=value` with the fields of gdnn_device; `#` begins a comment. A file must say sm,
 * multiprocessors and shared_bytes; what else it leaves out is not known.
 * GDNN_INVALID: none of these, or the file is wrong; gdnn_last_error names file and line.
 * GDNN_UNSUPPORTED: no GPU here. */
gdnn_status facts_read(const char *name, gdnn_device *device);

#endif
