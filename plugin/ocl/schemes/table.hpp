// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <tuple>

#include "schemes/proposal.hpp"
#include "schemes/worker.hpp"

namespace oclspkt::ocl {

/// A scheme in the table of devices: its name (Plan::made_by), its memory needs, and the makers of its workers.
struct Carrier {
  template <typename T>
  using Maker = std::unique_ptr<Worker<T>> (*)();

  const char* name;
  Needs (*needs)(const Plan& plan, const LineSet& lines, int word, Index chunk_tiles);
  std::tuple<Maker<float>, Maker<double>> makers;
  template <typename T>
  std::unique_ptr<Worker<T>> make() const {
    return std::get<Maker<T>>(makers)();
  }
};

/// Returns the carrier of a scheme whose workers are of class W.
template <template <typename> class W>
constexpr Carrier carrier(const char* name) {
  return {name,
          W<float>::needs,
          {[] { return std::unique_ptr<Worker<float>>(std::make_unique<W<float>>()); },
           [] { return std::unique_ptr<Worker<double>>(std::make_unique<W<double>>()); }}};
}

/// Add the carrier of a scheme that a program defines (oclspkt::add_scheme()). Call this before the first set-up.
/// @throws InvalidInput if a carrier of that name exists
OCLSPKT_API void add_carrier(const Carrier& carrier);

/// Add a scheme that a program defines, of class S with workers of class W: add_scheme() and add_carrier().
template <typename S, template <typename> class W>
const Scheme& add() {
  add_scheme(only<S>());
  add_carrier(carrier<W>(only<S>().name()));
  return only<S>();
}

/// Returns the carrier of a plan's scheme.
/// @throws InvalidInput if devices have no scheme of that name
const Carrier& carrier_of(const Plan& plan);

}  // namespace oclspkt::ocl
