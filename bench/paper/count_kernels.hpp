// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "fpga_operations.hpp"

namespace oclspkt::bench::paper {

/// What some kernels do.
struct Counts {
  Operations operations;
  Index reads = 0, writes = 0;  ///< words of the device's memory
  Index words() const { return reads + writes; }
  friend Counts operator-(const Counts& a, const Counts& b) {
    return {
        {a.operations.add - b.operations.add, a.operations.mul - b.operations.mul, a.operations.div - b.operations.div},
        a.reads - b.reads,
        a.writes - b.writes};
  }
  bool operator==(const Counts&) const = default;
};

/// A scheme, and what one more partition (of an FPGA's kernel: block) of m rows takes.
struct CountedScheme {
  std::string scheme;
  Index m = 0, m_min = 0;
  bool staged = false;    ///< of tiles-paper
  Index marshalled = 0;   ///< words of `counted` that marshalling takes
  Counts counted;         ///< by running the kernels' own texts
  Operations operations;  ///< by the formula
  double words = 0;       ///< by the plan
  Operations table1;      ///< of the paper, where it has the kernel; else 0
  Index table1_words = 0;
};

/// Count all schemes whose kernels run here: those with kernels for one work-item a group, which are both forms of the
/// paper and the kernels for FPGAs, and count_group_schemes().
std::vector<CountedScheme> count_schemes();

/// Those whose work-groups have many work-items: tiles-halo, tiles-streamed, grids-factored and grids-streamed. Every
/// operation of the kernels' texts counts, those with 0 and 1 and those of halos included.
std::vector<CountedScheme> count_group_schemes();

}  // namespace oclspkt::bench::paper
