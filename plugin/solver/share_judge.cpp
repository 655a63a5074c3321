// SPDX-License-Identifier: BSD-2-Clause
#include "share_judge.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "second_look.hpp"

namespace oclspkt {
namespace {

/// Where predictions of one processor and of several are nearer to each other than this, both are tried.
constexpr double kCloseCall = 2;

std::string microseconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", 1e6 * seconds);
  return text;
}

}  // namespace

ShareVerdict ShareJudge::judge(const Shares& shares) {
  ShareVerdict decided = least_time(shares);
  if (!figures_.kept()) return decided;
  return measure_anew(decided).value_or(decided);
}

/// Whether a set-up is so much of an apply that its figure has to be as good as that of applies.
/// @param seconds  of an apply, set-up included
bool ShareJudge::set_ups_count(double seconds) const {
  constexpr double kShare = 0.1;
  return sharers_.rows * sharers_.best_alone().set_up > kShare * sharers_.applies * seconds;
}

/// Measure one that was left out anew, now and then.
std::optional<ShareVerdict> ShareJudge::measure_anew(const ShareVerdict& decided) {
  std::vector<double> seconds;  // each processor by itself, and at last all together; NaN: never measured
  std::size_t chosen = sharers_.each.size();
  for (const Sharer& s : sharers_.each) {
    if (!decided.shared && &s == decided.only) chosen = seconds.size();
    seconds.push_back(s.measured_alone ? sharers_.alone_seconds(s) : std::numeric_limits<double>::quiet_NaN());
  }
  seconds.push_back(together_seconds().value_or(std::numeric_limits<double>::quiet_NaN()));
  const auto name_of = [&](std::size_t k) { return k < sharers_.each.size() ? sharers_.each[k].word : sharers_.names; };
  const std::string before = std::exchange(trials_.again, "");
  std::optional<std::size_t> looked =
      second_look(seconds, chosen, ++trials_.judged[figures_.key(sharers_.names, "judged")]);
  std::size_t same = before.empty() ? seconds.size() : 0;
  while (same < seconds.size() && name_of(same) != before) ++same;
  if (same < seconds.size()) {
    looked = same;
  } else if (looked && set_ups_count(seconds[chosen])) {
    trials_.again = name_of(*looked);
  }
  if (!looked) return std::nullopt;
  const std::string why =
      "measured anew, after " + microseconds_text(seconds[*looked]) + " against " + microseconds_text(seconds[chosen]);
  if (*looked == sharers_.each.size()) return ShareVerdict{true, nullptr, why};
  return ShareVerdict{false, &sharers_.each[*looked], why};
}

/// True if these processors did not solve such lines to be measured before.
bool ShareJudge::is_first_try(const std::string& who) {
  return trials_.tried.insert(figures_.key(who, "tried")).second;
}

/// What an apply has of a set-up of all together, in seconds. As long as that was not measured: what one by itself
/// takes, and to copy the bands.
double ShareJudge::together_set_up() const {
  const std::optional<double> set_up = figures_.find(sharers_.names, "together, set-up");
  return sharers_.rows * set_up.value_or(sharers_.best_alone().set_up + sharers_.copying) / sharers_.applies;
}

/// Seconds of an apply of all together as measured, with a share of its set-up.
std::optional<double> ShareJudge::together_seconds() const {
  const std::optional<double> together = figures_.find(sharers_.names, "together");
  if (!together) return std::nullopt;
  return sharers_.rows * *together + together_set_up();
}

/// Measure a processor by itself that never was, the fastest by prediction, if it is predicted to take less than
/// kCloseCall times as long as what is known.
/// @return nothing if there is none, or none was measured by itself: then it is the turn of the one that is chosen
std::optional<ShareVerdict> ShareJudge::measure_untried(double known, const std::string& texts) {
  const Sharer* found = nullptr;
  for (const Sharer& s : sharers_.each) {
    if (s.measured_alone || !(sharers_.alone_seconds(s) < kCloseCall * known)) continue;
    if (!found || sharers_.alone_seconds(s) < sharers_.alone_seconds(*found)) found = &s;
  }
  if (!figures_.kept() || !sharers_.any_measured_alone() || !found || !is_first_try(found->word)) return std::nullopt;
  const std::string predicted = microseconds_text(sharers_.alone_seconds(*found));
  return ShareVerdict{false, found, "measured alone for once, " + predicted + " predicted: " + texts};
}

/// Measure what was only predicted, all together or one by itself, where predictions are close.
std::optional<ShareVerdict> ShareJudge::measure_for_once(const Prospects& of, const std::string& texts) {
  if (!figures_.kept()) return std::nullopt;
  const bool close = of.several() < kCloseCall * of.single && of.single < kCloseCall * of.several();
  const bool any_alone = sharers_.any_measured_alone();
  const Sharer& best = sharers_.best_alone();
  if (close && of.together && !any_alone && is_first_try(best.word)) {
    return ShareVerdict{false, &best, "measured alone for once: " + texts};
  }
  const bool may_pay = !of.together && kLeastGain * of.least < of.single && of.single < kCloseCall * of.shares;
  if (may_pay && any_alone && is_first_try(sharers_.names)) {
    return ShareVerdict{true, nullptr, "measured together for once: " + texts};
  }
  if (std::optional<ShareVerdict> once = measure_untried(std::min(of.single, of.several()), texts)) return once;
  // All together were measured with other rows each, for which rates were only predicted.
  if (of.together && *of.together > of.single && kLeastGain * of.shares <= of.single &&
      is_first_try(sharers_.names + ", other rows")) {
    const std::string predicted = microseconds_text(of.shares);
    return ShareVerdict{true, nullptr,
                        "measured together for once with other rows, " + predicted + " predicted: " + texts};
  }
  return std::nullopt;
}

ShareVerdict ShareJudge::least_time(const Shares& shares) {
  const Sharer& best = sharers_.best_alone();
  const double single = sharers_.alone_seconds(best);
  const bool measured = sharers_.any_measured_alone();
  const Sharer* const only = measured ? &best : nullptr;
  const std::string alone_text = "one processor " + microseconds_text(single) + (measured ? " measured" : " predicted");
  const auto several = std::count_if(shares.rows.begin(), shares.rows.end(), [](Index rows) { return rows > 0; });
  if (several < 2) {
    if (const std::optional<ShareVerdict> once = measure_untried(single, alone_text)) return *once;
    return {false, only, "rows are not shared: " + alone_text + ", and no two are faster"};
  }
  const double set_up = together_set_up();
  const Prospects of{single, shares.all_seconds + set_up, shares.all_seconds / kCloseCall + set_up, together_seconds()};
  const double seconds = of.several();
  const std::string texts =
      "several " + microseconds_text(seconds) + (of.together ? " measured" : " predicted") + ", " + alone_text;
  if (const std::optional<ShareVerdict> once = measure_for_once(of, texts)) return *once;
  // By less than waking threads takes, one is not known to be slower: the next apply may find them asleep.
  if (seconds + std::max(kMeetingSeconds, (kLeastGain - 1) * seconds) <= single) return {true, nullptr, texts};
  return {false, only, "rows are not shared: " + texts};
}

}  // namespace oclspkt
