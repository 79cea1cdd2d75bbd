#include "sparse.h"

#include "half.h"
#include "plan.h"
#include "problem.h"
#include "reference.h"
#include "test.h"
#include <stdlib.h>
#include <string.h>

/* Bytes of one tensor's guard at either end, which must stay as they are. */
enum { GUARD = 256 };

typedef struct place {
    tensor shape;
    int64_t count;
    double *values;
    CUdeviceptr memory;
} place;

static void *numbers(int64_t count)
{
    double *made = calloc((size_t)count, sizeof *made);
    assert_non_null(made);
    return made;
}

static void need(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS)
        fail_msg("%s gives %d", call, (int)result);
}

/* Address of the element with logical index i. */
static CUdeviceptr address(const place *p, int64_t i)
{
    int64_t offset = 0;
    for (int axis = p->shape.dims - 1; axis >= 0; axis--) {
        offset += i % p->shape.size[axis] * p->shape.stride[axis];
        i /= p->shape.size[axis];
    }
    return p->memory + GUARD + (CUdeviceptr)offset * gdnn_dtype_size(p->shape.dtype);
}

static void put(const subject *s, CUdeviceptr at, const void *bytes, size_t size)
{
    const gdnn_driver *cu = s->session->driver;
    need(cu->cuMemcpyHtoDAsync(at, bytes, size, s->session->stream), "cuMemcpyHtoDAsync");
    need(cu->cuStreamSynchronize(s->session->stream), "cuStreamSynchronize");
}

static void take(const subject *s, CUdeviceptr at, void *bytes, size_t size)
{
    const gdnn_driver *cu = s->session->driver;
    need(cu->cuMemcpyDtoHAsync(bytes, at, size, s->session->stream), "cuMemcpyDtoHAsync");
    need(cu->cuStreamSynchronize(s->session->stream), "cuStreamSynchronize");
}

/* Memory for the whole of tensor `name` of `conv`. */
static void allocate(const subject *s, const gdnn_conv *conv, tensor_name name, place *p)
{
    unsigned char guard[GUARD];
    tensor whole = tensor_of(conv, name);
    size_t bytes = tensor_bytes(&whole);
    need(s->session->driver->cuMemAlloc(&p->memory, bytes + 2 * GUARD), "cuMemAlloc");
    memset(guard, 0xff, sizeof guard);
    put(s, p->memory, guard, GUARD);
    put(s, p->memory + GUARD + bytes, guard, GUARD);
}

static bool guarded(const subject *s, const gdnn_conv *conv, tensor_name name, const place *p)
{
    unsigned char guard[2 * GUARD];
    tensor whole = tensor_of(conv, name);
    take(s, p->memory, guard, GUARD);
    take(s, p->memory + GUARD + tensor_bytes(&whole), guard + GUARD, GUARD);
    for (size_t i = 0; i < sizeof guard; i++)
        if (guard[i] != 0xff)
            return false;
    return true;
}

static void send(const subject *s, const place *p, bool poisoned)
{
    for (int64_t i = 0; i < p->count; i++) {
        unsigned char bytes[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
        if (!poisoned)
            gdnn_encode(p->shape.dtype, &p->values[i], bytes, 1);
        put(s, address(p, i), bytes, gdnn_dtype_size(p->shape.dtype));
    }
}

/* Replaces the values by what is in memory. */
static void receive(const subject *s, place *p)
{
    for (int64_t i = 0; i < p->count; i++) {
        unsigned char bytes[8];
        take(s, address(p, i), bytes, gdnn_dtype_size(p->shape.dtype));
        gdnn_decode(p->shape.dtype, bytes, &p->values[i], 1);
    }
}

static void launch(const subject *s, const sparse *c, const place *p)
{
    gdnn_plan *plan = NULL;
    void *at[TENSORS];
    CUdeviceptr workspace = 0;
    for (int i = 0; i < TENSORS; i++)
        at[i] = p[i].memory ? (void *)(uintptr_t)(p[i].memory + GUARD) : NULL;
    const gdnn_tensors tensors = {at[TENSOR_X], at[TENSOR_W], at[TENSOR_Y],
                                  c->alias_z ? at[TENSOR_Y] : at[TENSOR_Z], at[TENSOR_BIAS]};
    gdnn_status status =
        gdnn_plan_make(&plan, &c->conv, (size_t)subject_workspace(s, &c->conv), &s->options, NULL);
    if (status == GDNN_OK && gdnn_plan_workspace(plan))
        need(s->session->driver->cuMemAlloc(&workspace, gdnn_plan_workspace(plan)), "cuMemAlloc");
    if (status == GDNN_OK)
        status = gdnn_plan_run(plan, &tensors, (void *)(uintptr_t)workspace, s->session->stream);
    if (status == GDNN_OK)
        status = session_wait(s->session);
    gdnn_plan_destroy(plan);
    if (workspace)
        s->session->driver->cuMemFree(workspace);
    if (status != GDNN_OK)
        subject_fail(s, &c->conv, "%s", gdnn_last_error());
}

/* Computes into ref what the places, not sent yet to the kernel's memory, lead to. */
static void refer(const sparse *c, const place *p, double *ref, double *magnitude)
{
    gdnn_role written = gdnn_written(c->small.dir);
    const double *z = c->alias_z ? p[TENSOR_Y].values : p[TENSOR_Z].values;
    gdnn_reference r = {p[TENSOR_X].values,    p[TENSOR_W].values, p[TENSOR_Y].values, z,
                        p[TENSOR_BIAS].values, magnitude};
    *(written == GDNN_ROLE_X ? &r.x : written == GDNN_ROLE_W ? &r.w : &r.y) = ref;
    memcpy(ref, p[written].values, (size_t)p[written].count * sizeof *ref);
    gdnn_reference_run(&c->small, &r);
}

void sparse_try(subject *s, const sparse *c)
{
    if (!subject_takes(s, &c->conv))
        return;
    place p[TENSORS] = {{.count = 0}};
    tensor_name written = (tensor_name)gdnn_written(c->conv.dir);
    for (tensor_name i = 0; i < TENSORS; i++) {
        if (!tensor_used(&c->conv, i) || (c->alias_z && i == TENSOR_Z))
            continue;
        p[i].shape = tensor_of(&c->small, i);
        p[i].count = tensor_elements(&p[i].shape);
        p[i].values = numbers(p[i].count);
        fill_values(p[i].values, p[i].count, FILL_UNIFORM, subject_seed(), (fill_stream)i,
                    c->conv.dtype);
        allocate(s, &c->conv, i, &p[i]);
        send(s, &p[i], i == written && c->conv.beta == 0 && !c->alias_z);
    }
    double *ref = numbers(p[written].count), *magnitude = numbers(p[written].count);
    refer(c, p, ref, magnitude);
    launch(s, c, p);

    receive(s, &p[written]);
    measure m = measure_result(&c->small, p[written].values, ref, magnitude);
    double got = p[written].values[m.worst_at], wanted = ref[m.worst_at];
    bool intact = true;
    for (tensor_name i = 0; i < TENSORS; i++) {
        if (!p[i].memory)
            continue;
        intact = intact && guarded(s, &c->conv, i, &p[i]);
        s->session->driver->cuMemFree(p[i].memory);
        free(p[i].values);
    }
    free(ref);
    free(magnitude);
    if (!intact)
        subject_fail(s, &c->conv,
                     "a tensor was written before its first or after its last element");
    if (!m.pass)
        subject_fail(s, &c->conv,
                     "error %.3g of %.3g allowed; element %lld is %.9g and should be %.9g",
                     m.err_l2, m.tol, (long long)m.worst_at, got, wanted);
}
