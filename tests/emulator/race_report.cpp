#include "race_report.hpp"
#include "clocks.hpp"
#include "counters.hpp"
#include "scheduler.hpp"

#include <cstdio>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>

namespace emu
{
static const size_t max_reports = 20;
static const int exit_status = 66;

static void print_index(unsigned linear)
{
    const uint3 index = fibers[linear]->index;
    fprintf(stderr, "thread (%u, %u, %u)", index.x, index.y, index.z);
}

bool report_race(const char *what, const Region &region, size_t at, unsigned thread, Site site,
                 uint32_t other_time, unsigned other, Site other_site)
{
    static std::set<std::pair<std::string, Site>> &seen =
        *new std::set<std::pair<std::string, Site>>;
    counters.errors++;
    if (seen.size() >= max_reports || !seen.insert({what, site}).second)
        return false;
    fflush(stdout);
    fprintf(stderr,
            "emulator: error: kernel %s: %s: byte %td of %zu of %s memory, block (%u, %u, %u), ",
            running_kernel->name, what, (ptrdiff_t)at, region.bytes,
            region.space == watch::Space::shared ? "shared" : "global", block.index.x,
            block.index.y, block.index.z);
    print_index(thread);
    fprintf(stderr, "\n    at %s\n", site_text(site).c_str());
    if (other_time) {
        fprintf(stderr, "    the other: ");
        print_index(other);
        if (!in_this_block(other_time)) {
            const uint32_t n = block_of(other_time);
            fprintf(stderr, " of block (%u, %u, %u)", n % block.grid.x,
                    n / block.grid.x % block.grid.y, n / block.grid.x / block.grid.y);
        }
        fprintf(stderr, "\n    at %s\n", site_text(other_site).c_str());
    }
    if (seen.size() == max_reports)
        fprintf(stderr, "emulator: further errors are counted, not printed\n");
    return false;
}

__attribute__((destructor)) static void fail_at_end()
{
    if (!counters.errors)
        return;
    fprintf(stderr, "emulator: %llu errors\n", (unsigned long long)counters.errors);
    fflush(nullptr);
    _exit(exit_status);
}
} // namespace emu
