/* One line of output per call: number, function, what is odd about it, status, values, texts. */
#ifndef GDNN_CLIENT_REPORT_H
#define GDNN_CLIENT_REPORT_H

#include "cudnn_client.h"

/* Makes the call, and begins its line: CALL("c is negative", cudnnSetTensor4dDescriptor(...)). */
#define CALL(what, call) report(#call, what, call)

/* `call` is the text of the call; its name alone is printed. Asks for the last error's text at
 * once. Returns `status`. */
cudnnStatus_t report(const char *call, const char *what, cudnnStatus_t status);

/* Adds values to the line. */
void show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void show_ints(const char *name, const int *values, int count);

/* A line of its own, about the calls before it. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the last line, and returns how many calls were reported. */
int report_end(void);

#endif
