/* A program that makes many right, wrong and odd calls of cuDNN's legacy functions around
 * convolution and prints what each gave, one line a call. It knows nothing of groupdnn: its output
 * must be the same whichever libcudnn.so.9 it is run with. With `all`, results are also compared
 * with sums of its own. Exit status: 0, or 1 if a result is wrong or there is no device. */
#include "calls.h"
#include "device.h"
#include "execution.h"
#include "report.h"
#include <stdio.h>
#include <string.h>

static void call_descriptors(void)
{
    call_library();
    call_tensors();
    call_filters();
    call_convolutions();
    call_outputs();
    call_activations();
    call_without_handle();
}

static void call_device(void)
{
    call_handles();
    call_algorithms();
    call_right();
    call_fused();
    call_bias();
    call_wrong();
}

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";
    const int all = strcmp(mode, "all") == 0;
    if (!all && strcmp(mode, "descriptors") != 0) {
        fprintf(stderr, "usage: calls descriptors|all\n");
        return 2;
    }
    if (all && !device_open())
        return 1;
    call_descriptors();
    if (all)
        call_device();
    const int calls = report_end();
    if (all)
        device_close();
    printf("%d calls, %d wrong results\n", calls, executions_wrong());
    return executions_wrong() ? 1 : 0;
}
