// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "accord.hpp"
#include "cut_interface.hpp"
#include "cut_set.hpp"
#include "gathered_lines.hpp"
#include "oclspkt/cut_solver.hpp"
#include "survey.hpp"

namespace oclspkt {

template <typename T>
class CutSolver<T>::Impl {
 public:
  explicit Impl(Options options) : options_(options), solver_(std::move(options)) {}

  Bands<T>& bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);
  /// bands() for callers that keep no reference.
  Bands<T>& write(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);
  void keep_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);
  /// @param rows  bounds of the survey of all rows, if they are known
  void fill(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, const BandsFill<T>& fill,
            const std::optional<Survey>& rows);
  void swap_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, FilledBands<T>& filled);
  void set_up(const Known& known);
  void apply(const T* y, T* x);
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  void apply_transpose(const T* y, T* x);
  void ready_transpose();
  bool takes(const DeviceQueue& queue) const;
  bool takes_transpose(const DeviceQueue& queue) const;
  void enqueue(const DeviceQueue& queue, const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  void enqueue_transpose(const DeviceQueue& queue, const T* y, T* x);
  /// The solver of all lines; null if a line is cut on any process.
  Solver<T>* whole() { return ready_ && !overall_.cut ? &solver_ : nullptr; }
  void set_options(Options options);
  Times times() const;
  Times transpose_times() const;
  Times part_times() const { return solver_.times() - before_; }
  Counts counts() const;
  std::int64_t bytes() const;

  const Options& options() const { return options_; }
  const LineSet& lines() const { return set_.lines; }
  const Report& report() const { return solver_.report(); }
  const Report& transpose_report() const;
  const CutReport& cut_report() const { return report_; }
  const CutReport& transpose_cut_report() const;

 private:
  /// The facts that all processes know after the first look at the bands.
  struct Overall {
    bool cut = false, symmetric = true, one_line = false;
    double dominance = 0;
    Index longest_chain = 0;
  };

  void begin(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);

  // cut_set_up.cpp
  void restore();
  Bands<T> whole_bands();
  void look(std::vector<double>& facts);
  void survey_cut_lines();
  void find_units();
  void learn(const std::vector<double>& facts);
  void set_up_parts(Bands<T>& bands);
  void set_up_inner(Bands<T>& bands);
  void leave_out(Bands<T>& bands, Index c, Gathering why);
  void sort_pinned();
  bool may_pin() const;
  std::vector<PartFacts> own_facts() const;
  void judge(Accord& accord);
  void gather(Accord& accord);
  void make_ready(Accord& accord);
  void set_up_plain(const Known& known);
  void bring_borders();
  void look_at(const T* y, const T* x);
  void enqueue_parts(const DeviceQueue& queue, const T* y, T* x);
  CutSolver<T>& transposed();
  void finish_report();
  void set_up_transpose();

  Options options_;
  Known known_;
  Cuts cuts_;
  Solver<T> solver_;  ///< of the inner rows, and of lines that are not cut
  CutReport report_;
  Overall overall_;
  bool ready_ = false;
  bool uncoupled_ = false;     ///< rows next to cuts are uncoupled in solver_'s bands
  bool any_gathered_ = false;  ///< some line is gathered, on any process

  CutSet<T> set_;
  std::optional<Survey> known_rows_;  ///< as for fill()
  std::vector<Survey> survey_;        ///< shape [cut lines]; of the part
  std::vector<double> units_range_;   ///< likewise; see PartFacts
  std::vector<char> zero_sums_;       ///< likewise; see sums_are_zero()
  std::optional<Bands<T>> refused_;   ///< the bands that solver_ refused; cut lines are blank in solver_ then
  GatheredLines<T> gathered_{set_};
  CutInterface<T> interface_{set_, gathered_};

  std::unique_ptr<Borders<T>> borders_;  ///< where vectors lie on a device, and no line here is gathered

  std::unique_ptr<CutSolver<T>> transposed_;
  bool transpose_stale_ = true;
  Times before_;  ///< of solver_, before the first apply
  std::int64_t applies_ = 0, set_ups_ = 0;
  double total_seconds_ = 0;
};

}  // namespace oclspkt
