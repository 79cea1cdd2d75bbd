/* A program that ends while cuDNN is in use: exits MODE. Exit status 7 if it ended as it should.
 *
 *   calling       main returns while threads call
 *   first-call    main returns while a thread is in its first call
 *   main-first    main's thread ends before another that calls; a destructor of it calls too
 */
#include "client_api.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, WELL = 7, BADLY = 8 };

static atomic_int begun, calls, late_calls;

static void *call_for_ever(void *unused)
{
    (void)unused;
    for (;;) {
        void *descriptor;
        if (!cudnnGetVersion() || cudnnCreateTensorDescriptor(&descriptor))
            _exit(BADLY);
        cudnnDestroyTensorDescriptor(descriptor);
        atomic_fetch_add(&calls, 1);
    }
    return NULL;
}

static void *call_once(void *unused)
{
    (void)unused;
    atomic_store(&begun, 1);
    cudnnGetVersion();
    atomic_fetch_add(&calls, 1);
    return NULL;
}

static void call_late(void *unused)
{
    (void)unused;
    atomic_store(&late_calls, cudnnGetVersion() ? 1 : -1);
}

static void *outlive_main(void *main_thread)
{
    pthread_join(*(pthread_t *)main_thread, NULL);
    exit(cudnnGetVersion() && atomic_load(&late_calls) == 1 ? WELL : BADLY);
}

static void begin(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument))
        _exit(BADLY);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "calling")) {
        for (int i = 0; i < THREADS; i++)
            begin(call_for_ever, NULL);
        while (atomic_load(&calls) < 100)
            usleep(100);
        return WELL;
    }
    if (!strcmp(mode, "first-call")) {
        begin(call_once, NULL);
        while (!atomic_load(&begun))
            usleep(100);
        usleep(50000);
        return atomic_load(&calls) ? BADLY : WELL;
    }
    if (!strcmp(mode, "main-first")) {
        static pthread_t self;
        static pthread_key_t key;
        self = pthread_self();
        begin(outlive_main, &self);
        if (pthread_key_create(&key, call_late) || pthread_setspecific(key, &key))
            return BADLY;
        pthread_exit(NULL);
    }
    return 2;
}
