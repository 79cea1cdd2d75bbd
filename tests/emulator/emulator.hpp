// CUDA's device language for a host C++ compiler: what gpu.h includes when it is not nvcc that
// reads a kernel.
//
// Each CUDA thread of a block is a fiber; blocks run one after another. The environment says how:
//   GDNN_EMU_SCHEDULE  fwd (default): lower threads first; rev: higher first;
//                      a number: the seed of a random order
//   GDNN_EMU_COPIES    late (default): cp.async data arrives at the wait; early: at the issue;
//                      random: either
// Not modelled: wgmma, TMA, mbarrier, clusters, named barriers, spin-waits, and how the GPU rounds
// inside an mma.
#ifndef GDNN_EMULATOR_HPP
#define GDNN_EMULATOR_HPP

#include "collectives.hpp"
#include "half.hpp"
#include "intrinsics.hpp"
#include "kernel.hpp"
#include "matrix.hpp"
#include "memory.hpp"
#include "thread.hpp"
#include "vectors.hpp"

#endif
