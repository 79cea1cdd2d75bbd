/* The flavour `real`: every function that no other file defines jumps to NVIDIA's library, with
 * its arguments as they are; those that take a handle are refused, since NVIDIA's would take
 * ours for its own. */
#include "passthrough.h"
#include "double.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define JUMP(name) "jmp *slot_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "adrp x16, slot_" #name "\nldr x16, [x16, #:lo12:slot_" #name "]\nbr x16\n"
#endif

/* Weak, so that functions of other files prevail. */
#define GDNN_CUDNN(name, returns, way)                                                             \
    __attribute__((used, visibility("hidden"))) void *slot_##name;                                 \
    __asm__(".pushsection .text\n.weak " #name "\n.type " #name ", %function\n" #name              \
            ":\n" JUMP(name) ".size " #name ", .-" #name "\n.popsection\n");
#include "cudnn_api.def"
#undef GDNN_CUDNN

static const struct {
    const char *name;
    void **slot;
} functions[] = {
#define GDNN_CUDNN(name, returns, way) {#name, &slot_##name},
#include "cudnn_api.def"
#undef GDNN_CUDNN
};

static const char *const with_handle[] = {
#define GDNN_HANDLE(name) #name,
#include "handles.def"
#undef GDNN_HANDLE
};

void (*real_last_text)(char *, size_t);

static cudnnStatus_t refuse(void)
{
    return fail(CUDNN_STATUS_NOT_SUPPORTED, "the double has no such function for a handle");
}

static int takes_handle(const char *name)
{
    for (size_t i = 0; i < sizeof with_handle / sizeof with_handle[0]; i++)
        if (strcmp(name, with_handle[i]) == 0)
            return 1;
    return 0;
}

/* At load: a test that uses this flavour has no use for it without NVIDIA's library. */
__attribute__((constructor)) static void open_real(void)
{
    const char *path = getenv("GDNN_DOUBLE_REAL");
    if (!path || !*path)
        path = GDNN_REAL_CUDNN;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "cuDNN double: GDNN_DOUBLE_REAL: %s\n", dlerror());
        abort();
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *real = takes_handle(functions[i].name) ? NULL : dlsym(library, functions[i].name);
        *functions[i].slot = real ? real : (void *)refuse;
    }
    real_last_text = (__typeof__(real_last_text))dlsym(library, "cudnnGetLastErrorString");
}
