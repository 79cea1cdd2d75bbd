// What the tests of the emulator share: cmocka in C++, arrays that stand for device memory, and
// child processes.
#ifndef GDNN_EMULATOR_PROBE_HPP
#define GDNN_EMULATOR_PROBE_HPP

#include "kernel.hpp"

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <setjmp.h>
#include <string>
#include <vector>
extern "C" {
#include <cmocka.h>
}

// Bytes in global memory, at first all 0xff. Reading past the end gives NaN or an ASan report, and
// is an error for the race checker.
class GlobalBytes
{
  public:
    explicit GlobalBytes(size_t bytes);
    ~GlobalBytes();
    GlobalBytes(const GlobalBytes &) = delete;
    void *data() const
    {
        return data_;
    }
    void written_by_host();

  private:
    char *block_, *data_;
    size_t bytes_;
};

template <class T>
class Global
{
  public:
    explicit Global(size_t count) : bytes_(count * sizeof(T)), count_(count)
    {
    }
    explicit Global(const std::vector<T> &values) : Global(values.size())
    {
        memcpy(bytes_.data(), values.data(), values.size() * sizeof(T));
        bytes_.written_by_host();
    }
    T *data() const
    {
        return static_cast<T *>(bytes_.data());
    }
    std::vector<T> values() const
    {
        return std::vector<T>(data(), data() + count_);
    }

  private:
    GlobalBytes bytes_;
    size_t count_;
};

// Launches the kernel of that name; the arguments' types must be the parameters'.
template <class... A>
void launch(const char *name, dim3 grid, dim3 block, size_t dynamic_shared, A... arguments)
{
    const emu::Kernel *kernel = emu::find_kernel(name);
    assert_non_null(kernel);
    assert_int_equal(kernel->parameters.size(), sizeof...(A));
    void *pointers[] = {&arguments...};
    emu::launch(*kernel, {grid, block, dynamic_shared, pointers});
}

// How a child process ended.
struct Ending {
    bool exited_cleanly;
    std::string text; // its stderr
};

// Runs `body` in a child process, with environment variables "NAME=value" set.
Ending in_child(const std::function<void()> &body,
                const std::vector<std::string> &environment = {});

#endif
