#include "graph_face.h"
#include "device.h"
#include "graph_target.h"
#include "report.h"
#include <stdio.h>
#include <string.h>

/* The handle that executes. */
static bool open_handle(const graph_face *face, cudnnHandle_t *handle)
{
    *handle = face->target.handle;
    return !face->style.apart ||
           CALL("another handle", cudnnCreate(handle)) == CUDNN_STATUS_SUCCESS;
}

static bool open_present(graph_face *face, const char *program)
{
    cudnnHandle_t handle;
    if (!device_open())
        return false;
    if (graph_target_present(&face->target) && open_handle(face, &handle)) {
        graph_run_begin(&face->run, &face->options.conv, &face->style, handle);
        return true;
    }
    report_end();
    fprintf(stderr, "%s: cuDNN has no graphs, or no handle for this GPU: it must be NVIDIA's\n",
            program);
    return false;
}

static bool open_named(graph_face *face, const char *program)
{
    if (graph_target_named(face->options.gpu, &face->target))
        return true;
    report_end();
    fprintf(stderr,
            "%s: cuDNN does not take the properties of a GPU: it must be NVIDIA's, 9.8 or later\n",
            program);
    return false;
}

/* What the framework does not do, its client cannot be asked for. */
static bool offered(const graph_face *face, const char *program)
{
    const struct {
        const char *flag;
        bool asked, offered;
    } ways[] = {{"--rebuild", face->options.rebuild, face->style.rebuilds},
                {"--restore", face->options.restore, face->style.restores}};
    if (ways[0].asked && ways[1].asked) {
        fprintf(stderr, "%s: --rebuild or --restore, not both\n", program);
        return false;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].asked && !ways[i].offered) {
            fprintf(stderr, "%s: no %s here: xla has it\n", program, ways[i].flag);
            return false;
        }
    return true;
}

bool graph_face_begin(int argc, char **argv, const graph_style *style, graph_face *face)
{
    memset(face, 0, sizeof *face);
    face->style = *style;
    face->exit_status = 2;
    if (!graph_options_read(argc, argv, &face->options) || !offered(face, argv[0]))
        return false;
    face->exit_status = 3;
    face->style.early = face->options.early;
    face->style.group_axis = face->options.group_axis;
    if (face->options.one_axis)
        face->style.one_axis = SIZE_ONE_NONE;
    return face->options.run ? open_present(face, argv[0]) : open_named(face, argv[0]);
}

static bool asked_for(const graph_face *face, int number)
{
    return face->options.plan < 0 || face->options.plan == number;
}

void graph_face_build(graph_face *face, const graph_list *list, int most)
{
    for (int i = 0; i < list->count && face->plans < most; i++)
        if (asked_for(face, i) &&
            graph_plan_build(&list->config[i], &face->target, &face->plan[face->plans]))
            face->plans++;
}

void graph_face_try(graph_face *face, const graph_list *list)
{
    for (int i = 0; i < list->count && face->plans == 0; i++) {
        if (!asked_for(face, i) ||
            !graph_plan_build(&list->config[i], &face->target, &face->plan[0]))
            continue;
        if (face->options.run)
            face->ran = graph_run_plan(&face->run, &face->plan[0]);
        if (face->ran || !face->options.run)
            face->plans = 1;
        else
            graph_plan_destroy(&face->plan[0]);
    }
}

static const graph_plan *choose(graph_face *face, int trials)
{
    const graph_plan *chosen = NULL;
    for (int i = 0; i < face->plans; i++) {
        bool ran = true;
        for (int trial = 0; trial < trials; trial++)
            ran = graph_run_plan(&face->run, &face->plan[i]) && ran;
        if (ran && !chosen)
            chosen = &face->plan[i];
    }
    return chosen;
}

void graph_face_run(graph_face *face, int trials)
{
    if (!face->options.run || face->ran)
        return;
    const graph_plan *chosen = choose(face, trials);
    if (trials > 0 && face->style.apart)
        graph_run_change_stream(&face->run);
    face->ran = chosen && graph_run_plan(&face->run, chosen);
}

/* Handles go before the stream that they have. */
static bool end_run(graph_face *face)
{
    const bool written =
        !face->options.dump || !face->ran || graph_data_dump(&face->run.data, face->options.dump);
    if (face->run.handle != face->target.handle)
        CALL("another handle", cudnnDestroy(face->run.handle));
    graph_target_destroy(&face->target);
    graph_run_end(&face->run);
    device_close();
    return written;
}

int graph_face_end(graph_face *face)
{
    const bool run = face->options.run;
    bool written = true;
    for (int i = 0; i < face->plans; i++)
        graph_plan_destroy(&face->plan[i]);
    if (run)
        written = end_run(face);
    graph_target_destroy(&face->target);
    const int calls = report_end();
    if (face->plans == 0)
        printf("no plan: cuDNN has none for this problem that --plan, --filter, --rebuild or "
               "--restore leave\n");
    printf("%d calls, %d plans", calls, face->plans);
    if (run)
        printf(", %d executions, %d wrong", face->run.executions, face->run.wrong);
    putchar('\n');
    if (!written)
        return 2;
    return face->plans == 0 || (run && !face->ran) || face->run.wrong ? 1 : 0;
}
