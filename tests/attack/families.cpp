// SPDX-License-Identifier: BSD-2-Clause
#include "families.hpp"

#include <algorithm>
#include <cmath>

namespace oclspkt::attack {
namespace {

using Parameters = std::array<double, kMostParameters>;

/// Conduction between cells: row i is (-g(i), g(i) + f g(i+1) + h, -f g(i+1)).
template <typename Conductivity>
void write_conduction(Line& line, double f, double h, const Conductivity& g) {
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const double above = g(static_cast<Index>(i)), below = f * g(static_cast<Index>(i) + 1);
    line.lower[i] = -above;
    line.diag[i] = above + below + h;
    line.upper[i] = -below;
  }
}

/// Every row the same.
void write_rows(Line& line, double lower, double diag, double upper) {
  std::fill(line.lower.begin(), line.lower.end(), lower);
  std::fill(line.diag.begin(), line.diag.end(), diag);
  std::fill(line.upper.begin(), line.upper.end(), upper);
}

Index last_row(const Line& line) { return static_cast<Index>(line.rows()) - 1; }

/// at, K, f, H: conductivity K up to row `at`, then 1.
void write_jump(const Parameters& p, Dice&, Line& line) {
  const Index at = std::min(static_cast<Index>(p[0]), last_row(line));
  write_conduction(line, p[2], p[3], [&](Index i) { return i <= at ? p[1] : 1.0; });
}

/// count, K, f, H: conductivity K and 1 by turns.
void write_jumps(const Parameters& p, Dice& dice, Line& line) {
  std::vector<Index> places;
  for (int k = 0; k < static_cast<int>(p[0]); ++k) places.push_back(draw_place(last_row(line) + 1, dice));
  std::sort(places.begin(), places.end());
  write_conduction(line, p[2], p[3], [&](Index i) {
    const auto before = std::lower_bound(places.begin(), places.end(), i) - places.begin();
    return before % 2 == 0 ? p[1] : 1.0;
  });
}

/// rows, K, f, H: layers of that many rows, conductivity K and 1 by turns.
void write_layers(const Parameters& p, Dice&, Line& line) {
  const auto thickness = static_cast<Index>(p[0]);
  write_conduction(line, p[2], p[3], [&](Index i) { return (i / thickness) % 2 == 0 ? p[1] : 1.0; });
}

/// decades, f, H: conductivity 1 at one end, 10^decades at the other.
void write_graded(const Parameters& p, Dice&, Line& line) {
  const auto rows = static_cast<double>(line.rows());
  write_conduction(line, p[1], p[2], [&](Index i) { return std::pow(10, p[0] * static_cast<double>(i) / rows); });
}

/// decades, lambda: conductivities of random size.
void write_conductors(const Parameters& p, Dice& dice, Line& line) {
  std::vector<double> g(line.rows() + 1);
  for (double& value : g) value = p[1] * std::pow(10, dice.uniform(0, p[0]));
  write_conduction(line, 1, 1, [&](Index i) { return g[static_cast<std::size_t>(i)]; });
}

/// lower, start, step, turn: a diagonal that changes its sign; each row's dominance is 1. turn is the sign of upper.
void write_signs(const Parameters& p, Dice&, Line& line) {
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const double diag = p[1] - p[2] * static_cast<double>(i), rest = std::abs(diag) - std::abs(p[0]);
    line.lower[i] = p[0];
    line.diag[i] = diag;
    line.upper[i] = (p[3] == 0 ? -1 : 1) * std::copysign(std::max(rest, 0.0), diag);
  }
}

/// decades: couplings of random size, row sums 0.
void write_zero_sums(const Parameters& p, Dice& dice, Line& line) {
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const double lower = std::pow(10, -dice.uniform(0, p[0])), upper = std::pow(10, -dice.uniform(0, p[0]));
    line.lower[i] = -lower;
    line.diag[i] = lower + upper;
    line.upper[i] = -upper;
  }
}

/// diag, upper, decades, at: tridiag(-1, diag, upper) with column `at` divided by 10^decades.
void write_small_diagonal(const Parameters& p, Dice&, Line& line) {
  write_rows(line, -1, p[0], p[1]);
  const auto at = static_cast<std::size_t>(std::min(static_cast<Index>(p[3]), last_row(line)));
  const double scale = std::pow(10, -p[2]);
  if (at > 0) line.upper[at - 1] *= scale;
  line.diag[at] *= scale;
  if (at + 1 < line.rows()) line.lower[at + 1] *= scale;
}

/// diag, decades, count, together: tridiag(-1, diag, -1), some of whose diagonals are up to 10^decades times smaller,
/// in rows that follow each other.
void write_small_entries(const Parameters& p, Dice& dice, Line& line) {
  write_rows(line, -1, p[0], -1);
  for (int k = 0; k < static_cast<int>(p[2]); ++k) {
    const Index at = draw_place(last_row(line) + 1, dice),
                end = std::min(at + static_cast<Index>(p[3]), last_row(line) + 1);
    for (Index i = at; i < end; ++i) line.diag[static_cast<std::size_t>(i)] *= std::pow(10, -dice.uniform(0, p[1]));
  }
}

/// tightness, decades, share, drift: |c_i a_(i+1)| is so much of |b_i b_(i+1)| / 4, and the share of it that either has
/// is random by up to 10^decades and drifts by 10^drift a row.
void write_loose(const Parameters& p, Dice& dice, Line& line) {
  for (std::size_t i = 0; i < line.rows(); ++i) {
    line.diag[i] = std::pow(10, dice.uniform(-1, 1)) * (dice.chance(0.5) ? 1 : -1);
    if (i == 0) continue;
    const double decades = p[3] + (dice.chance(p[2]) ? dice.uniform(-p[1], p[1]) : 0);
    line.lower[i] = line.diag[i] * std::sqrt(p[0]) / 2 * std::pow(10, -decades) * (dice.chance(0.5) ? 1 : -1);
    line.upper[i - 1] = line.diag[i - 1] * std::sqrt(p[0]) / 2 * std::pow(10, decades) * (dice.chance(0.5) ? 1 : -1);
  }
}

/// theta: gallery('dorr', n, theta), row sums 0 and growing to the middle.
void write_dorr(const Parameters& p, Dice&, Line& line) {
  const double h = 1.0 / static_cast<double>(line.rows() + 1), t = p[0] / (h * h);
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const bool before_middle = i + 1 <= (line.rows() + 1) / 2;
    const double wind = (0.5 - static_cast<double>(i + 1) * h) / h;
    line.lower[i] = before_middle ? -t : -t + wind;
    line.upper[i] = before_middle ? -t - wind : -t;
    line.diag[i] = -(line.lower[i] + line.upper[i]);
  }
}

/// peclet, H, down: advection upwind.
void write_advection(const Parameters& p, Dice&, Line& line) {
  const bool down = p[2] != 0;
  write_rows(line, down ? -1 : -(1 + p[0]), 2 + p[0] + p[1], down ? -(1 + p[0]) : -1);
}

/// lambda: implicit diffusion.
void write_diffusion(const Parameters& p, Dice&, Line& line) { write_rows(line, -p[0], 1 + 2 * p[0], -p[0]); }

/// dominance: couplings and diagonals of either sign.
void write_random(const Parameters& p, Dice& dice, Line& line) {
  for (std::size_t i = 0; i < line.rows(); ++i) {
    line.lower[i] = dice.uniform(-1, 1);
    line.upper[i] = dice.uniform(-1, 1);
    line.diag[i] = (std::abs(line.lower[i]) + std::abs(line.upper[i])) * p[0] * (dice.chance(0.5) ? 1 : -1);
  }
}

/// shift: Poisson with that much taken off its diagonal, nearly singular at every partition length that resonates.
void write_resonant(const Parameters& p, Dice&, Line& line) { write_rows(line, -1, 2 - p[0], -1); }

/// rows, distance, coupling, signs: blocks that are singular by themselves but for 10^-distance, joined by weak
/// couplings. signs is the share of couplings below the diagonal that are positive.
void write_resonant_blocks(const Parameters& p, Dice& dice, Line& line) {
  const auto block = static_cast<std::size_t>(p[0]);
  const double joint = std::pow(10, -p[2]), pi = std::acos(-1.0);
  double diag = 2;
  for (std::size_t i = 0; i < line.rows(); ++i) {
    if (i % block == 0) {
      const auto wave = static_cast<double>(dice.whole(1, static_cast<Index>(block)));
      diag = 2 * std::cos(pi * wave / static_cast<double>(block + 1)) + std::pow(10, -p[1]) * dice.normal();
    }
    line.lower[i] = (dice.chance(p[3]) ? 1 : -1) * (i % block == 0 ? joint : 1);
    line.diag[i] = diag;
    line.upper[i] = std::copysign(i % block + 1 == block ? joint : 1, -1);
  }
}

/// decades: conduction that nothing leaves by the ends: the rows' sums are 0 but for rounding.
void write_neumann(const Parameters& p, Dice& dice, Line& line) {
  double above = 0;
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const double below = i + 1 == line.rows() ? 0 : 0.1 * std::pow(10, dice.uniform(0, p[0]));
    line.lower[i] = -above;
    line.diag[i] = above + below;
    line.upper[i] = -below;
    above = below;
  }
}

/// dominance, at: as random, with a column of zeros.
void write_zero_column(const Parameters& p, Dice& dice, Line& line) {
  write_random(p, dice, line);
  const auto at = static_cast<std::size_t>(std::min(static_cast<Index>(p[1]), last_row(line)));
  if (at > 0) line.upper[at - 1] = 0;
  line.diag[at] = 0;
  if (at + 1 < line.rows()) line.lower[at + 1] = 0;
}

constexpr Parameter kConductivity{"K", Spread::logarithmic, 1, 1e14, 1e6};
constexpr Parameter kRatio{"f", Spread::above_one, -14, 0};
constexpr Parameter kLoss{"H", Spread::logarithmic, 1e-12, 10, 10, 0.3};

void reverse(Line& line) {
  std::swap(line.lower, line.upper);
  for (std::vector<double>* band : {&line.lower, &line.diag, &line.upper}) std::reverse(band->begin(), band->end());
}

void transpose(Line& line) {
  for (std::size_t i = 0; i + 1 < line.rows(); ++i) std::swap(line.upper[i], line.lower[i + 1]);
}

void divide_by_diagonal(Line& line) {
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const double scale = line.diag[i] != 0 ? 1 / line.diag[i] : 1;
    line.lower[i] *= scale;
    line.diag[i] *= scale;
    line.upper[i] *= scale;
  }
}

/// A unit for each column, as exponents of 10.
std::vector<double> column_exponents(const Case& c, std::size_t rows, Dice& dice) {
  std::vector<double> exponents(rows);
  switch (c.pattern) {
    case Pattern::each:
      for (double& e : exponents) e = std::round(dice.uniform(-c.column_decades, c.column_decades));
      break;
    case Pattern::blocks: {
      const double other = dice.chance(0.5) ? c.column_decades : -c.column_decades;
      for (auto jumps = dice.whole(1, 6); jumps > 0; --jumps) {
        const auto from = static_cast<std::size_t>(draw_place(static_cast<Index>(rows), dice));
        for (std::size_t i = from; i < rows; ++i) exponents[i] = other - exponents[i];
      }
      break;
    }
    case Pattern::decays:
      for (std::size_t i = 0; i < rows; ++i) {
        const double middle = std::abs(1 - 2 * static_cast<double>(i) / static_cast<double>(rows));
        exponents[i] = c.column_decades * (middle - 1);
      }
      break;
    case Pattern::turns:
      for (std::size_t i = 0; i < rows; ++i) exponents[i] = i % 2 == 0 ? c.column_decades : -c.column_decades;
  }
  return exponents;
}

/// @return the decade of each column's unit
std::vector<int> scale_rows_and_columns(const Case& c, Line& line, Dice& dice) {
  const std::vector<double> exponents = column_exponents(c, line.rows(), dice);
  std::vector<int> decades;
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const double own = c.inverse_rows ? -exponents[i] : 0;
    const double row = std::round(dice.uniform(-c.row_decades, c.row_decades)) + own + c.range;
    // Row and column at once: each by itself may be out of range.
    if (i > 0) line.lower[i] *= std::pow(10, row + exponents[i - 1]);
    line.diag[i] *= std::pow(10, row + exponents[i]);
    if (i + 1 < line.rows()) line.upper[i] *= std::pow(10, row + exponents[i + 1]);
    decades.push_back(static_cast<int>(std::lround(exponents[i])));
  }
  return decades;
}

/// A line, and the decade of each of its columns' units.
struct Dressed {
  Line line;
  std::vector<int> decades;
};

Dressed make_line(const Case& c, Index rows, Dice& dice) {
  Dressed d{Line(rows), std::vector<int>(static_cast<std::size_t>(rows))};
  family_named(c.family).write(c.parameters, dice, d.line);
  if (c.over_diagonal) divide_by_diagonal(d.line);
  if (c.reversed) reverse(d.line);
  if (c.transposed) transpose(d.line);
  if (c.row_decades != 0 || c.column_decades != 0 || c.range != 0) {
    d.decades = scale_rows_and_columns(c, d.line, dice);
  }
  d.line.lower.front() = d.line.upper.back() = 0;
  return d;
}

LineSet make_lines(const Case& c, Dice& dice) {
  switch (c.layout) {
    case Layout::one:
      return LineSet::one(c.rows);
    case Layout::equal:
      return LineSet::equal(c.lines, c.rows);
    case Layout::beside:
      return LineSet::strided(c.rows, c.lines, c.lines, 1);
    case Layout::unequal:
      break;
  }
  std::vector<Index> starts{0};
  for (Index l = 0; l < c.lines; ++l) starts.push_back(starts.back() + dice.whole(1, c.rows));
  return LineSet::unequal(std::move(starts));
}

void edit(System& system, const std::vector<Edit>& edits) {
  for (const Edit& e : edits) {
    std::vector<double>& band = e.band == 'l' ? system.lower : e.band == 'd' ? system.diag : system.upper;
    if (e.at < system.lines.extent()) band[static_cast<std::size_t>(e.at)] *= e.factor;
  }
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"jump", {{"at", Spread::place}, kConductivity, kRatio, kLoss}, write_jump},
      {"jumps", {{"count", Spread::whole, 2, 10, 10}, kConductivity, kRatio, kLoss}, write_jumps},
      {"layers", {{"thickness", Spread::whole, 1, 600, 600}, kConductivity, kRatio, kLoss}, write_layers},
      {"graded", {{"decades", Spread::linear, 0, 14, 6}, kRatio, kLoss}, write_graded},
      {"conductors",
       {{"decades", Spread::linear, 0, 8, 4}, {"lambda", Spread::logarithmic, 1, 1e6, 1e3}},
       write_conductors},
      {"signs",
       {{"lower", Spread::linear, -1, -0.01, -0.01},
        {"start", Spread::linear, 5, 120, 120},
        {"step", Spread::linear, 0.2, 2, 2},
        {"turn", Spread::whole, 0, 1, 1}},
       write_signs,
       2,
       200},
      {"zero_sums", {{"decades", Spread::linear, 0, 6, 3}}, write_zero_sums},
      {"small_diagonal",
       {{"diag", Spread::linear, 2, 5, 5},
        {"upper", Spread::linear, 0.2, 2, 2},
        {"decades", Spread::linear, 2, 12, 6},
        {"at", Spread::place}},
       write_small_diagonal},
      {"small_entries",
       {{"diag", Spread::logarithmic, 2, 300, 300},
        {"decades", Spread::linear, 1, 16, 8},
        {"count", Spread::whole, 1, 6, 6},
        {"together", Spread::whole, 1, 3, 3}},
       write_small_entries},
      {"loose",
       {{"tightness", Spread::linear, 0.02, 1.02, 1.02},
        {"decades", Spread::linear, 0, 14, 6},
        {"share", Spread::logarithmic, 1e-3, 1, 1},
        {"drift", Spread::linear, -1, 1, 0.4, 0.7}},
       write_loose},
      {"dorr", {{"theta", Spread::logarithmic, 1e-6, 1e-1, 1e-1}}, write_dorr, 127, 511},
      {"advection",
       {{"peclet", Spread::logarithmic, 1e-2, 1e6, 1e4}, kLoss, {"down", Spread::whole, 0, 1, 1}},
       write_advection},
      {"diffusion", {{"lambda", Spread::logarithmic, 1, 1e9, 1e6}}, write_diffusion},
      {"random", {{"dominance", Spread::above_one, -4, 0.48}}, write_random},
      {"resonant", {{"shift", Spread::linear, 0, 4, 4}}, write_resonant},
      {"resonant_blocks",
       {{"block", Spread::whole, 2, 40, 40},
        {"distance", Spread::linear, 1, 16, 7},
        {"coupling", Spread::linear, 0, 8, 4},
        {"signs", Spread::linear, 0, 1, 1, 0.5}},
       write_resonant_blocks,
       2,
       9000},
      {"neumann", {{"decades", Spread::linear, 0, 8, 4}}, write_neumann, 2, 2000},
      {"zero_column", {{"dominance", Spread::above_one, -4, 0.48}, {"at", Spread::place}}, write_zero_column, 2, 500},
  };
  return all;
}

const Family& family_named(const std::string& name) {
  std::string names;
  for (const Family& family : families()) {
    if (family.name == name) return family;
    names.append(names.empty() ? "" : ", ").append(family.name);
  }
  throw BadText("there is no family '" + name + "'; there are " + names);
}

System make_system(const Case& c) {
  Dice dice(c.seed);
  System system;
  system.lines = make_lines(c, dice);
  for (std::vector<double>* band : {&system.lower, &system.diag, &system.upper}) {
    band->resize(static_cast<std::size_t>(system.lines.extent()));
  }
  system.decade.resize(static_cast<std::size_t>(system.lines.extent()));
  for (Index l = 0; l < system.lines.count(); ++l) {
    const auto [line, decades] = make_line(c, system.lines.length(l), dice);
    for (std::size_t i = 0; i < line.rows(); ++i) {
      const auto at =
          static_cast<std::size_t>(system.lines.first(l) + static_cast<Index>(i) * system.lines.row_stride());
      system.lower[at] = line.lower[i];
      system.diag[at] = line.diag[i];
      system.upper[at] = line.upper[i];
      system.decade[at] = decades[i];
    }
  }
  edit(system, c.edits);
  return system;
}

Case tame(Case c) {
  constexpr double kTaming = 0.37;
  const Family& family = family_named(c.family);
  for (std::size_t k = 0; k < family.parameters.size(); ++k) {
    if (family.parameters[k].spread == Spread::logarithmic) c.parameters[k] = std::pow(c.parameters[k], kTaming);
  }
  return c;
}

}  // namespace oclspkt::attack
