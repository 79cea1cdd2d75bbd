/* What the clients on NVIDIA's cudnn-frontend have in common beside its headers: those take long to compile, so one file
 * a client includes them. */
#ifndef GDNN_CLIENT_FRONTEND_HPP
#define GDNN_CLIENT_FRONTEND_HPP

#include <cudnn.h>
#include <string>
#include <vector>

extern "C" {
#include "graph_face.h"
}

/* graph_face_begin, with cuDNN and a CUDA runtime where cudnn-frontend looks for them. */
bool frontend_begin(int argc, char **argv, const graph_style &style, graph_face &face);

/* The properties of the GPU that plans are made for, as cuDNN takes them. */
std::vector<unsigned char> frontend_gpu(const graph_face &face);

/* Adds a plan that was built, and says so: its name, its scratch memory in bytes, its text, the numerical notes of its
 * engine. The face's plans are in the order of these calls. */
void frontend_plan(graph_face &face, const std::string &name, int64_t workspace,
                   const std::string &json, const std::vector<cudnnBackendNumericalNote_t> &notes);

/* Says what a program stores of the plan that was added last, for --restore. */
void frontend_stored(const std::string &json);

/* Says why something could not be had; the program goes on. */
void frontend_refused(const std::string &what, const std::string &why);

#endif
