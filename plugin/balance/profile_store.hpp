// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <string>

#include "oclspkt/export.hpp"

namespace oclspkt {

/// What was measured of processors in one kind of solve: seconds or watts; 0: not that.
struct Measured {
  double latency = 0;  ///< seconds
  double seconds_per_row = 0;
  double applies = 0;  ///< that it was measured in
  double watts = 0;
};

/// Figures by key, kept as lines of text in a file between runs, for all programs of a user.
///
/// A key says what was measured: device, driver, scalar, storage form, where vectors are. The file also says for which
/// version of its own form and for which host its figures are; files of another version are ignored and replaced, and
/// figures of other hosts are kept and not read. Nothing here throws for a bad file, nor without one, except for
/// std::bad_alloc: a bad file is rebuilt by the next write, and why() says so. What is no file (a folder, a device) or
/// is not permitted is left alone.
///
/// Any number of stores, threads and programs may use one file; a store itself is for one thread at a time.
class OCLSPKT_API ProfileStore {
 public:
  /// @param file  path; "none": nothing is read or written; empty: default_file()
  explicit ProfileStore(std::string file);

  /// $XDG_CACHE_HOME/oclspkt/profile.txt, else $HOME/.cache/oclspkt/profile.txt; empty if neither variable holds an
  /// absolute path.
  static std::string default_file();

  /// Read the file, if it can be locked within 100 ms; creates nothing. Figures older than kStaleDays, from the future,
  /// not positive or not finite are ignored. What was put and not yet written remains; all remains if why() has a line.
  void read();
  /// Figures of this host: the last put, else read.
  std::optional<Measured> find(const std::string& key) const;
  /// Keep figures; those that are not finite, without seconds a row and watts, of less than one apply, or of a key
  /// beyond 1024 bytes or with control characters are ignored.
  void put(const std::string& key, const Measured& measured);
  /// Merge what was put since the last write into the file: written beside it and renamed, so that a reader never sees
  /// half a file; where the path is a link, what it leads to is replaced. Does nothing if nothing was put, or the file
  /// cannot be locked within 100 ms; what was put is then kept for the next write. Folders are made as needed; the
  /// oldest figures go where a file would exceed 1 MB.
  void write();
  /// See whether write() could, as far as that shows without a file being made.
  void look();
  /// One line on why the file was not read or not written at the last try, and what to do; empty if all is well, as it
  /// is without a file so far.
  const std::string& why() const { return why_; }
  const std::string& file() const { return file_; }

  static constexpr int kStaleDays = 7;

 private:
  std::string file_, why_;
  std::map<std::string, Measured> known_, changed_;  // changed_: since the last write
};

}  // namespace oclspkt
