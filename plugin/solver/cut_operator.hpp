// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cut_interface.hpp"
#include "cut_set.hpp"
#include "line_solver.hpp"
#include "oclspkt/cuts.hpp"
#include "survey.hpp"

namespace oclspkt {

/// Solves lines that are cut among processes, by a solver of each part's inner rows and interface systems at the cuts.
/// set_up(), apply() and transpose_to() are collective.
template <typename T>
class CutOperator final : public Operator<T> {
 public:
  /// @param inner    solver of this process's inner rows and of its lines that are not cut; this solver holds the bands
  /// @param options  read at each set-up
  CutOperator(LineSolver<T>& inner, const Options& options) : inner_(inner), options_(options) {}

  /// Begin with new lines. The caller then writes their bands into the inner solver.
  void begin(const ProcessLines& lines);
  /// Let set-up skip the survey of the rows.
  /// @param rows  bounds on the result of a survey of all rows
  void know(const Survey& rows);
  /// Set up this operator and the inner solver.
  /// @return false if no line of any process is cut; the inner solver then solves all lines
  bool set_up(const Known& known);

  using Operator<T>::apply;
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override;
  bool takes(const DeviceQueue& queue) const override { return borders_ != nullptr && inner_.takes(queue); }
  Times times() const override;
  /// Bytes of this object, without the inner solver.
  std::int64_t bytes() const override;

  const Cuts& cuts() const { return cuts_; }
  const std::shared_ptr<Exchange>& exchange() const { return set_.exchange; }
  const CutReport& report() const { return report_; }
  /// Write the transposed bands. Couplings across cuts come from the processes on the other sides.
  void transpose_to(Bands<T>& bands);

 private:
  class SetUp;
  struct TrialResult {
    bool failed = false;         ///< a trial solve failed on some process
    double backward_error = 0;   ///< largest componentwise backward error on any process
    std::vector<Gathering> why;  ///< shape [cut lines] of this process; Gathering::trial if a line fails
  };

  /// Collective: run the trial solves of cut lines, which no process can run alone.
  /// @param whole the bands as the user gave them
  TrialResult try_lines(Accord& accord, const Bands<T>& whole);
  void solve(const Place& place, const T* y, T* x);
  void look_at(const T* y, const T* x);

  LineSolver<T>& inner_;
  const Options& options_;
  Cuts cuts_;
  CutReport report_;
  CutSet<T> set_;
  std::optional<Survey> known_rows_;
  GatheredLines<T> gathered_{set_};
  CutInterface<T> interface_{set_, gathered_};
  std::unique_ptr<Borders<T>> borders_;  ///< set if vectors lie on a device and no line is gathered
  Times before_;                         ///< times of inner_ before the first apply
  std::int64_t applies_ = 0;
  double total_seconds_ = 0;
};

}  // namespace oclspkt
