// SPDX-License-Identifier: BSD-2-Clause
// No include guard: read once for each PARTITION_ROWS and STAGED, in a namespace of its own.
#undef OCLSPKT_PAPER_CLH
#define GROUP_ITEMS 1
#define BLOCK_ROWS 8
#include "gpu/paper.clh"
//
#include "gpu/paper_marshal.cl"
#include "gpu/paper_spkfact.cl"
#include "gpu/paper_spktrrecl.cl"
#include "gpu/paper_spktrrecul.cl"
#include "gpu/paper_unmarshal.cl"

inline Launches launches() {
  return {PARTITION_ROWS,  STAGED != 0,      paper_marshal,  paper_spkfact,
          paper_spktrrecl, paper_spktrrecul, paper_unmarshal};
}

#undef KEPT
#undef KEEP
#undef GROUP_ITEMS
#undef BLOCK_ROWS
