// SPDX-License-Identifier: BSD-2-Clause
#include "interface.hpp"

#include "matrix_algebra.hpp"
#include "pair_systems.hpp"
#include "reference.hpp"
#include "scalar_test.hpp"
#include "spike_tips.hpp"

namespace oclspkt {
namespace {

template <typename T>
class Interface : public ::testing::Test {
 protected:
  static constexpr T eps = std::numeric_limits<T>::epsilon();

  /// Six numbers of rows [first, end) by solving for each unit vector with the reference.
  static SpikeTips<T> tips(const Bands<T>& bands, const std::vector<T>& y, Index first, Index end) {
    const Index n = end - first;
    Bands<T> part(LineSet::one(n));
    for (Index i = 0; i < n; ++i) {
      part.lower()[i] = bands.view().lower[first + i];
      part.diag()[i] = bands.view().diag[first + i];
      part.upper()[i] = bands.view().upper[first + i];
    }
    Reference<T> reference;
    reference.factor(part.lines(), part.view());
    std::vector<T> f(y.begin() + first, y.begin() + end), w(f.size()), v(f.size());
    if (first > 0) w.front() = bands.view().lower[first];
    if (end < bands.lines().rows()) v.back() = bands.view().upper[end - 1];
    for (auto* rhs : {&f, &w, &v}) reference.solve(rhs->data(), rhs->data());
    return {f.front(), f.back(), w.front(), w.back(), v.front(), v.back()};
  }

  static SchurSegment<T> schur(const Bands<T>& bands, const std::vector<T>& y, Index first, Index end) {
    const auto row = [&](Index i) {
      const BandsView<T> a = bands.view();
      return make_row(a.lower[i], a.diag[i], a.upper[i], y[static_cast<std::size_t>(i)]);
    };
    SchurSegment<T> s = begin_segment(row(first));
    for (Index i = first + 1; i < end; ++i) append_row(s, row(i));
    return s;
  }

  /// Solve through segments that end at `cuts`, the boundary unknowns only; returns those unknowns' largest error.
  static void expect_boundary_unknowns(Bands<T>& bands, const std::vector<Index>& cuts, double tolerance) {
    const Index n = bands.lines().rows();
    bands.close_lines();
    const std::vector<T> x = test::random_vector<T>(n);
    const std::vector<T> y = test::product(bands, x);
    std::vector<SchurSegment<T>> segments;
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) segments.push_back(schur(bands, y, cuts[k], cuts[k + 1]));
    const auto p = static_cast<Index>(segments.size());
    ReducedSystem<T> reduced;
    reduced.resize(p);
    std::vector<T> top(segments.size()), bottom(segments.size());
    reduced.solve(segments.data(), top.data(), bottom.data());
    for (std::size_t k = 0; k < segments.size(); ++k) {
      EXPECT_NEAR(top[k], x[static_cast<std::size_t>(cuts[k])], tolerance) << "segment " << k;
      EXPECT_NEAR(bottom[k], x[static_cast<std::size_t>(cuts[k + 1] - 1)], tolerance) << "segment " << k;
    }
    EXPECT_LE(reduced.growth(), 3.1);
  }
};

SCALAR_TEST(Interface, CouplesTwoSegmentsLikeTheUncutSystem) {
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(40), 1.1);
  const std::vector<T> y = test::random_vector<T>(40);
  const SpikeTips<T> whole = this->tips(bands, y, 5, 33);
  const SpikeTips<T> composed = compose(this->tips(bands, y, 5, 18), this->tips(bands, y, 18, 33));
  const T tolerance = 200 * this->eps;
  EXPECT_NEAR(composed.f_t, whole.f_t, tolerance);
  EXPECT_NEAR(composed.f_b, whole.f_b, tolerance);
  EXPECT_NEAR(composed.w_t, whole.w_t, tolerance);
  EXPECT_NEAR(composed.w_b, whole.w_b, tolerance);
  EXPECT_NEAR(composed.v_t, whole.v_t, tolerance);
  EXPECT_NEAR(composed.v_b, whole.v_b, tolerance);
}

SCALAR_TEST(Interface, SolvesOneTruncatedInterface) {
  T x_bottom, x_top;
  solve_interface<T>(3, T(0.5), 2, T(0.25), x_bottom, x_top);  // x_b + x_t / 2 = 3, x_b / 4 + x_t = 2
  EXPECT_NEAR(x_bottom, T(16) / 7, 4 * this->eps);
  EXPECT_NEAR(x_top, T(10) / 7, 4 * this->eps);
}

SCALAR_TEST(Interface, KeepsTheExcessThatTheDiagonalLoses) {
  EXPECT_EQ(row_excess<T>(-1, 2, -1), T(0));
  EXPECT_EQ(row_excess<T>(-1, 4, 1), T(2));
  EXPECT_EQ(row_excess<T>(-1, -2.5, 1), T(0.5));
  // An excess of half an ulp of the diagonal survives the two differences.
  const T small = this->eps / 2;
  EXPECT_EQ(row_excess<T>(T(1) - small, 1, 0), small);
  // One rounding of the diagonal is forgiven, more is not.
  EXPECT_EQ(row_excess<T>(-1, 2 - 2 * this->eps, -1), T(0));
  EXPECT_LT(row_excess<T>(-1, 2 - 8 * this->eps, -1), T(0));
}

/// Two neighbouring segments as one.
template <typename T>
SchurSegment<T> compose(SchurSegment<T> a, const SchurSegment<T>& b) {
  append_row(a, b.single ? b.bottom : b.top);
  if (!b.single) append_row(a, b.bottom);
  return a;
}

SCALAR_TEST(Interface, ComposesSegmentsInEveryOrder) {
  Bands<T> bands = test::closed(test::random_dominant<T>(LineSet::one(30), 1.3));
  const std::vector<T> y = test::random_vector<T>(30);
  const SchurSegment<T> whole = this->schur(bands, y, 2, 29);
  for (const Index cut : {3, 4, 16, 27, 28}) {
    const SchurSegment<T> composed = compose(this->schur(bands, y, 2, cut), this->schur(bands, y, cut, 29));
    const T tolerance = 100 * this->eps;
    EXPECT_FALSE(composed.single);
    EXPECT_NEAR(composed.top.diag(), whole.top.diag(), tolerance) << "cut " << cut;
    EXPECT_NEAR(composed.top.upper, whole.top.upper, tolerance) << "cut " << cut;
    EXPECT_NEAR(composed.top.f, whole.top.f, tolerance) << "cut " << cut;
    EXPECT_NEAR(composed.bottom.diag(), whole.bottom.diag(), tolerance) << "cut " << cut;
    EXPECT_NEAR(composed.bottom.lower, whole.bottom.lower, tolerance) << "cut " << cut;
    EXPECT_NEAR(composed.bottom.f, whole.bottom.f, tolerance) << "cut " << cut;
  }
}

SCALAR_TEST(Interface, FindsTheBoundaryUnknownsOfAnyCut) {
  for (const auto& cuts : {std::vector<Index>{0, 1}, {0, 2}, {0, 1, 2, 3}, {0, 5, 6, 31, 33}, {0, 32, 64, 96}}) {
    const LineSet lines = LineSet::one(cuts.back());
    for (const double d : {1.0, 1.2, 10.0}) {
      Bands<T> bands = test::random_dominant<T>(lines, d);
      this->expect_boundary_unknowns(bands, cuts, 3000 * this->eps);
    }
  }
}

SCALAR_TEST(Interface, TakesCouplingsOfOppositeSigns) {
  Bands<T> bands = test::constant<T>(LineSet::one(64), -1, 4, 1);
  this->expect_boundary_unknowns(bands, {0, 16, 17, 40, 64}, 100 * this->eps);
  Bands<T> weak = test::constant<T>(LineSet::one(64), -1, -2, 1);
  this->expect_boundary_unknowns(weak, {0, 16, 17, 40, 64}, 100 * this->eps);
}

SCALAR_TEST(Interface, FollowsAPivotThatChangesItsSign) {
  // Indefinite: pivots of both signs appear although no diagonal is negative.
  const Index n = 12;
  Bands<T> bands = test::closed(test::constant<T>(LineSet::one(n), 1, T(0.7), 1));
  const std::vector<T> x = test::random_vector<T>(n);
  const std::vector<T> y = test::product(bands, x);
  std::vector<SchurSegment<T>> segments{this->schur(bands, y, 0, 7), this->schur(bands, y, 7, n)};
  ReducedSystem<T> reduced;
  reduced.resize(2);
  T top[2], bottom[2];
  reduced.solve(segments.data(), top, bottom);
  EXPECT_NEAR(top[0], x[0], 1000 * this->eps);
  EXPECT_NEAR(bottom[0], x[6], 1000 * this->eps);
  EXPECT_NEAR(bottom[1], x[11], 1000 * this->eps);
}

SCALAR_TEST(Interface, ReportsAVanishingPivotAsNoGrowthKnown) {
  // Neumann: all excesses are 0, and so is the last pivot.
  SchurSegment<T> whole = begin_segment(make_row<T>(0, 1, -1, 1));
  append_row(whole, make_row<T>(-1, 2, -1, 1));
  append_row(whole, make_row<T>(-1, 1, 0, 1));
  ReducedSystem<T> reduced;
  reduced.resize(1);
  T top, bottom;
  reduced.solve(&whole, &top, &bottom);
  EXPECT_TRUE(std::isnan(reduced.growth()));
  EXPECT_FALSE(std::isfinite(bottom));
}

/// A system, as both of its sides have it.
struct BothSides {
  PairSystems<double> first, second;
  void add(const PivotedRow<double>& a, const PivotedRow<double>& b, Index at) {
    first.add(a, b, false, at, at);
    second.add(a, b, true, at, at);
  }
};

TEST(PairSystems, SolveAsMuchAsWithPivotsAndGiveBothSidesTheSameBits) {
  // More than are solved at once.
  constexpr Index kCount = 100'000;
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  BothSides sides;
  std::vector<PivotedRow<double>> a, b;
  std::vector<double> f, g, x(kCount), y(kCount);
  int swapped = 0;
  for (Index i = 0; i < kCount; ++i) {
    a.push_back({NAN, i % 3 == 0 ? 1e-9 * unit(engine) : unit(engine), unit(engine), 1});
    b.push_back({unit(engine), unit(engine), NAN, 1});
    swapped += std::abs(b.back().lower) > std::abs(a.back().diag) ? 1 : 0;
    sides.add(a.back(), b.back(), i);
    f.push_back(unit(engine));
    g.push_back(unit(engine));
  }
  EXPECT_GT(swapped, kCount / 3);
  EXPECT_LT(swapped, kCount);
  sides.first.solve(f.data(), g.data(), x.data());
  sides.second.solve(g.data(), f.data(), y.data());
  constexpr double kFew = 10 * std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double of_a = std::abs(f[i]) + std::abs(a[i].diag * x[i]) + std::abs(a[i].upper * y[i]);
    const double of_b = std::abs(g[i]) + std::abs(b[i].lower * x[i]) + std::abs(b[i].diag * y[i]);
    const double most = kFew * (std::abs(x[i]) + std::abs(y[i]));  // rows of at most 1
    ASSERT_LE(std::abs(f[i] - a[i].diag * x[i] - a[i].upper * y[i]), kFew * of_a + most) << i;
    ASSERT_LE(std::abs(g[i] - b[i].lower * x[i] - b[i].diag * y[i]), kFew * of_b + most) << i;
  }
}

TEST(PairSystems, KeepNaNWhereNothingCouples) {
  BothSides sides;
  sides.add({0, 2, 0, 2}, {0, 4, 0, 4}, 0);  // uncoupled
  sides.add({0, 2, 1, 2}, {0, 4, 0, 4}, 1);  // the first row takes from the second
  const std::vector<double> f{8, 8}, nan{NAN, NAN};
  std::vector<double> x(2), y(2);
  sides.first.solve(f.data(), nan.data(), x.data());
  sides.second.solve(f.data(), nan.data(), y.data());
  EXPECT_EQ(x[0], 4);
  EXPECT_TRUE(std::isnan(x[1]));
  EXPECT_EQ(y, (std::vector<double>{2, 2}));
}

}  // namespace
}  // namespace oclspkt
