// SPDX-License-Identifier: BSD-2-Clause
#include "scheme_cases.hpp"

#include <algorithm>
#include <cstdio>

#include "cases.hpp"

namespace oclspkt::bench::gpu {
namespace {

struct Family {
  const char* name;
  MatrixSpec matrix;
  bool long_too = false;  ///< timed with long systems, too
};

/// Diffusion and Poisson have the same rows in every line, all others rows of their own.
const Family kFamilies[] = {
    {"d3", {.matrix = Matrix::random, .dominance = 3}, true},
    {"lambda1e2", {.matrix = Matrix::diffusion, .lambda = 1e2}, true},
    {"d1.01", {.matrix = Matrix::random, .dominance = 1.01}, true},
    {"zero sums", {.matrix = Matrix::row_sums_zero}, true},
    {"conduction1e2", {.matrix = Matrix::conduction, .lambda = 1e2}},
    {"poisson", {.matrix = Matrix::poisson}},
    {"d1.2", {.matrix = Matrix::random, .dominance = 1.2}},
    {"symmetric d1.5", {.matrix = Matrix::random, .dominance = 1.5, .symmetric = true}},
    {"lambda1e4", {.matrix = Matrix::diffusion, .lambda = 1e4}},
    {"conduction1e4 scaled", {.matrix = Matrix::conduction, .lambda = 1e4, .scaled = true}},
    {"lambda10", {.matrix = Matrix::diffusion, .lambda = 10}},
    {"lambda1", {.matrix = Matrix::diffusion, .lambda = 1}},
    {"d0.5", {.matrix = Matrix::random, .dominance = 0.5}},
};

struct Layout {
  const char* name;
  LineSet (*lines)(Index rows);
  bool long_too = false;
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

constexpr Layout kLayouts[] = {{"one", LineSet::one, true},
                               {"y64", beside<1, 64>, true},
                               {"x512", end_to_end<512>, true},
                               {"few z", few_beside, true},
                               {"z1024", beside<2, 1024>},
                               {"x64", end_to_end<64>},
                               {"x4096", end_to_end<4096>}};

}  // namespace

std::string SchemeCase::describe() const {
  char rows[32];
  std::snprintf(rows, sizeof rows, "%g", static_cast<double>(size));
  return family + ", " + layout + ", " + rows + ", " + (is_double ? "double" : "float");
}

std::vector<SchemeCase> make_scheme_cases(const std::vector<Index>& sizes) {
  std::vector<Index> order = sizes;
  std::sort(order.begin(), order.end());
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2), order.end());
  std::vector<SchemeCase> cases;
  for (const Index size : order) {
    for (const Family& family : kFamilies) {
      for (const Layout& layout : kLayouts) {
        if (size >= kLongRows && !(family.long_too && layout.long_too)) continue;
        for (const bool is_double : {false, true}) {
          cases.push_back({family.name, layout.name, family.matrix, layout.lines(size), size, is_double});
        }
      }
    }
  }
  return cases;
}

}  // namespace oclspkt::bench::gpu
