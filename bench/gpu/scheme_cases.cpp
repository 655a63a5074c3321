// SPDX-License-Identifier: BSD-2-Clause
#include "scheme_cases.hpp"

#include <algorithm>
#include <cstdio>

#include "cases.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// Where a family or a layout is timed.
enum class Reach { usual, also_long, only_long };

struct Family {
  const char* name;
  MatrixSpec matrix;
  Reach reach = Reach::usual;
  bool floats_too = true;
};

/// Diffusion and Poisson have the same rows in every line, all others rows of their own.
const Family kFamilies[] = {
    {"d3", {.matrix = Matrix::random, .dominance = 3}, Reach::also_long},
    {"lambda1e4", {.matrix = Matrix::diffusion, .lambda = 1e4}, Reach::also_long},
    {"d1.01", {.matrix = Matrix::random, .dominance = 1.01}, Reach::also_long},
    {"lambda1e2", {.matrix = Matrix::diffusion, .lambda = 1e2}, Reach::also_long},
    {"zero sums", {.matrix = Matrix::row_sums_zero}, Reach::also_long},
    {"scaled conduction1e4", {.matrix = Matrix::conduction, .lambda = 1e4, .scaled = true}, Reach::also_long, false},
    {"conduction1e2", {.matrix = Matrix::conduction, .lambda = 1e2}, Reach::usual, false},
    {"poisson", {.matrix = Matrix::poisson}},
    {"d0.5", {.matrix = Matrix::random, .dominance = 0.5}, Reach::usual, false},
    {"d1.2", {.matrix = Matrix::random, .dominance = 1.2}, Reach::usual, false},
    {"symmetric d1.5", {.matrix = Matrix::random, .dominance = 1.5, .symmetric = true}, Reach::usual, false},
    {"lambda1", {.matrix = Matrix::diffusion, .lambda = 1}, Reach::usual, false},
    {"lambda10", {.matrix = Matrix::diffusion, .lambda = 10}, Reach::usual, false},
};

struct Layout {
  const char* name;
  LineSet (*lines)(Index rows);
  Reach reach = Reach::usual;
};

template <Index length>
LineSet end_to_end(Index rows) {
  return LineSet::equal(std::max<Index>(1, rows / length), length);
}
template <int axis, Index length>
LineSet beside(Index rows) {
  std::string place;
  return grid_lines(axis, length, rows, place);
}
/// So few lines side by side that whole ones leave processors idle.
LineSet few_beside(Index rows) {
  constexpr Index kFew = 64;
  return LineSet::grid_axis(2, kFew, 1, std::max<Index>(1, rows / kFew));
}

constexpr Layout kLayouts[] = {{"one", LineSet::one, Reach::also_long},
                               {"y64", beside<1, 64>, Reach::also_long},
                               {"x4096", end_to_end<4096>, Reach::also_long},
                               {"few z", few_beside, Reach::also_long},
                               {"x16384", end_to_end<16384>, Reach::only_long},
                               {"z1024", beside<2, 1024>, Reach::also_long},
                               {"y4096", beside<1, 4096>, Reach::only_long},
                               {"x512", end_to_end<512>},
                               {"x64", end_to_end<64>}};

bool is_timed(Reach reach, Index size) { return size >= kLongRows ? reach != Reach::usual : reach != Reach::only_long; }

std::vector<SchemeCase> cases_of(Index size) {
  std::vector<SchemeCase> cases;
  for (const Family& family : kFamilies) {
    for (const Layout& layout : kLayouts) {
      if (!is_timed(family.reach, size) || !is_timed(layout.reach, size)) continue;
      for (const bool is_double : {true, false}) {
        if (!is_double && !family.floats_too) continue;
        cases.push_back({family.name, layout.name, family.matrix, layout.lines(size), size, is_double});
      }
    }
  }
  return cases;
}

}  // namespace

std::string SchemeCase::describe() const {
  char rows[32];
  std::snprintf(rows, sizeof rows, "%g", static_cast<double>(size));
  return family + ", " + layout + ", " + rows + ", " + (is_double ? "double" : "float");
}

std::vector<SchemeCase> make_scheme_cases(const std::vector<Index>& sizes) {
  std::vector<Index> order = sizes;
  std::sort(order.begin(), order.end());
  std::vector<SchemeCase> cases;
  for (const Index size : order) {
    std::vector<SchemeCase> same = cases_of(size);
    constexpr std::size_t kRounds = 4;
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (std::size_t i = round; i < same.size(); i += kRounds) cases.push_back(std::move(same[i]));
    }
  }
  return cases;
}

}  // namespace oclspkt::bench::gpu
