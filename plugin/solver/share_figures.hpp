// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "profile_store.hpp"

namespace oclspkt {

/// What was measured of processors by themselves and together, in seconds a row, and of their power in watts, for one
/// kind of solves at a time. All kinds are kept in a profile, which one rank a node writes.
class ShareFigures {
 public:
  /// Find and keep figures in a profile, which is read if it is another one than before.
  /// @param profile  as Options::profile names it
  void open(const std::string& profile);
  /// Find and keep nothing.
  void close();
  bool kept() const { return store_.has_value(); }
  /// Why the profile was not read or written at the last try; empty if all is well.
  std::string trouble() const { return store_ ? store_->why() : ""; }
  /// Of what solves figures are from now on.
  void expect(std::string kind) { kind_ = std::move(kind); }

  /// The name of a figure.
  /// @param who  the processor, or all of those that share
  std::string key(const std::string& who, const char* how) const { return who + "|" + kind_ + "|" + how; }
  /// @return seconds a row, or watts
  std::optional<double> find(const std::string& who, const char* how) const;
  /// Keep a figure; what is not positive is no figure. Of those that were measured in few applies the median of the
  /// last ones counts, which no single bad moment moves.
  /// @param applies  that it was measured in
  void put(const std::string& who, const char* how, double seconds, double rows, std::int64_t applies);
  void write();
  /// Write, if that was not done in the last seconds: set-ups may follow each other within milliseconds.
  void write_now_and_then();

 private:
  std::string kind_;
  std::string profile_;  ///< as the options name it
  std::optional<ProfileStore> store_;
  std::map<std::string, std::deque<double>> last_;  ///< of few applies, by key; seconds a row
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace oclspkt
