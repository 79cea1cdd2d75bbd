#include "enums.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ENUMS (GDNN_ENUM_act + 1)

static const struct {
    gdnn_enum which;
    int value;
    const char *word;
} entries[] = {
#define GDNN_ENUM(enumeration, constant, word) {GDNN_ENUM_##enumeration, constant, word},
#include "enums.def"
#undef GDNN_ENUM
};
#define ENTRIES (sizeof entries / sizeof *entries)

const char *gdnn_enum_word(gdnn_enum which, int value)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].which == which && entries[i].value == value)
            return entries[i].word;
    return NULL;
}

bool gdnn_enum_value(gdnn_enum which, const char *word, size_t length, int *value)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].which == which && strlen(entries[i].word) == length &&
            !memcmp(entries[i].word, word, length)) {
            *value = entries[i].value;
            return true;
        }
    return false;
}

static char words[ENUMS][64];
static pthread_once_t words_once = PTHREAD_ONCE_INIT;

static void join_words(void)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        char *list = words[entries[i].which];
        size_t used = strlen(list);
        snprintf(list + used, sizeof *words - used, "%s%s", used ? ", " : "", entries[i].word);
    }
}

const char *gdnn_enum_words(gdnn_enum which)
{
    pthread_once(&words_once, join_words);
    return words[which];
}
