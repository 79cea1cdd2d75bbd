/* Symbols of many kinds, for the reader of ELF files. */
#include <stdlib.h>

int fake_data = 1;
int fake_zeros[100];
__thread int fake_thread_local;
extern int undefined_elsewhere __attribute__((weak));
void cudnnFirst(void);
void cudnnSecond(void);
void hidden(void);
void weak_function(void);
int *uses(void);

void cudnnFirst(void)
{
}

void cudnnSecond(void)
{
}

__attribute__((visibility("hidden"))) void hidden(void)
{
}

__attribute__((weak)) void weak_function(void)
{
    abort();
}

int *uses(void)
{
    return &undefined_elsewhere;
}
