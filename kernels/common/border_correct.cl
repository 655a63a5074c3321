// SPDX-License-Identifier: BSD-2-Clause
// Purpose: subtract from inner rows of x each spike times the unknown beyond its cut, for lines cut among processes.
//
// Arguments: spikes    global; read
//            runs      shape [count][5], global. A run is consecutive rows of lines side by side. Its numbers: entries
//                      of earlier runs; first element in `spikes`, where the lines of a row are contiguous; first
//                      element in x; lines; index of its first line's unknown, counted from `offset`
//            unknowns  global; read
//            x         global; read and written
//            offset    index in `unknowns` of the first unknown of this side (above or below)
//            count     number of runs, at least 1
//            entries   number of entries of all runs
//            stride    distance in x between neighbouring rows of a line, in elements
// Launch:    any number of work-groups; a work-item takes one entry.
// Local:     none. Per entry: 2 flops, 3 words, and the search for its run.
// Valid:     x at the rows of the runs.
#include "common/scalar.clh"

#pragma OPENCL FP_CONTRACT OFF  // gives the bits of the host

#define RUN_WORDS 5

__kernel void border_correct(__global const scalar_t* restrict spikes, __global const long* restrict runs,
                             __global const scalar_t* restrict unknowns, __global scalar_t* restrict x,
                             const long offset, const long count, const long entries, const long stride) {
  const long entry = (long)get_global_id(0);
  if (entry >= entries) return;
  long first = 0, behind = count;  // binary search for the last run that begins at or before the entry
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
