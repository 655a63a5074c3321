// SPDX-License-Identifier: BSD-2-Clause
#pragma once

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
};

/// Keeps figures in a text file, each under a key. All programs of a user share the file and keep it between runs.
///
/// A write appends its lines to the file in one call, so that programs need no lock. The last line of a key counts. A
/// line names its host: a store ignores lines of other hosts, and keeps them in the file. It skips lines that are
/// malformed or too old. It ignores a file of another version, and the next write replaces that file. A bad or missing
/// file causes no exception. A path that is no regular file (a folder, a device), or that the program may not open,
/// stays untouched. Any call may throw std::bad_alloc.
///
/// Any number of stores, threads and programs may use one file. Only one thread at a time may use a store.
class OCLSPKT_API ProfileStore {
 public:
  /// Read the file. If it does not exist, create it and its folders. Figures that are older than kStaleDays, from the
  /// future, not positive or not finite are ignored.
  /// @param file  path; "none": nothing is read or written; empty: default_file()
  explicit ProfileStore(std::string file);

  /// $XDG_CACHE_HOME/oclspkt/profile.txt, else $HOME/.cache/oclspkt/profile.txt; empty if neither variable holds an
  /// absolute path.
  static std::string default_file();

  /// Figures of this host: from the last put(), else from the file.
  std::optional<Measured> find(const std::string& key) const;
  /// Keep a figure. It is ignored if it is not positive and finite, if set_ups < 1, or if the key is longer than 1024
  /// bytes or has control characters.
  void put(const std::string& key, const Measured& measured);
  /// Keep the seconds measured after one more set-up. Other programs only slow a processor down. So a shorter time
  /// replaces the old one, and a longer time raises it by a tenth at most.
  void put_seconds(const std::string& key, double seconds);
  /// Append the figures put since the last write to the file. If that fails, the next write tries again. A file of 1 MB
  /// or more is replaced by one with the figures of this store. Only one rank of a node writes.
  void write();
  /// One line on why the file was not read or cannot be written, and what to do; empty if all is well.
  const std::string& why() const { return why_; }
  const std::string& file() const { return file_; }

  static constexpr int kStaleDays = 7;

 private:
  struct Figure {
    Measured measured;
    double when = 0;  ///< seconds since 1970
  };
  std::string file_, why_;
  std::map<std::string, Figure> known_;
  std::set<std::string> changed_;  ///< keys put since the last write
};

}  // namespace oclspkt
