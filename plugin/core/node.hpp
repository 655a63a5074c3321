// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "oclspkt/export.hpp"

namespace oclspkt {

/// The place of this process among the processes of its program on the same machine.
struct NodePlace {
  int rank = 0;   ///< counted from 0
  int ranks = 1;  ///< processes of the program on this machine
};

/// Read this process's place from the launcher's environment variables (Open MPI, MPICH and its derivatives, Slurm);
/// {0, 1} if none is set. The function sends no message.
OCLSPKT_API NodePlace node_place();

/// How many processors this process may use: the processors that it is bound to, else its share of the machine's
/// processors; 0 if unknown.
OCLSPKT_API int processor_share();

}  // namespace oclspkt
