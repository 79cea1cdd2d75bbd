/* What each lane gets from shuffles, ldmatrix, mma and cp.async, against what NVIDIA's PTX manual
 * says; so do the models of tests/emulator, on which this runs too. The wording of gpu.h is used:
 * lane = 4 * g + t. */
#include "probe.h"

#include "half.h"
#include <stdio.h>
#include <string.h>

enum { LANES = 32 };

static const char *const section = "layouts, against the PTX manual";

static uint32_t scrambled(uint32_t i)
{
    i = (i + 1) * 2654435761u;
    return i ^ i >> 15;
}

/* One warp of a kernel with up to three inputs and perhaps a number, whose output is compared.
 * `how` tells this launch from others. What differs first is written to `wrong`, unless something
 * is there. */
typedef struct lanes {
    const char *kernel;
    const uint32_t *in[3];
    int words[3]; /* of each */
    int number[2];
    int numbers;
} lanes;

static void compare(probe *p, const lanes *l, const uint32_t *wanted, int words, const char *how,
                    char wrong[static 160])
{
    uint32_t got[1024];
    buffer out = probe_memory(p, (size_t)words * 4), in[3] = {{0}};
    void *addresses[4] = {buffer_address(&out)};
    kernel k = {.name = l->kernel, .blocks = 1, .threads = LANES, .arguments = {&addresses[0]}};
    int arguments = 1, number[2] = {l->number[0], l->number[1]};
    for (int i = 0; i < 3 && l->in[i]; i++) {
        in[i] = probe_memory(p, (size_t)l->words[i] * 4);
        probe_put(p, &in[i], l->in[i]);
        addresses[arguments] = buffer_address(&in[i]);
        k.arguments[arguments] = &addresses[arguments];
        arguments++;
    }
    for (int i = 0; i < l->numbers; i++)
        k.arguments[arguments++] = &number[i];
    probe_run(p, &k);
    probe_get(p, &out, got);
    for (int i = 0; p->status == GDNN_OK && i < words && !*wrong; i++)
        if (got[i] != wanted[i])
            snprintf(wrong, 160, "%s: word %d of lane %d is %08x, should be %08x", how, i / LANES,
                     i % LANES, (unsigned)got[i], (unsigned)wanted[i]);
    probe_free(p, &out);
    for (int i = 0; i < 3; i++)
        probe_free(p, &in[i]);
}

/* The lane from which `lane` gets its value: idx, up, down, xor. A lane whose source is outside
 * its segment of `width` lanes keeps its own. */
static int source_of(int mode, int lane, int operand, int width)
{
    const int first = lane - lane % width, last = first + width - 1;
    switch (mode) {
    case 0: return first + (operand + 5 * lane) % width;
    case 1: return lane - operand >= first ? lane - operand : lane;
    case 2: return lane + operand <= last ? lane + operand : lane;
    default: return (lane ^ operand) <= last ? lane ^ operand : lane;
    }
}

static void shuffles(probe *p)
{
    char wrong[160] = "", how[64];
    uint32_t in[LANES], wanted[4 * LANES];
    for (uint32_t lane = 0; lane < LANES; lane++)
        in[lane] = scrambled(lane);
    for (int width = 2; width <= LANES; width *= 2)
        for (int operand = 0; operand < LANES; operand += operand < 4 ? 1 : 3) {
            for (int i = 0; i < 4 * LANES; i++)
                wanted[i] = in[source_of(i / LANES, i % LANES, operand, width)];
            snprintf(how, sizeof how, "idx, up, down, xor by %d, width %d", operand, width);
            const lanes l = {.kernel = "shuffle",
                             .in = {in},
                             .words = {LANES},
                             .number = {operand, width},
                             .numbers = 2};
            compare(p, &l, wanted, 4 * LANES, how, wrong);
        }
    probe_check(p, section, "shfl.idx, .up, .down, .xor", wrong);
}

/* 16-bit value `column` of the row that lane `lane` points at. */
static uint32_t element(const uint32_t *rows, const uint32_t *order, int lane, int column)
{
    return rows[order[lane] * 4 + (uint32_t)column / 2] >> 16 * (column % 2) & 0xffff;
}

static void ldmatrix(probe *p)
{
    char wrong[160] = "";
    uint32_t rows[4 * LANES], order[LANES], wanted[6 * 4 * LANES];
    for (uint32_t i = 0; i < 4 * LANES; i++)
        rows[i] = scrambled(i);
    for (uint32_t lane = 0; lane < LANES; lane++)
        order[lane] = (13 * lane + 5) % LANES;
    for (int i = 0; i < 6 * 4 * LANES; i++) {
        const int kind = i / (4 * LANES), matrix = i / LANES % 4, g = i % LANES / 4, t = i % 4;
        const int row = 8 * matrix;
        if (matrix >= 1 << kind % 3)
            wanted[i] = 0;
        else if (kind < 3)
            wanted[i] = element(rows, order, row + g, 2 * t) |
                        element(rows, order, row + g, 2 * t + 1) << 16;
        else
            wanted[i] = element(rows, order, row + 2 * t, g) |
                        element(rows, order, row + 2 * t + 1, g) << 16;
    }
    const lanes l = {.kernel = "ldmatrix", .in = {rows, order}, .words = {4 * LANES, LANES}};
    compare(p, &l, wanted, 6 * 4 * LANES, "x1, x2, x4, then with .trans", wrong);
    probe_check(p, section, "ldmatrix.x1, .x2, .x4, and with .trans", wrong);
}

/* A matrix of small whole numbers: every sum is exact, in whatever order. */
static double number_at(int which, int row, int column)
{
    return (double)(scrambled((uint32_t)(which * 1000 + row * 32 + column)) % 17) - 8;
}

static uint32_t packed(gdnn_dtype type, double low, double high)
{
    uint32_t word = 0;
    const double values[2] = {low, high};
    gdnn_encode(type, values, &word, type == GDNN_F32 ? 1 : 2);
    return word;
}

static void product(probe *p, const char *kernel_name, gdnn_dtype type, int depth, int least)
{
    enum { A, B, C };
    char wrong[160] = "", name[64];
    uint32_t a[4 * LANES], b[4 * LANES], c[4 * LANES], wanted[4 * LANES];
    snprintf(name, sizeof name, "%s", kernel_name + strlen("layout_"));
    if (p->session.facts.sm < least) {
        probe_skip(p, section, name, "needs compute capability 8.0");
        return;
    }
    for (int i = 0; i < 4 * LANES; i++) {
        const int r = i / LANES, g = i % LANES / 4, t = i % 4;
        /* Where the first, or only, value of register r is. */
        const int row_a = g + 8 * (r % 2), row_b = r % 2 * (type == GDNN_F32 ? 4 : 8);
        if (type == GDNN_F32) {
            a[i] = packed(type, number_at(A, row_a, t + 4 * (r / 2)), 0);
            b[i] = packed(type, number_at(B, row_b + t, g), 0);
        } else {
            const int k = 2 * t + 8 * (r / 2);
            a[i] = packed(type, number_at(A, row_a, k), number_at(A, row_a, k + 1));
            b[i] = packed(type, number_at(B, row_b + 2 * t, g), number_at(B, row_b + 2 * t + 1, g));
        }
        const int row = g + 8 * (r / 2), column = 2 * t + r % 2;
        double sum = number_at(C, row, column);
        c[i] = packed(GDNN_F32, sum, 0);
        for (int k = 0; k < depth; k++)
            sum += number_at(A, row, k) * number_at(B, k, column);
        wanted[i] = packed(GDNN_F32, sum, 0);
    }
    const lanes l = {
        .kernel = kernel_name, .in = {a, b, c}, .words = {4 * LANES, 2 * LANES, 4 * LANES}};
    compare(p, &l, wanted, 4 * LANES, "bits of float32", wrong);
    probe_check(p, section, name, wrong);
}

static void copies(probe *p)
{
    char wrong[160] = "", how[64];
    uint32_t in[4 * LANES], wanted[3 * 4 * LANES];
    for (uint32_t i = 0; i < 4 * LANES; i++)
        in[i] = scrambled(i);
    for (int src_bytes = 0; src_bytes <= 16; src_bytes++) {
        memset(wanted, 0xff, sizeof wanted);
        for (int size = 0; size < 3; size++)
            for (int lane = 0; lane < LANES; lane++) {
                const size_t whole = 4u << size, part = (size_t)src_bytes;
                unsigned char *to = (unsigned char *)&wanted[(size * LANES + lane) * 4];
                memset(to, 0, whole);
                memcpy(to, &in[4 * lane], part < whole ? part : whole);
            }
        snprintf(how, sizeof how, "4, 8, 16 bytes, of which %d are read", src_bytes);
        const lanes l = {.kernel = "copies",
                         .in = {in},
                         .words = {4 * LANES},
                         .number = {src_bytes},
                         .numbers = 1};
        compare(p, &l, wanted, 3 * 4 * LANES, how, wrong);
    }
    probe_check(p, section, "cp.async of 4, 8, 16 bytes, short ones too", wrong);
}

void probe_layouts(probe *p)
{
    shuffles(p);
    ldmatrix(p);
    product(p, "layout_mma_m16n8k8_f16", GDNN_F16, 8, 75);
    product(p, "layout_mma_m16n8k8_bf16", GDNN_BF16, 8, 80);
    product(p, "layout_mma_m16n8k8_tf32", GDNN_F32, 8, 80);
    product(p, "layout_mma_m16n8k16_f16", GDNN_F16, 16, 75);
    product(p, "layout_mma_m16n8k16_bf16", GDNN_BF16, 16, 80);
    copies(p);
}
