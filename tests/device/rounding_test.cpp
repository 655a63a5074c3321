// SPDX-License-Identifier: BSD-2-Clause
// Bounds on rounding of kernels for GPUs against matrices that make rounding grow in interface systems of work-items or
// tiles.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "certificate.hpp"
#include "devices.hpp"
#include "geometry.hpp"
#include "residual.hpp"
#include "rounding.hpp"
#include "row_error.hpp"
#include "schemes/paper/paper_form.hpp"
#include "schemes/tiles/rounding_runs.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "survey.hpp"

namespace oclspkt::test {
namespace {

/// Two materials: rows (-G(i), G(i) + f G(i+1) + H, -f G(i+1)), G being K up to row J and 1 behind it, over the
/// diagonal.
template <typename T>
Bands<T> jump(Index n, double J, double K, double f, double H, bool upside_down) {
  const auto G = [&](Index i) { return static_cast<double>(i) <= J ? K : 1.0; };
  return closed(fill<T>(LineSet::one(n), [&](Index row) {
    const Index i = upside_down ? n - 1 - row : row;
    const double diag = G(i) + f * G(i + 1) + H, from = -G(i) / diag, to = -f * G(i + 1) / diag;
    return upside_down ? Row{to, 1, from} : Row{from, 1, to};
  }));
}

std::string format_jump(Index n, double J, double K, double f, double H) {
  std::ostringstream text;
  text << "jump(" << n << ", " << J << ", " << K << ", " << f << ", " << H << ")";
  return text.str();
}

/// Right-hand sides of solutions that hurt: alternating, constant, random, and none of them.
template <typename T>
std::vector<std::vector<T>> right_hand_sides(const Bands<T>& bands) {
  const Index n = bands.lines().rows();
  std::vector<std::vector<T>> all;
  for (const int kind : {0, 1, 2}) {
    std::vector<T> x = random_vector<T>(n), y(x.size());
    for (Index i = 0; i < n && kind < 2; ++i) x[static_cast<std::size_t>(i)] = T(kind == 0 && i % 2 != 0 ? -1 : 1);
    multiply(bands.lines(), bands.view(), x.data(), y.data());
    all.push_back(std::move(y));
  }
  all.push_back(random_vector<T>(n));
  return all;
}

/// A plan, and what truncation may leave in a row, in eps.
struct Planned {
  std::string what;
  Plan plan;
  double truncated = 0;
  bool by_values = false;  ///< bound_reduced() of the values
};

/// Every scheme by work-groups, in shapes that are small enough for many joints. Those that truncate too much are left
/// out.
template <typename T>
std::vector<Planned> all_plans(const Bands<T>& bands, const DeviceTraits& traits) {
  const Index n = bands.lines().rows();
  const BandsView<T> view = bands.view();
  std::vector<Planned> plans;
  const auto add = [&](const char* what, const Plan& plan, double certificate) {
    if (!(certificate <= 4 * kEps<T>)) return;
    plans.push_back({what, plan, 2 * certificate / kEps<T>});
    if (plan.method != Method::truncated_streamed) return;
    for (const bool corrects : {false, true}) {
      if (!corrects && plan.halo == 0) continue;
      plans.push_back({std::string(what) + (corrects ? ", corrected" : ", joined"), plan, 2 * certificate / kEps<T>});
      Plan& joined = plans.back().plan;
      if (is_symmetric(bands.lines(), view)) joined.form = Form::symmetric;
      joined.as<StoredFactors>().corrects = corrects;
      if (plan.halo == 0) continue;
      // Runs of one tile and of two between those of their neighbours.
      joined.halo = plan.group_rows();
      joined.run_tiles = plans.size() % 2 == 0 ? 3 : 4;
      joined.m = joined.run_tiles * joined.halo - 2 * joined.halo;
      joined.runs = static_cast<int>(joined.tiles());
      joined.chunk_tiles = joined.tiles();
    }
  };
  for (const Index reach : {64, 512}) {
    const Plan plan = make_run_plan(n, reach, reach == 64 ? 4 : 8, sizeof(T), traits);
    add("runs", plan, certify_runs(plan, view).bound);
  }
  // One tile holds all rows, and nothing is truncated.
  Plan whole = make_run_plan(n, 8, n > 1024 ? 32 : 8, sizeof(T), traits);
  whole.halo = 0;
  whole.m = whole.group_rows();
  whole.run_tiles = 1;
  if (n <= whole.m) {
    whole.runs = 1;
    add("whole run", whole, 0);
  }
  for (const Index halo : {0, 64, 200}) {
    Plan plan = make_plan(Method::truncated_halo, n, halo, halo == 0 && n > 1024 ? 32 : 8, sizeof(T), traits);
    if (halo == 0 && n > plan.m) continue;
    add(halo == 0 ? "whole tile" : "halo", plan,
        halo == 0 ? 0 : certify_halo(n, view, plan.m, plan.halo, {0, n}).bound);
  }
  for (const Index m : {32, 128}) {
    const Plan plan = make_paper_plan(n, m, sizeof(T), traits);
    const double tolerable = 4 * kEps<T>;
    const double certificate = certify_halves(plan, view, tolerable).bound;
    add("paper", plan, certificate <= tolerable ? certificate : 1);
  }
  if (is_symmetric(bands.lines(), view)) {
    add("reduced, symmetric", make_reduce_plan(n, 0, sizeof(T), traits, Form::symmetric), 0);
  }
  add("reduced", make_reduce_plan(n, 0, sizeof(T), traits), 0);
  plans.push_back({"reduced, by values", plans.back().plan, 0, true});
  return plans;
}

template <typename T>
class RoundingBound : public testing::Test {
 protected:
  /// Hold what every plan leaves in its rows against its bound.
  void attack(const std::string& what, const Bands<T>& bands) {
    const Survey seen = survey(bands.lines(), bands.view());
    const auto sides = right_hand_sides(bands);
    on_every_device_for_gpus<T>([&](const DeviceInfo& info) {
      const DeviceTraits traits = module().traits(info.index, sizeof(T) == sizeof(double), kForGpus);
      for (const Planned& p : all_plans(bands, traits)) {
        Rounding bound = bound_rounding(p.plan, bands.lines(), bands.view(), seen);
        if (p.by_values && std::isfinite(bound.eps)) bound = bound_reduced(p.plan, bands.view());
        if (!std::isfinite(bound.eps)) {
          ++unknown_[p.what];
          continue;
        }
        const DeviceSettings settings{.variant = p.plan.has<PaperForm>() ? Variant::paper_gpu : Variant::gpu};
        double error = 0;
        for (const auto& y : sides) {
          error =
              std::max(error, row_error(bands, solve_by_plan(info.index, p.plan, bands, y, settings), y).all / kEps<T>);
        }
        EXPECT_LE(error, bound.eps + p.truncated) << p.what << ", " << what << ", " << p.plan.n << " rows";
        if (!(error <= largest_)) largest_ = error;
        ratios_[p.what].push_back(bound.eps / std::max(error, 0.01));
        accepted_[p.what] += bound.eps <= kRoundingLimit ? 1 : 0;
      }
    });
  }
  void TearDown() override {
    for (auto& [what, ratios] : ratios_) {
      std::sort(ratios.begin(), ratios.end());
      std::printf("%-20s %4zu plans, %4d accepted; bound / error least %.2f, median %.1f\n", what.c_str(),
                  ratios.size(), accepted_[what], ratios.front(), ratios[ratios.size() / 2]);
    }
    for (const auto& [what, count] : unknown_) std::printf("%-20s %4d plans without a bound\n", what.c_str(), count);
    std::printf("largest error %.3g eps\n", largest_);
  }

 private:
  std::map<std::string, std::vector<double>> ratios_;
  std::map<std::string, int> accepted_, unknown_;
  double largest_ = 0;
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(RoundingBound, Scalars);

TYPED_TEST(RoundingBound, HoldsForTwoMaterials) {
  using T = TypeParam;
  std::mt19937 engine(25);
  std::uniform_real_distribution<double> unit(0, 1);
  const double decades = sizeof(T) == sizeof(float) ? 6 : 14;
  for (int k = 0; k < 40; ++k) {
    const Index n = 100 + static_cast<Index>(unit(engine) * 3000);
    const double J = std::round(unit(engine) * static_cast<double>(n)), K = std::pow(10, decades * unit(engine));
    const double f = unit(engine) < 0.3 ? 1 : 1 + 0.15 * unit(engine);
    const double H = unit(engine) < 0.3 ? 0 : std::pow(10, -8 * unit(engine));
    this->attack(format_jump(n, J, K, f, H), jump<T>(n, J, K, f, H, k % 2 == 1));
  }
}

TYPED_TEST(RoundingBound, HoldsForWhatFailedWithoutOne) {
  using T = TypeParam;
  this->attack("double, streamed", jump<T>(917, 635, 1974484.63, 1.11387, 0, false));
  this->attack("float, streamed", jump<T>(2611, 768, 43958.1828, 1.14115, 4.95e-8, false));
  this->attack("float, halo", jump<T>(1040, 929, 177506.817, 1.12299, 0, false));
}

TYPED_TEST(RoundingBound, HoldsForRowsThatAreAlikeAndForRandomOnes) {
  using T = TypeParam;
  const LineSet one = LineSet::one(2500);
  for (const double lambda : {1.0, 10.0, 100.0, 1e3, 1e4, 1e5}) {
    this->attack("lambda " + std::to_string(lambda), closed(diffusion<T>(one, lambda)));
  }
  for (const double d : {1.0, 1.0001, 1.01, 1.05, 1.2, 3.0}) {
    this->attack("dominance " + std::to_string(d), closed(random_dominant<T>(one, d)));
    this->attack("symmetric, dominance " + std::to_string(d), closed(random_symmetric<T>(one, d)));
  }
  this->attack("Poisson", closed(constant<T>(one, -1, 2, -1)));
  this->attack("advection", closed(constant<T>(one, -1, 1.0001, -0.0001)));
  for (const Decades& range : kWideRanges) this->attack(range.what, closed(wide_conduction<T>(one, range)));
}

}  // namespace
}  // namespace oclspkt::test
