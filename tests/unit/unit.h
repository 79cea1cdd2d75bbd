/* What the unit tests share: cmocka, a check for pieces of a message, and random numbers from a printed seed. */
#ifndef GDNN_TESTS_UNIT_H
#define GDNN_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Fails, showing both, unless `text` holds `piece`. */
#define assert_contains(text, piece)                                                               \
    do {                                                                                           \
        const char *text_ = (text), *piece_ = (piece);                                             \
        if (!strstr(text_, piece_))                                                                \
            fail_msg("\"%s\" does not hold \"%s\"", text_, piece_);                                \
    } while (0)

/* GDNN_TEST_SEED, or a fixed number: runs repeat unless someone asks for another. */
static inline uint64_t test_seed(void)
{
    const char *text = getenv("GDNN_TEST_SEED");
    uint64_t seed = text && *text ? strtoull(text, NULL, 0) : 20240229;
    print_message("# GDNN_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A whole number from `low` to `high`. */
static inline int64_t test_pick(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(test_random(state) % (uint64_t)(high - low + 1));
}

#endif
