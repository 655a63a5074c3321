// SPDX-License-Identifier: BSD-2-Clause
// Vectors cut into pieces that come, are solved and go at once: how they are cut.
#include "pipeline.hpp"
#include "geometry.hpp"

#include <atomic>
#include <functional>
#include <thread>

#include "devices.hpp"
#include "layout.hpp"
#include "process.hpp"

namespace oclspkt::test {
namespace {

using ocl::Chunk;
using ocl::Layout;
using ocl::make_pieces;
using ocl::Pieces;

/// Rows of pieces [first, end) follow each other from one row to another, none longer than `most`.
template <typename Rows>
void expect_to_cover(const std::vector<Rows>& rows, Index first, Index end, Index most) {
  for (const auto& piece : rows) {
    EXPECT_EQ(piece.first, first);
    EXPECT_GT(piece.end, piece.first);
    EXPECT_LE(piece.end - piece.first, most);
    first = piece.end;
  }
  EXPECT_EQ(first, end);
}

/// Every launch has its rows and takes the tiles behind those of the one before; rows leave after they were solved.
void expect_in_order(const Pieces& pieces, const Chunk& chunk) {
  Index tile = chunk.tile_begin, kept = chunk.kept_first;
  for (const auto& launch : pieces.launches) {
    EXPECT_EQ(launch.tiles.tile_begin, tile);
    EXPECT_EQ(launch.tiles.first, chunk.first);
    EXPECT_EQ(launch.tiles.held_begin, chunk.held_begin);
    EXPECT_EQ(launch.tiles.held_end, chunk.held_end);
    EXPECT_LE(launch.tiles.end, pieces.ups.at(launch.ups - 1).end);
    tile = launch.tiles.tile_end;
  }
  EXPECT_EQ(tile, chunk.tile_end);
  for (const auto& down : pieces.downs) {
    EXPECT_LE(down.end, pieces.launches.at(down.launches - 1).tiles.kept_end);
    kept = down.end;
  }
  EXPECT_EQ(kept, chunk.kept_end);
}

TEST(Pieces, OfAChunkCoverItAndComeBeforeTheyAreSolved) {
  const DeviceTraits traits{.lanes = 8, .tile_lanes = 16};
  for (const Index n : {1, 100, 4097, 100'000}) {
    for (const Plan& plan : {make_plan(Method::truncated_halo, n, 21, 37, 4, traits),
                             make_plan(Method::exact_twopass, n, 0, 37, 4, traits),
                             make_stored_plan(n, 0, 48, 4, traits), make_twisted_plan(n, 48, 4, traits)}) {
      const Layout layout = ocl::make_layout(plan, 4, {});
      for (const Index rows : {Index{100}, Index{5000}, Index{1'000'000}}) {
        for (const Chunk& chunk : layout.chunks) {
          const Pieces pieces = make_pieces(plan, chunk, rows, plan.has<Sides>());
          expect_to_cover(pieces.ups, chunk.first, chunk.end, rows);
          expect_to_cover(pieces.downs, chunk.kept_first, chunk.kept_end, rows);
          expect_in_order(pieces, chunk);
          EXPECT_TRUE(!plan.has<Sides>() || pieces.launches.size() == 1);
        }
      }
    }
  }
}

TEST(Pieces, OfLinesSideBySideAreSolvedAtOnce) {
  const LineSet lines = LineSet::grid_axis(1, 10, 20, 50);
  const Plan plan = make_factored_plan(lines, Form::general, 8, {});
  for (const Chunk& chunk : ocl::make_strided_layout(plan, lines, 8, {}).chunks) {
    const Pieces pieces = make_pieces(plan, chunk, 777, true);
    expect_to_cover(pieces.ups, chunk.first, chunk.end, 777);
    expect_to_cover(pieces.downs, chunk.kept_first, chunk.kept_end, 777);
    EXPECT_EQ(pieces.launches.size(), 1U);
    expect_in_order(pieces, chunk);
  }
}

TEST(CopyThreads, HelpsAsOftenAsItIsCalled) {
  ocl::CopyThreads threads;
  for (const Index wanted : {3, 1, 3, 2}) {
    std::atomic<Index> helpers{0};
    const std::function<void()> help = [&] { ++helpers; };
    for (Index round = 1; round <= 50; ++round) {
      threads.call(wanted, help);
      while (helpers < round * wanted) std::this_thread::yield();
      threads.dismiss();
      EXPECT_EQ(helpers, round * wanted);
    }
    for (int round = 0; round < 50; ++round) {  // who comes too late does not begin
      threads.call(wanted, help);
      threads.dismiss();
      const Index came = helpers;
      std::this_thread::yield();
      EXPECT_EQ(helpers, came);
    }
  }
  EXPECT_EQ(threads.size(), 3);
}

TEST(CopyThreads, OfAParentDoesNotKeepAChildWaiting) {
  auto threads = std::make_unique<ocl::CopyThreads>();
  const std::function<void()> nothing = [] {};
  threads->call(2, nothing);
  threads->dismiss();
  const auto goes_on = [&] {
    threads->call(2, nothing);
    threads->dismiss();
    threads.reset();
    return true;
  };
  EXPECT_EQ(test::status_of_child(goes_on), 0);
}

TEST(Layout, ChunksBeginWherePartsOfABufferMay) {
  for (const Method method : {Method::truncated_halo, Method::exact_twopass}) {
    Plan plan = make_plan(method, 100'000, method == Method::truncated_halo ? 21 : 0, 37, 8, {.lanes = 8});
    plan.chunk_tiles = 5;
    const Layout layout = ocl::make_layout(plan, 8, {.alignment = 64});
    ASSERT_GT(layout.chunks.size(), 3U);
    const auto exact = ocl::make_layout(plan, 8, {}).chunks;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_EQ(layout.chunks[i].first, exact[i].first / 64 * 64);
      EXPECT_EQ(layout.chunks[i].end, exact[i].end);
    }
  }
}

}  // namespace
}  // namespace oclspkt::test
