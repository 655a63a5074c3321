// SPDX-License-Identifier: BSD-2-Clause
// The order of a set-up, the same on all processes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cut_operator.hpp"
#include "cut_rounding.hpp"
#include "cut_trial.hpp"
#include "forgiven.hpp"
#include "line_columns.hpp"
#include "narrow.hpp"
#include "parallel.hpp"
#include "pivot_solver.hpp"
#include "schemes/proposal.hpp"
#include "survey.hpp"
#include "units.hpp"

namespace oclspkt {
namespace {

/// How many numbers processes compare first, see look().
constexpr std::size_t kLook = 7;
constexpr double kNone = -std::numeric_limits<double>::infinity();
/// Shares of the tolerance: truncation may use the first, and the dropped end of a spike on either side the second.
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

/// Singular inner rows are no reason to fail: the line itself may be regular, and is gathered. Trial solves of whole
/// lines are held to the rounding of T. If there are such trials, narrowed bands keep factors as wide as T.
Options inner_options(Options options, double dominance) {
  options.singular = Singular::pin;
  if (!(dominance > 1)) options.precision = Precision::same;
  return options;
}

/// Truncation beyond rounding would make a symmetric operator unsymmetric, and CG would fail without a message.
template <typename T>
bool chooses_truncation(const Options& options, double bound, bool symmetric) {
  const bool strict = symmetric && !named(options.method);
  const double tol = strict ? std::min(tolerance<T>(options), rounding<T>()) : tolerance<T>(options);
  if (truncates(options.method)) return std::isfinite(bound);
  return !named(options.method) && bound <= kBoundShare * tol;
}

/// Find the lines that are singular.
/// @return shape [lines.count()]
template <typename T>
std::vector<char> singular_lines(const LineSet& lines, const Bands<T>& bands) {
  PivotSolver<T> pivot;
  pivot.set_up({}, bands);
  std::vector<char> singular(static_cast<std::size_t>(lines.count()), 0);
  for (const auto& found : pivot.singular()) singular[static_cast<std::size_t>(found.line)] = 1;
  return singular;
}

}  // namespace

/// Call f(index into the cut lines, look) for all parts of this process, by several threads.
template <typename T>
template <typename F>
void CutOperator<T>::for_parts(const F& f) {
  for_pieces(set_.cut.count(), lines_a_piece(set_.lines), [&](Index begin, Index end) {
    for (Index c = begin; c < end; ++c) f(c, looks_[static_cast<std::size_t>(c)]);
  });
}

/// Survey the parts of this process, with their couplings across cuts.
template <typename T>
void CutOperator<T>::survey_cut_lines() {
  looks_.assign(set_.cut.lines.size(), {});
  if (looks_.empty()) return;
  // With a smaller tolerance, no dropped spike and no truncation exceeds rounding, and symmetry does not matter.
  const bool symmetry = tolerance<T>(options_) > rounding<T>();
  const bool known = known_rows_ && !symmetry && !narrows<T>(options_);
  for (PartLook& part : looks_) part.survey = known ? *known_rows_ : Survey();
  if (known && !(known_rows_->dominance <= kZeroSumDominance<T>)) return;
  Bands<T>& bands = edit();
  const LineSet& lines = set_.lines;
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const Index line = set_.cut[c].line, first = lines.first(line);
    if (!set_.cut.above(c)) bands.lower()[first] = 0;
    if (!set_.cut.below(c)) bands.upper()[first + (lines.length(line) - 1) * lines.row_stride()] = 0;
    if (!narrows<T>(options_)) continue;
    narrow_line(bands, line);  // with its couplings across cuts, which the solver never sees
    inner_.system().note_rounded();
  }
  for_parts([&](Index c, PartLook& part) { part.zero_sums = sums_are_zero(lines, bands.view(), set_.cut[c].line); });
  if (!known) survey_parts(bands, symmetry);
}

template <typename T>
void CutOperator<T>::survey_parts(const Bands<T>& bands, bool symmetry) {
  const LineSet& lines = set_.lines;
  if (lines.contiguous()) {
    return for_parts(
        [&](Index c, PartLook& part) { part.survey = survey_line(lines, bands.view(), set_.cut[c].line, symmetry); });
  }
  const std::vector<Index> cut_of = set_.cut_of_lines();
  const LineSet one = LineSet::one(lines.length(0));
  // Rows of a grid are far apart: the numbers of a row in one page are surveyed together.
  const Index at_once = std::clamp<Index>(kPieceRows / (8 * one.rows()), kColumnLines, 64);
  for_columns(
      lines, lines.count(),
      [&](Index first, Index width) {
        const Column<T> column(lines, bands.view(), first, width);
        for (Index l = 0; l < width; ++l) {
          const Index c = cut_of[static_cast<std::size_t>(first + l)];
          if (c < 0) continue;
          Survey s = survey_line(one, column.line(l), 0, symmetry);
          s.weakest_row = lines.first(first + l) + s.weakest_row * lines.row_stride();
          looks_[static_cast<std::size_t>(c)].survey = s;
        }
      },
      at_once);
}

/// Find the units of this process's parts that have rows without dominance, as far as their own rows show them.
template <typename T>
void CutOperator<T>::find_units() {
  const auto weak = [](const PartLook& part) { return !(part.survey.dominance >= 1); };
  if (std::none_of(looks_.begin(), looks_.end(), weak)) return;
  const BandsView<T> view = inner_.system().bands().view();
  for_parts([&](Index c, PartLook& look) {
    if (!weak(look)) return;
    const Column<T> part(set_.lines, view, set_.cut[c].line, 1);
    Bands<T> rows(LineSet::one(set_.lines.length(set_.cut[c].line)));
    rows.copy_from(part.line(0));
    rows.close_lines();
    look.units_range = ColumnUnits<T>(rows.lines(), rows.view()).range();
  });
}

/// Find the cut lines and look at their rows.
/// @param[out] facts shape [kLook]
/// @throws InvalidInput, Breakdown
template <typename T>
void CutOperator<T>::look(std::vector<double>& facts) {
  inner_.system().check_precision(options_);
  set_.cut = find_cut_lines(set_.lines, cuts_, set_.exchange->rank(), set_.exchange->size());
  survey_cut_lines();
  double dominance = std::numeric_limits<double>::infinity();
  bool symmetric = true;
  int longest = 0;
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const Survey& s = looks_[static_cast<std::size_t>(c)].survey;
    if (!s.finite) {
      throw NotFinite("the bands of line " + std::to_string(set_.cut[c].number) + " hold NaN or Inf at row " +
                      std::to_string(s.weakest_row) + " of process " + std::to_string(set_.exchange->rank()) +
                      ": give finite entries");
    }
    dominance = std::min(dominance, s.dominance);
    symmetric = symmetric && s.symmetric;
    longest = std::max(longest, set_.cut.parts(c));
  }
  find_units();
  const double top = set_.lines.count() == 0 ? kNone
                     : set_.cut.count() > 0  ? static_cast<double>(set_.cut.chain(0).front())
                                             : static_cast<double>(set_.exchange->rank());
  facts = {set_.cut.count() > 0 ? 1.0 : 0.0,
           -dominance,
           symmetric ? 0.0 : 1.0,
           static_cast<double>(set_.lines.count()),
           top,
           set_.lines.count() == 0 ? kNone : -top,
           static_cast<double>(longest)};
}

template <typename T>
void CutOperator<T>::learn(const std::vector<double>& facts) {
  overall_.cut = facts[0] > 0;
  overall_.dominance = -facts[1];
  overall_.symmetric = known_.symmetric || facts[2] == 0;
  overall_.one_line = facts[3] <= 1 && facts[4] == -facts[5];  // of one line all parts have the same top
  overall_.longest_chain = static_cast<Index>(facts[6]);
}

template <typename T>
bool CutOperator<T>::may_pin() const {
  if (options_.singular == Singular::automatic) return known_.constant_null_space && overall_.one_line;
  return options_.singular == Singular::pin;
}

/// Set up the solver of the inner rows. If it refuses them, leave cut lines out: first those whose inner rows are
/// singular, then all. Pinning the last row, as the solver does with singular lines, does not help if that row is the
/// uncoupled one.
template <typename T>
void CutOperator<T>::set_up_inner() {
  // The bounds of the joints hold for rows as given.
  const Known known{.symmetric = known_.symmetric,
                    .rounding_limit = inner_rounding_limit(overall_.dominance),
                    .as_given = set_.cut.count() > 0,
                    .queue = known_.queue};
  const auto accepted = [&] {
    try {
      inner_.set_up(known);
      return true;
    } catch (const Breakdown&) {
      if (set_.cut.count() == 0) throw;
      return false;
    }
  };
  // Rows next to cuts are uncoupled now. If no coupling is the largest number of its row, all bounds still hold.
  const bool one_line = set_.lines.count() == 1 && looks_.size() == 1;
  const Survey* rows = known_rows_ ? &*known_rows_ : one_line ? &looks_.front().survey : nullptr;
  if (rows != nullptr && rows->dominance >= 1) inner_.system().know(*rows);
  if (accepted()) return;
  const auto leave_out = [&](Index c, Gathering why) {
    inner_.system().overlay().blank({set_.cut[c].line});
    set_.why[static_cast<std::size_t>(c)] = why;
  };
  const std::vector<char> singular = singular_lines(set_.lines, edit());
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (singular[static_cast<std::size_t>(set_.cut[c].line)] != 0) leave_out(c, Gathering::singular_part);
  }
  if (accepted()) return;
  edit();
  for (Index c = 0; c < set_.cut.count(); ++c) leave_out(c, Gathering::refused_part);
  inner_.set_up(known);
}

/// Gather the lines whose inner rows are singular; lines that are not cut are judged as Solver does.
template <typename T>
void CutOperator<T>::sort_pinned() {
  const std::vector<Index> cut_of = set_.cut_of_lines();
  for (const Index line : inner_.system().pinned_lines()) {
    const Index c = cut_of[static_cast<std::size_t>(line)];
    if (c >= 0) {
      set_.why[static_cast<std::size_t>(c)] = Gathering::singular_part;
    } else if (!may_pin()) {
      throw Breakdown("line " + std::to_string(line) + " of " + std::to_string(set_.lines.count()) +
                      " is singular; the option singular pin sets the last unknown of each singular line to 0");
    }
  }
}

/// Uncouple the rows next to cuts, set up the solver of the inner rows, and find the spikes.
template <typename T>
void CutOperator<T>::set_up_parts(Bands<T>& bands) {
  set_.divide();
  set_.parts.uncouple_cuts(bands.view(), [&](Index at, T lower, T diag, T upper) {
    inner_.system().overlay().overlay(at, lower, diag, upper);
  });
  double dominance = std::numeric_limits<double>::infinity();
  for (const PartLook& part : looks_) dominance = std::min(dominance, part.survey.dominance);
  const bool decays = set_.parts.find_decaying_spikes(bands.view(), dominance);
  inner_.set_options(inner_options(options_, overall_.dominance));
  set_up_inner();
  sort_pinned();
  if (options_.method == MethodChoice::pivot) set_.why.assign(set_.cut.lines.size(), Gathering::asked);
  std::vector<char> left_out(static_cast<std::size_t>(set_.parts.slots()), 0);
  for (Index c = 0; c < set_.cut.count(); ++c) left_out[static_cast<std::size_t>(set_.slot_at(c))] = set_.gathered(c);
  if (decays) {
    set_.parts.leave_out(left_out);
  } else if (set_.parts.slots() > 0) {
    set_.parts.find_spikes([&](const T* y, T* x) { inner_.apply(y, x); }, left_out);
    inner_.system().fallback().with_whole_bands([&] { set_.parts.measure_spikes(bands.view(), left_out); });
  }
}

template <typename T>
std::vector<PartFacts> CutOperator<T>::own_facts() const {
  std::vector<PartFacts> own;
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const auto& [survey, units_range, zero_sums] = looks_[static_cast<std::size_t>(c)];
    const Index s = set_.slot_at(c);
    const SpikeFacts& spikes = set_.parts.spikes(s);
    const CutPartErrors errors{inner_.report().rounding, spikes.size, spikes.error};
    own.push_back({set_.parts.reduced(s), set_.lines.length(set_.slot(c).line), set_.why[static_cast<std::size_t>(c)],
                   survey.smallest_row, survey.largest_row, spikes.size, rounding_of_part(errors, overall_.dominance),
                   units_range, zero_sums});
  }
  return own;
}

/// Decide which lines are gathered, and whether the others are truncated.
template <typename T>
void CutOperator<T>::judge(Accord& accord) {
  set_.tell_roots(own_facts());
  RootedLines rooted;
  accord.attempt([&] { rooted = set_.judge_rooted(); });
  std::vector<double> facts{rooted.bound, rooted.symmetric ? 0.0 : 1.0, set_.any_gathered() ? 1.0 : 0.0,
                            rooted.rounding};
  accord.agree(facts);
  const bool symmetric = known_.symmetric || (overall_.symmetric && facts[1] == 0);
  any_gathered_ = facts[2] > 0;
  report_.rounding = facts[3];
  set_.truncated = chooses_truncation<T>(options_, facts[0], symmetric);
  const double tol = tolerance<T>(options_);
  const bool loose = set_.truncated && !symmetric && overall_.dominance >= 1;
  const double kept = loose && tol > rounding<T>() ? kSpikeShare * tol : spike_rounding<T>();
  report_.truncated = set_.truncated;
  report_.tolerance = tol;
  report_.bound = set_.truncated ? facts[0] + 2 * kept : 0;
  report_.above_tolerance = set_.truncated && !(facts[0] <= kBoundShare * tol);
  set_.tell_parts();
  // The dropped end of a spike may count more in units of the unknowns there.
  double range = 1;
  for (const PartLook& part : looks_) range = std::max(range, part.units_range);
  set_.parts.keep_spikes(kept / range);
}

/// Gather the lines that cannot be solved in parts, if there are any on any process.
template <typename T>
void CutOperator<T>::gather(Accord& accord) {
  report_.pinned = 0;
  if (!any_gathered_) {
    gathered_.clear();
    return;
  }
  Bands<T> whole;
  accord.attempt([&] { inner_.system().copy_bands(whole); });
  gathered_.gather(accord, whole, options_, may_pin());
  report_.pinned = gathered_.pinned();
}

/// Prepare the apply, and run trial solves where they are needed: lines that fail are gathered.
template <typename T>
void CutOperator<T>::make_ready(Accord& accord) {
  // Rows that are strictly dominant bound growth and spikes. Others may turn singular by an arbitrarily small change.
  for (bool tried = overall_.dominance > 1 || report_.above_tolerance;;) {
    gather(accord);
    accord.attempt([&] { interface_.wire(); });
    accord.agree();
    report_.sent = interface_.sent();
    report_.received = interface_.received();
    if (tried) return;
    Bands<T> whole;
    accord.attempt([&] { inner_.system().copy_bands(whole); });
    const CutTrialResult trial = try_lines(accord, set_, inner_, interface_, whole, tolerance<T>(options_));
    report_.backward_error = trial.backward_error;
    if (!trial.failed) return;
    if (set_.truncated) {  // truncation is within its bound, but rounding is not
      report_.above_tolerance = truncates(options_.method) && std::isfinite(trial.backward_error);
      if (report_.above_tolerance) return;
      report_.truncated = set_.truncated = false;
      report_.bound = 0;
      continue;
    }
    for (std::size_t c = 0; c < trial.why.size(); ++c) set_.why[c] = std::max(set_.why[c], trial.why[c]);
    any_gathered_ = tried = true;
  }
}

template <typename T>
void CutOperator<T>::finish_report() {
  report_.lines = set_.cut.count();
  report_.longest_chain = overall_.longest_chain;
  report_.spike_rows = set_.parts.spike_rows();
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.gathered(c)) continue;
    ++report_.gathered;
    if (report_.first_gathered >= 0 && report_.first_gathered <= set_.cut[c].number) continue;
    report_.first_gathered = set_.cut[c].number;
    report_.gathered_why = text(set_.why[static_cast<std::size_t>(c)]);
  }
  gathered_.tell(report_);
  set_.facts = {};
  set_.verdicts = {};
  looks_ = {};
}

/// Make the rows next to cuts accessible if vectors lie on a device. If the device refuses, the host solves.
template <typename T>
void CutOperator<T>::bring_borders() {
  if (!inner_.takes(known_.queue) || report_.gathered > 0) return;
  try {
    borders_ = inner_.borders(set_.parts.border_layout());
  } catch (const DeviceError&) {
    if (options_.on_device_failure == OnDeviceFailure::error) throw;
  }
}

template <typename T>
bool CutOperator<T>::set_up(const Known& known) {
  known_ = known;
  borders_.reset();
  report_ = {};
  overall_ = {};
  set_.cut = {};
  Accord accord(*set_.exchange);
  std::vector<double> facts(kLook, kNone);
  accord.attempt([&] { look(facts); });
  accord.agree(facts);
  learn(facts);
  accord.attempt([&] { overall_.cut ? set_up_parts(edit()) : inner_.set_up(options_, known); });
  accord.agree();
  if (!overall_.cut) {
    set_.parts = {};
    return false;
  }
  judge(accord);
  make_ready(accord);
  finish_report();
  bring_borders();
  before_ = inner_.times();
  applies_ = 0;
  total_seconds_ = 0;
  return true;
}

template class CutOperator<float>;
template class CutOperator<double>;

}  // namespace oclspkt
