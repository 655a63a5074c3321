// SPDX-License-Identifier: BSD-2-Clause
// No include guard: read before each kernel, so that kernels of other sizes and forms do not find its headers read.
#undef OCLSPKT_TILE_ROWS_CLH
#undef OCLSPKT_TILE_FACTORS_CLH
#undef OCLSPKT_TILE_SCAN_CLH
#undef OCLSPKT_TILE_NON_FINITE_CLH
#undef OCLSPKT_TILE_EXCESS_CLH
#undef OCLSPKT_TILE_PLACES_CLH
#undef OCLSPKT_TILE_SHARED_ROWS_CLH
#undef OCLSPKT_GRID_ROWS_CLH
#undef OCLSPKT_GRID_SHARED_ROWS_CLH
#undef GROUP_ITEMS
#undef TILE_ROWS
#undef ROWS_IN_STEP
