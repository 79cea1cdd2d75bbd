/* The word that a mistyped one may have meant. */
#ifndef SUGGEST_H
#define SUGGEST_H

/* The nearest of `count` words, or one that begins with `word`; NULL if there is none. */
const char *suggest(const char *word, const char *const *words, int count);

#endif
