// SPDX-License-Identifier: BSD-2-Clause
// What schemes are asked, and the plans that they answer with.
#pragma once

#include <cctype>
#include <map>
#include <optional>

#include "devices.hpp"
#include "schemes/scheme.hpp"
#include "survey.hpp"
#include "ways.hpp"

namespace oclspkt::test {

/// Matrices by name. Each suits another storage form, or another bound.
enum class AskedMatrix {
  random,
  symmetric,
  alike,
  alike_symmetric,
  slow,
  gentle,
  diffusion,
  poisson,
  row_sums_zero,
  uneven,
  own_ends,
  steep,
  upwind,
  downwind,
  column_sums_zero,
  turning,
  streamed_jump,
  streamed_jump_of_floats,
  halo_jump,
  drawn,
  drawn_weaker,
  falling,
  falling_far,
  drawn_signs,
  huge,
  tiny
};

/// Two materials: rows (-G(i), G(i) + f G(i + 1) + sink, -f G(i + 1)), G being `ratio` up to a row and 1 behind it,
/// over the diagonal.
template <typename T>
Bands<T> jump(const LineSet& lines, Index border, double ratio, double f, double sink) {
  const auto conductivity = [=](Index i) { return i <= border ? ratio : 1.0; };
  return fill<T>(lines, [=](Index i) {
    const double above = conductivity(i), below = f * conductivity(i + 1), diag = above + below + sink;
    return Row{-above / diag, 1, -below / diag};
  });
}

template <typename T>
inline constexpr T kFar = sizeof(T) == sizeof(float) ? T(0x1p101) : T(0x1p960);

template <typename T>
struct NamedMatrix {
  const char* name;
  Bands<T> (*make)(const LineSet&);
};

template <typename T>
const NamedMatrix<T>& named(AskedMatrix m) {
  using L = const LineSet&;
  static const NamedMatrix<T> kAll[] = {
      {"random, d 3", [](L lines) { return random_dominant<T>(lines, 3); }},
      {"symmetric, d 3", [](L lines) { return random_symmetric<T>(lines, 3); }},
      {"rows alike", [](L lines) { return constant<T>(lines, -1, 4, -1.5); }},
      {"rows alike, symmetric", [](L lines) { return constant<T>(lines, -1, 4, -1); }},
      {"random, d 1.05", [](L lines) { return random_dominant<T>(lines, 1.05); }},
      {"rows alike, d 1.25", [](L lines) { return constant<T>(lines, -1, 2.5, -1); }},
      {"diffusion 100", [](L lines) { return diffusion<T>(lines, 100); }},
      {"Poisson", [](L lines) { return constant<T>(lines, -1, 2, -1); }},
      {"row sums 0", [](L lines) { return conductivities<T>(lines); }},
      {"uneven diffusion 1000",
       [](L lines) {
         return wide_conduction<T>(lines, {"", 1000, 1.0 / 3});
       }},
      {"rows alike but for the ends",
       [](L lines) {
         Bands<T> bands = diffusion<T>(lines, 1);
         for (Index l = 0; l < lines.count(); ++l) {
           if (lines.length(l) == 0) continue;
           const Index first = lines.first(l), last = first + (lines.length(l) - 1) * lines.row_stride();
           bands.diag()[first] = 2;
           bands.upper()[first] = T(-0.5);
           bands.lower()[last] = T(-0.25);
         }
         return bands;
       }},
      {"diffusion 1e5", [](L lines) { return diffusion<T>(lines, 1e5); }},
      {"upwind", [](L lines) { return upwind<T>(lines, 10); }},
      {"downwind", [](L lines) { return upwind<T>(lines, 10, true); }},
      {"column sums 0", [](L lines) { return column_sums_zero<T>(lines, 0.1); }},
      // The row in the middle is not dominant, so that one work-item of many sees another kind of row.
      {"one weak row",
       [](L lines) {
         Bands<T> bands = constant<T>(lines, -1, 2, -1);
         for (Index l = 0; l < lines.count(); ++l) {
           bands.diag()[lines.first(l) + lines.length(l) / 2 * lines.row_stride()] = T(1.5);
         }
         return bands;
       }},
      // Rounding grew beyond what was promised here: streamed tiles, also in float, and tiles with a halo.
      {"jump at row 635", [](L lines) { return jump<T>(lines, 635, 1974484.63, 1.11387, 0); }},
      {"jump at row 768", [](L lines) { return jump<T>(lines, 768, 43958.1828, 1.14115, 4.95e-8); }},
      {"jump at row 929", [](L lines) { return jump<T>(lines, 929, 177506.817, 1.12299, 0); }},
      {kWideRanges[0].what, [](L lines) { return wide_conduction<T>(lines, kWideRanges[0]); }},
      {kWideRanges[1].what, [](L lines) { return wide_conduction<T>(lines, kWideRanges[1]); }},
      {kWideRanges[2].what, [](L lines) { return wide_conduction<T>(lines, kWideRanges[2]); }},
      {kWideRanges[3].what, [](L lines) { return wide_conduction<T>(lines, kWideRanges[3]); }},
      {kWideRanges[4].what, [](L lines) { return wide_conduction<T>(lines, kWideRanges[4]); }},
      // Where pivots are beyond the range of products.
      {"Poisson, huge", [](L lines) { return constant<T>(lines, -kFar<T>, 2 * kFar<T>, -kFar<T>); }},
      {"Poisson, tiny", [](L lines) { return constant<T>(lines, -1 / kFar<T>, 2 / kFar<T>, -1 / kFar<T>); }}};
  return kAll[static_cast<int>(m)];
}

/// A closed matrix whose numbers a float holds, but for those at the ends of the range.
template <typename T>
Bands<T> asked_matrix(AskedMatrix m, const LineSet& lines) {
  Bands<T> bands = closed(named<T>(m).make(lines));
  if (m >= AskedMatrix::huge) return bands;
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

  System(AskedMatrix matrix, const LineSet& lines) : System(asked_matrix<T>(matrix, lines)) {}
  explicit System(Bands<T> made)
      : bands(std::move(made)),
        seen(survey(lines(), bands.view())),
        y(random_vector<T>(lines().extent())),
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
  double most_rounding = kRoundingLimit;
  bool wide = false;  ///< by as many lanes as a tile may have, whatever registers the device has

  DeviceSettings settings(bool copies = false) const {
    return {.variant = variant, .use = {.transfer = copies ? Transfer::copy : Transfer::automatic}};
  }
  std::string text() const {
    return std::string(small ? ", small tiles" : "") + (precision == Precision::narrow ? ", narrow" : "") +
           (rtol > 0 ? ", truncated" : "");
  }
};

/// Rows of a partition that is short for a scheme by the kernels of a variant.
inline Index short_partition(Variant variant, const Scheme& scheme) {
  const bool of_paper = scheme.nature().only_asked_for;
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
  if (manner.wide) traits.lanes = traits.tile_lanes;
  if (manner.small) traits.group_items = std::min(traits.group_items, kFewItems);
  std::vector<Proposal> plans;
  const auto add = [&](const char* form, Method method, MethodChoice choice) {
    Options options{.method = choice, .variant = form, .precision = manner.precision, .rtol = manner.rtol};
    if (manner.small) options.partition = short_partition(manner.variant, scheme);
    Problem<T> problem{options, system.bands, system.seen, traits};
    problem.method = method;
    problem.rounding_limit = manner.most_rounding;
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

/// The form of a plan and the words of its view, without numbers and without what is stored.
inline std::string words_of(const Scheme& scheme, const Plan& plan) {
  std::string shape = scheme.shape(plan), words = std::string(scheme.form(plan)) + " ";
  if (const std::size_t stored = shape.find(" factors"); stored != std::string::npos) shape.erase(0, stored);
  for (const char letter : shape) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) words += letter;
  }
  return words;
}
inline std::string storage_of(const Plan& plan) {
  return std::string(name(plan.form)) + (plan.narrow ? " narrow" : "");
}
inline const char* kind_of(const LineSet& lines) {
  return !lines.contiguous() ? "side by side" : lines.count() > 1 ? "lines" : "one line";
}
/// What tells the kernels of plans apart.
inline std::string kind_of(const Scheme& scheme, const Plan& plan, const LineSet& lines) {
  return words_of(scheme, plan) + ", " + storage_of(plan) + ", " + kind_of(lines);
}

}  // namespace oclspkt::test
