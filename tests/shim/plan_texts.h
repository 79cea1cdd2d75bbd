/* Texts of plans that cuDNN gave, from plan_texts.txt, and changes to them. */
#ifndef GDNN_TESTS_PLAN_TEXTS_H
#define GDNN_TESTS_PLAN_TEXTS_H

#include "graph_problem.h"
#include <stddef.h>

enum { PLAN_TEXTS = 13 };

typedef struct plan_text {
    char *what;
    gdnn_graph_problem problem;
    char *text;
} plan_text;

extern plan_text plan_texts[PLAN_TEXTS];

/* Reads the file; the process ends if it is not as expected. */
void plan_texts_load(const char *path);
void plan_texts_free(void);

/* The text whose description begins so. */
const char *plan_text_of(const char *what);

/* A copy of `text` with each `from` made `to`, to be freed. Fails if there is no `from`. */
char *plan_text_replace(const char *text, const char *from, const char *to);

/* Reads a text from a copy of exactly that length: NO_PLAN, or a gdnn_reason. */
enum { NO_PLAN = -1 };
int plan_text_read(const char *text, size_t length, gdnn_graph_problem *problem);

#endif
