#include "columns.h"
#include "commands.h"
#include "cubin.h"
#include "device.h"
#include "driver.h"
#include "flags.h"
#include "images.h"
#include "info.h"
#include "misspelt.h"
#include "options.h"
#include "program.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *json_path, *program_name;
static bool verbose;

static const flag flags[] = {
    {"program", "NAME",
     "look for the real cuDNN as for this program: python3 of a venv, for example", &program_name,
     NULL},
    {"verbose", NULL, "every file that the real cuDNN could have been, and why it was passed over",
     NULL, &verbose},
    {"json", "FILE|-", "write a record an option and a GPU, and a summary, as JSON lines",
     &json_path, NULL},
};

static const command face = {
    .name = "info",
    .arguments = "",
    .help = "Shows the options with where each comes from, the drop-in and the real cuDNN that it "
            "would use, the CUDA driver, the GPUs that it sees, and the GPU architectures that the "
            "kernels were built for.",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
};

static const struct {
    const char *variable, *fallback;
} options[] = {
#define GDNN_OPTION(field, variable, kind, values, fallback, help) {variable, fallback},
#include "options.def"
#undef GDNN_OPTION
};
enum { OPTIONS = sizeof options / sizeof options[0] };

enum { VALUE_AT = 21 };

void info_line(info *o, const char *name, const char *value, const char *origin)
{
    char text[8192];
    int at = fprintf(o->out, "  ") + columns_text(o->out, name);
    at += fprintf(o->out, "%*s", at + 1 < VALUE_AT ? VALUE_AT - at : 1, "");
    snprintf(text, sizeof text, "%s (%s)", *value ? value : "none", origin);
    columns_wrapped(o->out, text, at, VALUE_AT, columns_width(o->out));
}

void info_item(info *o, bool shown, const char *kind, const char *name, const char *value,
               const char *origin)
{
    if (shown)
        info_line(o, name, value, origin);
    json_begin(&o->json);
    json_text(&o->json, "item", kind);
    json_text(&o->json, "name", name);
    json_text(&o->json, "value", value);
    json_text(&o->json, "origin", origin);
    json_end(&o->json);
}

/* What is said of the options whose values are bad: "" for the others. */
typedef struct refusals {
    char text[OPTIONS][1536];
} refusals;

static const char *from_environment(const char *variable, void *context)
{
    (void)context;
    return getenv(variable);
}

static void remember(const gdnn_option_fault *fault, void *context)
{
    refusals *r = context;
    for (int i = 0; i < OPTIONS; i++)
        if (!strcmp(fault->variable, options[i].variable))
            snprintf(r->text[i], sizeof r->text[i], "the environment has %s: %s", fault->value,
                     fault->wrong);
}

static void show_misspelt(const char *name, const char *value, const char *near, void *context)
{
    char origin[256];
    snprintf(origin, sizeof origin, "environment; ignored, there is no such option%s%s",
             near ? ", did you mean " : "", near ? near : "");
    info_item(context, true, "option", name, value, origin);
}

/* Where an option that is set comes from, and what is wrong with the file that it names. */
static const char *origin_of(const gdnn_options *read, const char *variable)
{
    char folder[sizeof read->log_file] = "";
    if (!strcmp(variable, "GROUPDNN_CUDNN") && *read->cudnn && access(read->cudnn, F_OK) != 0)
        return "environment; there is no such file";
    if (!strcmp(variable, "GROUPDNN_LOG"))
        snprintf(folder, sizeof folder, "%s", read->log_file);
    if (!strcmp(variable, "GROUPDNN_TRACE"))
        snprintf(folder, sizeof folder, "%s", read->trace);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder)
        return "environment";
    *slash = 0;
    return access(folder, F_OK) == 0 ? "environment"
                                     : "environment; the file's folder does not exist";
}

static void show_options(info *o)
{
    gdnn_options read;
    refusals refused = {.text = {""}};
    gdnn_options_read(&read, from_environment, remember, &refused);
    fputs("Options:\n", o->out);
    for (int i = 0; i < OPTIONS; i++) {
        const char *variable = options[i].variable, *value = getenv(variable);
        bool set = value && *value, bad = *refused.text[i];
        info_item(o, true, "option", variable, set && !bad ? value : options[i].fallback,
                  bad   ? refused.text[i]
                  : set ? origin_of(&read, variable)
                        : "default");
    }
    misspelt_variables(show_misspelt, o);
}

/* The file that the driver's functions are in. */
static const char *driver_path(const gdnn_driver *driver)
{
    Dl_info facts;
    void *address;
    memcpy(&address, &driver->cuInit, sizeof address);
    return dladdr(address, &facts) && facts.dli_fname ? facts.dli_fname : "?";
}

/* Lists the GPUs; returns their number. */
static int show_gpus(info *o, const gdnn_driver *driver)
{
    int count = 0;
    if (driver->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return 0;
    for (int i = 0; i < count; i++) {
        gdnn_device facts;
        CUdevice ordinal;
        char name[16], value[160];
        if (driver->cuDeviceGet(&ordinal, i) != CUDA_SUCCESS ||
            gdnn_device_read(ordinal, &facts) != GDNN_OK)
            continue;
        snprintf(name, sizeof name, "%d", i);
        snprintf(value, sizeof value, "%s, sm_%d, %d multiprocessors", facts.name, facts.sm,
                 facts.multiprocessors);
        info_item(o, true, "gpu", name, value, "driver");
    }
    return count;
}

/* Why there is no driver, without saying twice that there is none. */
static const char *no_driver(void)
{
    static const char none[] = "no CUDA driver: ";
    const char *why = gdnn_last_error();
    return strncmp(why, none, sizeof none - 1) ? why : why + sizeof none - 1;
}

static void show_machine(info *o, const info_cudnn *cudnn)
{
    char version[32] = "", archs[256];
    size_t size;
    const char *file;
    int gpus = 0;
    const void *image = gdnn_image(0, &size, &file);
    cubin_archs(image, size, archs, sizeof archs);
    const gdnn_driver *driver = gdnn_driver_get();
    const char *path = driver ? driver_path(driver) : NULL;
    if (driver)
        snprintf(version, sizeof version, "%d.%d", driver->version / 1000,
                 driver->version % 1000 / 10);

    fprintf(o->out, "\nVersion: %s\n", gdnn_version());
    fprintf(o->out, "Kernels built for: %s\n",
            *archs ? archs : "the emulated device only (nvcc was not found)");
    if (driver)
        fprintf(o->out, "CUDA driver: %s, serves CUDA %s\nGPUs:\n", path, version);
    else
        fprintf(o->out, "CUDA driver: none: %s\n", no_driver());
    if (driver)
        gpus = show_gpus(o, driver);
    if (driver && !gpus)
        fputs("  none\n", o->out);

    json_begin(&o->json);
    json_text(&o->json, "version", gdnn_version());
    json_text(&o->json, "archs", archs);
    json_text(&o->json, "driver", path);
    json_text(&o->json, "driver_version", driver ? version : NULL);
    json_integer(&o->json, "gpus", gpus);
    json_text(&o->json, "cudnn", *cudnn->real ? cudnn->real : NULL);
    json_text(&o->json, "cudnn_version", *cudnn->version ? cudnn->version : NULL);
    json_text(&o->json, "drop_in", *cudnn->dropin ? cudnn->dropin : NULL);
    if (cudnn->missing >= 0)
        json_integer(&o->json, "missing", cudnn->missing);
    else
        json_null(&o->json, "missing");
    json_end(&o->json);
}

int cmd_info(int argc, char **argv)
{
    int count;
    int code = flags_parse(&face, argc, argv, &count);
    if (code >= 0)
        return code;
    char program[PATH_MAX];
    info_cudnn cudnn;
    if (program_name && !program_find(program_name, program))
        return usage_error(&face, "--program %s: %s", program_name,
                           program_not_found(program_name, errno));
    info o = {.out = json_path && !strcmp(json_path, "-") ? stderr : stdout};
    if (json_open(&o.json, json_path) != GDNN_OK)
        return usage_error(&face, "%s", gdnn_last_error());
    gdnn_options_be_quiet(); /* the table says it */
    show_options(&o);
    info_show_cudnn(&o, program_name ? program : NULL, verbose, &cudnn);
    show_machine(&o, &cudnn);
    if (json_close(&o.json) != GDNN_OK)
        return environment_error(&face, "%s", gdnn_last_error());
    return finish_output(&face, EXIT_PASS);
}
