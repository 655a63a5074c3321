// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sharers.hpp"

namespace oclspkt {

/// What is decided at a set-up.
struct ShareVerdict {
  bool shared = false;
  const Sharer* only = nullptr;  ///< solves by itself; null: any of those named
  std::string why = {};          ///< empty where one processor was named
};

/// What set-ups measured, or tried to.
struct ShareTrials {
  /// Processors that solved such lines to be measured, as ShareFigures::key() has them: what an apply never followed,
  /// or more of them than one where one was expected, leaves no figure.
  std::set<std::string> tried;
  std::map<std::string, std::int64_t> judged;  ///< set-ups, by the same keys
  /// Who was measured anew at the last set-up, as Sharer::word or Sharers::names, and is once more: the first set-up of
  /// a processor says nothing of the next ones.
  std::string again;
};

/// Says at one set-up whether processors share the rows or one solves by itself, whichever takes less time. What was
/// measured, of all together and of one by itself, counts more than what is predicted; what was only predicted is
/// measured for once where that is near, and now and then what was left out by a little is measured anew.
class ShareJudge {
 public:
  /// @param[in,out] trials  of all set-ups
  ShareJudge(const Sharers& sharers, const ShareFigures& figures, ShareTrials& trials)
      : sharers_(sharers), figures_(figures), trials_(trials) {}

  /// @param shares  the best ones, by what is known
  ShareVerdict judge(const Shares& shares);

 private:
  /// Seconds of an apply, each with its part of a set-up.
  struct Prospects {
    double single;                   ///< of the best one by itself
    double shares;                   ///< of all together by the shares at hand, predicted
    double least;                    ///< the same if predictions are off by kCloseCall
    std::optional<double> together;  ///< of all together as measured, with whatever shares
    double several() const { return together.value_or(shares); }
  };
  std::optional<ShareVerdict> measure_anew(const ShareVerdict& decided);
  bool set_ups_count(double seconds) const;
  ShareVerdict least_time(const Shares& shares);
  std::optional<ShareVerdict> measure_for_once(const Prospects& of, const std::string& texts);
  std::optional<ShareVerdict> measure_untried(double known, const std::string& texts);
  bool is_first_try(const std::string& who);
  double together_set_up() const;
  std::optional<double> together_seconds() const;

  const Sharers& sharers_;
  const ShareFigures& figures_;
  ShareTrials& trials_;
};

/// Waking threads and waiting for the last one.
inline constexpr double kMeetingSeconds = 5e-5;

}  // namespace oclspkt
