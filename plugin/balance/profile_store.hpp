// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "oclspkt/export.hpp"

namespace oclspkt {

/// A figure measured in one kind of solve, such as seconds or watts; its key says which. It is positive and finite.
struct Measured {
  double figure = 0;
  double set_ups = 1;  ///< number of set-ups after which it was measured
  double when = 0;     ///< seconds since 1970; the store sets it
};

/// Keeps figures in a text file, each under a key. Any number of programs, threads and stores may use one file, but
/// only one thread at a time a store.
///
/// A write appends its lines to the file in one call, so that programs need no lock. The last line of a key counts. A
/// store ignores lines of other hosts, lines that are malformed or old, and files of another version, which the next
/// write replaces. A bad or missing file causes no exception. A path that is no regular file stays untouched.
class OCLSPKT_API ProfileStore {
 public:
  /// Read the file. If it does not exist, create it and its folders.
  /// @param file  path; "none": nothing is read or written; empty: default_file()
  explicit ProfileStore(std::string file);

  /// $XDG_CACHE_HOME/oclspkt/profile.txt, else $HOME/.cache/oclspkt/profile.txt; empty if neither variable holds an
  /// absolute path.
  static std::string default_file();

  /// The figure of this host: from the last put(), else from the file.
  std::optional<Measured> find(const std::string& key) const;
  /// Keep a figure, unless it is not positive and finite, or the key is over 1024 bytes or has control characters.
  void put(const std::string& key, Measured measured);
  /// Keep the seconds measured after one more set-up. Other programs only slow a processor down. So a shorter time
  /// replaces the old one, and a longer time raises it by the factor kMostSlower at most.
  void put_seconds(const std::string& key, double seconds);
  /// Append the figures put since the last write to the file. If that fails, the next write tries again. A file of 1 MB
  /// or more is replaced by one with the figures of this store. Only one rank of a node writes.
  /// @param after  do nothing if the file was read or written in the last seconds
  void write(std::chrono::seconds after = {});
  /// One line on why the file was not read or cannot be written, and what to do; empty if all is well.
  const std::string& why() const { return why_; }
  const std::string& file() const { return file_; }

  static constexpr int kStaleDays = 7;
  static constexpr double kMostSlower = 1.05;  ///< as kLeastGain: one slow set-up changes no decision

 private:
  std::string file_, why_;
  std::map<std::string, Measured> known_;
  std::set<std::string> changed_;  ///< keys put since the last write
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

}  // namespace oclspkt
