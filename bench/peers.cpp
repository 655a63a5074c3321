// SPDX-License-Identifier: BSD-2-Clause
#include "peers.hpp"

#include <algorithm>
#include <limits>

#include "lapack_peers.hpp"
#include "mkl_peers.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/options.hpp"
#include "parallel.hpp"
#include "thomas.hpp"

namespace oclspkt::bench {
namespace {

constexpr const char *kPivots = oclspkt::name(Method::pivot), *kExact = "exact";

// Words a row. Without interchanges gtsv reads 4 and writes 3 on the way down, reads 4 and writes 1 on the way up;
// gttrs a multiplier, a pivot index and y down, three bands and x up; pttrs one band and y down, both bands and x up.
// Thomas reads 4 and writes the scaled upper band and y down, reads both and writes x up; with stored factors he reads
// a band, a reciprocal and y down, a band and x up. MKL's are counted as elimination without pivoting, from either end
// inwards.
constexpr PeerFacts kPeers[] = {
    {"gtsv", "lapack", kPivots, "gtsv", 12, 0, 0, 3, make_gtsv, make_gtsv},
    {"gttrs", "lapack", kPivots, "gttrs", 8, 1, 5, 0, make_gttrs, make_gttrs},
    {"pttrs", "lapack", kExact, "pttrs", 7, 0, 2, 0, make_pttrs, make_pttrs},
    {"thomas", "thomas", kExact, "serial", 9, 0, 0, 1, make_thomas, make_thomas},
    {"thomas-stored", "thomas", kExact, "stored", 7, 0, 3, 0, make_thomas_stored, make_thomas_stored},
    {"dtsvb", "mkl", kExact, "dtsvb", 10, 0, 0, 3, make_dtsvb, make_dtsvb},
    {"dttrsb", "mkl", kExact, "dttrsb", 7, 0, 3, 0, make_dttrsb, make_dttrsb},
    {"dtsvb-halves", "mkl", "truncated", "2 threads", 10, 0, 4, 0, make_dtsvb_halves, make_dtsvb_halves},
};

}  // namespace

std::span<const PeerFacts> peers() { return kPeers; }

const PeerFacts* find_peer(const std::string& name) {
  const auto found = std::find_if(std::begin(kPeers), std::end(kPeers), [&](const auto& p) { return p.name == name; });
  return found == std::end(kPeers) ? nullptr : found;
}

int narrow_rows(Index n) {
  constexpr Index most = std::numeric_limits<int>::max();
  if (n > most) {
    throw InvalidInput("the integers of LAPACK and MKL hold " + std::to_string(most) + " rows, not " +
                       std::to_string(n) + ": leave them out of --methods");
  }
  return static_cast<int>(n);
}

template <typename T>
void copy_bands(const Problem<T>& p, T* lower, T* diag, T* upper) {
  copy(p.bands.view().lower + 1, p.n() - 1, lower);
  copy(p.bands.view().diag, p.n(), diag);
  copy(p.bands.view().upper, p.n() - 1, upper);
}

template void copy_bands(const Problem<float>&, float*, float*, float*);
template void copy_bands(const Problem<double>&, double*, double*, double*);

}  // namespace oclspkt::bench
