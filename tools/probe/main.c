/* gpu-probe: measures what the plans of the kernels take for granted about a GPU. */
#include "error.h"
#include "flags.h"
#include "probe.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: gpu-probe [OPTION]...\n"
    "\n"
    "Measures the first GPU, in less than half a minute, and prints a table: how fast\n"
    "it copies, reads L2 and shared memory, multiplies and launches, beside what is\n"
    "assumed of it (src/devices.def); and whether lanes get from shuffles, ldmatrix,\n"
    "mma and cp.async what the kernels count on.\n"
    "\n"
    "  --device gpu|emulated   gpu (default), or, for tests, the libcuda.so.1 that\n"
    "                          GDNN_EMULATED_DRIVER names\n"
    "  --quick                 run everything once, and small: see that it computes\n"
    "                          what it should; always so on the emulated device\n"
    "  --seconds S             skip what has not begun after S seconds (50)\n"
    "  --json FILE|-           write a record a row and a summary as JSON lines\n"
    "  --help                  this text\n"
    "\n"
    "A figure is the median of 9 samples of about 4 ms; spread is the width of their\n"
    "middle half. Matrix products are of ones, which cost less power than other\n"
    "numbers and can run faster. MHz is the clock of the multiprocessors meanwhile,\n"
    "as their own counters tell.\n"
    "\n"
    "Exit status: 0 pass, 1 something is not as it should be, 2 wrong usage, 3 the\n"
    "machine lacks something.\n";

typedef struct options {
    session_choice device;
    bool quick;
    double seconds;
    const char *json;
} options;

static int wrong(const char *option, const char *value, const char *rule)
{
    fprintf(stderr, "gpu-probe: --%s %s: must be %s\n", option, value, rule);
    return EXIT_USAGE;
}

/* -1: go on; else the exit status. */
static int parse(options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"device", required_argument, NULL, 'd'},  {"quick", no_argument, NULL, 'q'},
        {"seconds", required_argument, NULL, 's'}, {"json", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {0}};
    char *end;
    for (int option; (option = getopt_long(argc, argv, "h", known, NULL)) != -1;)
        switch (option) {
        case 'd':
            if (!strcmp(optarg, "gpu"))
                o->device = SESSION_GPU;
            else if (!strcmp(optarg, "emulated"))
                o->device = SESSION_EMULATED;
            else
                return wrong("device", optarg, "gpu or emulated");
            break;
        case 's':
            o->seconds = strtod(optarg, &end);
            if (end == optarg || *end || !(o->seconds >= 0))
                return wrong("seconds", optarg, "a number from 0 on");
            break;
        case 'q': o->quick = true; break;
        case 'j': o->json = optarg; break;
        case 'h': return fputs(usage, stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_PASS;
        default: return EXIT_USAGE; /* getopt_long has said why */
        }
    if (optind < argc) {
        fprintf(stderr, "gpu-probe: '%s': there are no arguments but options\n", argv[optind]);
        return EXIT_USAGE;
    }
    return -1;
}

static void look(probe *p)
{
    static const struct {
        const char *what;
        void (*look)(probe *p);
    } parts[] = {{"layouts", probe_layouts},
                 {"rates", probe_rates}, /* these also bring the clocks up */
                 {"launches", probe_launches},
                 {"shared memory", probe_shared},
                 {"memory", probe_streams}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && p->status == GDNN_OK; i++) {
        fprintf(stderr, "gpu-probe: %s ...\n", parts[i].what);
        parts[i].look(p);
    }
}

static int exit_status(const probe *p)
{
    if (p->status != GDNN_OK)
        return p->status == GDNN_UNSUPPORTED ? EXIT_ENVIRONMENT : EXIT_MISMATCH;
    for (int i = 0; i < p->row_count; i++)
        if (p->rows[i].outcome == OUTCOME_WRONG)
            return EXIT_MISMATCH;
    return EXIT_PASS;
}

int main(int argc, char **argv)
{
    static probe p;
    options o = {.device = SESSION_GPU, .seconds = 50};
    json j;
    int status = parse(&o, argc, argv);
    if (status >= 0)
        return status;
    if (json_open(&j, o.json) != GDNN_OK) {
        fprintf(stderr, "gpu-probe: %s\n", gdnn_last_error());
        return EXIT_USAGE;
    }
    probe_open(&p, o.device);
    p.quick = o.quick || p.session.emulated;
    p.deadline = probe_now() + o.seconds;
    look(&p);
    /* What was found before a failure is worth keeping. */
    if (p.status != GDNN_OK)
        fprintf(stderr, "gpu-probe: %s\n", gdnn_last_error());
    if (p.session.facts.sm) {
        probe_print(&p, o.json && !strcmp(o.json, "-") ? stderr : stdout);
        probe_write(&p, &j);
    }
    status = exit_status(&p);
    probe_close(&p);
    if (json_close(&j) != GDNN_OK || fflush(stdout) != 0) {
        fprintf(stderr, "gpu-probe: not everything could be written\n");
        return EXIT_ENVIRONMENT;
    }
    return status;
}
