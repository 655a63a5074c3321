// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fpga_operations.hpp"
#include "plan.hpp"

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
  double flops = 0;       ///< by core/row_flops, where the kernel does nothing twice; else 0
  Operations table1;      ///< of the paper, where it has the kernel; else 0
  Index table1_words = 0;
};

/// What was counted of a plan's scheme, beside what the plan says.
CountedScheme counted_scheme(const std::string& name, Index rows, const Counts& counted, const Operations& formula,
                             const Plan& plan);

/// Count all schemes with kernels: first those for one work-item a group, which are both forms of the paper and the
/// kernels for FPGAs, then count_group_schemes() and count_lane_schemes().
std::vector<CountedScheme> count_schemes();

/// A hash of what all these kernels compute. Work-items run one after the other from barrier to barrier, and local
/// memory holds NaN at first: where a barrier is missing the hash depends on who runs first.
/// @param backwards  the last work-item of a group runs first
/// @param weak       a row of each system is not dominant
std::uint64_t hash_of_answers(bool backwards, bool weak);

/// Those whose work-groups have many work-items. Every operation of the kernels' texts counts, those with 0 and 1 and
/// those of halos included.
std::vector<CountedScheme> count_group_schemes();
/// Our own by lanes.
std::vector<CountedScheme> count_lane_schemes();

}  // namespace oclspkt::bench::paper
