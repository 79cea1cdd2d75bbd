#include "options.h"
#include "log.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

typedef enum kind {
    KIND_WORD,
    KIND_LOG,
    KIND_FLAG,
    KIND_PATH,
    KIND_FILE,
    KIND_LIST,
    KIND_TEXT
} kind;

typedef struct option {
    const char *variable;
    kind kind;
    const char *values, *fallback;
    size_t offset, size; /* of the field in gdnn_options */
} option;

static const option table[] = {
#define GDNN_OPTION(field, variable, kind, values, fallback, help)                                 \
    {variable,                                                                                     \
     KIND_##kind,                                                                                  \
     values,                                                                                       \
     fallback,                                                                                     \
     offsetof(gdnn_options, field),                                                                \
     sizeof(((gdnn_options *)0)->field)},
#include "options.def"
#undef GDNN_OPTION
};
#define OPTIONS (sizeof table / sizeof *table)

_Static_assert(sizeof(gdnn_run_mode) == sizeof(int) && sizeof(gdnn_log_level) == sizeof(int),
               "words are stored as int");

static const char blanks[] = " \t";

/* The setters below store `value` and return NULL, or leave the field and return what is wrong. */

/* Stores the place of the word among `a|b|c`: the enumerations in options.h have the same order. */
static const char *set_word(const char *values, const char *value, size_t length, int *field)
{
    int place = 0;
    for (const char *at = values; *at; place++) {
        size_t word = strcspn(at, "|");
        if (word == length && !memcmp(at, value, length)) {
            *field = place;
            return NULL;
        }
        at += word + (at[word] == '|');
    }
    return "not one of the accepted values";
}

static const char *set_text(const char *value, char *field, size_t size)
{
    if (strlen(value) >= size)
        return "too long";
    strcpy(field, value);
    return NULL;
}

static const char *set_log(const option *o, const char *value, gdnn_options *options)
{
    size_t level = strcspn(value, ":");
    const char *file = value[level] ? value + level + 1 : NULL;
    int word;
    const char *wrong = set_word(o->values, value, level, &word);
    if (wrong)
        return wrong;
    if (file && !*file)
        return "no file after the colon";
    if (file && (wrong = set_text(file, options->log_file, sizeof options->log_file)))
        return wrong;
    memcpy((char *)options + o->offset, &word, sizeof word);
    return NULL;
}

/* Words joined by commas; blanks around them are dropped. */
static const char *set_list(const char *value, char *field, size_t size)
{
    char list[sizeof((gdnn_options *)0)->disable];
    size_t used = 0;
    for (const char *at = value;; at++) {
        at += strspn(at, blanks);
        size_t word = strcspn(at, ", \t");
        const char *end = at + word + strspn(at + word, blanks);
        if (!word)
            return "an empty word in the list";
        if (*end && *end != ',')
            return "words must be joined by commas";
        if (used + (used > 0) + word >= sizeof list)
            return "too long";
        if (used)
            list[used++] = ',';
        memcpy(list + used, at, word);
        used += word;
        if (!*end)
            break;
        at = end;
    }
    list[used] = '\0';
    return set_text(list, field, size);
}

static const char *set_option(const option *o, const char *value, gdnn_options *options)
{
    char *field = (char *)options + o->offset;
    switch (o->kind) {
    case KIND_WORD: return set_word(o->values, value, strlen(value), (int *)(void *)field);
    case KIND_LOG: return set_log(o, value, options);
    case KIND_FLAG:
        return set_word("off|on", value, strlen(value), (int *)(void *)field)
                   ? set_word(o->values, value, strlen(value), (int *)(void *)field)
                   : NULL;
    case KIND_FILE: return set_text(value, field, o->size);
    case KIND_PATH: return *value == '/' ? set_text(value, field, o->size) : "not absolute";
    case KIND_LIST: return set_list(value, field, o->size);
    case KIND_TEXT:
        return strpbrk(value, ", \t\n") ? "not a single word" : set_text(value, field, o->size);
    }
    return NULL;
}

void gdnn_options_init(gdnn_options *options)
{
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < OPTIONS; i++)
        if (*table[i].fallback)
            set_option(&table[i], table[i].fallback, options);
}

/* What GROUPDNN_DISABLE may name beside the kernels; and the kernels, each behind a comma. */
static const char parts[] = "all,fwd,bwd_data,bwd_filter";
static const char kernels[] = ""
#define GDNN_KERNEL(file, name, code, direction, layouts, dtypes, epilogues, tile, when, grid)     \
    "," #name
#include "kernels.def"
#undef GDNN_KERNEL
    ;

static bool in_list(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at;) {
        size_t here = strcspn(at, ",");
        if (here == length && !memcmp(at, word, length))
            return true;
        at += here + (at[here] == ',');
    }
    return false;
}

/* What a listener is told is built here. */
enum { SHOWN = 100, WRONG = 1024 };

typedef struct listener {
    gdnn_option_report *report; /* may be NULL */
    void *context;
} listener;

static void tell(const listener *to, const char *variable, const char *value, const char *wrong,
                 const char *instead)
{
    char shown[SHOWN + sizeof "..."];
    snprintf(shown, sizeof shown, "%.*s%s", (int)SHOWN, value, strlen(value) > SHOWN ? "..." : "");
    gdnn_option_fault fault = {variable, shown, wrong, instead};
    if (to->report)
        to->report(&fault, to->context);
}

/* Names that mean nothing are told and kept: what they stand beside still counts, and a kernel that does not exist runs
 * nothing. */
static void check_names(const listener *to, const char *variable, const char *names,
                        const char *beside_kernels)
{
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, ",");
        if (!in_list(beside_kernels, at, length) && !in_list(kernels + 1, at, length)) {
            char wrong[WRONG];
            snprintf(wrong, sizeof wrong,
                     "there is no \"%.*s\"; the names are %s%s`groupdnn kernels` lists",
                     (int)(length < SHOWN ? length : SHOWN), at, beside_kernels,
                     *beside_kernels ? " and those that " : "those that ");
            tell(to, variable, names, wrong, NULL);
        }
        at += length + (at[length] == ',');
    }
}

void gdnn_options_read(gdnn_options *options,
                       const char *(*get)(const char *variable, void *context),
                       gdnn_option_report *report, void *context)
{
    listener to = {report, context};
    gdnn_options_init(options);
    for (size_t i = 0; i < OPTIONS; i++) {
        const option *o = &table[i];
        const char *value = get(o->variable, context);
        const char *fault = value && *value ? set_option(o, value, options) : NULL;
        if (!fault)
            continue;
        char wrong[WRONG], instead[64];
        snprintf(wrong, sizeof wrong, "%s; accepted: %s", fault, o->values);
        snprintf(instead, sizeof instead, "%s%s", *o->fallback ? "using " : "ignored", o->fallback);
        tell(&to, o->variable, value, wrong, instead);
    }
    check_names(&to, "GROUPDNN_DISABLE", options->disable, parts);
    check_names(&to, "GROUPDNN_KERNEL", options->kernel, "");
}

const char *gdnn_mode_word(gdnn_run_mode mode)
{
    switch (mode) {
    case GDNN_MODE_OFF: return "off";
    case GDNN_MODE_OBSERVE: return "observe";
    case GDNN_MODE_ON: return "on";
    case GDNN_MODE_FORCE: return "force";
    case GDNN_MODE_VERIFY: return "verify";
    }
    return "?";
}

bool gdnn_options_disables(const gdnn_options *options, const char *word)
{
    return in_list(options->disable, word, strlen(word));
}

static const char *from_environment(const char *variable, void *context)
{
    (void)context;
    return getenv(variable);
}

static void show(const gdnn_option_fault *fault, void *context)
{
    (void)context;
    gdnn_log_stderr("%s=%s: %s%s%s", fault->variable, fault->value, fault->wrong,
                    fault->instead ? "; " : "", fault->instead ? fault->instead : "");
}

static gdnn_options process_options;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static bool quiet;

static void read_process_options(void)
{
    if (getauxval(AT_SECURE))
        gdnn_options_init(&process_options);
    else
        gdnn_options_read(&process_options, from_environment, quiet ? NULL : show, NULL);
}

void gdnn_options_be_quiet(void)
{
    quiet = true;
}

const gdnn_options *gdnn_options_get(void)
{
    pthread_once(&process_once, read_process_options);
    return &process_options;
}
