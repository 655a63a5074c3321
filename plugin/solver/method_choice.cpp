// SPDX-License-Identifier: BSD-2-Clause
#include "method_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "certificate.hpp"
#include "evidence.hpp"

namespace oclspkt {
namespace {

/// Halos up to this many rows are taken from the dominance alone; longer ones are worth following the decay.
constexpr Index kQuickHalo = 64;
/// Halos are multiples of this.
constexpr Index kHaloQuantum = 8;
/// Halos tried when the decay is followed, shortest first: a short search costs little.
constexpr Index kHaloSearch[] = {64, 256, 1024, 4096};
/// Halo of a truncated method that the user named and that no certificate covers.
constexpr Index kUncoveredHalo = 256;
/// Tiles tried for the streamed form.
constexpr Index kTileSearch[] = {16 * 31, 16 * 127, 16 * 511, 16 * 2047};

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

template <typename T>
Plan plan_for(const Problem<T>& problem, Method method, Index halo) {
  return make_plan(method, problem.bands.lines().rows(), halo, problem.options.partition, sizeof(T), problem.traits);
}

std::string where(const Certificate& c) {
  return format("rows %lld-%lld", static_cast<long long>(c.first), static_cast<long long>(c.last));
}

Proposal covered(const Plan& plan, double certificate, double tol, const Survey& survey) {
  Proposal p;
  p.plan = plan;
  p.certificate = certificate;
  p.needs_trial = !(survey.dominance >= 1);
  p.why = format("row dominance %.4f, certificate %.1e <= %.1e", survey.dominance, certificate, tol);
  return p;
}

/// A truncated plan without cover, for a user who named the method.
Proposal uncovered(const Plan& plan, const Certificate& certificate, double tol) {
  Proposal p;
  p.plan = plan;
  p.certificate = certificate.bound;
  p.above_tolerance = true;
  p.why =
      format("asked for, although its certificate is %.1e > %.1e (", certificate.bound, tol) + where(certificate) + ")";
  return p;
}

/// The halo that dominance guarantees, if reading it again is still cheaper than the exact method.
template <typename T>
std::optional<Proposal> propose_by_dominance(const Problem<T>& problem, double tol, Index longest) {
  const double d = problem.survey.dominance;
  const Index needed = halo_from_dominance(d, tol);
  if (needed < 0 || needed > longest) return std::nullopt;
  const Index halo = (needed + kHaloQuantum - 1) / kHaloQuantum * kHaloQuantum;
  return covered(plan_for(problem, Method::truncated_halo, halo), 2 * std::pow(d, -static_cast<double>(halo + 1)), tol,
                 problem.survey);
}

bool cheaper_than_exact(const Plan& plan) {
  Plan exact = plan;
  exact.method = Method::exact_twopass;
  return plan.words_per_row() < exact.words_per_row();
}

template <typename T>
std::optional<Proposal> propose_halo(const Problem<T>& problem, std::string& refusal) {
  const double tol = tolerance<T>(problem.options);
  const Index n = problem.bands.lines().rows();
  const BandsView<T> view = problem.bands.view();
  if (auto quick = propose_by_dominance(problem, tol, kQuickHalo)) return quick;

  for (const Index longest : kHaloSearch) {
    const Plan trial = plan_for(problem, Method::truncated_halo, longest);
    const Index halo = find_halo(n, view, trial.m, tol, longest);
    if (halo < 0) {
      refusal =
          format("needs more than %lld rows of halo for a certificate of %.1e", static_cast<long long>(longest), tol);
      continue;
    }
    const Plan plan = plan_for(problem, Method::truncated_halo, halo);
    if (!cheaper_than_exact(plan)) {
      refusal = format("a halo of %lld rows costs %.1f words a row, no less than the exact method",
                       static_cast<long long>(halo), plan.words_per_row());
      break;
    }
    const Certificate certificate = certify_halo(n, view, plan.m, plan.halo);
    if (certificate.bound <= tol) return covered(plan, certificate.bound, tol, problem.survey);
    refusal = format("halo %lld: certificate %.1e > %.1e (", static_cast<long long>(halo), certificate.bound, tol) +
              where(certificate) + ")";
  }
  if (!named(problem.options.method)) return std::nullopt;
  const Plan plan = plan_for(problem, Method::truncated_halo, kUncoveredHalo);
  return uncovered(plan, certify_halo(n, view, plan.m, plan.halo), tol);
}

template <typename T>
std::optional<Proposal> propose_streamed(const Problem<T>& problem, std::string& refusal) {
  const double tol = tolerance<T>(problem.options);
  const Index n = problem.bands.lines().rows();
  Plan plan;
  Certificate certificate;
  for (const Index tile : kTileSearch) {
    const Index partition = problem.options.partition > 0 ? problem.options.partition : tile;
    plan = make_plan(Method::truncated_streamed, n, 0, partition, sizeof(T), problem.traits);
    certificate = certify_streamed(n, problem.bands.view(), plan.m, plan.runs);
    if (certificate.bound <= tol) return covered(plan, certificate.bound, tol, problem.survey);
    if (partition != tile || plan.m >= n) break;
  }
  refusal = format("certificate %.1e > %.1e (", certificate.bound, tol) + where(certificate) + ")";
  if (!named(problem.options.method)) return std::nullopt;
  return uncovered(plan, certificate, tol);
}

template <typename T>
std::optional<Proposal> propose_exact(const Problem<T>& problem, Method method, std::string& refusal) {
  Proposal p;
  p.plan = plan_for(problem, method, 0);
  p.needs_trial = true;
  const bool dominant = problem.survey.dominance >= 1;
  // Stored factors report their growth when they are made, see Solver; here only what starts anew in each partition.
  p.growth = dominant                          ? 2
             : method == Method::exact_twopass ? elimination_growth(p.plan.n, problem.bands.view(), p.plan.m)
                                               : 0;
  p.why = format("row dominance %.4f", problem.survey.dominance);
  if (p.growth <= kGrowthLimit || named(problem.options.method)) return p;
  refusal = format("growth %.1e > %.0f", p.growth, kGrowthLimit);
  return std::nullopt;
}

}  // namespace

template <typename T>
double tolerance(const Options& options) {
  return options.rtol > 0 ? options.rtol : static_cast<double>(std::numeric_limits<T>::epsilon());
}

std::vector<Method> methods_to_try(MethodChoice choice, bool on_host) {
  const Method exact = on_host ? Method::exact_factored : Method::exact_twopass;
  switch (choice) {
    case MethodChoice::automatic:
      // On the host the stored factors cost no more than truncation and need no certificate.
      if (on_host) return {exact, Method::pivot};
      return {Method::truncated_halo, exact, Method::pivot};
    case MethodChoice::truncated:
    case MethodChoice::truncated_halo:
      return {Method::truncated_halo};
    case MethodChoice::truncated_streamed:
      return {Method::truncated_streamed};
    case MethodChoice::exact:
      return {exact};
    case MethodChoice::exact_twopass:
      return {Method::exact_twopass};
    case MethodChoice::exact_factored:
      return {Method::exact_factored};
    case MethodChoice::pivot:
      return {Method::pivot};
  }
  return {};
}

bool named(MethodChoice choice) { return choice != MethodChoice::automatic; }

template <typename T>
std::optional<Proposal> propose(const Problem<T>& problem, Method method, std::string& refusal) {
  switch (method) {
    case Method::truncated_halo:
      return propose_halo(problem, refusal);
    case Method::truncated_streamed:
      return propose_streamed(problem, refusal);
    case Method::exact_twopass:
    case Method::exact_factored:
      return propose_exact(problem, method, refusal);
    case Method::pivot:
      break;
  }
  Proposal p;
  p.plan = plan_for(problem, Method::pivot, 0);
  p.needs_trial = true;
  p.why = "partial pivoting";
  return p;
}

template <typename T>
double likely_words(const Options& options, const Survey& survey) {
  Plan plan;
  const bool truncates = options.method == MethodChoice::automatic
                             ? halo_from_dominance(survey.dominance, tolerance<T>(options)) >= 0
                             : options.method <= MethodChoice::truncated_streamed;
  plan.method = truncates ? Method::truncated_halo : Method::exact_twopass;
  return plan.words_per_row();
}

#define OCLSPKT_INSTANTIATE(T)                                                       \
  template double tolerance<T>(const Options&);                                      \
  template std::optional<Proposal> propose(const Problem<T>&, Method, std::string&); \
  template double likely_words<T>(const Options&, const Survey&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
