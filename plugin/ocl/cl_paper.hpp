// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "registry.hpp"

namespace oclspkt::ocl {

/// What the paper's form has on a device beside the vectors and bands of a chunk.
struct PaperState {
  Kernel marshal, spkfact, spktrrecl, spktrrecul, unmarshal;
  cl::Buffer lower, diag, upper, y;  ///< marshalled; y then takes x
  cl::Buffer reciprocals, left;      ///< marshalled: reciprocal pivots, what the sweeps leave of y
  cl::Buffer v, f_bottom, w, f_top;  ///< a number for each partition: tips of spikes
};

}  // namespace oclspkt::ocl
