#include "suggest.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein's distance: insertions, deletions and replacements from one word to the other. */
static int distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    int row[LONGEST + 1];
    for (size_t j = 0; j <= n; j++)
        row[j] = (int)j;
    for (size_t i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

/* True if `whole` begins with `word`, which is long enough to mean it. */
static bool begins(const char *word, const char *whole)
{
    size_t length = strlen(word);
    return length >= 3 && strncmp(word, whole, length) == 0;
}

const char *suggest(const char *word, const char *const *words, int count)
{
    const char *best = NULL;
    int nearest = (int)strlen(word) / 3 + 2; /* about every third letter may be wrong */
    if (strlen(word) > LONGEST)
        return NULL;
    for (int i = 0; i < count; i++) {
        if (strlen(words[i]) > LONGEST)
            continue;
        int d = begins(word, words[i]) ? 1 : distance(word, words[i]);
        if (d < nearest) {
            nearest = d;
            best = words[i];
        }
    }
    return best;
}
