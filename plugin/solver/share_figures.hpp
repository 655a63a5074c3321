// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "profile_store.hpp"

namespace oclspkt {

/// What was measured of processors by themselves and together, for one kind of solves at a time. All kinds are kept in
/// a profile, which one rank a node writes.
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

  /// The name of a figure.
  /// @param who   the processor, or all of those that share
  /// @param kind  of solves
  static std::string key(const std::string& who, const std::string& kind, const char* how) {
    return who + "|" + kind + "|" + how;
  }
  std::optional<Measured> find(const std::string& key) const;
  /// Keep seconds of an apply; what is not positive is no figure. Others' work makes nothing faster: a shorter time
  /// replaces the one before, a longer one lengthens it by a tenth at most. Applies are added up.
  void put_seconds(const std::string& key, double seconds, double rows, std::int64_t applies);
  void put_watts(const std::string& key, double watts, std::int64_t applies);
  void write();
  /// Write, if that was not done in the last seconds: set-ups may follow each other within milliseconds.
  void write_now_and_then();

 private:
  std::string profile_;  ///< as the options name it
  std::optional<ProfileStore> store_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace oclspkt
