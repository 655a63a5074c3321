// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oclspkt/solver.hpp"
#include "system.hpp"
#include "ways.hpp"

namespace oclspkt {

/// A way that a set-up took and that the next one tries first.
struct InUse {
  WayName way, head;  ///< and the one that was tried first then
  LineSet lines;
  double applies;  ///< that were expected
};

/// Fail for an answer of method auto that is above its limits. @throws Breakdown unless above_bound is warn
void refuse_answer(const Options& options, const std::string& why);

/// The ways of processors that are there, or why the host is left.
/// @throws InvalidInput if the method named is not there for these lines
template <typename T>
std::vector<Way> ways_there(Processors& processors, const Processor& host, const Outlook<T>& outlook);

/// How one set-up chooses among the ways that there are: the one that takes the least time of those that hold. Lines
/// that alone stand in the way go to the host.
template <typename T>
class Choosing {
 public:
  /// @param applies  that are expected until the next set-up; 0: not known
  /// @param[out] chosen, report  what comes of it
  Choosing(const Options& options, const Known& known, std::int64_t applies, System<T>& system, Chosen<T>& chosen,
           Report& report)
      : options_(options), known_(known), applies_(applies), system_(system), chosen_(chosen), report_(report) {}

  Outlook<T> outlook() const;
  /// Choose one that was in use before, or else the one that takes the least time, of those that hold.
  /// @param[out] tried  the processor that is at work, should it fail
  /// @return what the next set-up tries first
  /// @throws Breakdown if none holds; DeviceError of the processor
  std::optional<InUse> choose(const Processors& processors, std::vector<Way> ways, const std::optional<InUse>& before,
                              const Processor*& tried);
  /// Take the errors of answers into the report that no bound covers: see DeviceSolver::take_errors().
  /// @throws Breakdown if method auto may not answer so, see AboveBound
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
