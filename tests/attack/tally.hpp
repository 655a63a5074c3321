// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdio>
#include <map>

#include "trial.hpp"

namespace oclspkt::attack {

/// What is counted apart.
struct Key {
  std::string family;  ///< "jump", or "jump in units" where columns are scaled
  std::string scheme;  ///< method and shape, or "refused"
  std::string device;  ///< with variant and scalar

  auto operator<=>(const Key&) const = default;
};

/// Counts over answers.
struct Counted {
  long systems = 0, answers = 0;
  long refused = 0;  ///< systems
  long broke = 0;    ///< systems: a device failed
  // Errors are those that the report promises to bound.
  long above_goal = 0;                 ///< above kGoal
  long told = 0;                       ///< above kWrong, and the report tells
  long told_by_auto = 0;               ///< of these, where nobody named the method
  long failed = 0;                     ///< above kWrong, and the report does not tell
  long exceeded = 0;                   ///< above the bound
  long astray = 0;                     ///< forward error in a unit above kSpreads spreads, and the report does not tell
  long beyond = 0;                     ///< forward error above what the bound allows
  long spread = 0, lapack_spread = 0;  ///< above kSpreads, told or not; LAPACK's
  long behind = 0;                     ///< forward error above kForward times LAPACK's + kWrong eps
  double worst = 0, worst_norm = 0;    ///< error, error by norm of answers that are not told of
  double worst_component = 0;          ///< error by component of these
  double worst_unit = 0;               ///< forward error in a unit of these, in spreads
  double worst_beyond = 0;             ///< largest share of what a bound by rows allows it
  double worst_forward = 0;            ///< largest share of what forward errors may be
  std::vector<float> margins;          ///< bound / error where both are positive and finite

  void add(const Outcome& outcome);
  void add(const Counted& other);
  double least_margin() const;
  double median_margin() const;
};

/// All that an attack saw.
class Tally {
 public:
  /// @param command what runs the case again in that setting
  void add(const Key& key, const Outcome& outcome, const std::string& command);

  long systems() const { return total().systems; }
  Counted total() const;
  void print(std::FILE* to) const;
  /// @throws BadText if the file cannot be written
  void write_json(const std::string& path) const;

 private:
  std::map<Key, Counted> cells_;
  std::vector<std::string> commands_;  ///< what runs the worst again, some of each cell
};

}  // namespace oclspkt::attack
