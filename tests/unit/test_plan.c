/* plan and explain on the double of the driver: pointers, arguments, options, and what a run
 * costs. */
#include "double_fixture.h"

IN_CHILD(a_plan_is_made_and_run)
{
    open_devices(1);
    gdnn_plan *plan;
    gdnn_decision decision;
    CHECK(make(&plan, GDNN_FWD, &decision) == GDNN_OK);
    CHECK(decision.reason == GDNN_REASON_TAKEN);
    CHECK(!strcmp(gdnn_plan_kernel(plan), decision.launch.kernel->name));
    CHECK(gdnn_plan_workspace(plan) == 0);
    gdnn_plan_destroy(plan);
    gdnn_plan_destroy(NULL);
    CHECK(!*gdnn_plan_kernel(NULL) && !gdnn_plan_workspace(NULL));
    check_works();
    CHECK(!cu->cuDevicePrimaryCtxRelease(0)); /* the double ends the process if anything is left */
}

IN_CHILD(pointers_that_are_wrong)
{
    open_devices(1);
    gdnn_plan *plan;
    gdnn_conv conv = example(GDNN_FWD, GDNN_F32);
    conv.z = conv.bias = 1;
    gdnn_options options = forced();
    memory m = allocate();
    CHECK(gdnn_plan_make(&plan, &conv, 0, &options, NULL) == GDNN_OK);
    gdnn_tensors good = tensors_of(&m);
    good.z = good.x;
    good.bias = good.w;
    CHECK(gdnn_plan_run(plan, &good, NULL, NULL) == GDNN_OK);

    static const char *const names[] = {"x", "w", "y", "z", "bias"};
    for (int i = 0; i < 5; i++)
        for (int off = -1; off < 4; off++) { /* NULL, right, misaligned */
            gdnn_tensors t = good;
            char **pointers[] = {(char **)&t.x, (char **)&t.w, (char **)&t.y, (char **)&t.z,
                                 (char **)&t.bias};
            char begins[16];
            *pointers[i] = off < 0 ? NULL : *pointers[i] + off;
            gdnn_status status = gdnn_plan_run(plan, &t, NULL, NULL);
            CHECK(status == (off ? GDNN_INVALID : GDNN_OK));
            snprintf(begins, sizeof begins, off < 0 ? "%s is NULL" : "%s=0x", names[i]);
            if (off)
                CHECK(!strncmp(gdnn_last_error(), begins, strlen(begins)));
        }
    CHECK(gdnn_plan_run(NULL, &good, NULL, NULL) == GDNN_INVALID);
    CHECK(gdnn_plan_run(plan, NULL, NULL, NULL) == GDNN_INVALID);
    gdnn_plan_destroy(plan);

    /* what the problem does not use is not looked at */
    CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_OK);
    good.z = NULL;
    good.bias = NULL;
    CHECK(gdnn_plan_run(plan, &good, NULL, NULL) == GDNN_OK);
    gdnn_plan_destroy(plan);
    conv.alpha2 = 0;
    conv.bias = 0;
    CHECK(gdnn_plan_make(&plan, &conv, 0, &options, NULL) == GDNN_OK);
    CHECK(gdnn_plan_run(plan, &good, NULL, NULL) == GDNN_OK);
    gdnn_plan_destroy(plan);
    CHECK(!cu->cuStreamSynchronize(NULL));
    release(&m);
}

IN_CHILD(arguments_that_are_wrong)
{
    open_devices(1);
    gdnn_plan *plan = (gdnn_plan *)1;
    gdnn_conv conv = example(GDNN_FWD, GDNN_F32);
    gdnn_tensors tensors = {NULL, NULL, NULL, NULL, NULL};
    gdnn_explanation explanation;
    CHECK(gdnn_plan_create(NULL, &conv, 0) == GDNN_INVALID);
    CHECK(gdnn_plan_create(&plan, NULL, 0) == GDNN_INVALID);
    CHECK(!plan);
    CHECK(gdnn_run(NULL, &tensors, NULL, 0, NULL) == GDNN_INVALID);
    CHECK(gdnn_run(&conv, NULL, NULL, 0, NULL) == GDNN_INVALID);
    CHECK(gdnn_explain(NULL, NULL, 0, &explanation) == GDNN_INVALID);
    CHECK(gdnn_explain(&conv, NULL, 0, NULL) == GDNN_INVALID);
    conv.groups = 3;
    CHECK(gdnn_plan_create(&plan, &conv, 0) == GDNN_INVALID);
    CHECK(!plan);
    CHECK_ERROR("groups=3");
    CHECK(gdnn_run(&conv, &tensors, NULL, 0, NULL) == GDNN_INVALID);
    CHECK(gdnn_explain(&conv, NULL, 0, &explanation) == GDNN_INVALID);
}

IN_CHILD(run_is_a_plan_in_one_call)
{
    open_devices(1);
    gdnn_conv conv = example(GDNN_FWD, GDNN_F32);
    memory m = allocate();
    gdnn_tensors tensors = tensors_of(&m);
    CHECK(gdnn_run(&conv, &tensors, NULL, 0, NULL) == GDNN_OK);
    check_result(&m);
    tensors.x = NULL;
    CHECK(gdnn_run(&conv, &tensors, NULL, SIZE_MAX, NULL) == GDNN_INVALID);
    fail_next("cuLaunchKernelEx:1:700");
    tensors = tensors_of(&m);
    CHECK(gdnn_run(&conv, &tensors, NULL, 0, NULL) == GDNN_FAILED);
    conv.dtype = GDNN_F32;
    conv.acc = GDNN_F64;
    CHECK(gdnn_run(&conv, &tensors, NULL, 0, NULL) == GDNN_UNSUPPORTED);
    CHECK_ERROR("accumulator");
    release(&m);
}

/* The C API's caller has chosen groupdnn, so the mode does not count; what is disabled does. */
IN_CHILD(the_api_ignores_the_mode)
{
    setenv("GROUPDNN_MODE", "off", 1);
    open_devices(1);
    gdnn_plan *plan;
    gdnn_conv conv = example(GDNN_FWD, GDNN_F32);
    CHECK(gdnn_plan_create(&plan, &conv, 0) == GDNN_OK);
    gdnn_plan_destroy(plan);
    gdnn_explanation explanation;
    CHECK(gdnn_explain(&conv, NULL, 0, &explanation) == GDNN_OK);
    CHECK(!explanation.taken && !strcmp(explanation.reason, "mode-off"));
}

IN_CHILD(the_api_obeys_disable)
{
    setenv("GROUPDNN_DISABLE", "bwd_data,direct_fwd", 1);
    open_devices(1);
    gdnn_plan *plan;
    gdnn_conv conv = example(GDNN_FWD, GDNN_F64); /* of f64 there is the direct family alone */
    CHECK(gdnn_plan_create(&plan, &conv, 0) == GDNN_UNSUPPORTED);
    CHECK_ERROR("disabled");
    conv = example(GDNN_BWD_DATA, GDNN_F64);
    CHECK(gdnn_plan_create(&plan, &conv, 0) == GDNN_UNSUPPORTED);
    conv = example(GDNN_BWD_FILTER, GDNN_F64);
    CHECK(gdnn_plan_create(&plan, &conv, 0) == GDNN_OK);
    gdnn_plan_destroy(plan);
}

IN_CHILD(the_api_obeys_kernel)
{
    setenv("GROUPDNN_KERNEL", "direct_fwd", 1);
    open_devices(1);
    gdnn_plan *plan;
    gdnn_conv conv = example(GDNN_FWD, GDNN_F16);
    CHECK(gdnn_plan_create(&plan, &conv, 0) == GDNN_OK);
    CHECK(!strcmp(gdnn_plan_kernel(plan), "direct_fwd"));
    gdnn_plan_destroy(plan);
    conv = example(GDNN_BWD_DATA, GDNN_F16);
    CHECK(gdnn_plan_create(&plan, &conv, 0) == GDNN_UNSUPPORTED);
    CHECK_ERROR("kernel-option");
}

/* The double is told nothing of a driver here: explain must not open one. */
IN_CHILD(explain_needs_no_driver)
{
    gdnn_driver_use("/nonexistent/libcuda.so.1");
    setenv("GROUPDNN_MODE", "force", 1);
    gdnn_conv conv = example(GDNN_FWD, GDNN_F64);
    gdnn_explanation with_null, with_h200, with_unknown;
    gdnn_device h200, unknown = {.name = "unknown", .sm = 90, .shared_bytes = 232448};
    CHECK(gdnn_device_known("h200", &h200) == GDNN_OK);
    CHECK(gdnn_explain(&conv, NULL, 0, &with_null) == GDNN_OK);
    CHECK(gdnn_explain(&conv, &h200, 0, &with_h200) == GDNN_OK);
    CHECK(gdnn_explain(&conv, &unknown, 0, &with_unknown) == GDNN_OK);
    CHECK(with_null.status == GDNN_OK && with_null.taken);
    CHECK(!strcmp(with_null.kernel, "direct_fwd") && !strcmp(with_null.reason, "taken"));
    CHECK(!strcmp(with_null.evidence, "none") && *with_null.sentence);
    CHECK(with_null.launches == 1 && with_null.workspace == 0);
    CHECK(with_null.floor_us > 0 && with_null.floor_us == with_h200.floor_us);
    CHECK(with_unknown.taken && with_unknown.floor_us == 0); /* its rates are not known */

    conv.y_stride[3] = 0;
    CHECK(gdnn_explain(&conv, NULL, 0, &with_null) == GDNN_OK);
    CHECK(with_null.status == GDNN_UNSUPPORTED && !with_null.taken && !with_null.kernel);
    CHECK(!strcmp(with_null.reason, "overlap") && with_null.launches == 0);
}

IN_CHILD(explain_names_what_would_run)
{
    gdnn_conv conv = example(GDNN_FWD, GDNN_F64);
    gdnn_explanation e;
    CHECK(gdnn_explain(&conv, NULL, SIZE_MAX, &e) == GDNN_OK);
    CHECK(e.status == GDNN_OK && !e.taken);
    CHECK(!strcmp(e.reason, "no-evidence") && !strcmp(e.kernel, "direct_fwd"));
}

/* Running allocates nothing and asks the driver for one thing: the launch. */
IN_CHILD(a_run_is_one_call_of_the_driver)
{
    open_devices(1);
    void (*counters)(gdnn_fake_counts *) = NULL;
    *(void **)&counters = double_symbol("gdnn_fake_counters");
    gdnn_fake_counts before, after;
    gdnn_plan *plan;
    memory m = allocate();
    gdnn_tensors tensors = tensors_of(&m);
    CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_OK);
    counters(&before);
    CHECK(gdnn_plan_run(plan, &tensors, NULL, NULL) == GDNN_OK);
    counters(&after);
    CHECK(after.calls - before.calls == 1);
    CHECK(after.launches - before.launches == 1);
    CHECK(after.allocations == before.allocations);
    gdnn_plan_destroy(plan);
    check_result(&m);
    release(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_made_and_run),
        cmocka_unit_test(pointers_that_are_wrong),
        cmocka_unit_test(arguments_that_are_wrong),
        cmocka_unit_test(run_is_a_plan_in_one_call),
        cmocka_unit_test(the_api_ignores_the_mode),
        cmocka_unit_test(the_api_obeys_disable),
        cmocka_unit_test(the_api_obeys_kernel),
        cmocka_unit_test(explain_needs_no_driver),
        cmocka_unit_test(explain_names_what_would_run),
        cmocka_unit_test(a_run_is_one_call_of_the_driver),
    };
    double_paths(argc, argv);
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
