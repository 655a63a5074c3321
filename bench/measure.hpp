// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "contestants.hpp"
#include "statistics.hpp"

namespace oclspkt::bench {

/// An answer is wrong above this many eps of normwise backward error.
inline constexpr double kWrongEps = 100;

/// Let a contestant answer once and judge it: errors, outcome and note of its record. Warms it up for the clock, too.
template <typename T>
void check(Contestant<T>& contestant, Problem<T>& problem);

struct Budget {
  int rounds = 21;           ///< at most
  double seconds = 60;       ///< no round begins later, but for the first kLeastRounds
  double least_seconds = 0;  ///< who is quicker solves so many times in one measurement that it takes this long
  static constexpr int kLeastRounds = 3;
};

/// Time everybody who is `timed`, one measurement a round and in turn, so that what changes with time meets all alike.
/// One that throws is `failed` and leaves.
template <typename T>
void time_interleaved(std::vector<Contestant<T>>& contestants, const Budget& budget, Progress& progress);

/// check() everybody, then time_interleaved().
/// @return their records, in order
template <typename T>
std::vector<Record> check_and_time(std::vector<Contestant<T>>& contestants, Problem<T>& problem, const Budget& budget,
                                   Progress& progress);

template <typename T>
std::vector<Record> records_of(const std::vector<Contestant<T>>& contestants) {
  std::vector<Record> records;
  for (const Contestant<T>& c : contestants) records.push_back(c.record);
  return records;
}

/// True if an answer is wrong or somebody failed: what a command exits with 1 for.
bool any_bad(const std::vector<Record>& records);

}  // namespace oclspkt::bench
