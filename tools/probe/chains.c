/* Rates: launches, multiply-adds, matrix products, reads of shared memory. */
#include "probe.h"

#include "conv_args.h"
#include <stdio.h>
#include <stdlib.h>

enum { CHAINS = 8, STEPS = 16, WORDS = 8192 }; /* as in kernels.cu */

/* A kernel with one block a multiprocessor, and what its threads and blocks leave. */
typedef struct chain {
    probe *p;
    kernel kernel;
    buffer out, clocks;
    void *out_address, *clocks_address;
    int iterations;
} chain;

/* The address of the chain itself is kept: it must not be copied. `fixed`: static shared memory. */
static void chain_open(chain *c, probe *p, const char *name, unsigned fixed)
{
    *c = (chain){.p = p};
    kernel *k = &c->kernel;
    k->name = name;
    k->blocks = p->quick ? 2 : (unsigned)p->session.facts.multiprocessors;
    k->threads = p->quick ? 64 : 1024;
    k->shared = probe_shared_for(p, 1, fixed);
    c->out = probe_memory(p, (size_t)k->blocks * k->threads * 4);
    c->clocks = probe_memory(p, (size_t)k->blocks * 8);
    c->out_address = buffer_address(&c->out);
    c->clocks_address = buffer_address(&c->clocks);
    k->clocks = &c->clocks;
    k->arguments[0] = &c->out_address;
    k->arguments[1] = &c->clocks_address;
    k->arguments[2] = &c->iterations;
}

static void chain_close(chain *c)
{
    probe_free(c->p, &c->out);
    probe_free(c->p, &c->clocks);
}

/* Runs it with so many iterations, and sees whether each thread leaves the word of it in `wanted`,
 * which repeats after 32 threads. */
static bool chain_leaves(chain *c, int iterations, const uint32_t wanted[32])
{
    const size_t count = (size_t)c->kernel.blocks * c->kernel.threads;
    uint32_t *got = calloc(count, 4);
    bool right = got != NULL;
    c->iterations = iterations;
    probe_run(c->p, &c->kernel);
    if (right)
        probe_get(c->p, &c->out, got);
    for (size_t i = 0; right && i < count; i++)
        right = got[i] == wanted[i % 32];
    free(got);
    return right;
}

static uint32_t bits_of(float value)
{
    union {
        float value;
        uint32_t bits;
    } u = {value};
    return u.bits;
}

/* Whole numbers, small enough to be exact. */
static bool chain_leaves_number(chain *c, int iterations, int number)
{
    uint32_t wanted[32];
    for (int lane = 0; lane < 32; lane++)
        wanted[lane] = bits_of((float)number);
    return chain_leaves(c, iterations, wanted);
}

/* `fmas` of a thread, an instruction. */
static void rate(chain *c, const char *name, int iterations, double fmas, double assumed,
                 bool right)
{
    const measure m = {.section = "rates",
                       .name = name,
                       .unit = "TFLOP/s",
                       .amount = 2e-12 * fmas * CHAINS * STEPS * iterations * c->kernel.threads *
                                 c->kernel.blocks,
                       .assumed = assumed};
    c->iterations = iterations;
    probe_measure(c->p, &c->kernel, &m, right);
}

static void multiply_adds(probe *p)
{
    chain c;
    float one = 1;
    chain_open(&c, p, "ffma", 0);
    c.kernel.arguments[3] = c.kernel.arguments[4] = &one;
    bool right = chain_leaves_number(&c, 3, CHAINS * (CHAINS - 1) / 2 + CHAINS * STEPS * 3);
    rate(&c, "ffma", p->quick ? 1 : 2000, 1, p->session.facts.fp32_tflops, right);
    chain_close(&c);
}

static void products(probe *p, const char *name, int depth, uint32_t ones, int least,
                     double assumed)
{
    if (p->session.facts.sm < least) {
        probe_skip(p, "rates", name, "needs compute capability 8.0");
        return;
    }
    chain c;
    chain_open(&c, p, name, 0);
    c.kernel.arguments[3] = c.kernel.arguments[4] = &ones;
    /* A lane has 4 of the 16 x 8 sums of each chain. */
    bool right = chain_leaves_number(&c, 2, CHAINS * 4 * STEPS * 2 * depth);
    rate(&c, name, p->quick ? 1 : 500, 16 * 8 * depth / 32.0, assumed, right);
    chain_close(&c);
}

void probe_rates(probe *p)
{
    const uint32_t f16 = 0x3c003c00, bf16 = 0x3f803f80, tf32 = 0x3f800000;
    const double peak = p->session.facts.tensor16_tflops;
    multiply_adds(p);
    products(p, "mma_m16n8k8_f16", 8, f16, 75, peak);
    products(p, "mma_m16n8k8_bf16", 8, bf16, 80, peak);
    products(p, "mma_m16n8k8_tf32", 8, tf32, 80, peak / 2);
    products(p, "mma_m16n8k16_f16", 16, f16, 75, peak);
    products(p, "mma_m16n8k16_bf16", 16, bf16, 80, peak);
}

static unsigned lane_word(unsigned step, unsigned lane, unsigned part)
{
    (void)part;
    return step * 32 + lane;
}

static unsigned conflicting_word(unsigned step, unsigned lane, unsigned part)
{
    (void)part;
    return step * 64 + 2 * lane;
}

static unsigned quad_word(unsigned step, unsigned lane, unsigned part)
{
    return (step * 32 + lane) * 4 + part;
}

static unsigned matrix_word(unsigned step, unsigned lane, unsigned part)
{
    return (step * 32 + 8 * part + lane / 4) * 4 + lane % 4;
}

void probe_shared(probe *p)
{
    enum { ITERATIONS = 5 };
    static const struct {
        const char *kernel, *name;
        unsigned parts; /* words that a lane gets at once, and where from: */
        unsigned (*word)(unsigned step, unsigned lane, unsigned part);
        double assumed;
    } patterns[] = {
        {"shared_4", "4 bytes a lane", 1, lane_word, 128},
        {"shared_16", "16 bytes a lane", 4, quad_word, 128},
        {"shared_conflict", "4 bytes a lane, two lanes a bank", 1, conflicting_word, 64},
        {"shared_ldmatrix", "ldmatrix.x4", 4, matrix_word, 128},
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        uint32_t wanted[32] = {0};
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned n = 0; n < ITERATIONS; n++)
                for (unsigned step = 0; step < STEPS; step++)
                    for (unsigned part = 0; part < patterns[i].parts; part++)
                        wanted[lane] ^= (n % 4 * (WORDS / 8) + patterns[i].word(step, lane, part)) *
                                        2654435761u;
        chain c;
        chain_open(&c, p, patterns[i].kernel, WORDS * 4);
        bool right = chain_leaves(&c, ITERATIONS, wanted);
        c.iterations = p->quick ? 1 : 2000;
        const measure m = {.section = "shared memory, of a multiprocessor",
                           .name = patterns[i].name,
                           .unit = "B/clock",
                           .amount =
                               4.0 * patterns[i].parts * STEPS * c.iterations * c.kernel.threads,
                           .per_clock = true,
                           .assumed = patterns[i].assumed};
        probe_measure(p, &c.kernel, &m, right);
        chain_close(&c);
    }
}

void probe_launches(probe *p)
{
    static gdnn_args args;
    static const struct {
        const char *kernel, *name;
        bool many, host;
    } launches[] = {{"empty", "1 block", false, false},
                    {"empty", "a block a multiprocessor", true, false},
                    {"arguments", "the same, with a convolution's arguments", true, false},
                    {"arguments", "of that the host's time", true, true}};
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        kernel k = {.name = launches[i].kernel,
                    .blocks = launches[i].many ? (unsigned)p->session.facts.multiprocessors : 1,
                    .threads = 256,
                    .arguments = {&args}};
        const measure m = {
            .section = "launches of a kernel that does nothing, as fast as the host enqueues",
            .name = launches[i].name,
            .unit = "us",
            .host = launches[i].host,
            .assumed = launches[i].host ? 0 : 2};
        probe_measure(p, &k, &m, true);
    }
}
