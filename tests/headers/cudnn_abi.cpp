// Compiles where our declarations of cuDNN agree with NVIDIA's headers. Not linked, not run. VALUES, GRAPH_VALUES,
// PERF_VALUES and ATTRIBUTES apply X to every enumerator of cudnn_types.h, graph_types.h, the tool's cudnn_perf.h and
// graph_attributes.def; FUNCTIONS, GRAPH_FUNCTIONS and TOOL_FUNCTIONS to every function of legacy_api.h, graph_api.h
// and the tool's cudnn_proto.h.
#include <cstddef>
#include <cudnn.h>
#include <type_traits>

enum { nvidia_dim_max = CUDNN_DIM_MAX };
#undef CUDNN_DIM_MAX
enum { CUDNN_DIM_MAX = nvidia_dim_max };

namespace ours
{
#include "../../tools/lib/cudnn_perf.h"
#include "cudnn_types.h"
#include "graph_types.h"
} // namespace ours

// What early releases of cuDNN 9 lack; where the header has a name, that comes first.
namespace later
{
enum { CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED = 1008 };
}
using namespace later;

#define X(name) static_assert((int)ours::name == (int)::name, #name);
VALUES
GRAPH_VALUES
PERF_VALUES
ATTRIBUTES
#undef X

#define SAME_SIZE(type) static_assert(sizeof(ours::type) == sizeof(::type), #type);
SAME_SIZE(cudnnStatus_t)
SAME_SIZE(cudnnDataType_t)
SAME_SIZE(cudnnTensorFormat_t)
SAME_SIZE(cudnnConvolutionMode_t)
SAME_SIZE(cudnnMathType_t)
SAME_SIZE(cudnnActivationMode_t)
SAME_SIZE(cudnnNanPropagation_t)
SAME_SIZE(cudnnConvolutionFwdAlgo_t)
SAME_SIZE(cudnnConvolutionBwdDataAlgo_t)
SAME_SIZE(cudnnConvolutionBwdFilterAlgo_t)
SAME_SIZE(cudnnDeterminism_t)
SAME_SIZE(cudnnConvolutionFwdAlgoPerf_t)
SAME_SIZE(cudnnConvolutionBwdDataAlgoPerf_t)
SAME_SIZE(cudnnConvolutionBwdFilterAlgoPerf_t)
SAME_SIZE(cudnnBackendDescriptor_t)
SAME_SIZE(cudnnBackendDescriptorType_t)
SAME_SIZE(cudnnBackendAttributeName_t)
SAME_SIZE(cudnnBackendAttributeType_t)
SAME_SIZE(cudnnPointwiseMode_t)
SAME_SIZE(cudnnBackendTensorReordering_t)
SAME_SIZE(cudnnBackendNumericalNote_t)

#define SAME_PLACE(field)                                                                          \
    static_assert(offsetof(ours::cudnnConvolutionFwdAlgoPerf_t, field) ==                          \
                      offsetof(::cudnnConvolutionFwdAlgoPerf_t, field),                            \
                  #field);
SAME_PLACE(algo)
SAME_PLACE(status)
SAME_PLACE(time)
SAME_PLACE(memory)
SAME_PLACE(determinism)
SAME_PLACE(mathType)

// The second time cudnn_types.h is empty, so the prototypes are made of NVIDIA's types.
extern "C" {
#include "../../tools/lib/cudnn_proto.h"
#include "graph_api.h"
#include "legacy_api.h"
}

#define X(name)                                                                                    \
    static_assert(std::is_same<decltype(gdnn_proto_##name), decltype(name)>::value, #name);
FUNCTIONS
GRAPH_FUNCTIONS
TOOL_FUNCTIONS
