/* A program of its own RPATH or RUNPATH, for what depends on how a process began:
 *
 *     probe search LIBRARY...   opens the libraries, then prints the places of gdnn_search: "origin|path"
 *     probe loader LIBRARY...   opens them, lets the last one open libcudnn.so.9, and prints which file the
 *                               loader has taken
 */
#include "search.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static bool show(const char *path, const char *origin, void *context)
{
    (void)context;
    printf("%s|%s\n", origin, path);
    return false;
}

int main(int count, char **arguments)
{
    void *last = dlopen(NULL, RTLD_NOW);
    for (int i = 2; i < count; i++)
        if (!(last = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL))) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    if (count > 1 && !strcmp(arguments[1], "search")) {
        gdnn_search(show, NULL);
        return 0;
    }
    void *(*open)(const char *) = NULL;
    *(void **)&open = dlsym(last, "holder_open");
    void *found = open ? open("libcudnn.so.9") : dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    struct link_map *map = NULL;
    if (found && !dlinfo(found, RTLD_DI_LINKMAP, &map))
        printf("%s\n", map->l_name);
    return 0;
}
