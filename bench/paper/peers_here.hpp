// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "peers.hpp"

namespace oclspkt::bench::paper {

/// The paper's peers on the host: Thomas' algorithm, LAPACK's gtsv, and MKL's dtsvb on one thread and on two. Where the
/// build has no LAPACK, and so neither of the latter, the first alone.
std::vector<const PeerFacts*> peers_here();

}  // namespace oclspkt::bench::paper
