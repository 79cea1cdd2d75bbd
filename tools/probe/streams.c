/* Bandwidth of memory and of L2: what a kernel that only moves data can reach. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 256, AT_ONCE = 4 /* as in kernels.cu */, KIB = 1024, MIB = 1024 * KIB };

/* No number of threads divides it. */
enum { ODD = 100003 };

static unsigned blocks_of_copy(size_t count)
{
    return (unsigned)((count + THREADS * AT_ONCE - 1) / (THREADS * AT_ONCE));
}

static uint32_t word_of(size_t i)
{
    return (uint32_t)(i + 1) * 2654435761u;
}

/* Copies ODD - 1 elements of `width` bytes, from the second on. */
static bool copies(probe *p, const char *name, size_t width)
{
    const size_t bytes = ODD * width, words = bytes / 4;
    buffer from = probe_memory(p, bytes), to = probe_memory(p, bytes);
    uint32_t *host = malloc(bytes);
    bool right = host != NULL;
    if (right) {
        for (size_t i = 0; i < words; i++)
            host[i] = word_of(i);
        probe_put(p, &from, host);
        void *x = buffer_address(&from), *y = buffer_address(&to);
        size_t first = 1, count = ODD - 1;
        kernel k = {.name = name,
                    .blocks = blocks_of_copy(count),
                    .threads = THREADS,
                    .arguments = {&y, &x, &first, &count}};
        probe_run(p, &k);
        probe_get(p, &to, host);
        for (size_t i = 0; i < words; i++)
            right = right && host[i] == (i < width / 4 ? 0xffffffffu : word_of(i));
    }
    free(host);
    probe_free(p, &from);
    probe_free(p, &to);
    return right;
}

/* Whether a kernel with these further arguments reads every one of ODD elements of 16 bytes, an
 * odd number of times. */
static bool reads(probe *p, const char *name, unsigned shared, void *passes)
{
    enum { BLOCKS = 3, OUT = BLOCKS * THREADS };
    const size_t words = ODD * 4;
    buffer from = probe_memory(p, words * 4), to = probe_memory(p, OUT * 4);
    uint32_t *host = malloc(words * 4), sum = 0;
    bool right = host != NULL;
    if (right) {
        for (size_t i = 0; i < words; i++)
            sum ^= host[i] = word_of(i);
        probe_put(p, &from, host);
        void *x = buffer_address(&from), *y = buffer_address(&to);
        size_t count = ODD;
        kernel k = {.name = name,
                    .blocks = BLOCKS,
                    .threads = THREADS,
                    .shared = shared,
                    .arguments = {&y, &x, &count, passes}};
        probe_run(p, &k);
        probe_get(p, &to, host);
        for (size_t i = 0; i < OUT; i++)
            sum ^= host[i];
        right = sum == 0;
    }
    free(host);
    probe_free(p, &from);
    probe_free(p, &to);
    return right;
}

typedef struct streams {
    probe *p;
    size_t bytes; /* of each of the first two: far more than L2 holds */
    buffer from, to, out;
} streams;

/* All of the memory, launch by launch, in pieces that move `moved` bytes; 0: at once. */
static void copy(streams *s, const char *kernel_name, size_t width, size_t moved)
{
    const size_t count = moved ? moved / 2 / width : s->bytes / width;
    void *x = buffer_address(&s->from), *y = buffer_address(&s->to);
    size_t first = 0, counted = count;
    kernel k = {.name = kernel_name,
                .blocks = blocks_of_copy(count),
                .threads = THREADS,
                .arguments = {&y, &x, &first, &counted},
                .place = &first,
                .step = count,
                .end = s->bytes / width};
    char name[64];
    if (moved)
        snprintf(name, sizeof name, "copy, %zu MiB moved a launch", moved / MIB);
    else
        snprintf(name, sizeof name, "copy, %zu bytes a thread", width);
    const measure m = {.section = "memory, nothing in L2, launches included",
                       .name = name,
                       .unit = "GB/s",
                       .amount = 2e-9 * (double)(count * width),
                       .assumed = moved ? 0 : s->p->session.facts.bandwidth_gbs};
    probe_measure(s->p, &k, &m, copies(s->p, kernel_name, width));
}

static void ring(streams *s, const char *kernel_name, unsigned depth, unsigned blocks)
{
    probe *p = s->p;
    void *x = buffer_address(&s->from), *y = buffer_address(&s->out);
    size_t count = s->bytes / 16;
    const unsigned open = depth * THREADS * 16, alone = probe_shared_for(p, blocks, 0);
    kernel k = {.name = kernel_name,
                .blocks = p->quick ? 2 : (unsigned)p->session.facts.multiprocessors * blocks,
                .threads = THREADS,
                .shared = open > alone ? open : alone,
                .arguments = {&y, &x, &count}};
    char name[64];
    snprintf(name, sizeof name, "%u KiB: %u deep, %u block%s", open * blocks / KIB, depth, blocks,
             blocks > 1 ? "s" : "");
    const measure m = {.section =
                           "memory, read with cp.async, by bytes in flight on a multiprocessor",
                       .name = name,
                       .unit = "GB/s",
                       .amount = 1e-9 * (double)s->bytes};
    probe_measure(p, &k, &m, reads(p, kernel_name, open, NULL));
}

/* Parts of L2, read again and again. */
static void second_level(streams *s, size_t bytes)
{
    probe *p = s->p;
    void *x = buffer_address(&s->from), *y = buffer_address(&s->out);
    size_t count = bytes / 16;
    int passes = p->quick ? 1 : (int)(512 * MIB / bytes), odd = 3;
    kernel k = {.name = "read",
                .blocks = p->quick ? 2 : (unsigned)p->session.facts.multiprocessors * 8,
                .threads = THREADS,
                .arguments = {&y, &x, &count, &passes}};
    char name[64];
    snprintf(name, sizeof name, "read of %zu MiB, past L1", bytes / MIB);
    const measure m = {
        .section = "L2", .name = name, .unit = "GB/s", .amount = 1e-9 * (double)bytes * passes};
    probe_measure(p, &k, &m, reads(p, "read", 0, &odd));
}

/* With words of all kinds: equal ones cost a GPU less power, and so less time, than data does. */
static void fill(probe *p, const buffer *b)
{
    static uint32_t words[MIB];
    for (size_t i = 0; i < MIB; i++)
        words[i] = word_of(i) ^ word_of(i) >> 15;
    for (size_t done = 0; done < b->bytes; done += sizeof words) {
        const size_t left = b->bytes - done;
        buffer part = *b;
        part.start += done;
        part.bytes = left < sizeof words ? left : sizeof words;
        probe_put(p, &part, words);
    }
}

void probe_streams(probe *p)
{
    static const size_t moved[] = {1, 2, 4, 10, 20, 40, 80, 160}, parts[] = {1, 4, 8, 16, 32, 64};
    static const struct {
        const char *name;
        unsigned depth;
    } rings[] = {{"ring_1", 1}, {"ring_2", 2}, {"ring_4", 4}, {"ring_8", 8}};
    streams s = {.p = p, .bytes = (p->quick ? 1 : 1024) * (size_t)MIB};
    s.from = probe_memory(p, s.bytes);
    fill(p, &s.from);
    s.to = probe_memory(p, s.bytes);
    s.out = probe_memory(p, (size_t)p->session.facts.multiprocessors * 8 * THREADS * 4);
    copy(&s, "copy_4", 4, 0);
    copy(&s, "copy_16", 16, 0);
    for (size_t i = 0; i < (p->quick ? 1 : sizeof moved / sizeof moved[0]); i++)
        copy(&s, "copy_16", 16, moved[i] * MIB);
    for (size_t i = 0; i < (p->quick ? 1 : sizeof parts / sizeof parts[0]); i++)
        second_level(&s, parts[i] * MIB);
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++)
        for (unsigned blocks = 1; blocks <= 2; blocks++)
            ring(&s, rings[i].name, rings[i].depth, blocks);
    probe_free(p, &s.from);
    probe_free(p, &s.to);
    probe_free(p, &s.out);
}
