// gpu-probe's kernels on a GPU that is not what it should be: ldmatrix.x2 ignores .trans, and multiply-adds double.
#include "gpu.h"

#define gpu_ldmatrix_x2_trans gpu_ldmatrix_x2
#define fmaf(a, b, c)         (2 * fmaf(a, b, c))

#include "../../../tools/probe/kernels.cu"
