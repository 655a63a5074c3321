// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "contestants.hpp"
#include "matrices.hpp"
#include "measure.hpp"

namespace oclspkt::bench {

/// What `oclspkt-bench solve` takes; the member initialisers are the only place where a default is written.
struct SolveSettings {
  std::string device = "auto";
  std::string precision = "double";
  Index rows = 20'000'000;
  MatrixSpec matrix;
  std::string methods = kDefaultMethods;
  Budget budget;
  int threads = 0;   ///< of OpenMP; 0: its own choice
  std::string json;  ///< file to write, none if empty
  bool allow_debug = false;
};

/// The command: solve one system by every contestant, check, time, print one table.
/// @return 0, or 1 if an answer is wrong or a contestant failed
/// @throws InvalidInput for what the caller can mend
int solve_command(const std::vector<std::string>& arguments, const std::string& command);

}  // namespace oclspkt::bench
