/* Part of a libcudnn.so.9 whose constructor calls cuDNN, which is the drop-in where that stands in front. */
#include <dlfcn.h>

/* What the constructor's call returned. */
int calls_back_answer = -1;

__attribute__((constructor)) static void call_back(void)
{
    int (*create)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "cudnnCreate");
    void *handle;
    if (create)
        calls_back_answer = create(&handle);
}
