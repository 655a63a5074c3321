// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "oclspkt/export.hpp"
#include "oclspkt/options.hpp"

namespace oclspkt {

/// The largest rounding bound, in eps, that method auto accepts, see Report::rounding.
inline constexpr double kRoundingLimit = 100;

/// The promise of a rounding bound, for r = y - A x and the computed x.
///   by_component  |r_i| <= bound eps (|A| |x| + |y|)_i: scaling rows or columns does not change the promise
///   by_rows       |r_i| <= bound eps (|A_i| max |x| + |y_i|), |A_i| the sum of |row i|, max |x| over its line; A and x
///                 in units of columns, see Report::units
/// Rounding is absolute where unknowns, or their products with entries, are below the least normal number m of the
/// scalar: add bound eps m (1 + |A_i|) to the right side of the inequality.
enum class Promise { by_component, by_rows };

/// A method that set-up considered. Candidates are listed in the order in which set-up considered them.
struct Candidate {
  Method method = Method::pivot;
  bool taken = false;
  std::string why;           ///< why set-up took or rejected the method
  std::string shape;         ///< the judged plan in words, such as "halo 40"; may be empty
  double words_per_row = 0;  ///< numbers read and written per row by an apply; 0 if there was no plan
  double seconds = 0;        ///< predicted time of one apply; 0 if there is no model
};

/// Fallback lines: lines that the host solves separately.
struct GroupReport {
  Method method = Method::pivot;
  Index lines = 0, rows = 0;
  Index first_line = 0;       ///< number of the first fallback line in this group
  bool pinned = false;        ///< the lines are singular; the last unknown of each is set to 0
  double rounding = 0;        ///< bound on rounding, by component, see Promise
  double backward_error = 0;  ///< componentwise backward error of these lines in the trial solve
  std::string why;
};

/// The times of applies, summed over all applies of the present operator. If vectors pass through a device's own
/// memory, copies and kernels overlap. The device's clock then measures both separately, and their seconds may add up
/// to more than the total. Copies within host memory are in the total only.
struct Times {
  std::int64_t applies = 0;
  double kernel_seconds = 0;    ///< by device events; the host's clock measures solves on the host and,
                                ///< without DeviceUse::kernel_times, solves in buffers of a GPU
  double transfer_seconds = 0;  ///< copies to the device and back
  double total_seconds = 0;     ///< wall clock of apply
  std::int64_t bytes_to_device = 0, bytes_from_device = 0;

  friend Times operator+(const Times& a, const Times& b) {
    return {a.applies + b.applies,
            a.kernel_seconds + b.kernel_seconds,
            a.transfer_seconds + b.transfer_seconds,
            a.total_seconds + b.total_seconds,
            a.bytes_to_device + b.bytes_to_device,
            a.bytes_from_device + b.bytes_from_device};
  }
  friend Times operator-(const Times& a, const Times& b) {
    return a + Times{-b.applies,       -b.kernel_seconds,  -b.transfer_seconds,
                     -b.total_seconds, -b.bytes_to_device, -b.bytes_from_device};
  }
};

/// Work done since the solver was made.
struct Counts {
  std::int64_t set_ups = 0;  ///< set-ups, failed set-ups included
  std::int64_t uploads = 0;  ///< how often a solver on a device or on the host received the bands: once for
                             ///< each planned method; fallback lines do not count
  std::int64_t trials = 0;   ///< how often trial solves ran
};

/// How lines are cut for the work-items of a device; 0 where the method does not cut them.
struct Partitioning {
  Index rows = 0;   ///< rows of a partition
  Index count = 0;  ///< partitions of all lines
  Index halo = 0;   ///< rows of a neighbour that are read again
};

/// The effect of precision narrow.
struct Narrowing {
  Precision applied = Precision::same;  ///< narrow if the bands were rounded
  std::string why;                      ///< which numbers were rounded, or why none; empty under Precision::same
};

/// Which processor solves, and why.
struct DeviceReport {
  std::string name = "host";
  std::string type = "host";  ///< host, cpu, gpu or fpga
  std::string platform;       ///< empty for the host
  std::string why;            ///< why this processor solves; the words are the same in every run
  std::string costs;          ///< the predicted times that were compared; empty if no times were compared
  bool emulated = false;      ///< a processor of the host emulates the device, such as an FPGA
  std::string vectors;        ///< whether the device of Known::queue solves, or why not; empty without a queue
};

/// The rows that one of several processors solves.
struct ShareReport {
  std::string device, type, platform;  ///< see DeviceReport
  bool emulated = false;
  Method method = Method::pivot;
  std::string shape;  ///< the plan in words, such as "halo 40"
  Index rows = 0;
  double predicted_seconds = 0;  ///< predicted time of an apply of these rows
  double seconds = 0;            ///< median time of the applies since the set-up; 0 before the first apply
  std::int64_t bytes = 0;        ///< bytes moved to and from the device since the set-up
};

/// How the rows were shared, or why they were not shared.
struct SharesReport {
  std::vector<ShareReport> shares;  ///< shares in the order of rows; empty if one processor solves
  std::string why;                  ///< reason for the sharing; empty if one processor was named
  double predicted_seconds = 0;     ///< predicted time of an apply; 0 if one processor solves
  double single_seconds = 0;        ///< predicted time of an apply by the best processor alone
  double seconds = 0;               ///< median time of the applies since the set-up; 0 before the first apply
  std::string objectives = {};      ///< seconds and joules of the shares by `time` and by `energy`, and the devices
                                    ///< whose power is measured; never empty if Options::energy or balance
                                    ///< `energy` asks for joules
};

/// The joules of one device.
struct EnergySource {
  std::string device;
  std::string words;      ///< the source, such as "counter of NVIDIA H200 by NVML", or "rated power, 400 W"
  std::string trouble;    ///< why no counter is read, and the cure; empty if a counter is read
  double joules = 0;      ///< joules of all windows
  bool measured = false;  ///< true: measured in every window; false: from rated power
};

/// The joules of applies, if Options::energy asks for them. They are measured over windows of at least two seconds. All
/// other work on the devices and the host in that time is included.
struct EnergyReport {
  std::vector<EnergySource> sources;  ///< the devices that solve, and the host; empty before the first apply
  double seconds = 0;                 ///< length of all windows
  double apply_seconds = 0;           ///< time within applies
  std::int64_t applies = 0;           ///< applies within windows
  std::int64_t windows = 0;
  std::int64_t dropped = 0;  ///< windows that a pause ended before two seconds
  bool queued = false;       ///< applies return before their work ends; the joules between applies then count, too

  double window_joules() const {
    double sum = 0;
    for (const EnergySource& source : sources) sum += source.joules;
    return sum;
  }
  /// Joules of the applies: all joules of the windows if applies are queued, else the share of the time within applies.
  double joules() const { return seconds > 0 && !queued ? window_joules() * apply_seconds / seconds : window_joules(); }
};

/// The accuracy of the method in use, by its bounds and by trial solves.
struct Accuracy {
  double dominance = 0;                      ///< min over rows of |diag| / (|lower| + |upper|); 0 where NaN
  double certificate = 0;                    ///< bound on the truncation error, relative to max |x|; 0 for methods
                                             ///< that do not truncate
  double tolerance = 0;                      ///< the largest certificate that is accepted
  bool certificate_above_tolerance = false;  ///< the user named the method, and its certificate is above the tolerance
  double rounding = 0;  ///< bound on the residual that rounding leaves in a row, in eps of the scalar, see Promise; NaN
                        ///< or Inf: unknown, or an answer of the host left the range of the scalar
  Promise promise = Promise::by_rows;  ///< the kind of promise that `rounding` makes
  /// A device may solve in units of its own, which are constant over runs of columns. The largest number of runs in a
  /// line; 0: the device uses the caller's units.
  Index units = 0;
  std::string above_bound;    ///< values that exceed the limits of method auto; empty if no value does
  double backward_error = 0;  ///< componentwise backward error of the trial solve; 0: no trial was needed
};

/// The choice of the set-up and its reasons; everything the view prints.
struct Report : Accuracy {
  bool ready = false;  ///< a set-up succeeded
  Method method = Method::pivot;
  std::string shape;  ///< the plan, such as "halo 40"; may be empty
  std::string why;    ///< reason for the method in use
  std::vector<Candidate> candidates;
  std::vector<GroupReport> groups;  ///< fallback lines; empty for most matrices
  std::string pin_why;              ///< why singular lines are pinned; empty if no line is
  std::vector<Index> pinned_lines;  ///< the lines pinned because they, or a part of them, are singular; in order
  Index rows = 0, lines = 0;
  Partitioning partition;
  double words_per_row = 0;   ///< numbers read and written per row by an apply, halo included
  double words_saved = 0;     ///< words per row that the storage form saves against the general form of the method
  Form form = Form::general;  ///< storage form; narrow: the general form, with factors rounded to float
  Narrowing precision;
  DeviceReport device;
  SharesReport sharing;
  EnergyReport energy;                ///< joules since Options::energy was set or the devices changed
  std::vector<std::string> degraded;  ///< "<device>: <cause>" for each device lost, also by the transposed solver
  std::size_t losses = 0;             ///< devices lost since the solver was made; the newest come last in `degraded`
};

/// One line for each candidate of a set-up, successful or failed, in order. A line says whether the candidate was taken
/// or rejected, the deciding numbers, words per row and the predicted time of an apply.
OCLSPKT_API std::vector<std::string> explain(const Report& report);

}  // namespace oclspkt
