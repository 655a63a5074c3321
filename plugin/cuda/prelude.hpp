// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt::cuda {

/// kernels/cuda/prelude.cuh with its includes resolved, embedded at build time.
extern const char* const kPrelude;

}  // namespace oclspkt::cuda
