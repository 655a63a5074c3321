// SPDX-License-Identifier: BSD-2-Clause
// The order of a set-up, the same on all processes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cut_solver_impl.hpp"
#include "method_choice.hpp"
#include "narrow.hpp"
#include "reference.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

/// What processes compare first; see look().
constexpr std::size_t kLook = 7;
constexpr double kNone = -std::numeric_limits<double>::infinity();
/// What inner rows may round, in eps: unknowns next to the cuts multiply it by 3 where spikes are 1.
constexpr double kInnerRounding = 20;
/// Shares of the tolerance: truncation may use one, the spikes of both sides that are not kept the rest.
constexpr double kBoundShare = 0.75, kSpikeShare = 0.125;
/// Spikes are kept down to rounding times its root: unknowns near the end of a line may be so much smaller than those
/// next to a cut (lambda 1e8, 3e5 rows a part: 420 eps of componentwise backward error if spikes end at rounding).
template <typename T>
double spike_rounding() {
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  return kSpikeShare * eps * std::sqrt(eps);
}

template <typename T>
double rounding() {
  return static_cast<double>(std::numeric_limits<T>::epsilon());
}

bool truncates(MethodChoice method) {
  return method == MethodChoice::truncated || method == MethodChoice::truncated_halo ||
         method == MethodChoice::truncated_streamed;
}

}  // namespace

/// Bring the bands back as they were given, in the storage of the solver.
template <typename T>
void CutSolver<T>::Impl::restore() {
  if (!refused_ && !taken_out_) return;  // what the solver knows of them stays
  Bands<T>& bands = solver_.bands(lines_);
  if (refused_) bands.copy_from(refused_->view());
  if (taken_out_) parts_.put_back(bands);
  refused_.reset();
  taken_out_ = false;
}

/// Find the cut lines and look at their rows.
/// @param[out] facts shape [kLook]
/// @throws InvalidInput, Breakdown
template <typename T>
void CutSolver<T>::Impl::look(std::vector<double>& facts) {
  cut_ = find_cut_lines(lines_, cuts_, exchange_->rank(), exchange_->size());
  double dominance = std::numeric_limits<double>::infinity();
  bool symmetric = true;
  int longest = 0;
  survey_.clear();
  for (Index c = 0; c < cut_.count(); ++c) {
    Bands<T>& bands = solver_.bands(lines_);
    const Index line = cut_[c].line, first = lines_.first(line);
    if (!cut_.above(c)) bands.lower()[first] = 0;
    if (!cut_.below(c)) bands.upper()[first + (lines_.length(line) - 1) * lines_.row_stride()] = 0;
    if (narrows<T>(options_)) narrow_line(bands, line);  // with its couplings across cuts, which the solver never sees
    const Survey s = survey_line(lines_, bands.view(), line);
    if (!s.finite) {
      throw NotFinite("the bands of line " + std::to_string(cut_[c].number) + " hold NaN or Inf at row " +
                      std::to_string(s.weakest_row) + " of process " + std::to_string(exchange_->rank()) +
                      ": give finite entries");
    }
    dominance = std::min(dominance, s.dominance);
    symmetric = symmetric && s.symmetric;
    longest = std::max(longest, cut_.parts(c));
    survey_.push_back(s);
  }
  const double top = lines_.count() == 0 ? kNone
                     : cut_.count() > 0  ? static_cast<double>(cut_.chain(0).front())
                                         : static_cast<double>(exchange_->rank());
  facts = {cut_.count() > 0 ? 1.0 : 0.0,        -dominance, symmetric ? 0.0 : 1.0,
           static_cast<double>(lines_.count()), top,        lines_.count() == 0 ? kNone : -top,
           static_cast<double>(longest)};
}

template <typename T>
void CutSolver<T>::Impl::learn(const std::vector<double>& facts) {
  overall_.cut = facts[0] > 0;
  overall_.dominance = -facts[1];
  overall_.symmetric = known_.symmetric || facts[2] == 0;
  overall_.one_line = facts[3] <= 1 && facts[4] == -facts[5];  // of one line all parts have the same top
  overall_.longest_chain = static_cast<Index>(facts[6]);
}

/// Inner rows that are singular are no reason to fail: the line may be fine, and is gathered. Trial solves of whole
/// lines are held to the rounding of T, so bands that are narrow already keep their factors as wide as T where there
/// are such trials.
template <typename T>
Options CutSolver<T>::Impl::inner_options() const {
  Options options = options_;
  options.singular = Singular::pin;
  if (!(overall_.dominance > 1)) options.precision = Precision::same;
  return options;
}

template <typename T>
bool CutSolver<T>::Impl::may_pin() const {
  if (options_.singular == Singular::automatic) return known_.constant_null_space && overall_.one_line;
  return options_.singular == Singular::pin;
}

/// Set the solver of the inner rows up; where it refuses them, without the lines that stand in the way.
template <typename T>
void CutSolver<T>::Impl::set_up_inner(Bands<T>& bands) {
  const Known known{.symmetric = known_.symmetric, .rounding_limit = kInnerRounding};
  const auto accepted = [&] {
    try {
      solver_.set_up(known);
      return true;
    } catch (const Breakdown&) {
      if (cut_.count() == 0) throw;
      return false;
    }
  };
  if (accepted()) return;
  solver_.bands(lines_);
  refused_.emplace(lines_).copy_from(bands.view());
  leave_out_singular(bands);
  if (accepted()) return;
  solver_.bands(lines_);
  for (Index c = 0; c < cut_.count(); ++c) leave_out(bands, c, Gathering::refused_part);
  solver_.set_up(known);
}

template <typename T>
void CutSolver<T>::Impl::leave_out(Bands<T>& bands, Index c, Gathering why) {
  bands.blank_line(cut_[c].line);
  why_[static_cast<std::size_t>(c)] = why;
}

/// Blank the cut lines whose inner rows are singular. Pinning their last row, as the solver does with singular lines,
/// is of no use where that is the uncoupled one.
template <typename T>
void CutSolver<T>::Impl::leave_out_singular(Bands<T>& bands) {
  Reference<T> reference;
  reference.factor(lines_, bands.view());
  std::vector<char> singular(static_cast<std::size_t>(lines_.count()), 0);
  for (const auto& doubt : reference.doubts()) singular[static_cast<std::size_t>(doubt.line)] = doubt.singular;
  for (Index c = 0; c < cut_.count(); ++c) {
    if (singular[static_cast<std::size_t>(cut_[c].line)] != 0) leave_out(bands, c, Gathering::singular_part);
  }
}

/// Gather the lines whose inner rows are singular; lines that are not cut are judged as Solver does.
template <typename T>
void CutSolver<T>::Impl::sort_pinned() {
  std::vector<Index> cut_of(static_cast<std::size_t>(lines_.count()), -1);
  for (Index c = 0; c < cut_.count(); ++c) cut_of[static_cast<std::size_t>(cut_[c].line)] = c;
  for (const Index line : solver_.pinned_lines()) {
    const Index c = cut_of[static_cast<std::size_t>(line)];
    if (c >= 0) {
      why_[static_cast<std::size_t>(c)] = Gathering::singular_part;
    } else if (!may_pin()) {
      throw Breakdown("line " + std::to_string(line) + " of " + std::to_string(lines_.count()) +
                      " is singular; the option singular pin sets the last unknown of each singular line to 0");
    }
  }
}

/// Take the rows next to cuts out, solve the inner rows, and find the spikes.
template <typename T>
void CutSolver<T>::Impl::set_up_parts(Bands<T>& bands) {
  std::vector<char> above(static_cast<std::size_t>(lines_.count()), 0), below = above;
  for (Index c = 0; c < cut_.count(); ++c) {
    above[static_cast<std::size_t>(cut_[c].line)] = cut_.above(c);
    below[static_cast<std::size_t>(cut_[c].line)] = cut_.below(c);
  }
  parts_.reset(lines_, above, below);
  slot_.clear();
  for (const CutLine& line : cut_.lines) slot_.push_back(parts_.slot_of(line.line));
  why_.assign(cut_.lines.size(), Gathering::none);
  parts_.take_out(bands);
  taken_out_ = true;
  solver_.set_options(inner_options());
  set_up_inner(bands);
  sort_pinned();
  if (options_.method == MethodChoice::pivot) why_.assign(cut_.lines.size(), Gathering::asked);
  std::vector<char> left_out(static_cast<std::size_t>(parts_.slots()), 0);
  for (Index c = 0; c < cut_.count(); ++c) left_out[static_cast<std::size_t>(slot_at(c))] = gathered(c);
  if (parts_.slots() > 0) {
    parts_.find_spikes([&](const T* y, T* x) { solver_.apply(y, x); }, left_out);
  }
}

/// A symmetric operator that is truncated beyond rounding would not be symmetric: CG would break without a word.
template <typename T>
bool CutSolver<T>::Impl::chooses_truncation(double bound, bool symmetric) const {
  const bool strict = symmetric && !named(options_.method);
  const double tol = strict ? std::min(tolerance<T>(options_), rounding<T>()) : tolerance<T>(options_);
  if (truncates(options_.method)) return std::isfinite(bound);
  return !named(options_.method) && bound <= kBoundShare * tol;
}

/// Decide which lines are gathered, and whether the others are truncated.
template <typename T>
void CutSolver<T>::Impl::judge(Accord& accord) {
  tell_roots();
  double bound = 0;
  bool symmetric = true;
  accord.attempt([&] { verdicts(bound, symmetric); });
  const bool any = std::any_of(why_.begin(), why_.end(), [](Gathering g) { return g != Gathering::none; });
  std::vector<double> facts{bound, symmetric ? 0.0 : 1.0, any ? 1.0 : 0.0, report_.rounding};
  accord.agree(facts);
  symmetric = known_.symmetric || (overall_.symmetric && facts[1] == 0);
  gathering_ = facts[2] > 0;
  report_.rounding = facts[3];
  truncated_ = chooses_truncation(facts[0], symmetric);
  const double tol = tolerance<T>(options_);
  const bool loose = truncated_ && !symmetric && overall_.dominance >= 1;
  const double kept = loose && tol > rounding<T>() ? kSpikeShare * tol : spike_rounding<T>();
  report_.truncated = truncated_;
  report_.tolerance = tol;
  report_.bound = truncated_ ? facts[0] + 2 * kept : 0;
  report_.above_tolerance = truncated_ && !(facts[0] <= kBoundShare * tol);
  tell_parts();
  parts_.keep_spikes(kept);
}

/// Make the apply ready, and try it where that is wanted: lines that fail are gathered.
template <typename T>
void CutSolver<T>::Impl::settle_all(Accord& accord) {
  for (bool tried = !needs_trial();;) {
    gather(accord);
    accord.attempt([&] { wire(); });
    accord.agree();
    std::vector<Gathering> failed;
    if (tried || !try_lines(accord, failed)) return;
    if (truncated_) {  // right at the cuts by its bound, and rounding is not
      report_.above_tolerance = truncates(options_.method);
      if (report_.above_tolerance) return;
      report_.truncated = truncated_ = false;
      report_.bound = 0;
      continue;
    }
    for (std::size_t c = 0; c < failed.size(); ++c) why_[c] = std::max(why_[c], failed[c]);
    gathering_ = tried = true;
  }
}

template <typename T>
void CutSolver<T>::Impl::finish_report() {
  report_.lines = cut_.count();
  report_.longest_chain = overall_.longest_chain;
  report_.spike_rows = parts_.spike_rows();
  for (Index c = 0; c < cut_.count(); ++c) {
    if (!gathered(c)) continue;
    ++report_.gathered;
    if (report_.first_gathered >= 0 && report_.first_gathered <= cut_[c].number) continue;
    report_.first_gathered = cut_[c].number;
    report_.gathered_why = text(why_[static_cast<std::size_t>(c)]);
  }
  facts_ = {};
  verdict_ = {};
  survey_ = {};
}

template <typename T>
void CutSolver<T>::Impl::set_up_plain(const Known& known) {
  solver_.set_options(options_);
  solver_.set_up(known);
}

template <typename T>
void CutSolver<T>::Impl::set_up(const Known& known) {
  known_ = known;
  ++set_ups_;
  ready_ = false;
  transpose_stale_ = true;
  report_ = {};
  overall_ = {};
  cut_ = {};
  restore();
  if (exchange_) {
    Accord accord(*exchange_);
    std::vector<double> facts(kLook, kNone);
    accord.attempt([&] { look(facts); });
    accord.agree(facts);
    learn(facts);
    accord.attempt([&] { overall_.cut ? set_up_parts(solver_.bands(lines_)) : set_up_plain(known); });
    accord.agree();
    if (overall_.cut) {
      judge(accord);
      settle_all(accord);
      finish_report();
    } else {
      parts_ = {};
    }
  } else {
    set_up_plain(known);
  }
  before_ = solver_.times();
  applies_ = 0;
  total_seconds_ = 0;
  ready_ = true;
}

template class CutSolver<float>::Impl;
template class CutSolver<double>::Impl;

}  // namespace oclspkt
