// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "peers.hpp"

namespace oclspkt::bench {

/// Serial elimination without pivoting, one sweep down and one up, nothing stored between solves.
template <typename T>
Peer<T> make_thomas(Problem<T>& problem);

/// The same with multipliers and reciprocal pivots stored beforehand: what a careful program writes by hand.
template <typename T>
Peer<T> make_thomas_stored(Problem<T>& problem);

}  // namespace oclspkt::bench
