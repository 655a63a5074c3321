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

/// With fewer applies a set-up rows are not shared: to set shares up takes longer than these gain.
inline constexpr double kManyEnough = 16;

/// Seconds of an apply of all rows by some processors.
struct Estimate {
  double predicted = 0, measured = 0;  ///< measured 0: never
  bool sure = false;                   ///< measured after as many set-ups as one bad moment does not spoil
  double seconds() const { return measured > 0 ? measured : predicted; }
  const char* source() const { return measured > 0 ? " measured" : " predicted"; }
  /// The seconds by which processors are chosen. What is not sure may take half of what is predicted, so that whatever
  /// may be the best is measured.
  double hoped() const { return sure ? seconds() : std::min(predicted, seconds()) / 2; }
};

/// A processor that may have a share of the rows.
struct Sharer {
  Processor processor;
  std::string word;          ///< as Options::devices takes it
  std::string who;           ///< Processor::figures_of()
  PoweredDevice meter;       ///< what the meter is asked for
  Estimate alone;            ///< by itself; where few applies follow a set-up, with a share of that
  ShareModel beside;         ///< beside the others: measured, else predicted
  bool knows_watts = false;  ///< beside.watts are measured; else they are rated
  bool copies() const { return !processor.host() && !processor.info.host_unified; }
};

/// The processors that a user named together, and what was predicted and measured of them. A profile keeps what was
/// measured, which one rank a node writes.
class Sharers {
 public:
  /// Find the processors that can solve the lines, what is predicted of them, and what was measured.
  /// @return true where they, or their lines, are others than before
  template <typename T>
  bool find(const Processors& processors, const Outlook<T>& outlook);
  /// Find all anew next time.
  void forget();
  /// The options have changed.
  void renew();

  const std::vector<Sharer>& each() const { return each_; }
  double rows() const { return rows_; }
  /// The kind of solves that were measured: scalar, layout, size.
  const std::string& kind() const { return kind_; }
  const std::string& names() const { return names_; }
  /// The fastest by itself. @pre each() is not empty
  const Sharer& best_alone() const;
  Estimate together(double predicted) const { return estimate(names_, "together", predicted, kManyEnough); }

  /// Keep a figure, if there is a profile. Others' work makes nothing faster: a shorter time replaces the one before, a
  /// longer one lengthens it by a tenth at most.
  /// @param applies  behind a set-up
  void put(const std::string& who, const char* how, Measured measured, double applies = kManyEnough);
  /// Write the profile, if that was not done in the last seconds: set-ups may follow each other within milliseconds.
  void write(bool at_once);
  bool learns() const { return store_.has_value(); }
  /// Why the profile was not read or written at the last try; empty if all is well.
  std::string trouble() const { return store_ ? store_->why() : ""; }

 private:
  /// What each_ depends on besides the options: Processor::index of each, applies that are expected to a factor of two,
  /// lines alike, a symmetric operator, dominance.
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
