// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "oclspkt/solver.hpp"

namespace oclspkt {

struct Cuts {
  std::vector<std::vector<int>> chains;
  std::vector<int> chain_of;
  std::vector<Index> number;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
};

template <typename T>
class CutSolver : public Solver<T> {
 public:
  using Solver<T>::Solver;
  using Solver<T>::bands;
  Bands<T>& bands(const LineSet& lines, const Cuts&, std::shared_ptr<Exchange>) { return Solver<T>::bands(lines); }
};

}  // namespace oclspkt
