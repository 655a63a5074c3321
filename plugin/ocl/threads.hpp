// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt::ocl {

/// Tell the CPU run-times to use as many threads as the process may run on, where the ranks of a node are not bound its
/// share of the machine, unless the user has told them already.
/// To be called before the first OpenCL call; does nothing where the whole machine may be used.
void limit_driver_threads();

}  // namespace oclspkt::ocl
