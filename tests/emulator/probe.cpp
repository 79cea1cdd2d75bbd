#include "probe.hpp"
#include "context.hpp"
#include "watch.hpp"

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

// ASan has redzones of its own, which must begin where the bytes end.
static const size_t margin = EMU_ASAN ? 0 : 256;

GlobalBytes::GlobalBytes(size_t bytes) : bytes_(bytes)
{
    void *block;
    if (posix_memalign(&block, 256, bytes + 2 * margin))
        abort();
    block_ = static_cast<char *>(block);
    data_ = block_ + margin;
    memset(block_, 0xff, bytes + 2 * margin);
    emu::watch::add(data_, bytes, emu::watch::Space::global, margin, margin);
}

GlobalBytes::~GlobalBytes()
{
    emu::watch::remove(data_);
    free(block_);
}

void GlobalBytes::written_by_host()
{
    emu::watch::initialise(data_, bytes_);
}

Ending in_child(const std::function<void()> &body, const std::vector<std::string> &environment)
{
    int ends[2];
    fflush(nullptr);
    if (pipe(ends))
        abort();
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        for (const std::string &variable : environment)
            putenv(const_cast<char *>(variable.c_str()));
        // cmocka's handlers would turn a crash into a failed test of the child.
        for (int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
            if (!EMU_ASAN || number == SIGABRT)
                signal(number, SIG_DFL);
        body();
        exit(0);
    }
    close(ends[1]);
    Ending ending = {};
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        ending.text.append(buffer, (size_t)got);
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    ending.exited_cleanly = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return ending;
}
