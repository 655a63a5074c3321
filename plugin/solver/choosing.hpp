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

/// @throws Breakdown about an answer above the limits of method auto, unless above_bound is warn
void refuse_answer(const Options& options, const std::string& why);

/// The ways of the processors. If no device has a way, the function removes the devices from `processors`, and stores
/// the reason in processors.why_host.
/// @throws InvalidInput if the method named by the options does not solve lines of this layout on devices
template <typename T>
std::vector<Way> ways_there(Processors& processors, const Processor& host, const Outlook<T>& outlook);

/// Chooses, for one set-up, the fastest way that passes its tests. If only some lines fail a test, the host solves
/// these lines.
template <typename T>
class Choosing {
 public:
  /// @param applies  expected number of applies until the next set-up; 0: not known
  /// @param[out] chosen, report  the solver of the chosen way, and the reasons for the choice
  Choosing(const Options& options, const Known& known, std::int64_t applies, System<T>& system, Chosen<T>& chosen,
           Report& report)
      : options_(options), known_(known), applies_(applies), system_(system), chosen_(chosen), report_(report) {}

  Outlook<Real<T>> outlook() const;
  /// Choose a way that passes its tests: the way in use before, or else the fastest way.
  /// @param[out] tried  the processor at work, if this call throws DeviceError
  /// @return the way that the next set-up tries first; nothing if there is no preference
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
