// The kernels that exist as host twins, and launching one.
#ifndef GDNN_EMULATOR_KERNEL_HPP
#define GDNN_EMULATOR_KERNEL_HPP

#include "vectors.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace emu
{
struct Parameter {
    size_t bytes;
    bool pointer;
};

typedef void (*AnyFunction)();

struct Kernel {
    const char *name;
    AnyFunction function;
    void (*call)(AnyFunction, void *const *arguments);
    std::vector<Parameter> parameters;
};

void register_kernel(const Kernel *kernel);
const Kernel *find_kernel(const char *name); // null if there is none
const std::vector<const Kernel *> &all_kernels();

template <class... A>
struct Caller {
    template <size_t... I>
    static void unpack(void (*function)(A...), void *const *arguments, std::index_sequence<I...>)
    {
        (void)arguments;
        function(*static_cast<const std::remove_reference_t<A> *>(arguments[I])...);
    }
    static void call(AnyFunction function, void *const *arguments)
    {
        unpack(reinterpret_cast<void (*)(A...)>(function), arguments,
               std::index_sequence_for<A...>());
    }
};

struct Registrar {
    Kernel kernel;
    template <class... A>
    Registrar(const char *name, void (*function)(A...))
        : kernel{name,
                 reinterpret_cast<AnyFunction>(function),
                 Caller<A...>::call,
                 {{sizeof(A), std::is_pointer<A>::value}...}}
    {
        register_kernel(&kernel);
    }
};

struct Launch {
    dim3 grid, block;
    size_t dynamic_shared;
    void *const *arguments;         // one pointer a parameter, as for cuLaunchKernel
    size_t max_shared = 227 * 1024; // static and dynamic, of a block
};

// Runs the grid to its end, one block after another. Errors of the kernel and limits that the
// launch breaks are reported and abort. One launch at a time; others wait.
void launch(const Kernel &kernel, const Launch &launch);
} // namespace emu

#define GPU_KERNEL(name) static const emu::Registrar emu_registrar_##name(#name, name);

#endif
