#include "report.hpp"
#include "counters.hpp"
#include "scheduler.hpp"
#include "watch.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emu
{
Counters counters;
bool watch::Unchecked::active;

bool same_place(const Where &a, const Where &b)
{
    return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

void report_begin()
{
    fflush(stdout);
    fprintf(stderr, "emulator: error: ");
    if (running_kernel)
        fprintf(stderr, "kernel %s: ", running_kernel->name);
    if (current)
        fprintf(stderr, "block (%u, %u, %u), thread (%u, %u, %u): ", block.index.x, block.index.y,
                block.index.z, current->index.x, current->index.y, current->index.z);
}

void kernel_error(Where where, const char *format, ...)
{
    report_begin();
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n    at %s:%d\n", where.file, where.line);
    abort();
}
} // namespace emu
