// SPDX-License-Identifier: BSD-2-Clause
// What schemes by work-groups share for lines side by side.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "format.hpp"
#include "geometry.hpp"
#include "grid_plan.hpp"
#include "grid_rounding.hpp"
#include "line_columns.hpp"
#include "schemes/proposal.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// Lines side by side by work-groups; a plan of no rows counts as one of general factors.
class GridScheme : public Scheme {
 public:
  std::string shape(const Plan& plan) const final {
    return std::string(plan.form == Form::general ? "stored" : oclspkt::name(plan.form)) +
           format(" factors, tiles of %lld lines x %lld rows", static_cast<long long>(plan.as<Beside>().bundle),
                  static_cast<long long>(grid_tile_rows(plan))) +
           cut_text(plan);
  }
  double words(const Plan& plan) const final { return plan.m > 0 ? words_of_rows(plan) : 5; }
  bool solves_interfaces() const final { return true; }
  /// What is idle costs lines that are cut two launches at most; lines that are walked, or condensed, wait three at
  /// least (9 lines of 1024 rows take an H100 28 us where they are cut, and 40 where they are walked).
  double stream_words(const Plan& plan, int) const override {
    constexpr double kOfCut = 3.4e6, kOfWalked = 5e6;
    if (plan.n == 0) return words(plan);
    const auto n = static_cast<double>(plan.n);
    const double idle = std::max(0.0, plan.idle - 1) * words(plan) * n;
    const bool walked = plan.method == Method::exact_factored && !in_one_tile(plan);
    return words(plan) + (walked ? std::max(idle, kOfWalked) : std::min(idle, kOfCut)) / n;
  }
  double passes(const Plan& plan, const Survey& survey) const override {
    // What is truncated is looked at line by line where the survey does not cover it.
    constexpr double kSurveyed = 1.05, kFactors = 1, kByValues = 10;
    if (plan.form == Form::shared) return 0;
    const bool truncates = plan.method == Method::truncated_streamed && !in_one_tile(plan);
    return truncates && survey.decay() < kSurveyed ? kByValues : kFactors;
  }
  /// The bounds ask of pivots that |c_i / u_i| is at most 1, or follow the factors in T's arithmetic: either holds with
  /// pivots of another matrix.
  Elimination elimination() const override { return {.any_pivots = true}; }

 protected:
  /// How lines are cut, and what waits, behind the size of the tiles.
  virtual std::string cut_text(const Plan& plan) const = 0;
  virtual double words_of_rows(const Plan& plan) const = 0;

  /// Words of the factors.
  static double factors(const Plan& plan) { return plan.form == Form::shared ? 0 : plan.symmetric() ? 2 : 3; }
  static std::string segments_text(const Plan& plan, const char* pattern) {
    return plan.as<Beside>().segments > 1 ? format(pattern, static_cast<long long>(plan.as<Beside>().segments)) : "";
  }
};

/// A plan for lines side by side by work-groups: the first that holds of all schemes of this kind.
/// @pre takes_grid(problem), its method is truncated-streamed or exact-factored
template <typename T>
std::optional<Proposal> propose_grid(const Problem<T>& problem, Rejection& rejection);

/// The plan that is tried first, bands unread; none where there is none.
template <typename T>
std::optional<Plan> least_of_grid(const Problem<T>& problem);

/// A scheme `S` of this kind, see SchemeOf; any of them proposes for all.
template <typename S>
class GridSchemeOf : public SchemeOf<S, GridScheme> {
 public:
  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return takes_grid(problem) && (method == Method::truncated_streamed || method == Method::exact_factored);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection& rejection) const {
    return propose_grid(problem, rejection);
  }
  /// One of them proposes what all have.
  template <typename T>
  std::optional<Plan> cheapest(const Problem<T>& problem) const {
    std::optional<Plan> least = least_of_grid(problem);
    return least && this->owns(*least) ? least : std::nullopt;
  }
};

/// The worst of all lines, or of one where they are alike.
template <typename T>
Rounding bound_grid(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, const Survey& survey) {
  const bool alike = plan.form == Form::shared;
  Rounding worst{grid_rounding_by_survey(plan, survey)};
  // Of lines that are alike, one costs nothing.
  if (plan.n == 0 || (worst.eps <= kRoundingLimit && !alike)) return worst;
  worst = {};
  std::mutex mutex;
  for_columns(lines, alike ? 1 : lines.count(), [&](Index first, Index width) {
    const Column<T> column(lines, bands, first, width);
    const std::vector<Rounding> bounds = bound_grid_lines(plan, lines.length(0), column.lines());
    const std::lock_guard lock(mutex);
    for (Index l = 0; l < width; ++l) take_worse(bounds[static_cast<std::size_t>(l)], lines, first + l, worst);
  });
  return worst;
}

}  // namespace oclspkt
