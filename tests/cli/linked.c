/* A program that is linked with a cuDNN of its own, newer than the drop-in, or with a library that is: CALLS is a function of
 * what it needs. With DEFINES this is such a library, and that its function. */
#include <stdio.h>

int CALLS(void);

#ifdef DEFINES
int DEFINES(void);
int DEFINES(void)
{
    return CALLS();
}
#else
int main(void)
{
    printf("tomorrow %d\n", CALLS());
    return 0;
}
#endif
