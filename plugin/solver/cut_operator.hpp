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

/// Lines that are cut among processes: a solver of the inner rows of each part, and the interface systems at the cuts.
/// All calls but those of a process by itself are collective.
template <typename T>
class CutOperator final : public Operator<T> {
 public:
  /// @param inner    of this process's inner rows, and of lines that are not cut; it has the bands
  /// @param options  as they are at each set-up
  CutOperator(LineSolver<T>& inner, const Options& options) : inner_(inner), options_(options) {}

  /// Begin with new lines, whose bands follow in the inner solver.
  void begin(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);
  /// Set-up need not survey the rows. @param rows bounds of the survey of all rows
  void know(const Survey& rows);
  /// Set up, the inner solver as well.
  /// @return false if no line of any process is cut: the inner solver solves
  bool set_up(const Known& known);

  using Operator<T>::apply;
  void apply(const Place& place, Columns<const T> y, Columns<T> x, Index count) override;
  bool takes(const DeviceQueue& queue) const override { return borders_ != nullptr && inner_.takes(queue); }
  Times times() const override;
  /// Bytes without those of the inner solver.
  std::int64_t bytes() const override;

  const Cuts& cuts() const { return cuts_; }
  const std::shared_ptr<Exchange>& exchange() const { return set_.exchange; }
  const CutReport& report() const { return report_; }
  /// Write the transposed bands: the couplings across a cut change sides.
  void transpose_to(Bands<T>& bands);

 private:
  class SetUp;
  /// The results of the trial solves of cut lines.
  struct TrialResult {
    bool failed = false;         ///< on any process
    double backward_error = 0;   ///< componentwise, the largest of all processes
    std::vector<Gathering> why;  ///< shape [cut lines]; of this process; Gathering::trial if a line fails
  };

  /// Collective: run the trial solves of cut lines, evidence that no process could find alone.
  /// @param whole the bands as they were given
  TrialResult try_lines(Accord& accord, const Bands<T>& whole);
  void solve(const Place& place, const T* y, T* x);
  void look_at(const T* y, const T* x);

  LineSolver<T>& inner_;
  const Options& options_;
  Cuts cuts_;
  CutReport report_;
  CutSet<T> set_;
  std::optional<Survey> known_rows_;  ///< see know()
  GatheredLines<T> gathered_{set_};
  CutInterface<T> interface_{set_, gathered_};
  std::unique_ptr<Borders<T>> borders_;  ///< where vectors lie on a device, and no line here is gathered
  Times before_;                         ///< of inner_, before the first apply
  std::int64_t applies_ = 0;
  double total_seconds_ = 0;
};

}  // namespace oclspkt
