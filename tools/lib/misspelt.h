/* Variables of our prefix that no option has: misspelt, as a rule. The library does not look for them. */
#ifndef MISSPELT_H
#define MISSPELT_H

/* Visits each in the environment: `near` is the option that was probably meant; NULL: none is like it. */
void misspelt_variables(void (*visit)(const char *name, const char *value, const char *near,
                                      void *context),
                        void *context);

#endif
