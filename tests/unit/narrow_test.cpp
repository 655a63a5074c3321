// SPDX-License-Identifier: BSD-2-Clause
#include "narrow.hpp"

#include <cfloat>

#include "factors.hpp"
#include "interface.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "thrown.hpp"

namespace oclspkt {
namespace {

using test::closed;

double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

/// Expect that bands are refused in a text that holds `row` and `cause`, and that they are unchanged.
void expect_refused(Bands<double>& bands, const std::string& row, const std::string& cause) {
  const Bands<double> before = test::copy_of(bands);
  test::expect_refusal([&] { narrow_bands(bands); }, {row, cause, "use precision same"});
  EXPECT_TRUE(test::same_bands(bands, before));
}

TEST(NarrowBands, AreWhatFloatsHold) {
  for (const Index n : {1, 2, 3, 511, 512, 513, 100'003}) {
    Bands<double> bands = closed(test::random_dominant<double>(LineSet::one(n), 1.5));
    const Bands<double> floats = test::rounded(bands);
    const double change = narrow_bands(bands);
    EXPECT_GE(change, 0);
    EXPECT_LE(change, 5 * FLT_EPSILON);  // 2^-24 (1.5 + 1) / (1.5 - 1)
    EXPECT_TRUE(test::same_bands(bands, floats));
    EXPECT_EQ(narrow_bands(bands), 0) << "a second time there is nothing to round";
  }
}

TEST(NarrowBands, RoundTiesToEvenAndIntoTheNextPowerOfTwo) {
  const double numbers[] = {1 + 0x1p-24, 1 + 0x3p-24, 2 - 0x1p-24, 2 - 0x1p-25, 1 + 0x1p-24 + 0x1p-50, -0x1.fffffffp3};
  for (const double number : numbers) {
    Bands<double> bands = closed(test::constant<double>(LineSet::one(1), 0, number, 0));
    narrow_bands(bands);
    EXPECT_EQ(bands.diag()[0], as_float(number)) << number;
  }
}

TEST(NarrowBands, KnowNothingOfTheSizeOfTheirRow) {
  const Index n = 1000;
  Bands<double> usual = closed(test::random_dominant<double>(LineSet::one(n), 1.5));
  const auto exponent = [](Index i) { return static_cast<int>(i * 7919 % 1500) - 750; };
  const auto scale = [&](Bands<double> bands) {
    for (double* band : {bands.lower(), bands.diag(), bands.upper()}) {
      for (Index i = 0; i < n; ++i) band[i] = std::ldexp(band[i], exponent(i));
    }
    return bands;
  };
  Bands<double> scaled = scale(test::copy_of(usual));
  EXPECT_EQ(narrow_bands(scaled), narrow_bands(usual));
  EXPECT_TRUE(test::same_bands(scaled, scale(test::copy_of(usual))));
}

TEST(NarrowBands, LoseTheirExcessInFloat) {
  // float(1 + 2 lambda) - 2 float(lambda) is 0 for lambda = 1e7.
  Bands<double> bands = closed(test::fill<double>(LineSet::one(1000), [](Index i) {
    const double lambda = i == 517 || i == 900 ? 1e7 : 100;
    return test::Row{-lambda, 1 + 2 * lambda, -lambda};
  }));
  expect_refused(bands, "row 517 ", "1 becomes 0");
  Bands<double> lines = closed(test::diffusion<double>(LineSet::equal(10, 100), 1));
  lines.lower()[342] = lines.upper()[342] = -1e7;
  lines.diag()[342] = 1 + 2e7;
  expect_refused(lines, "row 42 of line 3 ", "1 becomes 0");
}

TEST(NarrowBands, TellTheLargestChangeOfAnExcess) {
  const Bands<double> before =
      closed(test::constant<double>(LineSet::one(100), -1e5 / 3, 1 + 1e5 / 3 + 1e5 / 7, -1e5 / 7));
  Bands<double> after = test::copy_of(before);
  const double change = narrow_bands(after);
  EXPECT_GT(change, 1e-4);
  EXPECT_LE(change, kNarrowChange);
  const double inner = after.diag()[1] + after.lower()[1] + after.upper()[1];
  EXPECT_NEAR(change, std::abs(inner - 1), 1e-9);
}

TEST(NarrowBands, KeepAnExcessOfZeroAndNothingNearIt) {
  Bands<double> poisson = closed(test::constant<double>(LineSet::one(100), -1, 2, -1));
  EXPECT_EQ(narrow_bands(poisson), 0);
  // Doubles whose sum is rounded.
  Bands<double> zero = closed(test::constant<double>(LineSet::one(100), -0.1, 0.1 + 0.2, -0.2));
  expect_refused(zero, "row 1 ", "excess");
}

TEST(NarrowBands, RefuseWhatFloatsCannotHoldBesideEachOther) {
  for (const double tiny : {1e-39, 1e-300, -5e-324}) {
    Bands<double> bands = closed(test::constant<double>(LineSet::one(10), -1, 4, tiny));
    expect_refused(bands, "row 0 ", "too far apart for float");
  }
  Bands<double> fits = closed(test::constant<double>(LineSet::one(10), -1, 4, 1e-36));
  EXPECT_NO_THROW(narrow_bands(fits));
  Bands<double> denormal = closed(test::constant<double>(LineSet::one(10), -1e-310, 4e-310, 1e-310));
  expect_refused(denormal, "row 0 ", "too far apart for float");
  Bands<double> most = closed(test::constant<double>(LineSet::one(10), 0, std::numeric_limits<double>::max(), 0));
  expect_refused(most, "row 0 ", "too far apart for float");
}

TEST(NarrowBands, TakeRowsOfZerosAndLeaveWhatIsNotFinite) {
  Bands<double> zeros = closed(test::constant<double>(LineSet::one(10), 0, 0, 0));
  EXPECT_EQ(narrow_bands(zeros), 0);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Bands<double> bands = closed(test::diffusion<double>(LineSet::one(1000), 1.0 / 3));
    bands.upper()[600] = bad;
    EXPECT_NO_THROW(narrow_bands(bands));
    EXPECT_FALSE(std::isfinite(bands.upper()[600]));
    EXPECT_EQ(survey(bands.lines(), bands.view()).weakest_row, 600);
  }
}

TEST(NarrowBands, ReadNothingBetweenLines) {
  const LineSet lines = LineSet::strided(100, 10, 3, 3);
  Bands<double> bands(lines);
  for (Index i = 0; i < lines.extent(); ++i) bands.lower()[i] = bands.diag()[i] = bands.upper()[i] = 1e7 + 0.1;
  for (Index l = 0; l < 3; ++l) {
    for (Index i = 0; i < 100; ++i) {
      const Index at = lines.first(l) + i * lines.row_stride();
      bands.lower()[at] = bands.upper()[at] = 0.1;
      bands.diag()[at] = 1.1;
    }
  }
  bands.close_lines();
  EXPECT_NO_THROW(narrow_bands(bands));
  EXPECT_EQ(bands.diag()[13], as_float(1.1));
  EXPECT_EQ(bands.diag()[14], 1e7 + 0.1);
}

TEST(NarrowBands, OfOneLineLeaveTheOthers) {
  Bands<double> bands = closed(test::constant<double>(LineSet::equal(3, 10), 0.1, 1.1, 0.1));
  narrow_line(bands, 1);
  EXPECT_EQ(bands.diag()[9], 1.1);
  EXPECT_EQ(bands.diag()[10], as_float(1.1));
  EXPECT_EQ(bands.diag()[19], as_float(1.1));
  EXPECT_EQ(bands.diag()[20], 1.1);
}

TEST(NarrowBands, AreFloatsAlready) {
  Bands<float> bands = test::random_dominant<float>(LineSet::one(10), 1.5);
  EXPECT_EQ(narrow_bands(bands), 0);
}

/// Largest relative change of the excess from bands to the matrix that rounded factors stand for.
double measured_change(const Bands<double>& bands) {
  Factors<double> factors;
  factors.factor(bands.lines(), bands.view(), Form::general);
  const FactorsView<double> f = factors.view();
  double worst = 0;
  for (Index i = 1; i < bands.lines().rows(); ++i) {
    using Wide = long double;
    const Wide m = as_float(f.multiplier[i]), r = as_float(f.reciprocal[i]), c = as_float(f.coupling[i]);
    const Wide r_above = as_float(f.reciprocal[i - 1]), c_above = as_float(f.coupling[i - 1]);
    const Wide lower = m / r_above, upper = c / r, diag = 1 / r + m * c_above / r_above;
    const double before = row_excess(bands.view().lower[i], bands.view().diag[i], bands.view().upper[i]);
    const double after = static_cast<double>(std::abs(diag) - std::abs(lower) - std::abs(upper));
    worst = std::max(worst, std::abs(after - before) / before);
  }
  return worst;
}

TEST(NarrowFactors, ChangeNoExcessByMoreThanTheirBound) {
  for (const double d : {1.0001, 1.001, 1.01, 1.5, 3.0, 100.0}) {
    Bands<double> bands = closed(test::random_dominant<double>(LineSet::one(20'000), d));
    narrow_bands(bands);
    const double dominance = survey(bands.lines(), bands.view()).dominance, measured = measured_change(bands);
    EXPECT_LE(measured, narrow_factors_change(dominance)) << d;
    EXPECT_GE(measured, narrow_factors_change(dominance) / 10) << "the bound is far off for " << d;
  }
  for (const double lambda : {1.0, 100.0, 1e4}) {
    const Bands<double> bands = closed(test::diffusion<double>(LineSet::one(5000), lambda));
    EXPECT_LE(measured_change(bands), narrow_factors_change(survey(bands.lines(), bands.view()).dominance)) << lambda;
  }
}

TEST(NarrowFactors, WantDominanceAndRowsWithinTheRangeOfFloats) {
  const auto taken = [](double d, double smallest, double largest) {
    const Survey s{.dominance = d, .finite = true, .smallest_row = smallest, .largest_row = largest};
    return why_not_narrow_factors(s).empty();
  };
  EXPECT_TRUE(taken(3, 1, 1));
  EXPECT_TRUE(taken(1.00001, 1, 1));
  EXPECT_FALSE(taken(1.000005, 1, 1)) << "7.8 % by the factors, 2.4 % by the bands";
  EXPECT_FALSE(taken(1, 1, 1));
  EXPECT_FALSE(taken(0.5, 1, 1));
  EXPECT_FALSE(taken(std::nan(""), 1, 1));
  EXPECT_FALSE(taken(3, 1e-40, 1e-39));
  EXPECT_FALSE(taken(3, 1e39, 1e40));
  EXPECT_FALSE(taken(3, 1e-15, 1e15));
  EXPECT_TRUE(taken(3, 1e-8, 1e8));
  EXPECT_TRUE(taken(INFINITY, INFINITY, 0)) << "no rows";
}

}  // namespace
}  // namespace oclspkt
