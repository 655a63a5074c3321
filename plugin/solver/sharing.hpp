// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "apply_energy.hpp"
#include "pieces.hpp"
#include "profile_store.hpp"
#include "shares.hpp"
#include "ways.hpp"

namespace oclspkt {

/// If fewer applies follow a set-up, rows are not shared: the set-up of shares takes longer than sharing saves.
inline constexpr double kManyEnough = 16;

/// Seconds of an apply to all rows by one processor or several.
struct Estimate {
  double predicted = 0, measured = 0;  ///< measured is 0 if it was never measured
  bool sure = false;                   ///< measured after enough set-ups that one slow measurement does not matter
  double seconds() const { return measured > 0 ? measured : predicted; }
  /// The seconds by which processors are chosen. An estimate that is not sure counts half, so that every processor that
  /// may be the fastest is measured.
  double hoped() const { return sure ? seconds() : std::min(predicted, seconds()) / 2; }
};

/// A processor that may have a share of the rows.
struct Sharer {
  Processor processor;
  PoweredDevice meter;       ///< its description for the meter
  Estimate alone;            ///< by itself; if few applies follow a set-up, with a share of the set-up
  ShareModel beside;         ///< while the others work as well: measured, else predicted
  bool knows_watts = false;  ///< beside.watts is measured; else it is rated power
  bool copies() const { return !processor.host() && !processor.info.host_unified; }
};

/// Decides whether the processors that a user named together share the rows of a solver, and how many rows each has.
/// Learns from the times of applies, and keeps the measured figures in a profile.
class Sharing {
 public:
  ~Sharing();

  /// Decide whether rows are shared, and how many rows each processor has.
  /// @param[out] report  the reason, empty if only one processor was named, and the predicted times
  /// @return the processor that solves by itself; null: several share the rows, or any of those named may solve
  /// @throws InvalidInput for a balance that does not fit the processors
  template <typename T>
  const Sharer* decide(const Processors& processors, const Outlook<T>& outlook, SharesReport& report);
  /// The rows of each processor by the last decision; empty if rows are not shared.
  std::vector<Piece>& pieces() { return pieces_; }
  const std::vector<Sharer>& sharers() const { return sharers_; }
  /// End the sharing of rows because its set-up or an apply failed.
  void fail() { pieces_.clear(), ++failures_; }
  /// Begin to measure a processor that solves by itself. @param device  Processor::index
  void watch_single(int device, double set_up_seconds);
  /// Learn the power of processors from applies. @param energy  outlives this object; null: no power is measured
  void watch_energy(ApplyEnergy* energy) { energy_ = energy; }
  void note_apply(double seconds) { seconds_.add(seconds); }
  /// Median seconds of the applies since the last set-up.
  double seconds() const { return seconds_.value(); }
  /// Keep the times and the power measured in these applies.
  void learn();
  /// learn(), and forget all that depends on the options, because they have changed.
  void renew();
  /// ProfileStore::why()
  std::string profile_trouble() const { return store_ ? store_->why() : ""; }

 private:
  template <typename T>
  void find(const Processors& processors, const Outlook<T>& outlook, bool shares);
  void forget() { sharers_.clear(), asked_.clear(); }
  double rows() const { return static_cast<double>(lines_.rows()); }
  std::string key(const std::string& who, const char* how, double applies = kManyEnough) const;
  Estimate estimate(const std::string& who, const char* how, double predicted, double applies) const;
  std::string find_shares(const Options& options, const Balance& balance);
  bool pays(bool few, std::string& why, const Sharer*& only) const;
  const Sharer* without_power() const;
  void learn_power(const Sharer& worker);

  LineSet lines_;           ///< the lines for which sharers_ were predicted
  std::vector<int> asked_;  ///< the other facts on which these predictions depend
  std::vector<Sharer> sharers_;
  std::string names_, kind_;  ///< parts of the profile's keys: all sharers; the kind of solve (scalar, layout, size)
  Shares shares_;             ///< found at the last set-up, whether or not rows are shared
  std::vector<Piece> pieces_;
  int failures_ = 0;
  std::optional<ProfileStore> store_;  ///< empty under Options::reproducible, which uses no measurement
  ApplyEnergy* energy_ = nullptr;
  std::set<int> tried_;        ///< Processor::index of those that worked alone so that their power was measured
  std::optional<int> single_;  ///< Processor::index of the one that solves by itself; empty if several share
  MedianSeconds seconds_;      ///< of applies
  double set_up_seconds_ = 0;
};

}  // namespace oclspkt
