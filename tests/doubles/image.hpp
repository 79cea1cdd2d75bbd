// What an image says about its kernels.
#ifndef GDNN_DOUBLE_IMAGE_HPP
#define GDNN_DOUBLE_IMAGE_HPP

#include "cuda_types.h"

#include <map>
#include <string>
#include <vector>

namespace fake
{
struct KernelFacts {
    std::vector<unsigned> parameter_bytes;
    unsigned max_threads = 1024;
    unsigned registers = 0; // 0: not known
    unsigned local_bytes = 0;
    unsigned shared_bytes = 0; // static
};

struct Image {
    bool stub = false;    // stands for an image in a build without nvcc
    bool is_read = false; // `kernels` lists them all
    std::map<std::string, KernelFacts> kernels;
};

// Reads a fatbin for a GPU of capability `sm`. Not an image: CUDA_ERROR_INVALID_IMAGE; nothing in
// it runs there: CUDA_ERROR_NO_BINARY_FOR_GPU.
CUresult read_image(const void *bytes, int sm, Image *image);
} // namespace fake

#endif
