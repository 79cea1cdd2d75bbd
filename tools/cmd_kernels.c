#include "commands.h"
#include "cubin.h"
#include "enums.h"
#include "flags.h"
#include "images.h"
#include "json.h"
#include "kernel.h"
#include <string.h>

static const char *json_path;

static const flag flags[] = {
    {"json", "FILE|-", "write a record a kernel and a summary as JSON lines", &json_path, NULL},
};

static const command face = {
    .name = "kernels",
    .arguments = "",
    .help =
        "Lists the kernels. regs, spills and smem are the largest of a kernel's instances in "
        "this build: registers a thread, bytes of local memory a thread, bytes of static shared "
        "memory a block. They are null, and archs is empty, where the kernels were built without "
        "nvcc.\n"
        "evidence says why it is believed to win somewhere: measured, counted, or none, and then "
        "cuDNN runs those problems unless GROUPDNN_MODE=force.",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
};

#define MEASURED 2
#define COUNTED  1

/* The best evidence that wins.def has for a kernel, on whatever problem and device. */
static const char *evidence_of(const char *kernel)
{
    static const char *const words[] = {"none", "counted", "measured"};
    int best = 0;
#define GDNN_WIN(name, when, sm_min, sm_max, evidence, source)                                     \
    if (!strcmp(kernel, #name) && (evidence) > best)                                               \
        best = evidence;
#include "wins.def"
#undef GDNN_WIN
    (void)kernel;
    return words[best];
}

/* The words of the set bits, joined by commas. */
static const char *words_of(gdnn_enum which, unsigned bits, char text[static 64])
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; bits >> i; i++)
        if (bits >> i & 1)
            used += (size_t)snprintf(text + used, 64 - used, "%s%s", used ? "," : "",
                                     gdnn_enum_word(which, i));
    return text;
}

static void list(const gdnn_kernel *kernel, FILE *out, json *j)
{
    char dtypes[64], layouts[64], archs[256], prefix[128];
    size_t size;
    const char *file;
    const void *image = gdnn_image(kernel->image, &size, &file);
    cubin_use use;
    snprintf(prefix, sizeof prefix, "gdnn_%s_", kernel->code);
    bool known = cubin_read(image, size, prefix, &use);
    cubin_archs(image, size, archs, sizeof archs);
    const char *dir = gdnn_enum_word(GDNN_ENUM_dir, (int)kernel->dir);
    const char *layout =
        kernel->any_strides ? "any" : words_of(GDNN_ENUM_layout, kernel->layouts, layouts);
    const char *evidence = evidence_of(kernel->name);
    words_of(GDNN_ENUM_dtype, kernel->dtypes, dtypes);

    fprintf(out, "%-28s %-10s %-9s %-16s %-8s ", kernel->name, dir, layout, dtypes, evidence);
    if (known)
        fprintf(out, "%4d %6d %6d  %s\n", use.regs, use.local, use.shared, archs);
    else
        fprintf(out, "%4s %6s %6s  %s\n", "-", "-", "-", archs);

    json_begin(j);
    json_text(j, "name", kernel->name);
    json_text(j, "dir", dir);
    json_text(j, "layout", layout);
    json_text(j, "dtypes", dtypes);
    json_text(j, "evidence", evidence);
    json_text(j, "archs", archs);
    const struct {
        const char *key;
        int value;
    } figures[] = {{"regs", use.regs}, {"spills", use.local}, {"smem", use.shared}};
    for (int i = 0; i < 3; i++)
        if (known)
            json_integer(j, figures[i].key, figures[i].value);
        else
            json_null(j, figures[i].key);
    json_end(j);
}

int cmd_kernels(int argc, char **argv)
{
    int count;
    int code = flags_parse(&face, argc, argv, &count);
    if (code >= 0)
        return code;
    json j;
    if (json_open(&j, json_path) != GDNN_OK)
        return usage_error(&face, "%s", gdnn_last_error());
    FILE *out = json_path && !strcmp(json_path, "-") ? stderr : stdout;
    fprintf(out, "%-28s %-10s %-9s %-16s %-8s %4s %6s %6s  %s\n", "name", "dir", "layout", "dtypes",
            "evidence", "regs", "spills", "smem", "archs");
    for (int i = 0; i < gdnn_kernel_count; i++)
        list(&gdnn_kernels[i], out, &j);
    json_begin(&j);
    json_integer(&j, "kernels", gdnn_kernel_count);
    json_end(&j);
    if (json_close(&j) != GDNN_OK)
        return environment_error(&face, "%s", gdnn_last_error());
    return finish_output(&face, EXIT_PASS);
}
