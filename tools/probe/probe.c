#include "probe.h"

#include "error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Events are good for about a microsecond: a sample takes that many seconds. */
static const double sample_seconds = 0.004;
enum { SAMPLES = 9, MOST_LAUNCHES = 1 << 14 };

extern const char gdnn_image_probe[];

double probe_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keeps the first failure; true if there was none yet. */
static bool fine(probe *p, gdnn_status status)
{
    if (p->status == GDNN_OK)
        p->status = status;
    return p->status == GDNN_OK;
}

/* Calls the driver unless something has failed before. */
#define CU(p, call, ...)                                                                           \
    do {                                                                                           \
        if ((p)->status == GDNN_OK)                                                                \
            fine(p, gdnn_driver_check((p)->session.driver->call(__VA_ARGS__), #call));             \
    } while (0)

void probe_open(probe *p, session_choice choice)
{
    *p = (probe){.row_count = 0};
    p->status = session_open(&p->session, choice);
    if (p->status != GDNN_OK)
        return;
    CUresult result = p->session.driver->cuLibraryLoadData(&p->library, gdnn_image_probe, NULL,
                                                           NULL, 0, NULL, NULL, 0);
    if (result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        p->status = gdnn_fail(GDNN_UNSUPPORTED,
                              "the kernels of gpu-probe were not built for this GPU: build with "
                              "nvcc, and with -Dgpu_archs naming its compute capability");
    else
        fine(p, gdnn_driver_check(result, "cuLibraryLoadData"));
    CU(p, cuEventCreate, &p->begin, CU_EVENT_DEFAULT);
    CU(p, cuEventCreate, &p->end, CU_EVENT_DEFAULT);
}

void probe_close(probe *p)
{
    const gdnn_driver *cu = p->session.driver;
    if (p->begin)
        cu->cuEventDestroy(p->begin);
    if (p->end)
        cu->cuEventDestroy(p->end);
    if (p->library)
        cu->cuLibraryUnload(p->library);
    session_close(&p->session);
}

buffer probe_memory(probe *p, size_t bytes)
{
    buffer b = {.bytes = 0};
    if (p->status == GDNN_OK)
        fine(p, buffer_open(&p->session, &b, bytes, 0));
    return b;
}

void probe_free(probe *p, buffer *b)
{
    if (b->allocation)
        buffer_close(&p->session, b);
}

void probe_put(probe *p, buffer *b, const void *from)
{
    if (p->status == GDNN_OK && fine(p, buffer_write(&p->session, b, from)))
        fine(p, session_wait(&p->session));
}

void probe_get(probe *p, const buffer *b, void *to)
{
    bool intact = true;
    if (p->status == GDNN_OK && fine(p, buffer_read(&p->session, b, to, &intact)) && !intact)
        fine(p, gdnn_fail(GDNN_FAILED, "a kernel wrote beside its output"));
}

unsigned probe_shared_for(const probe *p, unsigned blocks, unsigned fixed)
{
    /* A multiprocessor has 1 KiB more than the largest block, or (7.5) as much, and keeps 1 KiB of
     * each block for the system. */
    return (unsigned)p->session.facts.shared_bytes / blocks - 1024 - fixed;
}

static void find(probe *p, kernel *k)
{
    char name[64];
    CUkernel found = NULL;
    if (k->function)
        return;
    snprintf(name, sizeof name, "probe_%s", k->name);
    CU(p, cuLibraryGetKernel, &found, p->library, name);
    CU(p, cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)k->shared,
       found, p->session.device);
    k->function = (CUfunction)found;
}

static void launch(probe *p, kernel *k)
{
    const CUlaunchConfig config = {.gridDimX = k->blocks,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = k->threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = k->shared,
                                   .hStream = p->session.stream};
    CU(p, cuLaunchKernelEx, &config, k->function, k->arguments, NULL);
    if (k->place)
        *k->place = *k->place + 2 * k->step <= k->end ? *k->place + k->step : 0;
}

void probe_run(probe *p, kernel *k)
{
    find(p, k);
    launch(p, k);
    if (p->status == GDNN_OK)
        fine(p, session_wait(&p->session));
}

/* Seconds that `launches` launches take. */
static double time_of(probe *p, kernel *k, int launches)
{
    float ms = 0;
    CU(p, cuEventRecord, p->begin, p->session.stream);
    for (int i = 0; i < launches; i++)
        launch(p, k);
    CU(p, cuEventRecord, p->end, p->session.stream);
    if (p->status == GDNN_OK)
        fine(p, session_wait(&p->session));
    CU(p, cuEventElapsedTime, &ms, p->begin, p->end);
    return 1e-3 * ms;
}

/* Seconds that the host takes to enqueue a launch, as long as the stream has room. */
static double host_time(probe *p, kernel *k)
{
    enum { CALLS = 256 };
    const double begin = probe_now();
    for (int i = 0; i < CALLS; i++)
        launch(p, k);
    const double seconds = probe_now() - begin;
    if (p->status == GDNN_OK)
        fine(p, session_wait(&p->session));
    return seconds / CALLS;
}

/* How many launches take as long as a sample should. */
static int enough_launches(probe *p, kernel *k)
{
    int launches = 1;
    for (double seconds = 0; p->status == GDNN_OK;
         launches *= seconds < sample_seconds / 16 ? 8 : 2) {
        seconds = time_of(p, k, launches);
        if (seconds >= sample_seconds / 2 || launches >= MOST_LAUNCHES)
            break;
    }
    return launches;
}

/* Mean of what the blocks of the last launch took; 0: not known. */
static double clocks_of(probe *p, const kernel *k)
{
    if (!k->clocks || p->status != GDNN_OK)
        return 0;
    int64_t *clocks = malloc(k->clocks->bytes);
    if (!clocks) {
        fine(p, gdnn_fail(GDNN_FAILED, "out of memory"));
        return 0;
    }
    double sum = 0;
    probe_get(p, k->clocks, clocks);
    for (unsigned i = 0; i < k->blocks; i++)
        sum += (double)clocks[i];
    free(clocks);
    return sum / k->blocks;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static row *add_row(probe *p, const char *section, const char *name, outcome outcome)
{
    static row none;
    if (p->status == GDNN_OK && p->row_count == MOST_ROWS)
        p->status = gdnn_fail(GDNN_FAILED, "there are more rows than MOST_ROWS (%d)", MOST_ROWS);
    if (p->status != GDNN_OK)
        return &none;
    row *r = &p->rows[p->row_count++];
    *r = (row){.section = section, .outcome = outcome, .unit = ""};
    snprintf(r->name, sizeof r->name, "%s", name);
    return r;
}

void probe_check(probe *p, const char *section, const char *name, const char *wrong)
{
    row *r = add_row(p, section, name, *wrong ? OUTCOME_WRONG : OUTCOME_RIGHT);
    snprintf(r->text, sizeof r->text, "%s", wrong);
}

void probe_skip(probe *p, const char *section, const char *name, const char *why)
{
    row *r = add_row(p, section, name, OUTCOME_SKIPPED);
    snprintf(r->text, sizeof r->text, "%s", why);
}

void probe_measure(probe *p, kernel *k, const measure *m, bool right)
{
    if (!right) {
        probe_check(p, m->section, m->name, "the kernel does not compute what it should");
        return;
    }
    if (probe_now() >= p->deadline) {
        probe_skip(p, m->section, m->name, "no time was left");
        return;
    }
    probe_run(p, k);
    const int launches = p->quick ? 1 : enough_launches(p, k), samples = p->quick ? 1 : SAMPLES;
    double values[SAMPLES], mhz = 0;
    for (int i = 0; i < samples; i++) {
        const double seconds = m->host ? host_time(p, k) : time_of(p, k, launches) / launches;
        const double clocks = clocks_of(p, k);
        values[i] = m->amount == 0 ? 1e6 * seconds : m->amount / (m->per_clock ? clocks : seconds);
        mhz += 1e-6 * clocks / seconds / samples;
    }
    if (p->quick) {
        probe_check(p, m->section, m->name, "");
        return;
    }
    qsort(values, SAMPLES, sizeof values[0], by_size);
    row *r = add_row(p, m->section, m->name, OUTCOME_MEASURED);
    r->unit = m->unit;
    r->median = values[SAMPLES / 2];
    r->spread = (values[SAMPLES * 3 / 4] - values[SAMPLES / 4]) / r->median;
    r->assumed = m->assumed;
    r->mhz = mhz;
}
