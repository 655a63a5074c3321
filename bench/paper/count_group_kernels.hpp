// SPDX-License-Identifier: BSD-2-Clause
// No include guard: read once for each size of work-groups and tiles, in a namespace of its own.
#include "count_anew.hpp"
#define GROUP_ITEMS COUNTED_ITEMS
namespace halo {
#include "gpu/tile_halo.cl"
}
#include "count_anew.hpp"
#define GROUP_ITEMS COUNTED_ITEMS
namespace stored {
#include "gpu/tile_stored.cl"
}
#include "count_anew.hpp"
#define GROUP_ITEMS COUNTED_ITEMS
#define CORRECTED
namespace corrected {
#include "gpu/tile_stored.cl"
}
#undef CORRECTED
#include "count_anew.hpp"
#define GROUP_ITEMS COUNTED_ITEMS
namespace reduced {
#include "gpu/tile_reduce.cl"
//
#include "gpu/tile_substitute.cl"
}  // namespace reduced
#include "count_anew.hpp"
#define GROUP_ITEMS COUNTED_ITEMS
#define SYMMETRIC
namespace reduced_symmetric {
#include "gpu/tile_reduce.cl"
//
#include "gpu/tile_substitute.cl"
}  // namespace reduced_symmetric
#undef SYMMETRIC
#include "count_anew.hpp"
#define GROUP_ITEMS COUNTED_ITEMS
#define STEPS 2
#define ITEM_TILES 2
namespace kept {
#include "counted/tile_shared.cl"
}
#include "count_anew.hpp"
namespace streamed {
#include "gpu/grid_streamed.cl"
}
#include "count_anew.hpp"
namespace factored {
#include "gpu/grid_factored.cl"
}
#include "count_anew.hpp"
namespace whole {
#include "gpu/grid_whole.cl"
//
#include "gpu/grid_condense.cl"
}  // namespace whole
#include "count_anew.hpp"
#define IN_TURN
namespace in_turn {
#include "gpu/grid_whole.cl"
}
#undef IN_TURN
#include "count_anew.hpp"
#define SEGMENTS
namespace segments {
#include "gpu/grid_whole.cl"
}
#include "count_anew.hpp"
#define SYMMETRIC
namespace segments_symmetric {
#include "gpu/grid_whole.cl"
//
#include "gpu/grid_condense.cl"
}  // namespace segments_symmetric
#undef SEGMENTS
#include "count_anew.hpp"
namespace whole_symmetric {
#include "gpu/grid_whole.cl"
}
#undef SYMMETRIC
#define LINES 1
#define AHEAD 1
#define IN_ONE_TILE 1
#include "count_anew.hpp"
namespace shared_whole {
#include "counted/grid_shared.cl"
}
#undef IN_ONE_TILE
#define IN_ONE_TILE 0
#include "count_anew.hpp"
namespace shared {
#include "counted/grid_shared.cl"
//
#include "counted/grid_shared_back.cl"
#include "counted/grid_shared_condense.cl"
}  // namespace shared
#undef IN_ONE_TILE
#undef LINES
#undef AHEAD
#undef ACROSS
#undef RECORD
#undef RECORD_ITEM

struct Kernels {
  static constexpr Index items = COUNTED_ITEMS, rows = ITEM_ROWS, in_flight = IN_FLIGHT;
  static constexpr auto halo = halo::tile_halo;
  static constexpr auto stored = stored::tile_stored, corrected = corrected::tile_stored;
  static constexpr auto reduce = reduced::tile_reduce, reduce_symmetric = reduced_symmetric::tile_reduce;
  static constexpr auto substitute = reduced::tile_substitute,
                        substitute_symmetric = reduced_symmetric::tile_substitute;
  static constexpr auto kept = kept::tile_shared;
  static constexpr auto streamed = streamed::grid_streamed;
  static constexpr auto factored = factored::grid_factored;
  static constexpr auto whole = whole::grid_whole, in_turn = in_turn::grid_whole,
                        whole_symmetric = whole_symmetric::grid_whole, segments = segments::grid_whole,
                        segments_symmetric = segments_symmetric::grid_whole;
  static constexpr auto condense = whole::grid_condense, condense_symmetric = segments_symmetric::grid_condense;
  static constexpr auto shared_whole = shared_whole::grid_shared, shared = shared::grid_shared;
  static constexpr auto shared_back = shared::grid_shared_back;
  static constexpr auto shared_condense = shared::grid_shared_condense;
};
