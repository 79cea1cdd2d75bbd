/* Libraries that look like cuDNN, or nearly: what the macros make of it. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

size_t cudnnGetVersion(void);
void fake_forgotten(void);

#ifdef DISPATCHER
/* As NVIDIA's: the code is in a library that is opened by name, and without it the process ends. */
static void open_graph(void)
{
    char name[64];
    snprintf(name, sizeof name, "%s.9", "libcudnn_graph.so");
    if (!dlopen(name, RTLD_NOW | RTLD_LOCAL))
        abort();
}
#endif

#ifdef VERSION
size_t cudnnGetVersion(void)
{
#ifdef DISPATCHER
    open_graph();
#endif
    return VERSION;
}
#endif

#ifdef FORGETS
/* Refers to what nobody defines. */
void fake_open(void)
{
    fake_forgotten();
}
#endif

#ifdef CALLS
/* Calls the program while it is being opened. */
__attribute__((constructor)) static void call(void)
{
    void (*hook)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "test_constructor_hook");
    if (hook)
        hook();
}
#endif

#ifdef NOTE
/* What every copy of the drop-in carries. */
__asm__(".section .note.groupdnn, \"a\", %note\n"
        ".balign 4\n"
        ".long 9, 4, 1\n"
        ".asciz \"groupdnn\"\n"
        ".balign 4\n"
        ".asciz \"0.0\"\n"
        ".balign 4\n"
        ".previous\n");
#endif

int fake_cudnn = 1;
