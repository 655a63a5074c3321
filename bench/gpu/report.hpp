// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record.hpp"

namespace oclspkt::bench::gpu {

/// An answer is wrong above this many eps of normwise backward error.
inline constexpr double kWrongEps = 10;
/// Words a row of the stream that shares are quoted against: four arrays read and one written.
inline constexpr double kStreamWords = 5;

/// Who solved what on a device. `seconds` are the device's; `variant` is what was asked for.
struct DeviceRecord : Record {
  std::string matrix, shape;
  double backward_error_eps = 0;           ///< in eps of the scalars, or of the bands where these are narrower
  std::vector<double> stream_seconds;      ///< one for each round: four arrays read, one written
  double own_words = kStreamWords;         ///< a row, that the form of the bands asks for
  std::vector<double> own_stream_seconds;  ///< one for each round, of a stream of so many words
  std::vector<double> call_seconds;        ///< one for each round, from the call to its end; empty if not known
  std::vector<double> batch_seconds;       ///< the same, of an apply among many in a queue of the caller
  std::vector<double> end_to_end_seconds;  ///< one for each round, vectors on the host; empty if they were not
  int repeats = 0;                         ///< further applies, all of which gave the same bits
};

/// Judge an answer by its error. @return true if it is right
bool judge(DeviceRecord& record);

/// Give a record the times it is right to keep: none unless it is `timed`.
void drop_times_unless_timed(DeviceRecord& record);

/// With the keys that all benches share, the times of all rounds with four digits, and medians.
nlohmann::ordered_json to_json(const DeviceRecord& record);

/// A line for a person.
std::string describe(const DeviceRecord& record);

/// True if a run with this record should end as failed.
bool is_bad(const DeviceRecord& record);

/// Tells how long the rest will take, from what cases took so far.
class Estimate {
 public:
  /// @param work of all cases, in any unit
  Estimate(double work, double limit) : left_(work), limit_(limit) {}
  /// True if a case may begin, `spent` seconds after the first.
  bool may_begin(double spent) const { return spent < limit_; }
  void done(double work, double seconds);
  /// "about 4 s, all that is left about 120 s"; empty before the first case is done
  std::string describe(double work) const;

 private:
  double left_, limit_, work_ = 0, seconds_ = 0;
};

}  // namespace oclspkt::bench::gpu
