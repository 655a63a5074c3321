// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "accord.hpp"
#include "cut_lines.hpp"
#include "cut_parts.hpp"
#include "evidence.hpp"
#include "oclspkt/cut_solver.hpp"
#include "pivoted_lines.hpp"
#include "survey.hpp"

namespace oclspkt {

/// Why a line is gathered; where parts differ the largest counts.
enum class Gathering { none, singular_part, refused_part, small_pivot, large_spike, extreme, trial, asked };
const char* text(Gathering why);

/// What a process tells the root of a line about its part, once a set-up.
struct PartFacts {
  ReducedPart reduced;
  Index rows = 0;
  Gathering why = Gathering::none;
  double smallest_row = 0, largest_row = 0;  ///< see Survey
  double spike_size = 0;
  double rounding = 0;  ///< of the inner rows, see Report
};

/// What the root of a line tells its parts.
struct LineVerdict {
  Gathering why = Gathering::none;
  bool one_row = false;                ///< a part between two others has one row: no cut can be settled alone
  ReducedPart above_part, below_part;  ///< the neighbours', as far as the 2x2 systems at the cuts need them
};

/// What a trial solve found of a line: the largest of its rows.
struct LineErrors {
  double componentwise = 0;  ///< backward error; NaN if a number is not finite
  double residual = 0, row = 0, x = 0, y = 0;
  double normwise() const {
    if (std::isnan(componentwise)) return componentwise;
    return residual == 0 ? 0 : residual / (row * x + y);
  }
};

/// The equations of a line in the unknowns next to its cuts.
std::vector<PivotedRow<double>> reduced_rows(const std::vector<PartFacts>& parts);
bool has_one_row(const std::vector<PartFacts>& parts);
/// Bound on max |x_computed - x| / max |x| of a line where S_tb and S_bt of its parts are dropped, rounding apart: with
/// the exact x as what was dropped, each 2x2 system errs by its inverse times that, and inner rows by their spikes
/// times that. NaN or Inf if nothing is known.
double truncation_bound(const std::vector<PartFacts>& parts);

/// A channel with its buffers.
template <typename S>
struct Wire {
  Route route;
  std::unique_ptr<Exchange::Channel> channel;
  AlignedArray<S> out, in;

  void open(Exchange& exchange, Route r) {
    route = std::move(r);
    out.resize(route.out_count);
    in.resize(route.in_count);
    channel = exchange.open(route.out_legs, route.in_legs, sizeof(S));
  }
  void start() { channel->start(out.data(), in.data()); }
  void finish() { channel->finish(); }
  void talk() {
    start();
    finish();
  }
  std::int64_t bytes() const { return out.bytes() + in.bytes(); }
};

template <typename T>
class CutSolver<T>::Impl {
 public:
  explicit Impl(Options options) : options_(options), solver_(std::move(options)) {}

  Bands<T>& bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);
  void fill(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, const BandsFill<T>& fill);
  void swap_bands(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange, FilledBands<T>& filled);
  void set_up(const Known& known);
  void apply(const T* y, T* x);
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  void apply_transpose(const T* y, T* x);
  void set_options(Options options);
  Times times() const;
  Counts counts() const;
  std::int64_t bytes() const;

  const Options& options() const { return options_; }
  const LineSet& lines() const { return lines_; }
  const Report& report() const { return solver_.report(); }
  const Report& transpose_report() const;
  const CutReport& cut_report() const { return report_; }

 private:
  /// What all processes know after the first look at the bands.
  struct Overall {
    bool cut = false, symmetric = true, one_line = false;
    double dominance = 0;
    Index longest_chain = 0;
  };

  void begin(const LineSet& lines, Cuts cuts, std::shared_ptr<Exchange> exchange);

  // cut_set_up.cpp
  void restore();
  void look(std::vector<double>& facts);
  void learn(const std::vector<double>& facts);
  void set_up_parts(Bands<T>& bands);
  void set_up_inner(Bands<T>& bands);
  void leave_out(Bands<T>& bands, Index c, Gathering why);
  void leave_out_singular(Bands<T>& bands);
  void sort_pinned();
  bool may_pin() const;
  void judge(Accord& accord);
  bool chooses_truncation(double bound, bool symmetric) const;
  void settle_all(Accord& accord);
  void set_up_plain(const Known& known);
  Options inner_options() const;
  void finish_report();
  void set_up_transpose();
  // cut_facts.cpp
  PartFacts facts_of(Index c) const;
  void tell_roots();
  void verdicts(double& bound, bool& symmetric);
  void tell_parts();
  // cut_trial.cpp
  /// Numbers of the rows beyond the cuts. Each shape [cut lines], 0 where there is none.
  struct Beyond {
    std::vector<T> above, below;
  };
  bool needs_trial() const;
  bool try_lines(Accord& accord, std::vector<Gathering>& why);
  Bands<T> whole_bands();
  Beyond look_across(Wire<T>& across, const T* top, const T* bottom) const;
  void trial_right_hand_side(const Bands<T>& whole, TrialKind kind, Wire<T>& across, T* y) const;
  LineErrors trial_errors(const Bands<T>& whole, Index c, const Beyond& beyond, const T* y, const T* x) const;
  void combine(std::vector<LineErrors>& errors);
  // cut_gather.cpp
  void gather(Accord& accord);
  void check_gather_limit() const;
  void fill_gathered(const Wire<T>& wire, const Bands<T>& whole);
  void settle_gathered();
  std::string name_gathered(std::size_t g) const;
  void refuse_gathered(const Options& options, const Breakdown& error);
  // cut_wire.cpp
  void wire();
  void wire_rooted();
  void wire_cuts();
  void exchange(const T* y, T* x);
  void pack(const T* y);
  void solve_here(const T* y);
  void unpack(T* x);
  Index unknowns_of(Index c, int place) const;
  Index told(Index c, int place) const;

  bool gathered(Index c) const { return why_[static_cast<std::size_t>(c)] != Gathering::none; }
  /// Truncated lines are settled at their cuts; the others at their root.
  bool settled_at_cuts(Index c) const {
    return truncated_ && !gathered(c) && !verdict_[static_cast<std::size_t>(c)].one_row;
  }
  const PartSlot& slot(Index c) const { return parts_.slot(slot_[static_cast<std::size_t>(c)]); }
  Index slot_at(Index c) const { return slot_[static_cast<std::size_t>(c)]; }

  Options options_;
  Known known_;
  LineSet lines_;
  Cuts cuts_;
  std::shared_ptr<Exchange> exchange_;
  Solver<T> solver_;
  CutReport report_;
  Overall overall_;
  bool ready_ = false;
  bool truncated_ = false;
  bool taken_out_ = false;  ///< rows next to cuts are uncoupled in solver_'s bands

  CutLines cut_;
  std::vector<Index> slot_;                    ///< shape [cut lines]
  std::vector<Gathering> why_;                 ///< shape [cut lines]
  std::vector<Survey> survey_;                 ///< shape [cut lines]; of the part
  std::vector<LineVerdict> verdict_;           ///< shape [cut lines]
  std::vector<std::vector<PartFacts>> facts_;  ///< shape [cut lines]; of all parts where the line is rooted here
  CutParts<T> parts_;
  std::optional<Bands<T>> refused_;  ///< the bands that solver_ refused; cut lines are blank in solver_ then

  /// Where the numbers of a part and of messages belong while a cut is settled.
  struct Place {
    Index top = -1, bottom = -1;  ///< in unknowns_; -1: the other process settles it
    Index rows = -1;              ///< in gathered_y_, of a line gathered here
  };
  std::vector<Place> place_;              ///< shape [cut lines]
  std::vector<Index> across_at_, up_at_;  ///< of each incoming item, in unknowns_ or gathered_y_
  PivotedLines<double> systems_;
  AlignedArray<double> unknowns_;
  Wire<T> across_, up_, back_;

  Solver<T> settled_;  ///< of the lines gathered here
  std::vector<Index> gathered_lines_;
  bool gathering_ = false;  ///< some line is gathered, on any process
  AlignedArray<T> gathered_y_, gathered_x_;

  std::unique_ptr<CutSolver<T>> transposed_;
  bool transpose_stale_ = true;
  Times before_;  ///< of solver_, before the first apply
  std::int64_t applies_ = 0, set_ups_ = 0;
  double total_seconds_ = 0;
};

}  // namespace oclspkt
