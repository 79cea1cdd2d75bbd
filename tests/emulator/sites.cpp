#include "sites.hpp"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <unordered_map>
#include <vector>

namespace emu
{
struct Place {
    const void *code; // null: `where`
    Where where;
};
static std::vector<Place> &places = *new std::vector<Place>{{nullptr, Where("?", 0)}};
static std::unordered_map<const void *, Site> &numbers =
    *new std::unordered_map<const void *, Site>;

struct Recent {
    const void *code;
    Site site;
};
static Recent recent[4096];

Site site_of_code(const void *return_address)
{
    Recent &slot = recent[(uintptr_t)return_address % 4096];
    if (slot.code != return_address) {
        const auto inserted = numbers.emplace(return_address, (Site)places.size());
        if (inserted.second)
            places.push_back({return_address, Where("?", 0)});
        slot = {return_address, inserted.first->second};
    }
    return slot.site;
}

Site site_of(const Where &where)
{
    for (size_t i = 0; i < places.size(); i++)
        if (!places[i].code && same_place(places[i].where, where))
            return (Site)i;
    places.push_back({nullptr, where});
    return (Site)(places.size() - 1);
}

// Lines of the emulator's own headers, into which a kernel's accesses may be inlined, say nothing.
static bool tells_something(const std::string &line)
{
    return line.find("tests/emulator/") == std::string::npos ||
           line.find(".cu:") != std::string::npos || line.find(".cpp:") != std::string::npos;
}

static std::string symbolise(const char *file, uintptr_t offset)
{
    char command[4096];
    snprintf(command, sizeof command, "addr2line -i -p -e '%s' 0x%zx 2>/dev/null", file,
             (size_t)offset);
    std::string text;
    if (FILE *pipe = popen(command, "r")) {
        char line[1024];
        while (fgets(line, sizeof line, pipe)) {
            std::string place(line, strcspn(line, "\n"));
            if (place.find("??") != std::string::npos || !tells_something(place))
                continue;
            const size_t tag = place.find("(inlined by) ");
            if (tag != std::string::npos)
                place = place.substr(tag + strlen("(inlined by) "));
            text += (text.empty() ? "" : ", in ") + place;
        }
        pclose(pipe);
    }
    return text;
}

std::string site_text(Site site)
{
    const Place &place = places[site];
    if (!place.code)
        return std::string(place.where.file) + ":" + std::to_string(place.where.line);
    Dl_info info;
    if (!dladdr(place.code, &info))
        return "?";
    // The call instruction lies before the return address.
    const uintptr_t offset = (uintptr_t)place.code - (uintptr_t)info.dli_fbase - 1;
    const std::string text = symbolise(info.dli_fname, offset);
    if (!text.empty())
        return text;
    char fallback[64];
    snprintf(fallback, sizeof fallback, "+0x%zx (addr2line would say the line)", (size_t)offset);
    return info.dli_fname + std::string(fallback);
}
} // namespace emu
