// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oclspkt/solver.hpp"
#include "system.hpp"
#include "ways.hpp"

namespace oclspkt {

/// The way that a set-up took. The next set-up tries it first.
struct InUse {
  WayName way, head;  ///< the way taken, and the way that was predicted to be the fastest
  LineSet lines;
  double applies;  ///< expected number of applies
};

/// Refuse an answer of method auto that exceeds its limits. @throws Breakdown unless above_bound is warn
void refuse_answer(const Options& options, const std::string& why);

/// The ways of the processors. If devices are named but have no way, they are removed, and processors.why_host has the
/// reason.
/// @throws InvalidInput if devices do not solve lines of this layout by the method that the options name
template <typename T>
std::vector<Way> ways_there(Processors& processors, const Processor& host, const Outlook<T>& outlook);

/// The choice of one set-up: among the ways that pass their tests, the one that takes the least time. If only some
/// lines fail a test, the host solves these lines.
template <typename T>
class Choosing {
 public:
  /// @param applies  expected number of applies until the next set-up; 0: not known
  /// @param[out] chosen, report  the solver of the chosen way, and the reasons for the choice
  Choosing(const Options& options, const Known& known, std::int64_t applies, System<T>& system, Chosen<T>& chosen,
           Report& report)
      : options_(options), known_(known), applies_(applies), system_(system), chosen_(chosen), report_(report) {}

  Outlook<T> outlook() const;
  /// Choose among the ways that pass their tests: the one that was in use before, or else the fastest one.
  /// @param[out] tried  the processor that was at work if this call throws DeviceError
  /// @return the way that the next set-up tries first; nothing if it has none to prefer
  /// @throws Breakdown if no way passes; DeviceError if a device fails
  std::optional<InUse> choose(const Processors& processors, std::vector<Way> ways, const std::optional<InUse>& before,
                              const Processor*& tried);
  /// Raise the rounding in the report to the largest error of an answer, see DeviceSolver::take_errors().
  /// @throws Breakdown if the error exceeds the limits of method auto, see AboveBound
  void note_answers();

 private:
  enum class Outcome { taken, rejected, dearer };

  std::optional<Way> first_that_holds(std::vector<Way> ways, const std::optional<WayName>& first, bool insist,
                                      const Processor*& tried, std::vector<Way>& rejected);
  std::optional<Proposal> judge_now(const Way& way, bool insist, Rejection& rejection);
  void choose_units(Way& way, bool insist);
  Outcome try_way(Way& way, std::vector<Way>& ways, bool keeps, bool insist, Rejection& rejection);
  bool comparable(const std::vector<Way>& ways, const InUse& before) const;
  void adopt(const Way& way, bool factored);
  Rejection examine_adopted(Proposal& proposal, bool insist);
  void take(const Way& way, const Proposal& proposal, const char* pin_why);
  void require_within_bounds();

  const Options& options_;
  const Known& known_;
  const std::int64_t applies_;
  System<T>& system_;
  Chosen<T>& chosen_;
  Report& report_;
};

}  // namespace oclspkt
