// SPDX-License-Identifier: BSD-2-Clause
// What schemes are asked, and the plans that they answer with.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "devices.hpp"
#include "judge.hpp"
#include "schemes/scheme.hpp"
#include "survey.hpp"

namespace oclspkt::test {

/// Matrices by name. Each suits another storage form, or another bound.
enum class AskedMatrix { random, symmetric, alike, alike_symmetric, slow, gentle, diffusion, poisson, row_sums_zero };
inline const char* name(AskedMatrix m) {
  constexpr const char* kNames[] = {"random, d 3",           "symmetric, d 3", "rows alike",
                                    "rows alike, symmetric", "random, d 1.05", "rows alike, d 1.25",
                                    "diffusion 100",         "Poisson",        "row sums 0"};
  return kNames[static_cast<int>(m)];
}

/// A closed matrix whose numbers a float holds.
template <typename T>
Bands<T> asked_matrix(AskedMatrix m, const LineSet& lines) {
  const auto made = [&] {
    switch (m) {
      case AskedMatrix::random:
        return random_dominant<T>(lines, 3);
      case AskedMatrix::symmetric:
        return random_symmetric<T>(lines, 3);
      case AskedMatrix::alike:
        return constant<T>(lines, -1, 4, -1.5);
      case AskedMatrix::alike_symmetric:
        return constant<T>(lines, -1, 4, -1);
      case AskedMatrix::slow:
        return random_dominant<T>(lines, 1.05);
      case AskedMatrix::gentle:
        return constant<T>(lines, -1, 2.5, -1);
      case AskedMatrix::diffusion:
        return diffusion<T>(lines, 100);
      case AskedMatrix::poisson:
        return constant<T>(lines, -1, 2, -1);
      case AskedMatrix::row_sums_zero:
        return conductivities<T>(lines);
    }
    return Bands<T>{};
  };
  Bands<T> bands = closed(made());
  for (Index i = 0; i < lines.extent(); ++i) {
    for (T* const band : {&bands.lower()[i], &bands.diag()[i], &bands.upper()[i]}) {
      *band = static_cast<T>(static_cast<float>(*band));
    }
  }
  return bands;
}

/// A matrix, and what is known of it.
template <typename T>
struct System {
  Bands<T> bands;
  Survey seen;
  std::vector<T> y, x;  ///< a right-hand side, and what LAPACK makes of it

  System(AskedMatrix matrix, const LineSet& lines)
      : bands(asked_matrix<T>(matrix, lines)),
        seen(survey(lines, bands.view())),
        y(random_vector<T>(lines.extent())),
        x(solve_by_reference(bands, y)) {}
  const LineSet& lines() const { return bands.lines(); }
};

/// Systems are made once for all schemes.
template <typename T>
const System<T>& system_of(AskedMatrix matrix, const LineSet& lines) {
  static std::map<std::pair<AskedMatrix, std::string>, System<T>> all;
  const std::string text =
      lines.describe() + " " + std::to_string(lines.row_stride()) + " " + std::to_string(lines.extent());
  return all.try_emplace({matrix, text}, matrix, lines).first->second;
}

/// How plans are asked for.
struct Manner {
  Variant variant = Variant::cpu;  ///< whose kernels are meant
  bool small = false;              ///< by short partitions and small work-groups, so that few rows are many tiles
  Precision precision = Precision::same;
  double rtol = 0;

  DeviceSettings settings(bool copies = false) const { return {.variant = variant, .copy_vectors = copies}; }
  std::string text() const {
    return std::string(small ? ", small tiles" : "") + (precision == Precision::narrow ? ", narrow" : "") +
           (rtol > 0 ? ", truncated" : "");
  }
};

/// Rows of a partition that is short for a scheme by the kernels of a variant.
inline Index short_partition(Variant variant, const Scheme& scheme) {
  const bool of_paper = scheme.only_asked_for();
  return variant == Variant::fpga ? 32 : variant == Variant::gpu ? (of_paper ? 32 : 8) : of_paper ? 160 : 48;
}

/// All plans that a scheme has for a system, each asked for by refusing what the one before it may round.
template <typename T>
std::vector<Proposal> plans_of(const Scheme& scheme, const System<T>& system, int device, const Manner& manner,
                               const DeviceSettings& settings) {
  constexpr int kMostPlans = 6, kFewItems = 32;
  constexpr std::pair<Method, MethodChoice> kMethods[] = {
      {Method::truncated_halo, MethodChoice::truncated_halo},
      {Method::truncated_streamed, MethodChoice::truncated_streamed},
      {Method::exact_twopass, MethodChoice::exact_twopass},
      {Method::exact_factored, MethodChoice::exact_factored}};
  DeviceTraits traits = module().traits(device, sizeof(T) == sizeof(double), settings);
  traits.cores = std::min(traits.cores, 2);  // schemes refuse what would leave more cores idle
  if (manner.small) traits.group_items = std::min(traits.group_items, kFewItems);
  std::vector<Proposal> plans;
  const auto add = [&](const char* form, Method method, MethodChoice choice) {
    Options options;
    options.method = choice;
    options.variant = form;
    options.precision = manner.precision;
    options.rtol = manner.rtol;
    if (manner.small) options.partition = short_partition(manner.variant, scheme);
    Problem<T> problem{options, system.bands, system.seen, traits};
    problem.method = method;
    if (!scheme.takes(method, problem)) return;
    for (int i = 0; i < kMostPlans; ++i) {
      Rejection rejection;
      const std::optional<Proposal> proposal = judge(problem, scheme, rejection);
      if (!proposal) break;
      // Of schemes that propose for each other, each is asked itself.
      if (&scheme_of(proposal->plan) == &scheme) plans.push_back(*proposal);
      if (!(proposal->rounding->eps > 0)) break;
      problem.rounding_limit = 0.95 * std::min(problem.rounding_limit, proposal->rounding->eps);
    }
  };
  for (const char* const form : scheme.forms()) {
    for (const auto& [method, choice] : kMethods) add(form, method, choice);
  }
  return plans;
}

/// What tells the kernels of plans apart: the words of the view without numbers, and the form.
inline std::string kind_of(const Scheme& scheme, const Plan& plan, const LineSet& lines) {
  std::string kind = std::string(scheme.form(plan)) + " " + name(plan.form) + (plan.narrow ? " narrow, " : ", ") +
                     (!lines.contiguous() ? "side by side "
                      : lines.count() > 1 ? "lines "
                                          : "one line ");
  for (const char letter : scheme.shape(plan)) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) kind += letter;
  }
  return kind;
}

}  // namespace oclspkt::test
