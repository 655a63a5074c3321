// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/export.hpp"

namespace oclspkt {

/// The place of this process among those of its program on the same machine.
struct NodePlace {
  int rank = 0;   ///< from 0 on
  int ranks = 1;  ///< processes of the program on this machine
};

/// The place that the launcher wrote into the environment (Open MPI, MPICH and its derivatives, Slurm); {0, 1} if none.
/// No message is sent: a process may ask at any time.
OCLSPKT_API NodePlace node_place();

/// Processors that this process may keep busy: those that it is bound to, else its share of the machine's; 0 if
/// unknown.
OCLSPKT_API int processor_share();

}  // namespace oclspkt
