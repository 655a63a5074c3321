// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "oclspkt/line_set.hpp"

namespace oclspkt::bench {

/// What became of a contestant.
enum class Outcome {
  timed,        ///< the answer is right
  not_covered,  ///< a method named although its certificate does not hold here; the library warned, the answer is off
  wrong,        ///< the answer is off and nothing said so
  failed,       ///< set-up or apply refused
  absent        ///< a peer that is not installed, or not for such a matrix
};
inline constexpr const char* kOutcomeNames[] = {"timed", "not covered", "wrong", "failed", "absent"};
inline constexpr const char* name(Outcome o) { return kOutcomeNames[static_cast<int>(o)]; }

/// One row of the table, one record of the JSON file.
struct Record {
  std::string solver, device, method, variant, form, scalar;
  std::string lines;                ///< where they lie; empty for one line
  std::string bands = "general";    ///< "shared": the same in every line, "symmetric": couplings the same both ways,
                                    ///< "narrow": of their own, by precision narrow
  Index rows = 0, line_length = 0;  ///< the latter of each line if there are many
  double words_per_row = 0;
  double error = 0;           ///< max |x_computed - x| / max |x| against the known solution
  double backward_error = 0;  ///< normwise
  double setup_seconds = 0;   ///< once, before the first apply
  std::string platform;       ///< of the device; empty for the host
  std::string why;            ///< why the library chose device and method; empty for the others
  Outcome outcome = Outcome::timed;
  std::string note;             ///< the cause, if there is no time
  std::vector<double> seconds;  ///< one for each round
};

}  // namespace oclspkt::bench
