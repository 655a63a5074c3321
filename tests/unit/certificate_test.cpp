// SPDX-License-Identifier: BSD-2-Clause
#include "certificate_support.hpp"
#include "evidence.hpp"
#include "geometry.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/tiles/rounding_runs.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

using test::certify;
using test::closed;
using test::expect_covered;
using test::halo_plan;
using test::solutions;
using test::stored_plan;
using test::true_error;

/// The certificate holds for stored factors whose growth may be trusted with rounding.
void expect_stored_covered(const Plan& plan, const Bands<double>& bands) {
  const Certificate certificate = certify(plan, bands);
  if (certificate.growth <= kGrowthLimit) expect_covered(plan, bands, certificate);
}

/// A matrix in all the ways in which it may be truncated.
void expect_covered_in_every_form(const Bands<double>& bands) {
  const Index n = bands.lines().rows();
  for (const Index halo : {8, 40, 90}) expect_covered(halo_plan(n, 100, halo), bands);
  for (const Index m : {16, 48}) {
    for (const int runs : {1, 4}) expect_stored_covered(stored_plan(n, m, 0, runs), bands);
  }
}

/// The same matrix with column j times 2^k(j).
template <typename F>
Bands<double> scale_columns(Bands<double> bands, const F& k) {
  const Index n = bands.lines().rows();
  for (Index i = 0; i < n; ++i) {
    bands.diag()[i] = std::ldexp(bands.diag()[i], k(i));
    if (i > 0) bands.lower()[i] = std::ldexp(bands.lower()[i], k(i - 1));
    if (i + 1 < n) bands.upper()[i] = std::ldexp(bands.upper()[i], k(i + 1));
  }
  return bands;
}

/// Diffusion, winds from either side and both, a row that resonates with those beside it, columns that dominate,
/// columns of any scale.
std::vector<std::pair<std::string, Bands<double>>> matrices() {
  std::vector<std::pair<std::string, Bands<double>>> all;
  const auto add = [&](const std::string& what, Bands<double> open) {
    all.emplace_back(what, closed(std::move(open)));
  };
  for (const double lambda : {1.0, 10.0, 100.0, 1000.0, 1e4, 1e5}) {
    add("lambda " + std::to_string(lambda), test::diffusion<double>(LineSet::one(3000), lambda));
  }
  for (const double peclet : {1.0, 10.0, 1e3}) {
    for (const bool against : {false, true}) {
      add("wind " + std::to_string(peclet), test::upwind<double>(LineSet::one(4000), peclet, against));
    }
  }
  add("winds that meet", test::fill<double>(LineSet::one(4000), [](Index i) {
        return i < 2000 ? test::Row{-11, 12, -1} : test::Row{-1, 12, -11};
      }));
  for (const double diag : {0.0, 0.7, 0.7639, 0.76393202}) {  // 3 - sqrt(5) resonates
    add("resonance " + std::to_string(diag), test::constant<double>(LineSet::one(400), -1, 3, -1));
    all.back().second.diag()[250] = diag;
  }
  for (const double least : {0.01, 0.5}) {
    add("column sums 0", test::column_sums_zero<double>(LineSet::one(1500), least));
  }
  add("dominant columns", test::column_sums_zero<double>(LineSet::one(1500)));
  for (Index i = 0; i < 1500; ++i) all.back().second.diag()[i] *= 1.5;
  std::mt19937 generator(test::kSeed);
  std::uniform_int_distribution<int> exponent(-40, 40);
  std::vector<int> k(1500);
  for (int& e : k) e = exponent(generator);
  add("columns of any scale", scale_columns(closed(test::random_dominant<double>(LineSet::one(1500), 3)),
                                            [&](Index j) { return k[static_cast<std::size_t>(j)]; }));
  return all;
}

TEST(Certificate, CoversTheTrueError) {
  for (const auto& [what, bands] : matrices()) {
    SCOPED_TRACE(what);
    expect_covered_in_every_form(bands);
    if (what.rfind("lambda", 0) != 0) continue;
    // Sharp, too: x = 1 reaches the certificate of the halo form.
    const Index n = bands.lines().rows();
    for (const Index halo : {8, 40, 90}) {
      const Plan plan = halo_plan(n, 100, halo);
      EXPECT_GE(true_error(plan, bands, solutions(n)[0]).error, 0.5 * certify(plan, bands).bound - 1e-11);
    }
  }
}

TEST(Certificate, NeedsNoDominance) {
  // Random rows, each with a dominance of its own from 0.8 on.
  std::mt19937 generator(test::kSeed);
  std::uniform_real_distribution<double> dominance(0.8, 3);
  int short_enough = 0;
  for (std::uint32_t k = 0; k < 20; ++k) {
    Bands<double> bands = closed(test::random_dominant<double>(LineSet::one(600), 1, test::kSeed + k));
    for (Index i = 0; i < 600; ++i) bands.diag()[i] *= dominance(generator);
    ASSERT_LT(survey(bands.lines(), bands.view()).dominance, 0.9);
    expect_covered_in_every_form(bands);
    short_enough += certify(halo_plan(600, 100, 90), bands).bound <= 1e-15;
  }
  EXPECT_GE(short_enough, 10);
}

TEST(Certificate, FollowsFromTheDominanceOfRowsAlone) {
  // By columns d is 3, for which 33 rows of halo do; the scale of the columns grows by 2^0.875 a row, and they do not.
  const Index n = 1200, m = 300;
  const double tol = 1e-15;
  const Bands<double> bands = scale_columns(closed(test::constant<double>(LineSet::one(n), -1, 6, -1)),
                                            [](Index j) { return static_cast<int>(j % 300 * 7 / 8 % 256); });
  EXPECT_EQ(halo_from_dominance(survey(bands.lines(), bands.view()).dominance, tol), -1);
  const Plan plan = halo_plan(n, m, halo_from_dominance(3, tol));
  expect_covered(plan, bands);
  const Certificate certificate = certify(plan, bands);
  EXPECT_GT(certificate.bound, 1e6 * tol);
  EXPECT_GT(true_error(plan, bands, solutions(n)[0]).error, 1e6 * tol);
  EXPECT_EQ(find_halo(n, bands.view(), m, tol, plan.halo, {0, n}), -1);
}

TEST(Certificate, DoesNotKnowTheScaleOfRows) {
  std::mt19937 generator(test::kSeed);
  std::uniform_int_distribution<int> exponent(-40, 40);
  const Index n = 1500;
  const std::vector<double> x = test::random_vector<double>(n);
  for (const double d : {1.0, 1.3}) {
    const Bands<double> bands = closed(test::random_dominant<double>(LineSet::one(n), d));
    Bands<double> scaled = closed(test::random_dominant<double>(LineSet::one(n), d));
    const std::vector<double> y = test::product(bands, x);
    std::vector<double> y_scaled(x.size());
    for (Index i = 0; i < n; ++i) {
      const int k = exponent(generator);
      for (double* number : {scaled.lower() + i, scaled.diag() + i, scaled.upper() + i})
        *number = std::ldexp(*number, k);
      y_scaled[static_cast<std::size_t>(i)] = std::ldexp(y[static_cast<std::size_t>(i)], k);
    }
    EXPECT_EQ(survey(scaled.lines(), scaled.view()).dominance, survey(bands.lines(), bands.view()).dominance);
    EXPECT_EQ(find_halo(n, scaled.view(), 500, 1e-15, 400, {0, n}),
              find_halo(n, bands.view(), 500, 1e-15, 400, {0, n}));
    for (const Plan& plan : {stored_plan(n, 96, 0, 2), halo_plan(n, 100, 40)}) {
      EXPECT_EQ(certify(plan, scaled).bound, certify(plan, bands).bound);
      EXPECT_EQ(solve_by_model(plan, bands, y), solve_by_model(plan, scaled, y_scaled)) << name(plan.method);
    }
  }
}

TEST(Certificate, LosesWithWhatIsNoNumber) {
  const Index n = 400;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Index row : {0, 1, 50, 99, 100, 199, 200, 201, 398, 399}) {  // borders of partitions among them
    for (int band = 0; band < 3; ++band) {
      for (const double value : {nan, infinity, -infinity, 0.0}) {
        if ((band == 0 && row == 0) || (band == 2 && row == n - 1)) continue;  // not read
        Bands<double> bands = closed(test::constant<double>(LineSet::one(n), -1, 3, -1));
        double* const bad[] = {bands.lower(), bands.diag(), bands.upper()};
        if (value == 0) bands.lower()[row] = bands.diag()[row] = bands.upper()[row] = 0;  // 0/0
        bad[band][row] = value;
        EXPECT_FALSE(certify(stored_plan(n, 16, 0, 2), bands).bound <= 1e300) << value << " row " << row;
        for (const Index m : {100, 400}) {
          SCOPED_TRACE("row " + std::to_string(row) + " band " + std::to_string(band) + " m " + std::to_string(m));
          EXPECT_FALSE(certify(halo_plan(n, m, 20), bands).bound <= 1e300) << value;
        }
      }
    }
  }
}

TEST(Certificate, TakesNoCutAsExact) {
  Bands<double> bands = test::closed(test::constant<double>(LineSet::one(100), -1, 2, -1));
  EXPECT_EQ(certify_halo(100, bands.view(), 100, 0, {0, 100}).bound, 0);
  // One tile, and two: each is the other's neighbour.
  for (const Index m : {32, 16}) EXPECT_EQ(certify_stored(stored_plan(100, m, 0, 2), bands.view()).bound, 0);
  const Bands<double> longer = closed(test::constant<double>(LineSet::one(129), -1, 2, -1));
  EXPECT_GT(certify_stored(stored_plan(129, 16, 0, 2), longer.view()).bound, 0);
}

TEST(Certificate, FollowsFromDominanceOnlyAboveOne) {
  EXPECT_EQ(halo_from_dominance(1, 1e-16), -1);
  EXPECT_EQ(halo_from_dominance(0.5, 1e-16), -1);
  EXPECT_EQ(halo_from_dominance(std::numeric_limits<double>::quiet_NaN(), 1e-16), -1);
  EXPECT_EQ(halo_from_dominance(std::numeric_limits<double>::infinity(), 1e-16), 0);
  for (const double d : {1.05, 1.2, 2.0, 10.0}) {
    const Index h = halo_from_dominance(d, 1e-14);
    EXPECT_LE(2 * std::pow(d, -static_cast<double>(h + 1)), 1e-14);
    EXPECT_GT(2 * std::pow(d, -static_cast<double>(h)), 1e-14);
    Bands<double> bands = test::closed(test::random_dominant<double>(LineSet::one(5000), d));
    EXPECT_LE(certify_halo(5000, bands.view(), 1000, h, {0, 5000}).bound, 1e-14) << "d " << d;
  }
}

TEST(Certificate, OfStoredFactorsFollowsFromDominanceAndReach) {
  for (const double d : {1.02, 1.1, 1.5, 3.0, 10.0}) {
    const Bands<double> bands = closed(test::random_dominant<double>(LineSet::one(3000), d));
    for (const Index reach : {0, 8, 24, 40}) {
      const Plan plan = stored_plan(3000, 80, reach, 3);
      SCOPED_TRACE("d " + std::to_string(d) + ", reach " + std::to_string(plan.as<StoredFactors>().reach));
      Certificate certificate;
      certificate.bound =
          bound_stored(d, plan.as<StoredFactors>().reach < plan.m ? plan.as<StoredFactors>().reach : plan.tile_rows());
      expect_covered(plan, bands, certificate);
      if (plan.as<StoredFactors>().reach == plan.m) {
        EXPECT_LE(certify(plan, bands).bound, 1.01 * certificate.bound);
        EXPECT_LE(certify(plan, bands).growth, growth_stored(d));
      }
    }
  }
}

TEST(Certificate, OfStoredFactorsFollowsFromTheDecayOfLikeRows) {
  for (const double lambda : {1.0, 10.0, 100.0}) {
    const Bands<double> bands = closed(test::diffusion<double>(LineSet::one(3000), lambda));
    const double decay = survey(bands.lines(), bands.view()).decay();
    for (const Index reach : {8, 24, 40}) {
      Certificate certificate;
      certificate.bound = bound_stored(decay, reach);
      expect_covered(stored_plan(3000, 80, reach, 3), bands, certificate);
    }
  }
}

/// What comes from above is summed over the rows where it decays, sqrt(lambda) of them; x = 1 reaches the rest.
TEST(Certificate, OfStoredFactorsFollowsTheDecay) {
  for (const double lambda : {1e2, 1e3, 1e4}) {
    const Bands<double> bands = closed(test::diffusion<double>(LineSet::one(3000), lambda));
    const Plan plan = stored_plan(3000, 48, 0, 5);
    const double bound = certify(plan, bands).bound;
    EXPECT_GE(true_error(plan, bands, solutions(3000)[0]).error, bound / (8 * std::sqrt(lambda))) << lambda;
  }
}

TEST(Certificate, OfStoredFactorsSeesLinesThatEndWithinTiles) {
  // Each tile holds the end of a line, wherever that is: nothing is truncated. One line longer than two tiles is.
  const Index tile = 4 * 16;
  for (const Index length : {Index{1}, Index{15}, Index{16}, Index{17}, tile - 1, tile}) {
    Bands<double> bands = closed(test::constant<double>(LineSet::equal(40, length), -1, 2, -1));
    EXPECT_EQ(certify(stored_plan(40 * length, 16, 0, 3), bands).bound, 0) << length;
  }
  const Bands<double> longer = closed(test::constant<double>(LineSet::equal(4, 3 * tile), -1, 2, -1));
  EXPECT_GT(certify(stored_plan(12 * tile, 16, 0, 3), longer).bound, 0.1);
}

/// Row sums 0: in two tiles nothing is truncated, and partitions by themselves are so ill-conditioned that nothing is
/// right.
TEST(Certificate, OfStoredFactorsCountsWhatPartitionsMakeOfRounding) {
  const Index n = 3900;
  const Bands<double> rough = closed(test::row_sums_zero<double>(LineSet::one(n)));
  const Plan plan = stored_plan(n, 496, 0, 2);
  const Certificate certificate = certify(plan, rough);
  EXPECT_LE(certificate.bound, 1e-15);
  EXPECT_GT(certificate.growth, 1e6);
  const auto error = [&](const Bands<double>& bands) {
    const std::vector<double> y = test::product(bands, test::random_vector<double>(n)),
                              solved = solve_by_model(plan, bands, y);
    return normwise_backward_error(bands.lines(), bands.view(), solved.data(), y.data());
  };
  EXPECT_GT(error(rough), 1e-12);
  const Bands<double> smooth = closed(test::diffusion<double>(LineSet::one(n), 1e4));
  EXPECT_LE(certify(plan, smooth).growth, 2);
  EXPECT_LE(error(smooth), 1e-15);
}

TEST(Certificate, OfRunsThatAreLines) {
  const DeviceTraits traits{.cores = 1, .group_items = 1024, .local_bytes = 48 << 10};
  const auto bound = [&](Index length, double lambda) {
    const LineSet lines = LineSet::equal(12, length);
    const Bands<double> bands = closed(test::diffusion<double>(lines, lambda));
    const Certificate c =
        certify_runs(make_line_runs_plans(lines.rows(), length, Form::general, 8, traits).front(), bands.view());
    EXPECT_LE(c.growth, 2);
    return c.bound;
  };
  EXPECT_EQ(bound(4096, 1e6), 0) << "two tiles truncate nothing";
  EXPECT_LE(bound(16'384, 100), 1e-60);
  EXPECT_GT(bound(16'384, 1e5), 1e-4);
}

/// Runs are cut anywhere: where what decays slowly is a few rows long only, whole blocks say so.
TEST(Certificate, OfRunsFollowsTheDecay) {
  const DeviceTraits traits{.group_items = 16, .local_bytes = 1 << 15};
  for (const double lambda : {1.0, 10.0, 100.0}) {
    const Bands<double> bands = closed(test::diffusion<double>(LineSet::one(3000), lambda));
    const double decay = survey(bands.lines(), bands.view()).decay();
    double before = std::numeric_limits<double>::infinity();
    for (const Index reach : {8, 16, 64, 200}) {
      const Certificate c = certify_runs(make_run_plan(3000, reach, 0, 8, traits), bands.view());
      // A block of an eighth may be lost at either end; both sides count, and what comes from above is summed up.
      EXPECT_GE(c.bound, std::pow(decay, -static_cast<double>(reach))) << lambda << ", " << reach;
      EXPECT_LE(c.bound, 100 * std::sqrt(lambda) * std::pow(decay, -0.85 * static_cast<double>(reach)) + 1e-300)
          << lambda << ", " << reach;
      EXPECT_LT(c.bound, before);
      EXPECT_LE(c.growth, 2);
      before = c.bound;
    }
  }
  const auto bound = [&](const Bands<double>& bands, Index reach) {
    return certify_runs(make_run_plan(bands.lines().rows(), reach, 0, 8, traits), bands.view()).bound;
  };
  // Lines that end within the reach, wherever they do.
  const Bands<double> lines = closed(test::constant<double>(LineSet::equal(40, 61), -1, 2, -1));
  EXPECT_EQ(bound(lines, 72), 0);
  EXPECT_GT(bound(lines, 24), 0.1);
  EXPECT_GT(bound(closed(test::constant<double>(LineSet::one(3000), -1, 2, -1)), 256), 0.1);
  Bands<double> weak = closed(test::random_dominant<double>(LineSet::one(3000), 3.0));
  const double strong = bound(weak, 128);
  for (Index i = 1400; i < 1500; ++i) weak.diag()[i] = 2 * (weak.lower()[i] = weak.upper()[i] = 1);
  EXPECT_LE(strong, 1e-40);
  EXPECT_GT(bound(weak, 128), 1e-20);
  weak.diag()[2000] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(bound(weak, 128)));
}

TEST(Certificate, OfStoredFactorsHasTheGrowthThatDominanceAllowsAtWorst) {
  // Rows that couple upwards only in front of one that couples to them only.
  for (const double d : {1.05, 1.2, 2.0}) {
    Bands<double> bands = closed(test::constant<double>(LineSet::one(300), -1e-12, d, -1));
    bands.lower()[159] = -1;
    bands.upper()[159] = 0;
    EXPECT_NEAR(certify(stored_plan(300, 16, 0, 2), bands).growth, growth_stored(d), 1e-6 * growth_stored(d)) << d;
  }
  EXPECT_EQ(growth_stored(1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(growth_stored(std::numeric_limits<double>::quiet_NaN()), std::numeric_limits<double>::infinity());
}

/// Random rows of dominance 1 and a little more, with weak couplings here and there: whatever is accepted is right.
TEST(Certificate, OfStoredFactorsAcceptsNothingThatRoundsBadly) {
  std::mt19937 generator(test::kSeed);
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(generator); };
  int accepted = 0, refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Index n = 200 + static_cast<Index>(3000 * uniform()), m = 16 << (trial % 5);
    const double excess = std::pow(10, -16 * uniform()), least = std::pow(10, -6 * uniform());
    const bool wide = trial % 2 == 0;
    const auto coupling = [&] { return wide ? std::pow(10, -6 * uniform()) : least + uniform(); };
    const Bands<double> bands = closed(test::fill<double>(LineSet::one(n), [&](Index) {
      const double lower = coupling(), upper = coupling();
      return test::Row{-lower, (lower + upper) * (1 + excess), -upper};
    }));
    const Plan plan = stored_plan(n, m, 0, 2);
    const Certificate certificate = certify(plan, bands);
    const bool holds = certificate.bound <= 2e-16 && certificate.growth <= kGrowthLimit;
    ++(holds ? accepted : refused);
    if (!holds) continue;
    const std::vector<double> y = test::product(bands, test::random_vector<double>(n));
    EXPECT_LE(test::componentwise_error(bands, solve_by_model(plan, bands, y), y), 90)
        << "trial " << trial << ", n " << n << ", m " << m << ", growth " << certificate.growth;
  }
  EXPECT_GE(accepted, 10);
  EXPECT_GE(refused, 30);
}

TEST(Certificate, FindsTheHaloThatItThenAccepts) {
  for (const double lambda : {0.5, 10.0, 100.0}) {
    Bands<double> bands = test::closed(test::diffusion<double>(LineSet::one(20000), lambda));
    const Index halo = find_halo(20000, bands.view(), 1000, 1e-15, 1024, {0, 20000});
    ASSERT_GT(halo, 0);
    EXPECT_LE(certify_halo(20000, bands.view(), 1000, halo, {0, 20000}).bound, 1.05e-15);
    EXPECT_GT(certify_halo(20000, bands.view(), 1000, halo - 16, {0, 20000}).bound, 1e-15);
  }
  Bands<double> weak = test::closed(test::constant<double>(LineSet::one(20000), -1, 2, -1));
  EXPECT_EQ(find_halo(20000, weak.view(), 1000, 1e-15, 256, {0, 20000}), -1);
}

TEST(RoundingOfTakenOff, SeesBothSides) {
  const Index n = 1000;
  Plan plan;
  plan.method = Method::exact_factored;
  plan.add<StoredFactors>();
  plan.n = n;
  plan.m = 50;
  plan.lanes = 4;
  plan.add<Sides>().meeting = 2;
  const auto growth_with = [&](Index steep_rows, Index first) {
    // Dominant rows, that couple most to the row which is eliminated before them.
    Bands<double> bands = test::closed(test::constant<double>(LineSet::one(n), -1, 2, -1));
    for (Index i = first; i < first + steep_rows; ++i) {
      (first < n / 2 ? bands.lower() : bands.upper())[i] = -10;
      bands.diag()[i] = 11;
    }
    return bound_taken_off(plan, bands.view()).eps;
  };
  EXPECT_LE(growth_with(0, 0), 12);
  EXPECT_GT(growth_with(4, 120), 20);
  EXPECT_GT(growth_with(4, 820), 20);
}

/// Long systems are swept by pieces, on all processors: a weak spot shows in the same bound wherever it lies, and so
/// does a system without decay, whose pieces do not meet.
TEST(Certificate, OfLongSystemsIsThatOfShortOnes) {
  const DeviceTraits traits{.group_items = 16, .local_bytes = 1 << 15};
  const auto runs = [&](Index n) { return make_run_plan(n, 64, 0, 8, traits); };
  const auto stored = [](Index n) { return stored_plan(n, 16, 0, 3); };
  const auto expect_alike = [](const Certificate& one, const Certificate& other) {
    EXPECT_NEAR(one.bound / other.bound, 1, 1e-9);
    EXPECT_NEAR(one.growth / other.growth, 1, 1e-9);
  };
  const Index longer = 300'000, shorter = 30'000, tile = 4 * 16, period = std::lcm(tile, runs(shorter).group_rows());
  for (const double lambda : {10.0, 1e3}) {
    const auto with_spot = [&](Index n, Index spot) {
      Bands<double> bands = closed(test::diffusion<double>(LineSet::one(n), lambda));
      for (Index i = spot; i < spot + 3; ++i) bands.diag()[i] *= 0.6;
      return bands;
    };
    const Bands<double> few = with_spot(shorter, shorter / 2 / period * period + 7);
    for (const Index at : {Index{65'536}, Index{131'072}, longer / 2}) {
      SCOPED_TRACE("lambda " + std::to_string(lambda) + ", about row " + std::to_string(at));
      const Bands<double> many = with_spot(longer, at / period * period + 7);
      expect_alike(certify(stored(longer), many), certify(stored(shorter), few));
      expect_alike(certify_runs(runs(longer), many.view()), certify_runs(runs(shorter), few.view()));
    }
  }
  const Bands<double> poisson = closed(test::constant<double>(LineSet::one(longer), -1, 2, -1));
  EXPECT_GT(certify(stored(longer), poisson).bound, 0.1);
  EXPECT_NEAR(certify(stored(longer), poisson).growth, 2, 1e-3);  // 1 + |c p|
  EXPECT_GT(certify_runs(runs(longer), poisson.view()).bound, 0.1);
  const Bands<double> weak = closed(test::random_dominant<double>(LineSet::one(longer), 1.2));
  const Certificate all = certify_halo(longer, weak.view(), 16, 40, {0, longer});
  double worst = 0;
  for (Index first = 0; first < longer; first += 1600) {
    worst = std::max(worst, certify_halo(longer, weak.view(), 16, 40, {first, std::min(longer, first + 1600)}).bound);
  }
  EXPECT_GE(all.bound, worst);
  const RowRange about{std::max<Index>(0, all.first - 160), std::min(longer, all.first + 160)};
  EXPECT_EQ(certify_halo(longer, weak.view(), 16, 40, about).bound, all.bound);
}

}  // namespace
}  // namespace oclspkt
