/* Log lines, as GROUPDNN_LOG asks: "groupdnn: ..." on standard error, or "groupdnn[pid]: ..." at the
 * end of a file. Allocates nothing, keeps errno; one write per line, so lines of threads and
 * processes do not mix; very long lines are cut. A file that cannot be opened is reported on standard
 * error once, and nothing is logged. A forked child opens the file anew. */
#ifndef GDNN_LOG_H
#define GDNN_LOG_H

#include "groupdnn.h"
#include "options.h"

/* True if lines of `level` are wanted. */
bool gdnn_log_wants(gdnn_log_level level);

void gdnn_log(gdnn_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "WHAT: DETAIL: PROBLEM", with the problem as text. */
void gdnn_log_conv(gdnn_log_level level, const gdnn_conv *conv, const char *what,
                   const char *detail);

/* A line where log lines go, whatever the level: for what another option asked to be told. */
void gdnn_log_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line on standard error whatever the options say, for what is wrong with the options. */
void gdnn_log_stderr(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
