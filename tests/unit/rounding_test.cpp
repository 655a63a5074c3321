// SPDX-License-Identifier: BSD-2-Clause
// First-order worst cases of rounding: an algorithm runs in long double, once for each of its operations, with the
// result of this operation changed by a small share. The changes of a row of y - A x, summed over all operations, are
// what rounding may leave there.
#include "rounding.hpp"

#include <cmath>
#include <complex>
#include <limits>

#include "matrices.hpp"
#include "schemes/lanes/lane_plans.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

using Exact = long double;
using Complex = std::complex<Exact>;

enum class Kind { fused, unfused, complex };
const Exact kComplexProduct = std::sqrt(Exact(5)),
            kComplexReciprocal = 3;  // in u, see docs/experiments/rounding-bounds.md

/// Arithmetic that changes the result of one operation.
template <typename N>
struct Arithmetic {
  static constexpr Exact kStep = 1e-8L;
  Kind kind = Kind::fused;
  int changed = -1;  ///< number of the operation whose result changes
  int operations = 0;
  Exact error = 0;  ///< the largest error of this operation, in u

  N round(N value, Exact most = 1) {
    if (operations++ != changed) return value;
    error = most;
    return value * (1 + kStep);
  }
  N product(N a, N b) { return round(a * b, kind == Kind::complex ? kComplexProduct : 1); }
  N difference(N y, N a, N b) { return round(y - (kind == Kind::fused ? a * b : product(a, b))); }
  N reciprocal(N a) { return round(Exact(1) / a, kind == Kind::complex ? kComplexReciprocal : 1); }
};

template <typename N>
struct Matrix {
  std::vector<N> lower, diag, upper, y;
  std::size_t rows() const { return diag.size(); }
  N row(std::size_t i, const std::vector<N>& x) const {
    return diag[i] * x[i] + (i > 0 ? lower[i] * x[i - 1] : N(0)) + (i + 1 < rows() ? upper[i] * x[i + 1] : N(0));
  }
};

/// A matrix of this dominance with a solution of numbers of size 1.
/// @param share  the share of lower couplings in the couplings of a row
/// @param turn   returns numbers of size 1
template <typename N, typename Turn>
Matrix<N> matrix(std::size_t rows, Exact dominance, Exact share, const Turn& turn) {
  Matrix<N> a{std::vector<N>(rows), std::vector<N>(rows, 1), std::vector<N>(rows), std::vector<N>(rows)};
  std::vector<N> x(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    x[i] = turn();
    a.lower[i] = i > 0 ? turn() * (share / dominance) : N(0);
    a.upper[i] = i + 1 < rows ? turn() * ((1 - share) / dominance) : N(0);
  }
  for (std::size_t i = 0; i < rows; ++i) a.y[i] = a.row(i, x);
  return a;
}

/// The largest |r_i| / (|A_i| max |x| + |y_i|) that rounding may leave to first order, in eps. @pre every |x_i| is 1
/// @param solve  (a, arithmetic) -> x
template <typename N, typename Solve>
double worst_row(const Matrix<N>& a, Kind kind, const Solve& solve) {
  Arithmetic<N> exact{kind};
  const std::vector<N> x = solve(a, exact);
  std::vector<Exact> errors(a.rows());
  for (int k = 0; k < exact.operations; ++k) {
    Arithmetic<N> arithmetic{kind, k};
    std::vector<N> change = solve(a, arithmetic);
    for (std::size_t i = 0; i < x.size(); ++i) change[i] -= x[i];
    for (std::size_t i = 0; i < x.size(); ++i) {
      errors[i] += std::abs(a.row(i, change)) / Arithmetic<N>::kStep * arithmetic.error;
    }
  }
  Exact worst = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const Exact sizes = std::abs(a.lower[i]) + std::abs(a.diag[i]) + std::abs(a.upper[i]) + std::abs(a.y[i]);
    worst = std::max(worst, errors[i] / sizes / 2);
  }
  return static_cast<double>(worst);
}

/// Partitions with halos, as in kernels/cpu/truncated_halo.cl.
struct ByHalos {
  std::size_t partition, halo;
  template <typename N>
  std::vector<N> operator()(const Matrix<N>& a, Arithmetic<N>& with) const {
    std::vector<N> x(a.rows()), coupling(a.rows()), swept(a.rows());
    for (std::size_t first = 0; first < a.rows(); first += partition) {
      const std::size_t begin = first - std::min(first, halo), end = std::min(a.rows(), first + partition + halo);
      N c = 0, d = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const N p = with.reciprocal(with.difference(a.diag[i], a.lower[i], c));
        coupling[i] = c = with.product(a.upper[i], p);
        swept[i] = d = with.product(with.difference(a.y[i], a.lower[i], d), p);
      }
      N unknown = 0;
      for (std::size_t i = end; i-- > begin;) {
        unknown = with.difference(swept[i], coupling[i], unknown);
        if (i >= first && i < first + partition) x[i] = unknown;
      }
    }
    return x;
  }
};

/// Partitions that share stored factors and pass on what leaves them, as in kernels/cpu/interleaved_streamed.cl.
struct ByStoredFactors {
  std::size_t partition;
  template <typename N>
  std::vector<N> operator()(const Matrix<N>& a, Arithmetic<N>& with) const {
    const std::size_t n = a.rows();
    std::vector<N> multiplier(n), reciprocal(n), coupling(n), d(n), x(n);
    for (std::size_t i = 0; i < n; ++i) {
      multiplier[i] = i > 0 ? with.product(a.lower[i], reciprocal[i - 1]) : N(0);
      reciprocal[i] = with.reciprocal(i > 0 ? with.difference(a.diag[i], multiplier[i], a.upper[i - 1]) : a.diag[i]);
      coupling[i] = with.product(a.upper[i], reciprocal[i]);
    }
    sweep(
        n, [](std::size_t i) { return i; }, multiplier, a.y, d, with);
    for (std::size_t i = 0; i < n; ++i) d[i] = with.product(d[i], reciprocal[i]);
    sweep(
        n, [n](std::size_t i) { return n - 1 - i; }, coupling, d, x, with);
    return x;
  }

 private:
  /// Sweep each partition from 0 for the value that leaves it, and again from the value that enters it.
  template <typename N, typename At>
  void sweep(std::size_t n, const At& at, const std::vector<N>& factor, const std::vector<N>& from, std::vector<N>& to,
             Arithmetic<N>& with) const {
    N enters = 0;
    for (std::size_t first = 0; first < n; first += partition) {
      N alone = 0, through = -1, again = enters;
      for (std::size_t i = first; i < first + partition; ++i) {
        alone = with.difference(from[at(i)], factor[at(i)], alone);
        through = -with.product(factor[at(i)], through);
        to[at(i)] = again = with.difference(from[at(i)], factor[at(i)], again);
      }
      enters = with.difference(alone, through, enters);
    }
  }
};

struct RandomSigns {
  mutable std::mt19937 random{1};
  Exact operator()() const { return random() % 2 == 0 ? 1 : -1; }
};
struct RandomPhases {
  mutable std::mt19937 random{1};
  Complex operator()() const { return std::polar(Exact(1), static_cast<Exact>(random())); }
};

TEST(RoundingByDominance, HoldsForCouplingsOfAnySigns) {
  const RandomSigns signs;
  for (const double d : {1.05, 1.1}) {
    double worst = 0;
    for (const Exact share : {0.001L, 0.5L, 0.999L}) {
      worst = std::max(worst, worst_row(matrix<Exact>(160, d, share, signs), Kind::fused, ByHalos{80, 80}));
    }
    EXPECT_LE(worst, rounding_by_dominance(d));
    EXPECT_GE(worst, rounding_by_dominance(d) / 2) << "dominance " << d;
  }
}

TEST(FactorOfArithmetic, CoversProductsThatRound) {
  const RandomSigns signs;
  const double factor = factor_of_arithmetic(false, false);
  double most = 0;
  for (const Exact share : {0.001L, 0.5L, 0.999L}) {
    const Matrix<Exact> a = matrix<Exact>(96, 1.01L, share, signs);
    const double unfused = worst_row(a, Kind::unfused, ByStoredFactors{32});
    const double ratio = unfused / worst_row(a, Kind::fused, ByStoredFactors{32});
    EXPECT_LE(ratio, factor);
    most = std::max(most, ratio);
    Bands<double> bands(LineSet::one(static_cast<Index>(a.rows())));
    for (std::size_t i = 0; i < a.rows(); ++i) {
      bands.lower()[i] = static_cast<double>(a.lower[i]);
      bands.diag()[i] = static_cast<double>(a.diag[i]);
      bands.upper()[i] = static_cast<double>(a.upper[i]);
    }
    const Plan plan = make_stored_plan(static_cast<Index>(a.rows()), 0, 32, sizeof(double), DeviceTraits{.lanes = 4});
    EXPECT_LE(unfused, factor * bound_stored_joints(plan, bands.view()).plain.eps);
    EXPECT_LE(worst_row(a, Kind::unfused, ByHalos{32, 32}), factor * worst_row(a, Kind::fused, ByHalos{32, 32}));
  }
  EXPECT_GT(most, 0.75 * factor);
}

TEST(FactorOfArithmetic, RaisesTheBoundsOfProcessorsThatDoNotFuse) {
  const Bands<double> bands = test::closed(test::constant<double>(LineSet::one(4000), -1, 3, -1));
  const Survey survey = oclspkt::survey(bands.lines(), bands.view());
  const DeviceTraits fuses{.lanes = 4}, rounds_twice{.lanes = 4, .fuses = false};
  const Options options;
  const Plan plan = make_plan(Method::truncated_halo, 4000, 64, 0, sizeof(double), fuses);
  EXPECT_EQ(rounding_of(Problem<double>{options, bands, survey, rounds_twice}, plan).eps,
            2 * rounding_of(Problem<double>{options, bands, survey, fuses}, plan).eps);
}

TEST(FactorOfArithmetic, CoversComplexNumbers) {
  const RandomPhases phases;
  const double factor = factor_of_arithmetic(true, true);
  double most = 0;
  for (const Exact share : {0.001L, 0.5L, 0.999L}) {
    const Matrix<Complex> a = matrix<Complex>(64, 1.01L, share, phases);
    const double ratio =
        worst_row(a, Kind::complex, ByStoredFactors{32}) / worst_row(a, Kind::fused, ByStoredFactors{32});
    EXPECT_LE(ratio, factor);
    most = std::max(most, ratio);
    EXPECT_LE(worst_row(a, Kind::complex, ByHalos{32, 32}), factor * worst_row(a, Kind::fused, ByHalos{32, 32}));
  }
  EXPECT_GT(most, 0.7 * factor);
}

TEST(FactorOfArithmetic, IsOfProductsWithinSqrt5AndReciprocalsWithin3) {
  std::mt19937 random{1};
  std::uniform_real_distribution<float> number(1, 2);
  double product = 0, reciprocal = 0;
  for (int k = 0; k < 100000; ++k) {
    const float a = number(random), b = number(random), c = number(random), d = number(random);
    const float ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    const std::complex<double> p(a, b), q(c, d);
    product = std::max(product, std::abs(std::complex<double>(ac - bd, ad + bc) - p * q) / std::abs(p * q));
    const float aa = a * a, bb = b * b, size = aa + bb;
    reciprocal = std::max(reciprocal, std::abs(std::complex<double>(a / size, -b / size) - 1. / p) * std::abs(p));
  }
  const double u = std::numeric_limits<float>::epsilon() / 2;
  EXPECT_LE(product / u, kComplexProduct);
  EXPECT_GT(product / u, kComplexProduct / 2);
  EXPECT_LE(reciprocal / u, kComplexReciprocal);
  EXPECT_GT(reciprocal / u, kComplexReciprocal / 2);
}

}  // namespace
}  // namespace oclspkt
