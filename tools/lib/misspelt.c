#include "misspelt.h"

#include "suggest.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const variables[] = {
#define GDNN_OPTION(field, variable, kind, values, fallback, help) variable,
#include "options.def"
#undef GDNN_OPTION
};
enum { VARIABLES = sizeof variables / sizeof *variables };

static bool is_known(const char *name)
{
    for (int i = 0; i < VARIABLES; i++)
        if (!strcmp(name, variables[i]))
            return true;
    return false;
}

void misspelt_variables(void (*visit)(const char *name, const char *value, const char *near,
                                      void *context),
                        void *context)
{
    for (char **e = environ; *e; e++) {
        char name[128];
        size_t length = strcspn(*e, "=");
        if (length >= sizeof name || strncmp(*e, "GROUPDNN_", 9) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, *e);
        if (!is_known(name))
            visit(name, *e + length + ((*e)[length] == '='), suggest(name, variables, VARIABLES),
                  context);
    }
}
