// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <string>

#include "oclspkt/export.hpp"

namespace oclspkt {

/// What was measured of a processor, or of a node, in one kind of solve.
struct Measured {
  double latency = 0;          ///< seconds; of a node: not used
  double seconds_per_row = 0;  ///< robust, over many applies; of a node: seconds a byte of host memory
  double applies = 0;          ///< that it was measured in
};

/// Figures by key, kept as JSON in a file between runs, for all programs of a user.
///
/// A key says what was measured: device, driver, scalar, storage form, where vectors are. The file also says for which
/// version of oclspkt and for which host its figures are; those of another version are ignored, and those of other hosts
/// are kept and not read. Nothing here throws for a bad file: it is rebuilt by the next write, and why() says so.
class OCLSPKT_API ProfileStore {
 public:
  /// @param file  path; "none": nothing is read or written; empty: default_file()
  explicit ProfileStore(std::string file);

  /// $XDG_CACHE_HOME/oclspkt/profile.json, else $HOME/.cache/oclspkt/profile.json; empty if there is neither.
  static std::string default_file();

  /// Read the file, if it can be locked within 100 ms. Figures older than kStaleDays, not positive or not finite are
  /// ignored.
  void read();
  std::optional<Measured> find(const std::string& key) const;
  void put(const std::string& key, const Measured& measured);
  /// Merge what was put since the last write into the file: written beside it and renamed, so that a reader never sees
  /// half a file. Does nothing if nothing was put, or the file cannot be locked within 100 ms.
  void write();
  /// One line on why the file was not read or not written; empty if all is well.
  const std::string& why() const { return why_; }
  const std::string& file() const { return file_; }

  static constexpr int kStaleDays = 90;

 private:
  std::string file_, why_;
  std::map<std::string, Measured> known_, changed_;
};

}  // namespace oclspkt
