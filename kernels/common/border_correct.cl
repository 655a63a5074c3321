// SPDX-License-Identifier: BSD-2-Clause
// Purpose: for lines cut among processes: subtract spikes times the unknowns next to cuts from inner rows of x.
//
// Arguments: spikes    global; read
//            runs      shape [count][5], global. A run is consecutive rows of lines side by side. Its numbers: entries
//                      of the runs before it; its first element in `spikes`, where a row's lines are contiguous; its
//                      first element in x; its lines; its first line's unknown, counted from `offset`
//            unknowns  global; read
//            x         global; read and written
//            offset    the first unknown of this side of the lines (above or below) in `unknowns`
//            count     runs, at least 1
//            entries   entries of all runs
//            stride    elements of x from one row of a line to the next
// Launch:    any number of work-groups; a work-item takes one entry.
// Local:     none. Per entry: 2 flops, 3 words, and the search for its run.
// Valid:     x at the rows of the runs.
#include "common/scalar.clh"

#pragma OPENCL FP_CONTRACT OFF  // so that the bits are those of the host

#define RUN_WORDS 5

__kernel void border_correct(__global const scalar_t* restrict spikes, __global const long* restrict runs,
                             __global const scalar_t* restrict unknowns, __global scalar_t* restrict x,
                             const long offset, const long count, const long entries, const long stride) {
  const long entry = (long)get_global_id(0);
  if (entry >= entries) return;
  long first = 0, behind = count;  // the last run that begins at the entry or before it
  while (behind - first > 1) {
    const long middle = first + (behind - first) / 2;
    if (runs[RUN_WORDS * middle] <= entry) {
      first = middle;
    } else {
      behind = middle;
    }
  }
  __global const long* const run = runs + RUN_WORDS * first;
  const long at = entry - run[0], wide = run[3];
  const long row = at / wide, line = at % wide;
  const scalar_t product = spikes[run[1] + at] * unknowns[offset + run[4] + line];
  x[run[2] + row * stride + line] -= product;
}
