#include "frontend.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

extern "C" {
#include "cudart.h"
#include "gpus.h"
#include "report.h"
}

/* cudnn-frontend declares it, and leaves it to the program. */
namespace cudnn_frontend
{
extern void *cudnn_dlhandle;
void *cudnn_dlhandle;
} // namespace cudnn_frontend

bool frontend_begin(int argc, char **argv, const graph_style &style, graph_face &face)
{
    setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", cudart_path(), 1);
    cudnn_frontend::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW);
    if (graph_face_begin(argc, argv, &style, &face))
        return cudnn_frontend::cudnn_dlhandle;
    return false;
}

std::vector<unsigned char> frontend_gpu(const graph_face &face)
{
    char text[1024];
    return {text, text + gpu_properties(face.options.gpu, text, sizeof text)};
}

/* Texts of several lines become one. */
static std::string one_line(const std::string &text)
{
    std::string line = text.c_str();
    for (char &c : line)
        if (c == '\n')
            c = ' ';
    return line;
}

void frontend_plan(graph_face &face, const std::string &name, int64_t workspace,
                   const std::string &json, const std::vector<cudnnBackendNumericalNote_t> &notes)
{
    std::string list;
    for (const cudnnBackendNumericalNote_t note : notes)
        list += " note=" + std::to_string((int)note);
    remark("built:%s plan=%s workspace=%lld json=%s \"\"", list.c_str(), name.c_str(),
           (long long)workspace, one_line(json).c_str());
    if (face.plans == GRAPH_PLANS_MOST)
        return;
    graph_plan &plan = face.plan[face.plans++];
    plan = {};
    snprintf(plan.tag, sizeof plan.tag, "%s", name.c_str());
    plan.workspace = workspace;
    plan.tensor_core = std::count(notes.begin(), notes.end(), CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
}

void frontend_stored(const std::string &json)
{
    remark("stored=%s", json.c_str());
}

void frontend_refused(const std::string &what, const std::string &why)
{
    remark("refused: %s: %s", what.c_str(), one_line(why).c_str());
}
