// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "schemes/scheme.hpp"

namespace oclspkt::ocl {

/// What a scheme needs on a device beside bands and vectors, for chunks of so many tiles.
struct Needs {
  Index slot = 1;            ///< vectors of scratch of a work-group
  std::int64_t largest = 0;  ///< bytes of the largest buffer of its own
  std::int64_t all = 0;      ///< bytes of all of them
};

/// A scheme in the table: its name, which plans give, what it needs, and how it is made.
struct SchemeRow {
  const char* name;
  Needs (*needs)(const Plan& plan, const LineSet& lines, int word, Index chunk_tiles);
  std::unique_ptr<Scheme<float>> (*make_float)();
  std::unique_ptr<Scheme<double>> (*make_double)();
  template <typename T>
  std::unique_ptr<Scheme<T>> make() const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return make_double();
    } else {
      return make_float();
    }
  }
};

template <template <typename> class S>
constexpr SchemeRow row(const char* name, Needs (*needs)(const Plan&, const LineSet&, int, Index)) {
  return {name, needs, [] { return std::unique_ptr<Scheme<float>>(std::make_unique<S<float>>()); },
          [] { return std::unique_ptr<Scheme<double>>(std::make_unique<S<double>>()); }};
}

/// The row of a plan's scheme.
/// @throws InvalidInput if no scheme of the table carries the plan
const SchemeRow& row_of(const Plan& plan);

}  // namespace oclspkt::ocl
