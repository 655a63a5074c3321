// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "peers.hpp"

namespace oclspkt::bench {

/// The variable that names MKL's libmkl_rt; unset: the loader looks for it.
inline constexpr const char* kMklVariable = "OCLSPKT_BENCH_MKL";

// All of them are absent where MKL is not installed, and say how to get it.

/// MKL dtsvb: one-shot elimination without pivoting, for diagonally dominant matrices; one thread.
template <typename T>
Peer<T> make_dtsvb(Problem<T>& problem);

/// MKL dttrfb once, then dttrsb; one thread.
template <typename T>
Peer<T> make_dttrsb(Problem<T>& problem);

/// Two dtsvb at once on two threads, each on one half of the rows and a halo of the other's, so long that what is cut
/// off behind it is below rounding. Absent where the rows are not strictly dominant, or fewer than four halos.
template <typename T>
Peer<T> make_dtsvb_halves(Problem<T>& problem);

/// Rows of a halo behind which truncation is below the rounding of T: d^-(halo) <= eps / 8 for the dominance d of the
/// matrix; 0 if no halo does, that is, where d <= 1.
template <typename T>
Index rounding_halo(const Problem<T>& problem);

}  // namespace oclspkt::bench
