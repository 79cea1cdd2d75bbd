/* A line on standard error that says how far the work is, where that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

/* Shows "done/all  what" in place of what was shown before. */
void progress_show(int done, int all, const char *what);

/* Takes the line away, before anything else is printed. */
void progress_clear(void);

#endif
