// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "oclspkt/export.hpp"

namespace oclspkt {

/// What was measured of processors in one kind of solve: seconds or watts; 0: not that.
struct Measured {
  double seconds_per_row = 0;
  double watts = 0;
  double set_ups = 1;  ///< after how many it was measured
  double latency = 0;  ///< seconds; of a launch
};

/// Figures by key, kept as lines of text in a file between runs, for all programs of a user.
///
/// Lines are added at the end of the file, all of a write at once, so that programs need no lock; the last line of a
/// key is its figure. A line also has a host: figures of other hosts are kept and not read. Lines that are no figures,
/// or that are too old, are skipped. A file of another version is ignored, and the next write replaces it. Nothing here
/// throws for a bad file, nor without one, except for std::bad_alloc. What is no file (a folder, a device) or is not
/// permitted is left alone.
///
/// Any number of stores, threads and programs may use one file; a store itself is for one thread at a time.
class OCLSPKT_API ProfileStore {
 public:
  /// Reads the file, which is made if there is none, as its folders are. Figures older than kStaleDays, from the
  /// future, not positive or not finite are ignored.
  /// @param file  path; "none": nothing is read or written; empty: default_file()
  explicit ProfileStore(std::string file);

  /// $XDG_CACHE_HOME/oclspkt/profile.txt, else $HOME/.cache/oclspkt/profile.txt; empty if neither variable holds an
  /// absolute path.
  static std::string default_file();

  /// Figures of this host: the last put, else read.
  std::optional<Measured> find(const std::string& key) const;
  /// Keep figures; those that are not finite, without seconds a row and watts, of less than one set-up, or of a key
  /// beyond 1024 bytes or with control characters are ignored.
  void put(const std::string& key, const Measured& measured);
  /// Add what was put since the last write to the file. If it cannot, what was put is kept for the next write. A file
  /// of 1 MB or more begins anew with the figures that this store has.
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
  std::set<std::string> changed_;  ///< keys, since the last write
};

}  // namespace oclspkt
