/* Work that may crash, hang or change the process, done in a child. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* Runs `work(context, answer, size)` in a child, whose standard streams are silent, and brings the text
 * that it put into `answer` back. False: it crashed, took longer than a minute, or there was no child;
 * `answer` says which. */
bool child_ask(void (*work)(void *context, char *answer, size_t size), void *context, char *answer,
               size_t size);

#endif
