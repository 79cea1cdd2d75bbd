/* A program that uses cuDNN as its arguments say, a step each, and prints a line for
 * every step. Steps marked LINKED are in programs that are linked with cuDNN:
 *
 *   linked                 VERSION and FILE of the program's cuDNN (LINKED only)
 *   open=LIBRARY           opens it with RTLD_LOCAL; open-global=, open-deepbind= with those flags
 *   found, default, next   VERSION and FILE by dlsym: in what is opened, RTLD_DEFAULT, RTLD_NEXT
 *   kept                   VERSION by the address that the last of these gave
 *   close                  closes what was opened last
 *   module=PATH            opens a module of a framework: VERSION and FILE of its cuDNN
 *   create=FUNCTION        STATUS of a cudnnCreate...Descriptor by RTLD_DEFAULT
 *   descriptor             makes and frees a descriptor (LINKED only): STATUS STATUS
 *   text=STATUS            the text of cudnnGetErrorString (LINKED only)
 *   mapped                 the files of cuDNN and of the driver that are in memory
 *   symbol=NAME            FILE that has it
 *   year                   what the clock says
 */
#include "client_api.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef size_t version_function(void);

static void *opened;
static version_function *kept;

static void fail(const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "client: %s: %s\n", what, why ? why : "?");
    exit(3);
}

/* The file itself, where the loader opened a link. */
static const char *file_of(const void *address)
{
    static char path[PATH_MAX];
    Dl_info facts;
    return dladdr(address, &facts) && facts.dli_fname && realpath(facts.dli_fname, path) ? path
                                                                                         : "?";
}

static void print_version(const char *step, void *symbol)
{
    if (!symbol) {
        printf("%s none\n", step);
        return;
    }
    memcpy(&kept, &symbol, sizeof kept);
    printf("%s %zu %s\n", step, kept(), file_of(symbol));
}

static void open_library(const char *path, int flags)
{
    opened = dlopen(path, RTLD_NOW | flags);
    if (!opened)
        fail("open", dlerror());
    printf("opened\n");
}

static void use_module(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        fail("module", dlerror());
    void *symbol = dlsym(module, "module_version");
    version_function **version;
    memcpy(&version, &symbol, sizeof version);
    void *function;
    memcpy(&function, version, sizeof function);
    print_version("module", function);
}

static void create(const char *name)
{
    int (*function)(void **);
    void *symbol = dlsym(RTLD_DEFAULT, name), *made = NULL;
    if (!symbol)
        fail(name, "not there");
    memcpy(&function, &symbol, sizeof function);
    printf("create %d\n", function(&made));
}

static void print_mapped(void)
{
    char line[4096], last[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    printf("mapped");
    while (maps && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = '\0';
        char *path = strchr(line, '/');
        if (!path || !(strstr(path, "/libcudnn") || strstr(path, "/libcuda.")) ||
            !strcmp(path, last))
            continue;
        printf(" %s", strcpy(last, path));
    }
    printf("\n");
    if (maps)
        fclose(maps);
}

static void print_year(void)
{
    time_t now = time(NULL);
    printf("year %d\n", gmtime(&now)->tm_year + 1900);
}

#ifdef LINKED
static int linked_step(const char *step)
{
    if (!strcmp(step, "linked")) {
        version_function *version = cudnnGetVersion;
        void *symbol;
        memcpy(&symbol, &version, sizeof symbol);
        print_version("linked", symbol);
    } else if (!strcmp(step, "descriptor")) {
        void *descriptor = NULL;
        int made = cudnnCreateTensorDescriptor(&descriptor);
        printf("descriptor %d %d\n", made, made ? made : cudnnDestroyTensorDescriptor(descriptor));
    } else if (!strncmp(step, "text=", 5)) {
        printf("text %s\n", cudnnGetErrorString(atoi(step + 5)));
    } else {
        return 0;
    }
    return 1;
}
#else
static int linked_step(const char *step)
{
    (void)step;
    return 0;
}
#endif

/* What follows `name=`; NULL if the step is another. */
static const char *operand(const char *step, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(step, name, length) && step[length] == '=' ? step + length + 1 : NULL;
}

static void take_step(const char *step)
{
    const char *of;
    if ((of = operand(step, "open")))
        open_library(of, RTLD_LOCAL);
    else if ((of = operand(step, "open-global")))
        open_library(of, RTLD_GLOBAL);
    else if ((of = operand(step, "open-deepbind")))
        open_library(of, RTLD_LOCAL | RTLD_DEEPBIND);
    else if ((of = operand(step, "module")))
        use_module(of);
    else if ((of = operand(step, "create")))
        create(of);
    else if ((of = operand(step, "symbol")))
        printf("symbol %s\n", file_of(dlsym(RTLD_DEFAULT, of)));
    else if (!strcmp(step, "found"))
        print_version(step, dlsym(opened, "cudnnGetVersion"));
    else if (!strcmp(step, "default"))
        print_version(step, dlsym(RTLD_DEFAULT, "cudnnGetVersion"));
    else if (!strcmp(step, "next"))
        print_version(step, dlsym(RTLD_NEXT, "cudnnGetVersion"));
    else if (!strcmp(step, "kept"))
        printf("kept %zu\n", kept());
    else if (!strcmp(step, "close"))
        printf("closed %d\n", dlclose(opened));
    else if (!strcmp(step, "mapped"))
        print_mapped();
    else if (!strcmp(step, "year"))
        print_year();
    else if (!linked_step(step))
        fail(step, "no such step");
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        take_step(argv[i]);
    return 0;
}
