// SPDX-License-Identifier: BSD-2-Clause
// No include guard: read once for each size of work-groups and tiles, in a namespace of its own.
#undef OCLSPKT_TILE_ROWS_CLH
#undef OCLSPKT_TILE_FACTORS_CLH
#undef OCLSPKT_TILE_SCAN_CLH
#undef OCLSPKT_TILE_NON_FINITE_CLH
#undef OCLSPKT_GRID_ROWS_CLH
#undef GROUP_ITEMS
#undef TILE_ROWS
#undef ROWS_IN_STEP
#define GROUP_ITEMS COUNTED_ITEMS
namespace halo {
#include "gpu/tile_halo.cl"
}
#undef OCLSPKT_TILE_ROWS_CLH
#undef OCLSPKT_TILE_FACTORS_CLH
#undef OCLSPKT_TILE_NON_FINITE_CLH
namespace stored {
#include "gpu/tile_stored.cl"
}
#undef OCLSPKT_TILE_ROWS_CLH
#undef OCLSPKT_TILE_FACTORS_CLH
#undef OCLSPKT_TILE_SCAN_CLH
#undef OCLSPKT_TILE_NON_FINITE_CLH
#define CORRECTED
namespace corrected {
#include "gpu/tile_stored.cl"
}
#undef CORRECTED
#undef GROUP_ITEMS
#undef TILE_ROWS
namespace streamed {
#include "gpu/grid_streamed.cl"
}
#undef OCLSPKT_GRID_ROWS_CLH
#undef GROUP_ITEMS
#undef TILE_ROWS
namespace factored {
#include "gpu/grid_factored.cl"
}

inline GroupKernels kernels() {
  return {COUNTED_ITEMS,
          ITEM_ROWS,
          IN_FLIGHT,
          halo::tile_halo,
          stored::tile_stored,
          corrected::tile_stored,
          streamed::grid_streamed,
          factored::grid_factored};
}
