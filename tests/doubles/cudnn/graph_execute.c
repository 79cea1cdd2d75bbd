/* Execution of plans: what NVIDIA's library says a plan holds, by the reference. */
#include "double.h"
#include "graph_json.h"
#include "graph_pack.h"
#include "graph_problem.h"
#include "passthrough.h"
#include "tensors.h"
#include <math.h>
#include <stdlib.h>

/* A call, as far as it is understood. */
typedef struct execution {
    cudnnHandle_t handle;
    cudnnBackendDescriptor_t plan, pack;
    int64_t workspace_bytes;
    double alpha; /* NaN: not known */
    gdnn_graph_problem problem;
} execution;

static cudnnStatus_t read_text(cudnnBackendDescriptor_t plan, int64_t *length, char **text)
{
    *text = NULL;
    cudnnStatus_t status = REAL(cudnnBackendGetAttribute)(
        plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, length, NULL);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    *text = calloc((size_t)*length + 1, 1);
    if ((status = created(*text)) != CUDNN_STATUS_SUCCESS)
        return status;
    status = REAL(cudnnBackendGetAttribute)(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                            CUDNN_TYPE_CHAR, *length, length, *text);
    if (status != CUDNN_STATUS_SUCCESS) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static cudnnStatus_t read_problem_of(cudnnBackendDescriptor_t plan, gdnn_graph_problem *problem)
{
    int64_t length = 0;
    char *text;
    gdnn_graph graph;
    const cudnnStatus_t status = read_text(plan, &length, &text);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    const bool read = gdnn_graph_json_read(text, (size_t)length, &graph);
    free(text);
    if (!read)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "the double does not understand the plan's text");
    const gdnn_reason reason = gdnn_graph_problem_any(&graph, problem);
    if (reason != GDNN_REASON_TAKEN)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, gdnn_reason_sentence(reason));
    if (gdnn_check(&problem->conv) != GDNN_OK)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, gdnn_last_error());
    return CUDNN_STATUS_SUCCESS;
}

/* Finds the memory. z may be missing where it is not read. */
static cudnnStatus_t read_pack(const execution *e, places *device)
{
    const gdnn_graph_problem *p = &e->problem;
    const gdnn_conv *conv = &p->conv;
    const int64_t uids[] = {p->x, p->w, p->y, p->z, p->bias};
    void *pointers[5] = {NULL};
    pack_facts facts;
    REFUSE_IF(!pack_read(e->pack, &facts, 5, uids, pointers));
    REFUSE_IF(!facts.finalized);
    if (facts.overrides)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "the double has no shapes but the plan's");
    void *const x = pointers[0], *const w = pointers[1], *const y = pointers[2];
    void *const z = pointers[3], *const bias = pointers[4];
    REFUSE_IF(!x);
    REFUSE_IF(!w);
    REFUSE_IF(!y);
    REFUSE_IF(conv->z && conv->alpha2 != 0 && !z);
    REFUSE_IF(conv->bias && !bias);
    REFUSE_IF(e->workspace_bytes > 0 && !facts.workspace);
    *device = (places){{x, w, y}, z, bias};
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t compute(execution *e)
{
    const gdnn_conv *conv = &e->problem.conv;
    places device;
    tensors t = {0};
    cudnnStatus_t status;

    if (!e->handle || !e->plan || !e->pack)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    REFUSE_IF(e->handle->self != e->handle);
    if (REAL(cudnnBackendGetAttribute)(e->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                       CUDNN_TYPE_INT64, 1, NULL,
                                       &e->workspace_bytes) != CUDNN_STATUS_SUCCESS)
        return fail(CUDNN_STATUS_BAD_PARAM, "no plan, or one that is not finalized");
    if ((status = read_problem_of(e->plan, &e->problem)) != CUDNN_STATUS_SUCCESS)
        return status;
    e->alpha = conv->alpha;
    if ((status = read_pack(e, &device)) != CUDNN_STATUS_SUCCESS)
        return status;
    status = tensors_read(&t, conv, &device, e->handle->stream);
    if (status == CUDNN_STATUS_SUCCESS) {
        tensors_compute(&t, conv);
        status = tensors_write(&t, conv, &device, e->handle->stream);
    }
    tensors_free(&t);
    return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t variant_pack)
{
    execution e = {.handle = handle, .plan = plan, .pack = variant_pack, .alpha = NAN};
    cudnnStatus_t status = told_to_fail(__func__);
    status = status == CUDNN_STATUS_SUCCESS ? compute(&e) : fail(status, "GDNN_DOUBLE_FAIL");
    return record(__func__, status, handle, (size_t)e.workspace_bytes, e.alpha);
}
