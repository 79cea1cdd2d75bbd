#include "commands.h"
#include "compare.h"

static command face = {
    .name = "compare",
    .arguments = "FILE...|'PROBLEM'...|-",
    .help =
        "Runs every problem with groupdnn's kernels and with a float64 reference, and compares.\n"
        "A problem is one line of text, such as\n"
        "    n=8 c=64 in=28x28 k=64 filter=3x3 pad=1 groups=32\n"
        "A file has one a line; - is standard input. What a problem leaves open (dir, dtype, "
        "layout) is run in all ways that were asked for.\n"
        "With --x and --w (and --dy) the tensors are yours, in logical order whatever the "
        "layout.\n"
        "A problem that no kernel runs is skipped, with the reason; it does not count as passed.",
    .flags = request_flags,
};

int cmd_compare(int argc, char **argv)
{
    request q;
    face.flag_count = request_flag_count;
    int code = request_read(&q, &face, 256u << 20, argc, argv);
    if (code < 0)
        code = compare_run(&q, NULL);
    request_free(&q);
    return code;
}
