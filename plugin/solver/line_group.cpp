// SPDX-License-Identifier: BSD-2-Clause
#include "line_group.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "chosen.hpp"
#include "evidence.hpp"
#include "factors.hpp"
#include "forgiven.hpp"
#include "format.hpp"
#include "pivot_solver.hpp"
#include "survey.hpp"

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

}  // namespace

template <typename T>
Rejection object_to_sums(const Bands<T>& bands, Names names) {
  std::vector<Index> lines = lines_of_zero_sums(bands.lines(), bands.view());
  if (lines.empty()) return {};
  std::string why = "singular: " + line_name(lines.front(), names) + ", its rows sum to 0";
  return {std::move(why), std::move(lines)};
}

namespace {

LineSet member_lines(const LineSet& all, const std::vector<Index>& members) {
  std::vector<Index> starts{0};
  for (const Index line : members) starts.push_back(starts.back() + all.length(line));
  return LineSet::unequal(std::move(starts));
}

/// Set x of every line's last row to 0, and drop the equation of that row.
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
/// @return the exponents; empty, and the bands unchanged, if a row is too wide for that: a number would be lost
template <typename T>
std::vector<int> scale_rows(Bands<T>& bands) {
  Bands<T> scaled = copy(bands);
  std::vector<int> exponent(static_cast<std::size_t>(bands.lines().rows()));
  for (std::size_t i = 0; i < exponent.size(); ++i) {
    T* const row[] = {scaled.lower() + i, scaled.diag() + i, scaled.upper() + i};
    std::frexp(std::max({std::abs(*row[0]), std::abs(*row[1]), std::abs(*row[2])}), &exponent[i]);
    exponent[i] = -exponent[i];
    for (T* number : row) {
      const T before = std::exchange(*number, std::ldexp(*number, exponent[i]));
      if (std::ldexp(*number, -exponent[i]) != before) return {};
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

}  // namespace

template <typename T>
Rejection examine(const Bands<T>& bands, DeviceSolver<T>& solver, const TrialRules& rules, double& trial_error,
                  Names names) {
  if (const Factors<T>* factors = solver.factors()) {
    if (Rejection rejection = object_to_pivots(*factors, names)) return rejection;
  }
  if (const auto* pivot = dynamic_cast<const Pivoting<T>*>(&solver)) {
    trial_error = pivot->trial_error();
    return object_to_singular(*pivot, names);  // lines above the limit are solved, and reported
  }
  Trial trial;
  if (trial_error < 0) {
    trial = run_trials(bands, solver, rules);
    trial_error = trial.worst;
  }
  if (trial.failed.empty()) return {};
  char text[80];
  std::snprintf(text, sizeof text, ": backward error %.1e of the trial solve", trial_error);
  return {line_name(trial.failed.front(), names) + text, trial.failed};
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
  // The numbers that elimination makes may leave the range even if scaling brings all rows into it.
  if (extreme && (exponent_.empty() || method_ == Method::pivot)) {
    method_ = Method::pivot;
    why_ += ", in numbers of a wider range";
    solver_ = std::make_unique<WideSolver<T>>();
  } else {
    solver_ = make_host_solver<T>(method_);
  }
  solver_->set_up(Plan{}, bands);  // factors of the host copy the numbers that they need
  trial_error_ = -1;
  Rejection rejection = examine(bands, *solver_, {}, trial_error_, &members_);
  solver_->take_errors();  // drops those of trial solves
  return rejection;
}

template <typename T>
void LineGroup<T>::solve(const LineSet& all, const T* y, T* x) {
  for_each_row(all, members_, [&](Index there, Index here) { y_[here] = y[there]; });
  for (std::size_t i = 0; i < exponent_.size(); ++i) {
    const T scaled = std::ldexp(y_.data()[i], exponent_[i]);
    leaves_range_ = leaves_range_ || (std::isinf(scaled) && std::isfinite(y_.data()[i]));
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

template Rejection object_to_sums(const Bands<float>&, Names);
template Rejection object_to_sums(const Bands<double>&, Names);
template Rejection examine(const Bands<float>&, DeviceSolver<float>&, const TrialRules&, double&, Names);
template Rejection examine(const Bands<double>&, DeviceSolver<double>&, const TrialRules&, double&, Names);
template class LineGroup<float>;
template class LineGroup<double>;

}  // namespace oclspkt
