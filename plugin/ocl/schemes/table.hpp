// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "schemes/part.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt::ocl {

/// A scheme in the table of devices: its name, which plans give, what it needs, and how its parts are made.
struct Carrier {
  const char* name;
  Needs (*needs)(const Plan& plan, const LineSet& lines, int word, Index chunk_tiles);
  std::unique_ptr<Part<float>> (*make_float)();
  std::unique_ptr<Part<double>> (*make_double)();
  template <typename T>
  std::unique_ptr<Part<T>> make() const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return make_double();
    } else {
      return make_float();
    }
  }
};

/// The carrier of a scheme whose parts are of class P.
template <template <typename> class P>
constexpr Carrier carrier(const char* name) {
  return {name, P<float>::needs, [] { return std::unique_ptr<Part<float>>(std::make_unique<P<float>>()); },
          [] { return std::unique_ptr<Part<double>>(std::make_unique<P<double>>()); }};
}

/// Add the carrier of a scheme of a program's own, see oclspkt::add_scheme(). To be called before the first set-up.
/// @throws InvalidInput if there is one of that name
OCLSPKT_API void add_carrier(const Carrier& carrier);

/// Add a scheme of a program's own, of class S, whose parts are of class P: add_scheme() and add_carrier().
template <typename S, template <typename> class P>
const Scheme& add() {
  add_scheme(only<S>());
  add_carrier(carrier<P>(only<S>().name()));
  return only<S>();
}

/// The carrier of a plan's scheme.
/// @throws InvalidInput if devices have no scheme of that name
const Carrier& carrier_of(const Plan& plan);

}  // namespace oclspkt::ocl
