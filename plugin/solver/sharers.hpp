// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "meter.hpp"
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
  const char* source() const { return measured > 0 ? " measured" : " predicted"; }
  /// The seconds by which processors are chosen. An estimate that is not sure counts half, so that every processor that
  /// may be the fastest is measured.
  double hoped() const { return sure ? seconds() : std::min(predicted, seconds()) / 2; }
};

/// A processor that may have a share of the rows.
struct Sharer {
  Processor processor;
  std::string word;          ///< its word in Options::devices
  std::string who;           ///< key of its figures, see Processor::figures_of()
  PoweredDevice meter;       ///< its description for the meter
  Estimate alone;            ///< by itself; if few applies follow a set-up, with a share of the set-up
  ShareModel beside;         ///< while the others work as well: measured, else predicted
  bool knows_watts = false;  ///< beside.watts is measured; else it is rated power
  bool copies() const { return !processor.host() && !processor.info.host_unified; }
};

/// The processors that a user named together, with their predicted and measured times. A profile keeps the measured
/// figures; one rank of each node writes it.
class Sharers {
 public:
  /// Find the processors that can solve the lines, predict their times, and look up their measured figures.
  /// @return true if the processors or the lines differ from those of the last call
  template <typename T>
  bool find(const Processors& processors, const Outlook<T>& outlook);
  /// Let the next find() predict all processors anew.
  void forget();
  /// Write the profile and close it, and forget() the processors, because the options have changed.
  void renew();

  const std::vector<Sharer>& each() const { return each_; }
  double rows() const { return rows_; }
  /// The kind of solve, as a part of the profile's keys: scalar, layout, size.
  const std::string& kind() const { return kind_; }
  const std::string& names() const { return names_; }
  /// The processor that is the fastest by itself. @pre each() is not empty
  const Sharer& best_alone() const;
  Estimate together(double predicted) const { return estimate(names_, "together", predicted, kManyEnough); }

  /// Keep a figure in the profile, if there is one. Other programs only slow a processor down. So a shorter time
  /// replaces the old one, and a longer time raises it by a tenth at most.
  /// @param applies  number of applies that followed the set-up
  void put(const std::string& who, const char* how, Measured measured, double applies = kManyEnough);
  /// Write the profile, unless that was done in the last seconds: set-ups may follow each other within milliseconds.
  /// @param at_once  write in any case
  void write(bool at_once);
  bool learns() const { return store_.has_value(); }
  /// Why the last attempt to read or write the profile failed; empty if it succeeded.
  std::string trouble() const { return store_ ? store_->why() : ""; }

 private:
  /// What each_ depends on, besides the options: the lines, Processor::index of each processor, the expected applies to
  /// a factor of two; whether all lines are alike, the operator is symmetric, and the dominance exceeds 1.
  using Found = std::tuple<LineSet, std::vector<int>, int, bool, bool, bool>;
  std::string key(const std::string& who, const char* how, double applies) const;
  Estimate estimate(const std::string& who, const char* how, double predicted, double applies) const;

  std::vector<Sharer> each_;
  std::optional<Found> found_;
  std::string names_, kind_;
  double rows_ = 0;
  std::optional<ProfileStore> store_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace oclspkt
