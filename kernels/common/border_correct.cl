// SPDX-License-Identifier: BSD-2-Clause
// Purpose: for lines cut among processes: subtract spikes times the unknowns next to cuts from inner rows, x -= p x_t.
//
// Arguments: spikes    global; read
//            runs      shape [count][5], global; a run is a part of the spikes of a bundle. Its numbers: the entries of
//                      all runs before it; its first entry in `spikes`, rows outer, lines inner; the place of its first
//                      row in x; its lines side by side; the place of its first line's unknown
//            unknowns  global; read
//            x         global; read and written
//            offset    place of the side's first unknown in `unknowns`
//            count     of runs, at least 1
//            entries   numbers of spikes in all runs together
//            stride    places from row to row of a line in x
// Launch:    any number of work-groups; a work-item takes one number of a spike.
// Local:     none. Per number: 2 flops, 3 words, and the search for its run.
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
