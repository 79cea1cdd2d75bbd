/* Images and the kernels in them. argv: the double, the image. */
#include "fixture.h"
#include <stdlib.h>
#include <string.h>

static CUresult load(const void *image)
{
    CUlibrary library;
    CUresult result = cu.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0);
    if (result == CUDA_SUCCESS)
        assert_success(cu.cuLibraryUnload(library));
    return result;
}

static void load_misaligned(void)
{
    load((const char *)probe_image() + 4);
}

static void test_images(void **state)
{
    (void)state;
    static _Alignas(64) const char stub[] = "GDNNSTUB", junk[64] = "not an image";
    assert_success(load(probe_image()));
    assert_success(load(stub));
    assert_result(load(junk), CUDA_ERROR_INVALID_IMAGE);
    assert_result(load(NULL), CUDA_ERROR_INVALID_VALUE);
    assert_dies(load_misaligned, "not aligned to 8 bytes");
}

/* The image has code for sm_80 and sm_90 only. */
static void test_image_for_another_gpu(void **state)
{
    (void)state;
    const struct {
        const char *sm;
        CUresult result;
    } cases[] = {{"75", CUDA_ERROR_NO_BINARY_FOR_GPU},
                 {"80", CUDA_SUCCESS},
                 {"86", CUDA_SUCCESS},
                 {"90", CUDA_SUCCESS},
                 {"100", CUDA_ERROR_NO_BINARY_FOR_GPU}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("GDNN_FAKE_SM", cases[i].sm, 1);
        cu.configure();
        assert_result(load(probe_image()), cases[i].result);
    }
    unsetenv("GDNN_FAKE_SM");
    cu.configure();
}

static CUlibrary load_probes(void)
{
    CUlibrary library;
    assert_success(cu.cuLibraryLoadData(&library, probe_image(), NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static void ask_for_other_size(void)
{
    get_kernel("probe_other_size");
}
static void ask_for_other_count(void)
{
    get_kernel("probe_other_count");
}
static void ask_for_one_without_twin(void)
{
    get_kernel("probe_only_in_image");
}

static void test_kernels_exist(void **state)
{
    (void)state;
    CUlibrary library = load_probes();
    CUkernel kernel, again;
    assert_success(cu.cuLibraryGetKernel(&kernel, library, "probe_copy"));
    assert_success(cu.cuLibraryGetKernel(&again, library, "probe_copy"));
    assert_ptr_equal(kernel, again);
    assert_result(cu.cuLibraryGetKernel(&kernel, library, "no_such"), CUDA_ERROR_NOT_FOUND);
    assert_success(cu.cuLibraryUnload(library));
}

static void test_image_and_host_agree(void **state)
{
    (void)state;
    CUlibrary library = load_probes();
    CUkernel kernel;
    assert_result(cu.cuLibraryGetKernel(&kernel, library, "probe_only_on_host"),
                  CUDA_ERROR_NOT_FOUND);
    assert_dies(ask_for_other_size, "parameter 1 has 4 bytes in the image and 8 on the host");
    assert_dies(ask_for_other_count, "has 2 parameters in the image and 1 on the host");
    assert_dies(ask_for_one_without_twin, "GPU_KERNEL is missing");
    assert_success(cu.cuLibraryUnload(library));
}

static int kernel_attribute(const char *name, CUfunction_attribute attribute)
{
    int value = -1;
    assert_success(cu.cuKernelGetAttribute(&value, attribute, get_kernel(name), 0));
    return value;
}

static void test_facts_from_the_image(void **state)
{
    (void)state;
    assert_int_equal(kernel_attribute("probe_bounds", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    assert_int_equal(kernel_attribute("probe_copy", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_in_range(kernel_attribute("probe_static_shared", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                    20480, 20480 + 1024);
    assert_in_range(kernel_attribute("probe_registers", CU_FUNC_ATTRIBUTE_NUM_REGS), 101, 255);
    assert_in_range(kernel_attribute("probe_bounds", CU_FUNC_ATTRIBUTE_NUM_REGS), 4, 32);
    assert_int_equal(kernel_attribute("probe_copy", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
}

static CUkernel dead_kernel;
static void use_dead_kernel(void)
{
    int value;
    cu.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, dead_kernel, 0);
}
static CUlibrary dead_library;
static void use_dead_library(void)
{
    cu.cuLibraryGetKernel(&dead_kernel, dead_library, "probe_copy");
}

static void test_unloading(void **state)
{
    (void)state;
    dead_library = load_probes();
    assert_success(cu.cuLibraryGetKernel(&dead_kernel, dead_library, "probe_copy"));
    assert_success(cu.cuLibraryUnload(dead_library));
    assert_dies(use_dead_kernel, "is not a kernel of a live library");
    assert_dies(use_dead_library, "is not a live library");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_double(argv[1]);
    set_probe_image(argv[2]);
    struct CMUnitTest tests[6] = {
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_kernels_exist),
        cmocka_unit_test(test_unloading),
    };
    size_t count = 3;
    if (image_is_real()) { /* a build with nvcc */
        const struct CMUnitTest more[] = {
            cmocka_unit_test(test_image_for_another_gpu),
            cmocka_unit_test(test_image_and_host_agree),
            cmocka_unit_test(test_facts_from_the_image),
        };
        memcpy(tests + count, more, sizeof more);
        count += sizeof more / sizeof *more;
    }
    return _cmocka_run_group_tests("images", tests, count, context_setup, context_teardown);
}
