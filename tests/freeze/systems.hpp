// SPDX-License-Identifier: BSD-2-Clause
// Matrices and line sets by name.
#pragma once

#include <functional>

#include "matrices.hpp"

namespace oclspkt::freeze {

enum class Kind {
  dominant,     ///< random, d = 10
  weak,         ///< random, d = 1.2
  symmetric,    ///< random, d = 10
  alike,        ///< rows that are all alike and symmetric
  advection,    ///< all alike, not symmetric
  poisson,      ///< d = 1
  diffusion,    ///< lambda 1e3
  sums_zero,    ///< random, d = 1
  not_dominant  ///< column sums 0
};
inline constexpr const char* kKindNames[] = {"dominant", "weak",      "symmetric", "alike",       "advection",
                                             "poisson",  "diffusion", "sums-zero", "not-dominant"};
inline constexpr const char* name(Kind kind) { return kKindNames[static_cast<int>(kind)]; }
inline constexpr Kind kKinds[] = {Kind::dominant, Kind::weak,      Kind::symmetric, Kind::alike,       Kind::advection,
                                  Kind::poisson,  Kind::diffusion, Kind::sums_zero, Kind::not_dominant};

/// Couplings out of the lines are 0.
template <typename T>
Bands<T> matrix(Kind kind, const LineSet& lines) {
  const auto made = [&] {
    switch (kind) {
      case Kind::dominant:
        return test::random_dominant<T>(lines, 10.0);
      case Kind::weak:
        return test::random_dominant<T>(lines, 1.2);
      case Kind::symmetric:
        return test::random_symmetric<T>(lines, 10.0);
      case Kind::alike:
        return test::constant<T>(lines, -1, 6, -1);
      case Kind::advection:
        return test::upwind<T>(lines, 10);
      case Kind::poisson:
        return test::constant<T>(lines, -1, 2, -1);
      case Kind::diffusion:
        return test::diffusion<T>(lines, 1e3);
      case Kind::sums_zero:
        return test::row_sums_zero<T>(lines);
      case Kind::not_dominant:
        return test::column_sums_zero<T>(lines);
    }
    return Bands<T>{};
  };
  return test::closed(made());
}

struct Shape {
  std::string name;
  std::function<LineSet()> make;
};

inline Shape one_line(Index n) {
  return {"one " + std::to_string(n), [n] { return LineSet::one(n); }};
}
inline Shape equal_lines(Index count, Index length) {
  return {"equal " + std::to_string(count) + "x" + std::to_string(length),
          [=] { return LineSet::equal(count, length); }};
}
/// Lines of 1, 2, 3, ... rows, and long ones between them.
inline Shape unequal_lines(Index count) {
  return {"unequal " + std::to_string(count), [count] {
            std::vector<Index> starts{0};
            for (Index l = 0; l < count; ++l) starts.push_back(starts.back() + (l % 7 == 3 ? 400 + l : 1 + l % 60));
            return LineSet::unequal(starts);
          }};
}
inline Shape grid_lines(int axis, Index nx, Index ny, Index nz) {
  return {std::string(axis == 1 ? "y" : "z") + " " + std::to_string(nx) + "x" + std::to_string(ny) + "x" +
              std::to_string(nz),
          [=] { return LineSet::grid_axis(axis, nx, ny, nz); }};
}
/// Lines side by side with places between them that are no line's.
inline Shape gapped_lines() {
  return {"gaps", [] { return LineSet::strided(90, 300, 20, 1, 4, 60); }};
}

}  // namespace oclspkt::freeze
