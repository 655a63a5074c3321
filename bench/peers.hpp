// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <type_traits>

#include "problem.hpp"

namespace oclspkt::bench {

/// A solver of others that is ready for a problem.
template <typename T>
struct Peer {
  double setup_seconds = 0;  ///< to factor, where factors are stored
  std::string absent;        ///< why it cannot take part; empty if it can
  /// Write Problem::x so many times. Copies that only protect the input are not timed.
  /// @return seconds of one solve
  std::function<double(int repeats)> run;
};

/// What is known of a peer before it meets a problem.
struct PeerFacts {
  const char* name;  ///< as --methods takes it
  const char *solver, *method, *variant;
  double words;    ///< scalars that a solve reads and writes a row
  double indices;  ///< 4-byte pivot indices that it reads a row
  double arrays;   ///< arrays of n scalars that it holds
  double scratch;  ///< arrays of Problem::scratch that it shares with the others
  Peer<float> (*make_float)(Problem<float>&);
  Peer<double> (*make_double)(Problem<double>&);

  /// Set it up. The problem outlives it.
  /// @throws InvalidInput if n is more than its integers hold
  template <typename T>
  Peer<T> make(Problem<T>& problem) const {
    if constexpr (std::is_same_v<T, float>) {
      return make_float(problem);
    } else {
      return make_double(problem);
    }
  }
  template <typename T>
  double words_per_row() const {
    return words + indices * 4 / sizeof(T);
  }
};

/// All of them. Each runs on one thread unless its variant says otherwise.
std::span<const PeerFacts> peers();

/// The peer of that name, or null.
const PeerFacts* find_peer(const std::string& name);

/// n as the 32-bit integers of LAPACK and MKL have it.
/// @throws InvalidInput if they do not hold it
int narrow_rows(Index n);

/// Copies of the bands in LAPACK's layout, whose lower band begins at row 1.
/// @param[out] lower, diag, upper shapes [n]
template <typename T>
void copy_bands(const Problem<T>& problem, T* lower, T* diag, T* upper);

}  // namespace oclspkt::bench
