#include "plan_texts.h"
#include "graph_json.h"
#include "unit.h"
#include <inttypes.h>

plan_text plan_texts[PLAN_TEXTS];

static void refuse(const char *path, const char *line)
{
    fprintf(stderr, "%s: not as expected: %.80s\n", path, line);
    exit(2);
}

/* The next line that is not empty; NULL at the end. */
static char *next_line(FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, file)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            return line;
    }
    free(line);
    return NULL;
}

static bool read_problem(const char *line, gdnn_graph_problem *problem)
{
    int at = 0;
    memset(problem, 0, sizeof *problem);
    return sscanf(line, "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 " %n", &problem->x,
                  &problem->w, &problem->y, &problem->z, &problem->bias, &at) == 5 &&
           at && gdnn_conv_parse(line + at, &problem->conv) == GDNN_OK;
}

void plan_texts_load(const char *path)
{
    FILE *file = fopen(path, "r");
    int texts = 0, comments = 0;
    char *line = NULL;
    if (!file)
        refuse(path, "cannot be opened");
    for (; (line = next_line(file)); free(line)) {
        if (*line == '#' && ++comments <= 2) /* of the file */
            continue;
        plan_text *text = &plan_texts[texts];
        char *problem = next_line(file);
        if (*line != '#' || texts++ == PLAN_TEXTS || !problem ||
            !read_problem(problem, &text->problem) || !(text->text = next_line(file)))
            refuse(path, line);
        text->what = strdup(line + strlen("# "));
        free(problem);
    }
    if (texts != PLAN_TEXTS)
        refuse(path, "the number of texts");
    fclose(file);
}

void plan_texts_free(void)
{
    for (int i = 0; i < PLAN_TEXTS; i++) {
        free(plan_texts[i].what);
        free(plan_texts[i].text);
    }
}

const char *plan_text_of(const char *what)
{
    for (int i = 0; i < PLAN_TEXTS; i++)
        if (!strncmp(plan_texts[i].what, what, strlen(what)))
            return plan_texts[i].text;
    fail_msg("there is no text of %s", what);
    return NULL;
}

char *plan_text_replace(const char *text, const char *from, const char *to)
{
    const size_t from_length = strlen(from), to_length = strlen(to);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, from)); at += from_length)
        count++;
    if (!count)
        fail_msg("there is no %s in %s", from, text);
    char *changed = malloc(strlen(text) + count * to_length + 1), *end = changed;
    for (const char *at; (at = strstr(text, from)); text = at + from_length) {
        end = mempcpy(end, text, (size_t)(at - text));
        end = mempcpy(end, to, to_length);
    }
    strcpy(end, text);
    return changed;
}

int plan_text_read(const char *text, size_t length, gdnn_graph_problem *problem)
{
    gdnn_graph *graph = malloc(sizeof *graph);
    char *copy = malloc(length ? length : 1);
    memset(graph, 0x5a, sizeof *graph);
    memcpy(copy, text, length);
    const bool plan = gdnn_graph_json_read(copy, length, graph);
    const int fate = plan ? (int)gdnn_graph_problem_read(graph, problem) : NO_PLAN;
    free(copy);
    free(graph);
    return fate;
}
