// cp.async. Its data may arrive at any time between issue and wait, so both extremes can be chosen:
// a wait that is missing shows when it arrives late, a buffer that is written too soon when it
// arrives early.
#include "copies.hpp"
#include "memory.hpp"
#include "scheduler.hpp"
#include "watch.hpp"

#include <cstdint>
#include <cstring>

namespace emu
{
static void arrive(const Copy &copy)
{
    watch::Unchecked unchecked;
    memcpy(copy.dst, copy.src, (size_t)copy.src_bytes);
    memset(static_cast<char *>(copy.dst) + copy.src_bytes, 0,
           (size_t)(copy.bytes - copy.src_bytes));
}

void Copies::issue(const Copy &copy)
{
    copies_.push_back(copy);
    uncommitted_++;
    // The source is read at any time up to the wait: checked at both ends.
    watch::copy_reads(copy.src, (size_t)copy.src_bytes, copy.where);
    watch::copy_issued(copy.dst, (size_t)copy.bytes, copy.where);
    if (copies_arrive_early()) {
        arrive(copy);
        copies_.back().arrived = true;
    }
}

void Copies::commit()
{
    commits_.push_back(uncommitted_);
    uncommitted_ = 0;
}

void Copies::wait(size_t open_commits)
{
    while (commits_.size() > open_commits) {
        for (size_t i = 0; i < commits_.front(); i++) {
            const Copy &copy = copies_[i];
            watch::copy_reads(copy.src, (size_t)copy.src_bytes, copy.where);
            if (!copy.arrived)
                arrive(copy);
            watch::copy_complete(copy.dst, (size_t)copy.bytes);
        }
        copies_.erase(copies_.begin(), copies_.begin() + (ptrdiff_t)commits_.front());
        commits_.erase(commits_.begin());
    }
}

void Copies::clear()
{
    copies_.clear();
    commits_.clear();
    uncommitted_ = 0;
}

void copy_async(void *dst, const void *src, int bytes, int src_bytes, Where where)
{
    if ((uintptr_t)dst % (uintptr_t)bytes)
        kernel_error(where, "cp.async: destination %p is not aligned to %d bytes", dst, bytes);
    if ((uintptr_t)src % (uintptr_t)bytes)
        kernel_error(where, "cp.async: source %p is not aligned to %d bytes", src, bytes);
    if (src_bytes < 0 || src_bytes > bytes)
        kernel_error(where, "cp.async: %d bytes of a source for a copy of %d", src_bytes, bytes);
    if (!in_shared(dst, (size_t)bytes))
        kernel_error(where, "cp.async: destination %p is not in shared memory", dst);
    if (in_shared(src, 1))
        kernel_error(where, "cp.async: source %p is in shared memory", src);
    current_fiber()->copies.issue({dst, src, bytes, src_bytes, false, where});
}

void copy_commit()
{
    current_fiber()->copies.commit();
}

void copy_wait(int open)
{
    current_fiber()->copies.wait((size_t)open);
}
} // namespace emu
