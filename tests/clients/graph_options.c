#include "graph_options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_filter(const char *text, graph_options *options)
{
    while (*text) {
        const size_t length = strcspn(text, ",");
        if (length == strlen("no-tensor-core") && strncmp(text, "no-tensor-core", length) == 0)
            options->no_tensor_core = true;
        else if (length == strlen("deterministic") && strncmp(text, "deterministic", length) == 0)
            options->deterministic = true;
        else
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

static bool read_number(const char *text, int *number)
{
    char *end;
    const long value = strtol(text, &end, 10);
    *number = (int)value;
    return *text && !*end && value >= 0 && value < 100000;
}

static bool read_flag(const char *word, graph_options *options)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"--benchmark", &options->benchmark},
                 {"--early", &options->early},
                 {"--group-axis", &options->group_axis},
                 {"--one-axis", &options->one_axis},
                 {"--run", &options->run}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i].word) == 0)
            return *flags[i].flag = true;
    return false;
}

static bool read_pair(const char *word, const char *value, graph_options *options)
{
    if (strcmp(word, "--plan") == 0)
        return read_number(value, &options->plan);
    if (strcmp(word, "--filter") == 0)
        return read_filter(value, options);
    if (strcmp(word, "--gpu") == 0)
        return (options->gpu = value);
    if (strcmp(word, "--dump") == 0)
        return options->run = (options->dump = value);
    if (strcmp(word, "--rebuild") == 0)
        return strncmp(value, "eng", 3) == 0 && (options->rebuild = value);
    if (strcmp(word, "--restore") == 0)
        return *value == '{' && (options->restore = value);
    return false;
}

bool graph_options_read(int argc, char **argv, graph_options *options)
{
    *options = (graph_options){.plan = -1};
    const char *problem = NULL;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && !problem)
            problem = argv[i];
        else if (read_flag(argv[i], options))
            continue;
        else if (i + 1 < argc && read_pair(argv[i], argv[i + 1], options))
            i++;
        else {
            fprintf(stderr, "%s: not understood: %s%s%s\n", argv[0], argv[i],
                    i + 1 < argc ? " " : "", i + 1 < argc ? argv[i + 1] : "");
            return false;
        }
    }
    if (!problem) {
        fprintf(
            stderr,
            "usage: %s 'PROBLEM' [--plan N] [--filter no-tensor-core,deterministic]"
            " [--gpu h200|a100|t4] [--group-axis] [--one-axis] [--early] [--benchmark]"
            " [--rebuild TAG] [--restore JSON] [--run] [--dump DIR]\n"
            "  --run            on the GPU that is there; without, plans are made for --gpu\n"
            "  --dump DIR       --run, and tensors of the last execution as .npy\n"
            "  --plan N         the N-th of the list, from 0\n"
            "  --filter         drops what uses tensor cores, or is not deterministic\n"
            "  --benchmark      all plans of the list are made and run\n"
            "  --rebuild TAG    xla: the plan of an engine's number and knobs, as printed: "
            "eng0_k2=1\n"
            "  --restore JSON   xla, fe0, fe1: the plan of a text, as printed behind json= (fe1: "
            "stored=)\n"
            "  --group-axis     groups are an axis of the tensors\n"
            "  --one-axis       a problem of one spatial axis stays one\n"
            "  --early          descriptors are destroyed as soon as cuDNN allows\n",
            argv[0]);
        return false;
    }
    if (gdnn_conv_parse(problem, &options->conv) != GDNN_OK) {
        fprintf(stderr, "%s: %s\n", argv[0], gdnn_last_error());
        return false;
    }
    if (options->run && options->gpu) {
        fprintf(stderr, "%s: what is run is run on the GPU that is there: no --gpu\n", argv[0]);
        return false;
    }
    if (!options->gpu)
        options->gpu = "h200";
    const gdnn_conv *conv = &options->conv;
    if (conv->acc != (conv->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32) ||
        conv->math != GDNN_MATH_F32) {
        fprintf(stderr, "%s: acc and math are what the framework makes of them: leave them out\n",
                argv[0]);
        return false;
    }
    if (options->run && conv->beta != 0 && (conv->z || conv->bias || conv->act != GDNN_ACT_NONE)) {
        fprintf(stderr, "%s: beta with z, bias or act: a graph adds beta * y before them\n",
                argv[0]);
        return false;
    }
    return true;
}
