#include "opening.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* A child that is forked while another thread is inside dlopen has a library that is mapped but not bound, for ever. So
 * forks wait for openings and openings for forks; but not long, since what is waited for may be waiting for this thread,
 * in the loader or in a constructor. */
enum { LONGEST_WAIT_MS = 2000 };

static atomic_int opening, forking;

/* Marks the threads that open. A key, since thread-local variables would need the loader's library. */
static _Atomic(unsigned) mark_plus_one;

/* The mark's key; false if there is none to be had. */
static bool mark_key(pthread_key_t *key)
{
    unsigned known = atomic_load(&mark_plus_one);
    if (!known) {
        if (pthread_key_create(key, NULL))
            return false;
        if (atomic_compare_exchange_strong(&mark_plus_one, &known, *key + 1))
            return true;
        pthread_key_delete(*key);
    }
    *key = known - 1;
    return true;
}

/* Forks are watched once there is a key. */
static bool opens(void)
{
    return pthread_getspecific(atomic_load(&mark_plus_one) - 1) != NULL;
}

static void before_fork(void)
{
    atomic_fetch_add(&forking, 1);
    if (opens())
        return;
    for (int ms = 0; atomic_load(&opening) && ms < LONGEST_WAIT_MS; ms++)
        usleep(1000);
}

static void after_fork(void)
{
    atomic_fetch_sub(&forking, 1);
}

static void begin_child(void)
{
    atomic_store(&forking, 0);
    atomic_store(&opening, opens());
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, begin_child);
}

bool gdnn_opening_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_key_t mark;
    if (!mark_key(&mark) || pthread_getspecific(mark) || pthread_setspecific(mark, &opening))
        return false;
    pthread_once(&once, watch_forks);
    atomic_fetch_add(&opening, 1);
    for (int ms = 0; atomic_load(&forking) && ms < LONGEST_WAIT_MS; ms++) {
        atomic_fetch_sub(&opening, 1);
        usleep(1000);
        atomic_fetch_add(&opening, 1);
    }
    return true;
}

void gdnn_opening_end(void)
{
    pthread_key_t mark;
    atomic_fetch_sub(&opening, 1);
    if (mark_key(&mark))
        pthread_setspecific(mark, NULL);
}
