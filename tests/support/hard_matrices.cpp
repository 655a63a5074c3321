// SPDX-License-Identifier: BSD-2-Clause
#include "hard_matrices.hpp"

#include <cstdio>
#include <functional>

namespace oclspkt::test {
namespace {

using Dense = std::vector<std::vector<double>>;

std::mt19937 generator_for(int id) { return std::mt19937(kSeed + static_cast<std::uint32_t>(id)); }

/// Apply the reflector I - 2 v v^T / v^T v to columns (left = true) or rows of a, in the index range v covers.
void reflect(Dense& a, const std::vector<double>& v, std::size_t offset, bool left) {
  double norm = 0;
  for (const double e : v) norm += e * e;
  if (norm == 0) return;
  const std::size_t n = a.size();
  for (std::size_t k = 0; k < n; ++k) {
    double dot = 0;
    for (std::size_t i = 0; i < v.size(); ++i) dot += v[i] * (left ? a[offset + i][k] : a[k][offset + i]);
    for (std::size_t i = 0; i < v.size(); ++i) {
      (left ? a[offset + i][k] : a[k][offset + i]) -= 2 * dot / norm * v[i];
    }
  }
}

/// The vector of the reflector that maps e onto a multiple of its first entry.
std::vector<double> householder(std::vector<double> e) {
  double norm = 0;
  for (const double value : e) norm += value * value;
  e[0] += std::copysign(std::sqrt(norm), e[0]);
  return e;
}

/// U Sigma V^T with random orthogonal U and V (products of reflectors of normal vectors: Haar), reduced to tridiagonal
/// form by reflectors from both sides (Higham, bandred).
HardMatrix randsvd(int id, Index n, const std::function<double(Index)>& singular_value) {
  std::mt19937 generator = generator_for(id);
  std::normal_distribution<double> normal;
  const auto size = static_cast<std::size_t>(n);
  Dense a(size, std::vector<double>(size));
  for (Index i = 0; i < n; ++i) a[static_cast<std::size_t>(i)][static_cast<std::size_t>(i)] = singular_value(i);
  for (const bool left : {true, false}) {
    for (std::size_t offset = 0; offset + 1 < size; ++offset) {
      std::vector<double> v(size - offset);
      for (double& e : v) e = normal(generator);
      reflect(a, householder(v), offset, left);
    }
  }
  for (std::size_t j = 0; j + 2 < size; ++j) {
    std::vector<double> column, row;
    for (std::size_t i = j + 1; i < size; ++i) column.push_back(a[i][j]);
    reflect(a, householder(column), j + 1, true);
    for (std::size_t i = j + 1; i < size; ++i) row.push_back(a[j][i]);
    reflect(a, householder(row), j + 1, false);
  }
  HardMatrix m;
  for (std::size_t i = 0; i < size; ++i) {
    m.lower.push_back(i > 0 ? a[i][i - 1] : 0);
    m.diag.push_back(a[i][i]);
    m.upper.push_back(i + 1 < size ? a[i][i + 1] : 0);
  }
  return m;
}

HardMatrix from_rows(Index n, const std::function<Row(Index)>& row) {
  HardMatrix m;
  for (Index i = 0; i < n; ++i) {
    const Row r = row(i);
    m.lower.push_back(r.lower);
    m.diag.push_back(r.diag);
    m.upper.push_back(r.upper);
  }
  return m;
}

/// gallery('dorr', n, theta): row diagonally dominant, ill-conditioned.
Row dorr(Index i, Index n, double theta) {
  const double h = 1.0 / static_cast<double>(n + 1), t = theta / (h * h);
  const Index middle = (n + 1) / 2, one_based = i + 1;
  const double wind = (0.5 - static_cast<double>(one_based) * h) / h;
  const double lower = one_based <= middle ? -t : -t + wind;
  const double upper = one_based <= middle ? -t - wind : -t;
  return {lower, -(lower + upper), upper};
}

HardMatrix simple(int id, Index n) {
  std::mt19937 generator = generator_for(id);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::bernoulli_distribution half;
  const auto u = [&] { return uniform(generator); };
  const auto sparse = [&] { return half(generator) ? u() : 0.0; };
  return from_rows(n, [&](Index i) -> Row {
    const auto k = static_cast<double>(i + 1);
    switch (id) {
      case 1:
        return {u(), u(), u()};
      case 2:
        return {u(), 1e8, u()};
      case 3:
        return {1 / k, -(2 * k + 3), k + 1};
      case 4:
        return {u() * (i == n / 2 - 1 || i == n / 2 ? 1e-50 : 1), u(), u()};
      case 5:
        return {sparse(), u(), sparse()};
      case 6:
        return {u(), 64, u()};
      case 7:
        return {-0.5 * 4 / 3, (i == 0 || i == n - 1 ? 1 : 1.25) * 4 / 3, -0.5 * 4 / 3};
      case 12:
        return {1e-50 * u(), u(), u()};
      case 13:
        return dorr(i, n, 1e-4);
      case 14:
        return {u(), 1e-8, u()};
      case 15:
        return {u(), 0, u()};
      case 16:
        return {1, 1e-8, 1};
      case 17:
        return {1, 1e8, 1};
      case 18:
        return {-1, 4, -1};
      case 19:
        return {-1, 4, 1};
      default:
        return {-1, 4, u()};
    }
  });
}

}  // namespace

HardMatrix klein_strzodka(int id, Index n) {
  constexpr double kCondition = 1e15;
  const auto last = static_cast<double>(n - 1);
  HardMatrix m;
  switch (id) {
    case 8:
      m = randsvd(id, n, [&](Index i) { return i == n - 1 ? 1 / kCondition : 1; });
      break;
    case 9:
      m = randsvd(id, n, [&](Index i) { return std::pow(kCondition, -static_cast<double>(i) / last); });
      break;
    case 10:
      m = randsvd(id, n, [&](Index i) { return i == 0 ? 1 : 1 / kCondition; });
      break;
    case 11:
      m = randsvd(id, n, [&](Index i) { return 1 - (1 - 1 / kCondition) * static_cast<double>(i) / last; });
      break;
    default:
      m = simple(id, n);
  }
  m.name = "id " + std::to_string(id);
  return m;
}

std::vector<HardMatrix> applications(Index n) {
  std::vector<HardMatrix> all;
  const auto add = [&](const std::string& name, const std::function<Row(Index)>& row) {
    all.push_back(from_rows(n, row));
    all.back().name = name;
  };
  for (const double lambda : {0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e8}) {
    add("diffusion " + std::to_string(lambda), [=](Index) { return Row{-lambda, 1 + 2 * lambda, -lambda}; });
  }
  add("variable diffusion", [](Index i) {
    const auto conductivity = [](Index j) { return 1e3 * (1.001 + std::sin(0.1 * static_cast<double>(j))); };
    return Row{-conductivity(i), 1 + conductivity(i) + conductivity(i + 1), -conductivity(i + 1)};
  });
  add("Poisson", [](Index) { return Row{-1, 2, -1}; });
  for (const double peclet : {1.0, 10.0, 1e3}) {
    add("upwind " + std::to_string(peclet), [=](Index) { return Row{-(1 + peclet), 2 + peclet, -1}; });
    add("downwind " + std::to_string(peclet), [=](Index) { return Row{-1, 2 + peclet, -(1 + peclet)}; });
  }
  std::mt19937 generator = generator_for(0);
  std::uniform_real_distribution<double> magnitude(0, 1);
  add("row sums 0", [&](Index) {
    const double lower = -magnitude(generator), upper = -magnitude(generator);
    return Row{lower, -lower - upper, upper};
  });
  add("compact 1/3", [](Index) { return Row{1.0 / 3, 1, 1.0 / 3}; });
  add("compact 2/11", [](Index) { return Row{2.0 / 11, 1, 2.0 / 11}; });
  double above = -magnitude(generator), below = -magnitude(generator), below_previous = 0;
  add("column sums 0", [&](Index) {
    const double diag = -above - below, lower = std::exchange(below_previous, below);
    above = -magnitude(generator);
    below = -magnitude(generator);
    return Row{lower, diag, above};
  });
  add("column dominant", [](Index i) {
    // Columns dominate by 1.5, rows do not: the scale of the columns swings by 1e6.
    const auto scale = [](Index j) { return std::pow(10.0, static_cast<double>(j % 7)); };
    return Row{-scale(i - 1 + 7) / 2, 1.5 * scale(i), -scale(i + 1) / 2};
  });
  return all;
}

template <typename T>
std::vector<HardMatrix> extremes(Index n) {
  const double largest = std::numeric_limits<T>::max(), normal = std::numeric_limits<T>::min();
  const double huge = std::sqrt(largest) * std::pow(largest, 0.45), tiny = 1 / huge;
  std::vector<HardMatrix> all;
  const auto add = [&](const std::string& name, const std::function<Row(Index)>& row) {
    all.push_back(from_rows(n, row));
    all.back().name = name;
    all.back().extreme = true;
  };
  const auto scaled = [](double a, double b, double c, double scale) { return Row{a * scale, b * scale, c * scale}; };
  for (const double scale : {tiny, huge, normal / 8, normal, largest / 8}) {
    char name[32];
    std::snprintf(name, sizeof name, " times %.0e", scale);
    add(std::string("dominant") + name, [=](Index) { return scaled(-1, 4, -2, scale); });
    add(std::string("Poisson") + name, [=](Index) { return scaled(-1, 2, -1, scale); });
    add(std::string("not dominant") + name, [=](Index i) { return scaled(-1, i % 3 == 0 ? 0.0 : 1.0, 1, scale); });
  }
  // |lower| + |upper| is beyond the range; the rows are as harmless as any.
  add("overflowing sums", [=](Index) { return scaled(-0.7, 0.9, -0.7, largest); });
  add("huge beside tiny", [=](Index i) { return scaled(-1, 4, -2, i % 2 == 0 ? huge : tiny); });
  add("Poisson, huge beside tiny", [=](Index i) { return scaled(-1, 2, -1, i % 2 == 0 ? huge : tiny); });
  add("one subnormal row", [=](Index i) { return scaled(-1, 4, -2, i == n / 2 ? normal / 64 : 1); });
  return all;
}
template std::vector<HardMatrix> extremes<float>(Index n);
template std::vector<HardMatrix> extremes<double>(Index n);

HardMatrix glued_lines(Index count, Index length) {
  std::vector<HardMatrix> kinds = applications(length);
  for (int id = 1; id <= 20; ++id) {
    if (!is_dense(id)) kinds.push_back(klein_strzodka(id, length));
  }
  const HardMatrix tiny = from_rows(length, [](Index) { return Row{1e-9, 1e-20, 1e-9}; });
  HardMatrix all;
  all.name = "glued lines";
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  all.starts.push_back(0);
  for (Index l = 0; l < count; ++l) {
    HardMatrix line = l == 500 ? tiny : kinds[static_cast<std::size_t>(l) % kinds.size()];
    line.lower.front() = line.upper.back() = 0;
    append(all.lower, line.lower);
    append(all.diag, line.diag);
    append(all.upper, line.upper);
    all.starts.push_back(all.starts.back() + length);
  }
  return all;
}

}  // namespace oclspkt::test
