/* A library of a framework: what it opens is searched for where its own RPATH or RUNPATH points. */
#include <dlfcn.h>

void *holder_open(const char *name);
void *holder_open(const char *name)
{
    /* Not the last thing done: the loader looks at where it returns to. */
    void *volatile handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return handle;
}

#ifdef NEEDS
extern int fake_cudnn;
int *holder_needs(void);
int *holder_needs(void)
{
    return &fake_cudnn;
}
#endif
