// SPDX-License-Identifier: BSD-2-Clause
#include "fallback_lines.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "evidence.hpp"
#include "factors.hpp"
#include "forgiven.hpp"
#include "format.hpp"
#include "pivot_solver.hpp"
#include "scalars.hpp"
#include "schemes/proposal.hpp"
#include "survey.hpp"
#include "ways.hpp"

namespace oclspkt {
namespace {

using Names = const std::vector<Index>*;

std::string line_name(Index line, Names names) {
  return "line " + std::to_string(names ? (*names)[static_cast<std::size_t>(line)] : line);
}

template <typename T>
Rejection object_to_pivots(const Factors<T>& factors, Names names) {
  if (factors.doubtful().empty()) return {};
  const double bound = factors.pivots().rounding;
  return {line_name(factors.doubtful().front(), names) +
              (std::isfinite(bound)
                   ? format(": elimination without pivoting rounds up to %.1e eps > %.0f eps", bound, kRoundingLimit)
                   : ": elimination without pivoting meets a pivot of 0 or leaves the range of numbers"),
          factors.doubtful()};
}

template <typename T>
Rejection object_to_singular(const Pivoting<T>& pivot, Names names) {
  Rejection rejection;
  for (const auto& singular : pivot.singular()) {
    if (rejection.lines.empty()) {
      rejection.why = "singular: " + line_name(singular.line, names) +
                      (singular.lost ? ", a pivot is lost to rounding, and so is the trial solve"
                                     : ", the pivot of its row " + std::to_string(singular.row) + " is zero");
    }
    rejection.lines.push_back(singular.line);
  }
  return rejection;
}

LineSet member_lines(const LineSet& all, const std::vector<Index>& members) {
  std::vector<Index> starts{0};
  for (const Index line : members) starts.push_back(starts.back() + all.length(line));
  return LineSet::unequal(std::move(starts));
}

/// Replace the last row of every line by x = 0.
template <typename T>
void pin_last_rows(Bands<T>& bands) {
  const LineSet& lines = bands.lines();
  for (Index l = 0; l < lines.count(); ++l) {
    const Index last = lines.first(l) + lines.length(l) - 1;
    bands.lower()[last] = bands.upper()[last] = 0;
    bands.diag()[last] = 1;
  }
}

template <typename T>
Bands<T> copy(const Bands<T>& bands) {
  Bands<T> other(bands.lines());
  other.copy_from(bands.view());
  return other;
}

/// Scale every row by a power of two, so that its largest number lies in [1/2, 1).
/// @return the exponents; empty, with unchanged bands, if a number cannot be scaled exactly
template <typename T>
std::vector<int> scale_rows(Bands<T>& bands) {
  Bands<T> scaled = copy(bands);
  std::vector<int> exponent(static_cast<std::size_t>(bands.lines().rows()));
  for (std::size_t i = 0; i < exponent.size(); ++i) {
    T* const row[] = {scaled.lower() + i, scaled.diag() + i, scaled.upper() + i};
    std::frexp(std::max({modulus(*row[0]), modulus(*row[1]), modulus(*row[2])}), &exponent[i]);
    exponent[i] = -exponent[i];
    for (T* number : row) {
      const T before = std::exchange(*number, times_power(*number, exponent[i]));
      if (times_power(*number, -exponent[i]) != before) return {};
    }
  }
  bands = std::move(scaled);
  return exponent;
}

template <typename T>
Trial run_trials(const Bands<T>& bands, DeviceSolver<T>& solver, const TrialRules& rules) {
  const auto apply = [&](const T* y, T* x) { solver.apply(y, x); };
  Trial rough = trial_solve<T>(bands.lines(), bands.view(), TrialKind::rough, apply);
  if (rules.by_row) rough.failed = rough.failed_by_row;
  if (!rules.both || !rough.failed.empty()) return rough;
  Trial smooth = trial_solve<T>(bands.lines(), bands.view(), TrialKind::smooth, apply);
  if (rules.by_row) smooth.failed = smooth.failed_by_row;
  if (!smooth.failed.empty()) return smooth;
  return smooth.worst <= rough.worst ? rough : smooth;
}

/// The largest share of rows that the host pivots separately. Above this share, it pivots in all lines.
constexpr double kPivotShare = 0.25;
/// If more than this share of a sample fails, more than kPivotShare of the whole set surely fails.
constexpr double kManyOfSample = 0.4;

std::string place_of(const LineSet& lines, Index line) {
  std::string text = "line " + std::to_string(line) + " of " + std::to_string(lines.count());
  if (!lines.contiguous() || lines.length(line) == 0) return text;
  const Index first = lines.first(line), last = first + lines.length(line) - 1;
  return text + " (rows " + std::to_string(first) + "-" + std::to_string(last) + ")";
}

}  // namespace

template <typename T>
Rejection object_to_sums(const Bands<T>& bands, Names names) {
  std::vector<Index> lines = lines_of_zero_sums(bands.lines(), bands.view());
  if (lines.empty()) return {};
  std::string why = "singular: " + line_name(lines.front(), names) + ", its rows sum to 0";
  return {std::move(why), std::move(lines)};
}

template <typename T>
Rejection examine(const Bands<T>& bands, DeviceSolver<T>& solver, const TrialRules& rules, double& trial_error,
                  Names names) {
  if (const Factors<T>* factors = solver.factors()) {
    if (Rejection rejection = object_to_pivots(*factors, names)) return rejection;
  }
  if (const auto* pivot = dynamic_cast<const Pivoting<T>*>(&solver)) {
    trial_error = pivot->trial_error();
    return object_to_singular(*pivot, names);  // a line with a large error passes; the report has the error
  }
  Trial trial;
  if (trial_error < 0) {
    trial = run_trials(bands, solver, rules);
    trial_error = trial.worst;
  }
  if (trial.failed.empty()) return {};
  return {line_name(trial.failed.front(), names) + format(": backward error %.1e of the trial solve", trial_error),
          trial.failed};
}

template <typename T>
Rejection LineGroup<T>::set_up(const Bands<T>& all) {
  lines_ = member_lines(all.lines(), members_);
  Bands<T> bands(lines_);
  const BandsView<T> from = all.view();
  for_each_row(all.lines(), members_, [&](Index there, Index here) {
    bands.lower()[here] = from.lower[there];
    bands.diag()[here] = from.diag[there];
    bands.upper()[here] = from.upper[there];
  });
  y_.resize(lines_.rows());
  x_.resize(lines_.rows());
  if (Rejection singular = pinned_ ? Rejection{} : object_to_sums(bands, &members_)) return singular;
  const bool extreme = !in_range<T>(survey(lines_, bands.view()));
  if (extreme) exponent_ = scale_rows(bands);
  if (pinned_) pin_last_rows(bands);
  // Even if all scaled rows are in the range, numbers that elimination computes may leave it.
  if (extreme && (exponent_.empty() || method_ == Method::pivot)) {
    method_ = Method::pivot;
    why_ += ", in numbers of a wider range";
    solver_ = std::make_unique<WideSolver<T>>();
  } else {
    solver_ = make_host_solver<T>(method_);
  }
  solver_->set_up(Plan{}, bands);  // the solver copies the numbers that it needs
  trial_error_ = -1;
  Rejection rejection = examine(bands, *solver_, {}, trial_error_, &members_);
  solver_->take_errors();  // drops the errors of trial solves
  return rejection;
}

template <typename T>
void LineGroup<T>::solve(const LineSet& all, const T* y, T* x) {
  for_each_row(all, members_, [&](Index there, Index here) { y_[here] = y[there]; });
  for (std::size_t i = 0; i < exponent_.size(); ++i) {
    const T scaled = times_power(y_.data()[i], exponent_[i]);
    leaves_range_ = leaves_range_ || (!is_finite(scaled) && is_finite(y_.data()[i]));
    y_.data()[i] = scaled;
  }
  for (Index l = 0; pinned_ && l < lines_.count(); ++l) y_[lines_.first(l) + lines_.length(l) - 1] = 0;
  solver_->apply(y_.data(), x_.data());
  for_each_row(all, members_, [&](Index there, Index here) { x[there] = x_[here]; });
}

template <typename T>
double LineGroup<T>::take_errors() {
  const double errors = solver_->take_errors();
  return std::exchange(leaves_range_, false) ? std::numeric_limits<double>::infinity() : errors;
}

template <typename T>
GroupReport LineGroup<T>::report() const {
  return {method_,
          lines_.count(),
          lines_.rows(),
          members_.front(),
          pinned_,
          rounding(),
          trial_error_ < 0 ? 0 : trial_error_,
          why_};
}

template <typename T>
std::int64_t LineGroup<T>::bytes() const {
  return y_.bytes() + x_.bytes() + static_cast<std::int64_t>(exponent_.capacity() * sizeof(int)) +
         (solver_ ? solver_->bytes() : 0);
}

template <typename T>
bool FallbackLines<T>::contains(Index line) const {
  return std::binary_search(lines_.begin(), lines_.end(), line);
}

template <typename T>
bool FallbackLines<T>::may_add(const std::vector<Index>& more, Method method, bool by_host) const {
  const LineSet& all = bands_.now().lines();
  if (more.size() + lines_.size() >= static_cast<std::size_t>(all.count())) return false;
  const double most = method == Method::truncated_halo ? kFallbackShare : by_host ? kPivotShare : 1;
  Index rows = 0;
  for (const Index line : more) rows += all.length(line);
  for (const Index line : lines_) rows += all.length(line);
  return static_cast<double>(rows) <= most * static_cast<double>(all.rows());
}

template <typename T>
void FallbackLines<T>::add(const Rejection& rejection) {
  if (none()) {
    why_ = rejection.why;
    others_ = bands_.overlaid();
  }
  lines_.insert(lines_.end(), rejection.lines.begin(), rejection.lines.end());
  std::sort(lines_.begin(), lines_.end());
  bands_.blank(rejection.lines);
}

template <typename T>
bool FallbackLines<T>::put_back() {
  if (none()) return false;
  bands_.put_back(others_);
  forget();
  return true;
}

template <typename T>
void FallbackLines<T>::forget() {
  groups_.clear();
  lines_.clear();
}

/// Make a group of the `members` for which the method passes. @pre the bands hold the fallback lines' own rows
/// @return the members for which the method fails
template <typename T>
std::vector<Index> FallbackLines<T>::add_group(Method method, std::vector<Index> members, bool pinned,
                                               std::string& why) {
  std::vector<Index> refused;
  while (!members.empty()) {
    LineGroup<T> group(method, members, pinned, why);
    const Rejection rejection = group.set_up(bands_.now());
    if (!rejection) {
      groups_.push_back(std::move(group));
      break;
    }
    why = rejection.why;
    std::vector<Index> kept;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool bad = rejection.lines.empty() ||
                       std::binary_search(rejection.lines.begin(), rejection.lines.end(), static_cast<Index>(i));
      (bad ? refused : kept).push_back(members[i]);
    }
    members = std::move(kept);
  }
  std::sort(refused.begin(), refused.end());
  return refused;
}

template <typename T>
void FallbackLines<T>::make_solvers(const char* pin_why, Report& report) {
  if (none()) return;
  std::vector<Index> left;
  std::string why = why_;
  with_whole_bands([&] {
    left = add_group(Method::exact_factored, lines_, false, why);
    left = add_group(Method::pivot, std::move(left), false, why);
    if (pin_why != nullptr && !left.empty()) {
      left = add_group(Method::pivot, std::move(left), true, why);
      report.pin_why = pin_why;
    }
  });
  if (!left.empty()) {
    put_back();
    const Bands<T>& bands = bands_.now();
    why = zero_row_text(bands.lines(), bands.view(), left.front(), left.front() + 1).value_or(why);
    throw Breakdown(place_of(bands.lines(), left.front()) + " cannot be solved (" + why + ")" +
                    (pin_why != nullptr ? "" : std::string("; ") + kPinCure));
  }
  for (const LineGroup<T>& group : groups_) report.groups.push_back(group.report());
}

template <typename T>
void FallbackLines<T>::solve(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  for (LineGroup<T>& group : groups_) {
    for (Index k = 0; k < columns; ++k) group.solve(bands_.now().lines(), y + k * y_stride, x + k * x_stride);
  }
}

template <typename T>
double FallbackLines<T>::take_errors() {
  double largest = 0;
  for (LineGroup<T>& group : groups_) largest = std::max(largest, group.take_errors());
  return largest;
}

template <typename T>
std::vector<Index> FallbackLines<T>::pinned() const {
  std::vector<Index> pinned;
  for (const LineGroup<T>& group : groups_) {
    if (group.pinned()) pinned.insert(pinned.end(), group.members().begin(), group.members().end());
  }
  std::sort(pinned.begin(), pinned.end());
  return pinned;
}

template <typename T>
std::int64_t FallbackLines<T>::bytes() const {
  std::int64_t sum = 0;
  for (const LineGroup<T>& group : groups_) sum += group.bytes();
  return sum;
}

template <typename T>
std::optional<Rejection> lines_out_of_range(const Options& options, const Survey& survey, const Bands<T>& bands) {
  const bool as_it_is = named(options.method) && options.method != MethodChoice::exact;
  if (in_range<T>(survey) || as_it_is) return std::nullopt;
  std::vector<Index> lines = extreme_lines(bands.lines(), bands.view());
  if (lines.empty()) return std::nullopt;  // magnitudes differ only between lines, which is harmless
  return Rejection{
      format("rows between %.1e and %.1e are scaled by powers of two", survey.smallest_row, survey.largest_row),
      std::move(lines)};
}

template <typename T>
Rejection refused_by_sample(const Bands<T>& bands) {
  constexpr Index kMany = 512, kSample = 16;
  const Index count = bands.lines().count();
  if (count < kMany) return {};
  std::vector<Index> sample;
  for (Index k = 0; k < kSample; ++k) sample.push_back(k * count / kSample + k);  // + k avoids equal steps of 2^j
  Rejection rejection = LineGroup<T>(Method::exact_factored, std::move(sample), false, {}).set_up(bands);
  if (static_cast<double>(rejection.lines.size()) <= kManyOfSample * kSample) return {};
  rejection.lines.clear();  // pivot in all lines
  return rejection;
}

#define OCLSPKT_INSTANTIATE(T)                                                                          \
  template Rejection object_to_sums(const Bands<T>&, Names);                                            \
  template Rejection examine(const Bands<T>&, DeviceSolver<T>&, const TrialRules&, double&, Names);     \
  template std::optional<Rejection> lines_out_of_range(const Options&, const Survey&, const Bands<T>&); \
  template Rejection refused_by_sample(const Bands<T>&);                                                \
  template class FallbackLines<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
