// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contestants.hxx"

namespace oclspkt::bench::adi {

/// All that is known for one lambda.
struct Round {
  double lambda = 0;
  double factored_error = 0;  ///< what the factored form has by itself, from the waves' factors
  double implicit_error = 0;  ///< what unfactored backward Euler has by itself: CG cannot be below it for long
  std::vector<Contestant> contestants;  ///< ours first
};

/// The factored apply against its directions one by one.
struct Applies {
  double factored = 0;             ///< seconds
  double directions[kAxes] = {};   ///< seconds of x, y and z alone
  std::vector<std::string> lines;  ///< what the view says of each direction: lines, method, device, words a row
  double sum() const { return directions[0] + directions[1] + directions[2]; }
};

/// Time of the fastest other against ours; above 1 we are faster. 0 without times.
double ratio(const Round& round);

std::string table(const std::vector<Round>& rounds);
std::string table(const Applies& applies);
nlohmann::ordered_json to_json(const std::vector<Round>& rounds);
nlohmann::ordered_json to_json(const Applies& applies);

}  // namespace oclspkt::bench::adi
