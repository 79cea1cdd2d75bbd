#include "check.h"
#include "columns.h"
#include "commands.h"
#include "flags.h"
#include "program.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const char *json_path, *program_name;

static const flag flags[] = {
    {"program", "NAME",
     "look for the real cuDNN as for this program: python3 of a venv, for example", &program_name,
     NULL},
    {"json", "FILE|-", "write a record a line and a summary as JSON lines", &json_path, NULL},
};

static const command face = {
    .name = "check",
    .arguments = "",
    .help =
        "Tries on this machine what a program will need: the drop-in, the real cuDNN, forwarding "
        "from one to the other and what that costs, every GPU, and our kernels on it, each with a "
        "small problem against a float64 reference. Without a GPU the kernels run on the emulated "
        "device, if this is a build folder.",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
};

enum { WHAT_AT = 9, DETAIL_AT = 41 };

void check_line(check *c, check_verdict verdict, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok", "failed", "failed", "skipped"};
    char detail[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    c->count[verdict]++;
    columns_cell(c->out, words[verdict], WHAT_AT);
    int at = WHAT_AT + columns_text(c->out, what);
    at += fprintf(c->out, "%*s", at + 1 < DETAIL_AT ? DETAIL_AT - at : 1, "");
    columns_wrapped(c->out, detail, at, DETAIL_AT, columns_width(c->out));
    fflush(c->out);
    json_begin(&c->json);
    json_text(&c->json, "check", what);
    json_text(&c->json, "status", words[verdict]);
    json_text(&c->json, "detail", detail);
    json_end(&c->json);
}

static int summarise(check *c)
{
    int failed = c->count[CHECK_FAILED] + c->count[CHECK_LACKS];
    fprintf(c->out, "\n%d ok, %d failed, %d skipped.\n", c->count[CHECK_OK], failed,
            c->count[CHECK_SKIPPED]);
    json_begin(&c->json);
    json_integer(&c->json, "ok", c->count[CHECK_OK]);
    json_integer(&c->json, "failed", failed);
    json_integer(&c->json, "skipped", c->count[CHECK_SKIPPED]);
    json_end(&c->json);
    if (c->count[CHECK_FAILED])
        return EXIT_MISMATCH;
    return c->count[CHECK_LACKS] ? EXIT_ENVIRONMENT : EXIT_PASS;
}

int cmd_check(int argc, char **argv)
{
    int count;
    char program[PATH_MAX];
    int code = flags_parse(&face, argc, argv, &count);
    if (code >= 0)
        return code;
    if (program_name && !program_find(program_name, program))
        return usage_error(&face, "--program %s: %s", program_name,
                           program_not_found(program_name, errno));
    check c = {.out = json_path && !strcmp(json_path, "-") ? stderr : stdout};
    if (json_open(&c.json, json_path) != GDNN_OK)
        return usage_error(&face, "%s", gdnn_last_error());
    check_cudnn(&c, program_name ? program : NULL);
    check_devices(&c);
    code = summarise(&c);
    if (json_close(&c.json) != GDNN_OK)
        return environment_error(&face, "%s", gdnn_last_error());
    return finish_output(&face, code);
}
