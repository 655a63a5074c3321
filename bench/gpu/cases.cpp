// SPDX-License-Identifier: BSD-2-Clause
#include "cases.hpp"

#include <algorithm>
#include <iterator>

namespace oclspkt::bench::gpu {
namespace {

/// Small systems are soon solved and their times scatter: they are solved more often by this factor.
constexpr int kSmallRepetitions = 5;

/// The matrices of kMatrixWords, in its order.
const MatrixSpec kMatrices[] = {{.matrix = Matrix::random, .dominance = 3},
                                {.matrix = Matrix::random, .dominance = 1.2},
                                {.matrix = Matrix::random, .dominance = 1.01},
                                {.matrix = Matrix::diffusion, .lambda = 10},
                                {.matrix = Matrix::diffusion, .lambda = 1e2},
                                {.matrix = Matrix::diffusion, .lambda = 1e3},
                                {.matrix = Matrix::diffusion, .lambda = 1e4},
                                {.matrix = Matrix::diffusion, .lambda = 1e5},
                                {.matrix = Matrix::poisson},
                                {.matrix = Matrix::conduction, .lambda = 1e4, .scaled = true}};
static_assert(std::size(kMatrices) == std::size(kMatrixWords));

/// The matrices of line sets, with what they are there for. Conduction is symmetric unless its rows are scaled, and
/// diffusion has the same bands in every line.
struct LineMatrix {
  MatrixSpec matrix;
  const char* bands;
  Precision precision = Precision::same;
};
const LineMatrix kLineMatrices[] = {
    {{.matrix = Matrix::random, .dominance = 1.5}, "general"},
    {{.matrix = Matrix::conduction, .lambda = 10, .scaled = true}, "general"},
    {{.matrix = Matrix::conduction, .lambda = 1e2, .scaled = true}, "general"},
    {{.matrix = Matrix::conduction, .lambda = 1e4, .scaled = true}, "general"},
    {{.matrix = Matrix::random, .dominance = 1.5, .symmetric = true}, "symmetric"},
    {{.matrix = Matrix::conduction, .lambda = 1e2}, "symmetric"},
    {{.matrix = Matrix::diffusion, .lambda = 10}, "shared"},
    {{.matrix = Matrix::diffusion, .lambda = 1e4}, "shared"},
    {{.matrix = Matrix::random, .dominance = 1.5}, "narrow", Precision::narrow},
};

/// `auto`, and where systems are as long as asked for the others too.
std::vector<MethodChoice> methods_for(const Settings& s, Index rows) {
  std::vector<MethodChoice> methods;
  for (const MethodChoice method : s.methods) {
    if (method == MethodChoice::automatic || rows == s.named_rows) methods.push_back(method);
  }
  return methods;
}

void add_systems(const Settings& s, bool is_double, std::vector<Case>& cases) {
  for (const Index rows : s.rows) {
    const bool is_small = rows <= Settings::kSmallRows;
    if (is_small ? !s.small_systems : !s.long_systems) continue;
    for (std::size_t i = 0; i < std::size(kMatrices); ++i) {
      if (std::find(s.matrices.begin(), s.matrices.end(), kMatrixWords[i]) == s.matrices.end()) continue;
      Case c{.matrix = kMatrices[i], .lines = LineSet::one(rows)};
      c.is_double = is_double;
      c.methods = methods_for(s, rows);
      c.repetitions = s.repetitions * (is_small ? kSmallRepetitions : 1);
      c.repeats = s.repeats;
      if (!c.methods.empty()) cases.push_back(c);
    }
  }
}

void add_lines(const Settings& s, bool is_double, std::vector<Case>& cases) {
  for (const Index length : s.lengths) {
    for (int axis = 0; axis < 3; ++axis) {
      std::string place = "end to end";
      const LineSet lines = axis == 0 ? LineSet::equal(std::max<Index>(1, s.line_rows / length), length)
                                      : grid_lines(axis, length, s.line_rows, place);
      for (const LineMatrix& m : kLineMatrices) {
        if (m.precision == Precision::narrow && !is_double) continue;
        if (std::find(s.bands.begin(), s.bands.end(), m.bands) == s.bands.end()) continue;
        Case c{.matrix = m.matrix, .lines = lines, .place = place, .bands = m.bands, .precision = m.precision};
        c.is_double = is_double;
        c.methods = {MethodChoice::automatic};
        c.repetitions = s.repetitions;
        c.repeats = s.repeats;
        cases.push_back(c);
      }
    }
  }
}

}  // namespace

std::string Case::describe() const {
  std::string text = matrix.describe() + (bands == "narrow" ? ", narrow" : "");
  if (!place.empty()) text += ", lines of " + std::to_string(lines.length(0)) + ", " + place;
  return text + ", " + std::to_string(lines.rows()) + " rows, " + (is_double ? "double" : "float");
}

double Case::work() const {
  // Making, surveying and checking a system takes as long as that many applies with their transfers.
  constexpr double kPrepare = 4, kSetUp = 6;
  const double words =
      kPrepare + static_cast<double>(methods.size()) * (kSetUp + static_cast<double>(repetitions + repeats));
  constexpr double kCase = 1e6;  // rows that take as long as what every case takes
  return (static_cast<double>(lines.rows()) + kCase) * words * (is_double ? 2 : 1);
}

LineSet grid_lines(int axis, Index length, Index rows, std::string& place) {
  constexpr Index kX = 512, kWhole = 16;  // of them rows begin with cache lines, as those of usual grids
  const Index count = std::max<Index>(1, rows / length), most = std::min(kX, count);
  const Index nx = most < kWhole ? most : most / kWhole * kWhole, other = count / nx;
  const Index ny = axis == 1 ? length : other, nz = axis == 1 ? other : length;
  place = std::string(axis == 1 ? "y" : "z") + " of " + std::to_string(nx) + " x " + std::to_string(ny) + " x " +
          std::to_string(nz);
  return LineSet::grid_axis(axis, nx, ny, nz);
}

std::vector<Case> make_cases(const Settings& s) {
  std::vector<Case> cases;
  for (const std::string& scalar : s.scalars) add_systems(s, scalar == "double", cases);
  if (!s.lines) return cases;
  for (const std::string& scalar : s.scalars) add_lines(s, scalar == "double", cases);
  return cases;
}

}  // namespace oclspkt::bench::gpu
