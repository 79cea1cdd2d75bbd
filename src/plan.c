#include "plan.h"
#include "device.h"
#include "error.h"
#include "launch.h"
#include "log.h"
#include "problem.h"
#include <stdint.h>
#include <stdlib.h>

struct gdnn_plan {
    gdnn_conv conv;
    gdnn_launch_shape shape;
    gdnn_functions functions;
    gdnn_args args;
};

/* A caller of the C API has already chosen groupdnn: evidence of a win and GROUPDNN_MODE are the
 * drop-in's concern. */
static gdnn_options options_of_api(void)
{
    gdnn_options options = *gdnn_options_get();
    options.mode = GDNN_MODE_FORCE;
    return options;
}

static gdnn_status declined(gdnn_reason reason)
{
    if (reason == GDNN_REASON_INVALID)
        return GDNN_INVALID; /* gdnn_check has said what is wrong */
    return gdnn_fail(GDNN_UNSUPPORTED, "%s: %s", gdnn_reason_name(reason),
                     gdnn_reason_sentence(reason));
}

/* Decides and loads into `plan`, which holds nothing yet. */
static gdnn_status prepare(gdnn_plan *plan, const gdnn_conv *conv, size_t workspace,
                           const gdnn_options *options, gdnn_decision *decision)
{
    gdnn_device device;
    gdnn_status status = gdnn_check(conv);
    decision->reason = GDNN_REASON_INVALID;
    if (status != GDNN_OK)
        return status;
    decision->reason = GDNN_REASON_NO_DRIVER;
    status = gdnn_device_current(&device);
    if (status != GDNN_OK)
        return status;

    int64_t offered = workspace > INT64_MAX ? INT64_MAX : (int64_t)workspace;
    *decision = gdnn_decide(conv, offered, &device, options);
    if (decision->reason != GDNN_REASON_TAKEN) {
        gdnn_log_conv(GDNN_LOG_INFO, conv, "declined", gdnn_reason_name(decision->reason));
        return declined(decision->reason);
    }
    plan->conv = *conv;
    plan->shape = decision->launch;
    gdnn_launch_args(&plan->shape, conv, &plan->args);
    status = gdnn_load(&plan->shape, &plan->functions, &decision->reason);
    if (status == GDNN_OK)
        gdnn_log_conv(GDNN_LOG_INFO, conv, "plan", plan->shape.kernel->name);
    else
        gdnn_log_conv(GDNN_LOG_ERROR, conv, "not loaded", gdnn_last_error());
    return status;
}

gdnn_status gdnn_plan_make(gdnn_plan **plan, const gdnn_conv *conv, size_t workspace,
                           const gdnn_options *options, gdnn_decision *decision)
{
    gdnn_decision own;
    if (!decision)
        decision = &own;
    *decision = (gdnn_decision){.reason = GDNN_REASON_INVALID, .evidence = "none"};
    if (plan)
        *plan = NULL;
    if (!plan || !conv)
        return gdnn_fail(GDNN_INVALID, "gdnn_plan_create: %s is NULL", plan ? "conv" : "plan");
    gdnn_plan *made = calloc(1, sizeof *made);
    if (!made)
        return gdnn_fail(GDNN_FAILED, "gdnn_plan_create: out of host memory");
    gdnn_status status = prepare(made, conv, workspace, options, decision);
    if (status != GDNN_OK) {
        free(made);
        return status;
    }
    *plan = made;
    return GDNN_OK;
}

gdnn_status gdnn_plan_create(gdnn_plan **plan, const gdnn_conv *conv, size_t workspace)
{
    gdnn_options options = options_of_api();
    return gdnn_plan_make(plan, conv, workspace, &options, NULL);
}

size_t gdnn_plan_workspace(const gdnn_plan *plan)
{
    return plan ? (size_t)plan->shape.workspace : 0;
}

const char *gdnn_plan_kernel(const gdnn_plan *plan)
{
    return plan ? plan->shape.kernel->name : "";
}

/* Missing or misaligned pointers. */
static gdnn_status check_tensors(const gdnn_plan *plan, const gdnn_tensors *t,
                                 const void *workspace)
{
    const struct {
        const char *name;
        const void *pointer;
        int needed;
    } pointers[] = {
        {"x", t->x, 1},
        {"w", t->w, 1},
        {"y", t->y, 1},
        {"z", t->z, (int)plan->args.has_z},
        {"bias", t->bias, (int)plan->args.has_bias},
    };
    size_t size = gdnn_dtype_size(plan->conv.dtype);
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        if (!pointers[i].needed)
            continue;
        if (!pointers[i].pointer)
            return gdnn_fail(GDNN_INVALID, "%s is NULL, but the problem needs it",
                             pointers[i].name);
        if ((uintptr_t)pointers[i].pointer % size)
            return gdnn_fail(GDNN_INVALID, "%s=%p is not aligned to its elements of %zu bytes",
                             pointers[i].name, pointers[i].pointer, size);
    }
    if (plan->shape.workspace && (!workspace || (uintptr_t)workspace % 16))
        return gdnn_fail(GDNN_INVALID, "workspace=%p: %lld bytes aligned to 16 are needed",
                         workspace, (long long)plan->shape.workspace);
    return GDNN_OK;
}

gdnn_status gdnn_plan_run(const gdnn_plan *plan, const gdnn_tensors *tensors, void *workspace,
                          void *stream)
{
    if (!plan || !tensors)
        return gdnn_fail(GDNN_INVALID, "gdnn_plan_run: %s is NULL", plan ? "tensors" : "plan");
    gdnn_status status = check_tensors(plan, tensors, workspace);
    if (status != GDNN_OK)
        return status;
    gdnn_log_conv(GDNN_LOG_CALLS, &plan->conv, "run", plan->shape.kernel->name);
    status = gdnn_launch(&plan->shape, &plan->functions, &plan->args, tensors, workspace, stream);
    if (status != GDNN_OK)
        gdnn_log_conv(GDNN_LOG_ERROR, &plan->conv, "not launched", gdnn_last_error());
    return status;
}

void gdnn_plan_destroy(gdnn_plan *plan)
{
    free(plan);
}

gdnn_status gdnn_run(const gdnn_conv *conv, const gdnn_tensors *tensors, void *workspace,
                     size_t workspace_bytes, void *stream)
{
    gdnn_plan plan;
    gdnn_decision decision;
    gdnn_options options = options_of_api();
    if (!conv || !tensors)
        return gdnn_fail(GDNN_INVALID, "gdnn_run: %s is NULL", conv ? "tensors" : "conv");
    gdnn_status status = prepare(&plan, conv, workspace_bytes, &options, &decision);
    return status == GDNN_OK ? gdnn_plan_run(&plan, tensors, workspace, stream) : status;
}

gdnn_status gdnn_explain(const gdnn_conv *conv, const gdnn_device *device, size_t workspace,
                         gdnn_explanation *out)
{
    if (!conv || !out)
        return gdnn_fail(GDNN_INVALID, "gdnn_explain: %s is NULL", conv ? "out" : "conv");
    gdnn_status status = gdnn_check(conv);
    if (status != GDNN_OK)
        return status;
    gdnn_device h200;
    gdnn_device_known("h200", &h200);
    if (!device)
        device = &h200;

    int64_t offered = workspace > INT64_MAX ? INT64_MAX : (int64_t)workspace;
    gdnn_decision decision = gdnn_decide(conv, offered, device, gdnn_options_get());
    const gdnn_launch_shape *launch = &decision.launch;
    /* The drop-in leaves these to cuDNN; the C API runs them. */
    if (launch->kernel && conv->groups == 1 && decision.reason != GDNN_REASON_MODE_OFF)
        decision.reason = GDNN_REASON_NOT_GROUPED;
    *out = (gdnn_explanation){
        .status = launch->kernel ? GDNN_OK : GDNN_UNSUPPORTED,
        .taken = decision.reason == GDNN_REASON_TAKEN,
        .kernel = launch->kernel ? launch->kernel->name : NULL,
        .reason = gdnn_reason_name(decision.reason),
        .sentence = gdnn_reason_sentence(decision.reason),
        .evidence = decision.evidence,
        .workspace = (size_t)launch->workspace,
        .launches = launch->launches,
        .floor_us = gdnn_floor_us(conv, device),
    };
    return GDNN_OK;
}
