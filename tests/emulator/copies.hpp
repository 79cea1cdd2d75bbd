// The cp.async copies of a thread that have not arrived yet.
#ifndef GDNN_EMULATOR_COPIES_HPP
#define GDNN_EMULATOR_COPIES_HPP

#include "thread.hpp"

#include <cstddef>
#include <vector>

namespace emu
{
struct Copy {
    void *dst;
    const void *src;
    int bytes, src_bytes;
    bool arrived;
    Where where;
};

class Copies
{
  public:
    void issue(const Copy &copy);
    void commit();
    void wait(size_t open_commits);
    void clear();

  private:
    std::vector<Copy> copies_;    // in order of issue
    std::vector<size_t> commits_; // how many copies each open commit has
    size_t uncommitted_ = 0;
};
} // namespace emu

#endif
