// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "peers.hpp"

namespace oclspkt::bench {

/// LAPACK gtsv: factor with partial pivoting and solve.
template <typename T>
Peer<T> make_gtsv(Problem<T>& problem);

/// LAPACK gttrf once, then gttrs.
template <typename T>
Peer<T> make_gttrs(Problem<T>& problem);

/// LAPACK pttrf once, then pttrs. Absent unless the matrix is symmetric, to the bit, and positive definite.
template <typename T>
Peer<T> make_pttrs(Problem<T>& problem);

}  // namespace oclspkt::bench
