// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt::ocl {

/// Limit CPU run-times to as many threads as the process may run on; if the ranks of a node are not bound, to its share
/// of the machine. The user's own setting is not changed. Call it before the first OpenCL call; it does nothing if the
/// process may use the whole machine.
void limit_driver_threads();

}  // namespace oclspkt::ocl
