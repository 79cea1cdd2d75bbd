#include "tensor.h"
#include "device.h"
#include "number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "calls: no memory for %zu bytes\n", bytes);
        exit(3);
    }
    return memory;
}

/* Axes from the fastest to the slowest. */
static void set_strides(tensor *t, order how)
{
    int axes[5], count = 0;
    if (how == CHANNELS_LAST)
        axes[count++] = 1;
    if (how == TRANSPOSED) { /* H before C before W before N, seen from the slowest: N W C H */
        for (int i = 2; i < t->axes - 1; i++)
            axes[count++] = i;
        axes[count++] = 1;
        axes[count++] = t->axes - 1;
    } else {
        for (int i = t->axes - 1; i >= 2; i--)
            axes[count++] = i;
        if (how != CHANNELS_LAST)
            axes[count++] = 1;
    }
    axes[count++] = 0;
    int step = 1;
    for (int i = 0; i < count; i++) {
        if (how == WITH_GAPS && axes[i] == 0)
            step += 5;
        t->stride[axes[i]] = step;
        step *= t->size[axes[i]];
        if (how == WITH_GAPS && i == 0)
            step += 3;
    }
}

static size_t place(const tensor *t, int i)
{
    int at = 0;
    for (int axis = t->axes - 1; axis >= 0; axis--) {
        at += i % t->size[axis] * t->stride[axis];
        i /= t->size[axis];
    }
    return (size_t)at * number_size(t->type);
}

static void read_numbers(tensor *t)
{
    for (int i = 0; i < t->elements; i++)
        t->numbers[i] = number_read(t->type, t->bytes + place(t, i));
}

static void upload(tensor *t)
{
    read_numbers(t);
    device_put(t->device, t->bytes, (size_t)t->span * number_size(t->type));
}

void tensor_make(tensor *t, cudnnDataType_t type, int axes, const int *size, order how,
                 int poisoned)
{
    *t = (tensor){.type = type, .axes = axes, .elements = 1, .span = 1};
    for (int i = 0; i < axes; i++) {
        t->size[i] = size[i];
        t->elements *= size[i];
    }
    set_strides(t, how);
    for (int i = 0; i < axes; i++)
        t->span += (size[i] - 1) * t->stride[i];
    const size_t bytes = (size_t)t->span * number_size(type);
    t->bytes = allocate(bytes);
    t->numbers = allocate((size_t)t->elements * sizeof *t->numbers);
    memset(t->bytes, 0xff, bytes); /* NaN in all types */
    for (int i = 0; i < t->elements && !poisoned; i++)
        number_random(type, t->bytes + place(t, i));
    t->device = device_new(bytes);
    upload(t);
}

void tensor_special(tensor *t)
{
    number_infinite(t->type, t->bytes + place(t, t->elements / 3), 1);
    memset(t->bytes + place(t, t->elements - 1), 0xff, number_size(t->type));
    upload(t);
}

void tensor_free(tensor *t)
{
    device_free(t->device);
    free(t->bytes);
    free(t->numbers);
    *t = (tensor){0};
}

/* NaN and infinities must be the same; else in units of the bound. */
static double distance(double got, double wanted, double bound)
{
    if (isnan(wanted) || isinf(wanted))
        return (isnan(wanted) ? isnan(got) : got == wanted) ? 0 : (double)INFINITY;
    return isfinite(got) ? fabs(got - wanted) / bound : (double)INFINITY;
}

int tensor_wrong(tensor *t, const double *result, const double *bound, cudaStream_t stream,
                 double *worst)
{
    const size_t width = number_size(t->type), bytes = (size_t)t->span * width;
    unsigned char *before = allocate(bytes);
    int wrong = 0;

    memcpy(before, t->bytes, bytes);
    device_get(t->bytes, t->device, bytes, stream);
    *worst = 0;
    for (int i = 0; i < t->elements; i++) {
        const double got = number_read(t->type, t->bytes + place(t, i));
        const double allowed = bound[i] + number_half_step(t->type, result[i]);
        const double far = distance(got, result[i], allowed);
        wrong += !(far <= 1);
        *worst = fmax(*worst, far);
        memcpy(before + place(t, i), t->bytes + place(t, i), width);
    }
    wrong += memcmp(before, t->bytes, bytes) != 0;
    free(before);
    read_numbers(t);
    return wrong;
}

/* FNV-1a. */
unsigned long long tensor_bits(const tensor *t)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (size_t i = 0; i < (size_t)t->span * number_size(t->type); i++)
        hash = (hash ^ t->bytes[i]) * 1099511628211ULL;
    return hash;
}
