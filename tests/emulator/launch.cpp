#include "counters.hpp"
#include "scheduler.hpp"
#include "shared.hpp"
#include "watch.hpp"

#include <cstring>
#include <mutex>

namespace emu
{
// Function-local, since registrars of other files run in any order.
static std::vector<const Kernel *> &registry()
{
    static std::vector<const Kernel *> kernels;
    return kernels;
}

void register_kernel(const Kernel *kernel)
{
    if (find_kernel(kernel->name))
        kernel_error(Where(), "two kernels have the name %s", kernel->name);
    registry().push_back(kernel);
}

const Kernel *find_kernel(const char *name)
{
    for (const Kernel *kernel : registry())
        if (!strcmp(kernel->name, name))
            return kernel;
    return nullptr;
}

const std::vector<const Kernel *> &all_kernels()
{
    return registry();
}

static void check_limits(const Launch &launch)
{
    const dim3 &b = launch.block, &g = launch.grid;
    if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 ||
        (uint64_t)b.x * b.y * b.z > max_block_threads)
        kernel_error(Where(), "launch with a block of %u x %u x %u threads", b.x, b.y, b.z);
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        kernel_error(Where(), "launch with a grid of %u x %u x %u blocks", g.x, g.y, g.z);
    if (launch.dynamic_shared > launch.max_shared)
        kernel_error(Where(), "launch with %zu bytes of dynamic shared memory, more than %zu",
                     launch.dynamic_shared, launch.max_shared);
}

void launch(const Kernel &kernel, const Launch &launch)
{
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    running_kernel = &kernel;
    check_limits(launch);
    configure_schedule();
    block.size = launch.block;
    block.grid = launch.grid;
    prepare_threads(launch.block);
    begin_shared(launch.dynamic_shared, launch.max_shared);
    watch::begin_launch();
    counters.launches++;
    for (unsigned z = 0; z < launch.grid.z; z++)
        for (unsigned y = 0; y < launch.grid.y; y++)
            for (unsigned x = 0; x < launch.grid.x; x++) {
                block.index = {x, y, z};
                begin_shared_block();
                run_block(launch.arguments);
            }
    running_kernel = nullptr;
}
} // namespace emu
