// SPDX-License-Identifier: BSD-2-Clause
// Operations and words of schemes by lanes: what one more tile, segment or bundle takes. Every operation of the
// kernels' texts counts, as for work-groups. What a work-group keeps in its scratch is in the cache and does not count,
// nor do arrays of a few numbers a partition.
#include "count_kernels.hpp"
#include "geometry.hpp"
#include "row_flops.hpp"
#include "schemes/beside/beside_plans.hpp"
#include "schemes/scheme.hpp"
// Behind all other headers: it gives words of OpenCL a meaning of their own.
#define COUNTED_LANES
#include "count_scalar.hpp"

namespace oclspkt::bench::paper {
namespace counting::lanes {

#include "cpu/block.clh"
//
#include "cpu/bundle.clh"
#include "cpu/excess.clh"
#include "cpu/factors.clh"
#include "cpu/shared_lines.clh"
#include "cpu/tile.clh"
namespace halo {
#include "cpu/truncated_halo.cl"
}
namespace tiles {
#include "cpu/truncated_tiles.cl"
}
namespace reduce {
#include "cpu/exact_reduce.cl"
}
namespace substitute {
#include "cpu/exact_substitute.cl"
}
namespace plain {
#include "cpu/interleaved_streamed.cl"
}
#undef OCLSPKT_INTERLEAVED_CLH
#undef VECTORS_AHEAD
#define CORRECTED
namespace corrected {
#include "cpu/interleaved_streamed.cl"
}
#undef CORRECTED
#undef OCLSPKT_INTERLEAVED_CLH
#undef VECTORS_AHEAD
namespace twisted {
#include "cpu/twisted_eliminate.cl"
//
#include "cpu/twisted_substitute.cl"
}  // namespace twisted
namespace beside_halo {
#include "cpu/strided_halo.cl"
}
namespace beside {
#include "cpu/strided_factored.cl"
}
#undef FACTORS
#undef FACTOR
#undef PREFETCH_FACTORS
#undef OCLSPKT_STRIDED_CLH
namespace shared {
#include "cpu/strided_shared.cl"
}

}  // namespace counting::lanes

namespace {

using namespace counting;

constexpr Index kFew = 5;  ///< tiles

/// What one more tile takes. @param work  makes arrays for some tiles and runs kernels on them
template <typename Work>
Counts of_one_more(const Work& work) {
  const auto count = [&](Index tiles) {
    Memory memory(false);
    group = 0;
    groups = 1;
    work(memory, tiles);
    return book.take_executed();
  };
  return count(kFew + 1) - count(kFew);
}

lanes_t* as_lanes(Scalar* array) { return reinterpret_cast<lanes_t*>(array); }
Array scratch_of(Index vectors) { return Array(static_cast<std::size_t>(LANES * vectors)); }

/// Bands, y and x.
struct System {
  System(Memory& memory, Index n)
      : lower(memory.make(n, 1)),
        diag(memory.make(n, 4)),
        upper(memory.make(n, 1)),
        y(memory.make(n, 1)),
        x(memory.make(n)) {}
  Scalar *lower, *diag, *upper, *y, *x;
};

Plan plan_of(const char* scheme, Method method, Index m, Index halo) {
  Plan plan;
  plan.made_by = scheme;
  plan.method = method;
  plan.n = 64 * LANES * m;
  plan.m = m;
  plan.halo = halo;
  plan.lanes = LANES;
  return plan;
}

CountedScheme lanes_halo(Index m, Index halo) {
  const Counts counted = of_one_more([&](Memory& memory, Index tiles) {
    const System s(memory, LANES * m * tiles);
    const Index slot = LANES + 2 * (m + 2 * halo);
    Array scratch = scratch_of(slot);
    lanes::halo::truncated_halo(s.lower, s.diag, s.upper, s.y, s.x, as_lanes(scratch.data()), LANES * m * tiles, 0, 0,
                                tiles, static_cast<int>(m), static_cast<int>(halo), static_cast<int>(slot));
  });
  const Index down = LANES * (m + 2 * halo), back = LANES * (m + halo);
  CountedScheme s = counted_scheme("lanes-halo", LANES * m, counted, {2 * down + back, 4 * down + back, down},
                                   plan_of("lanes-halo", Method::truncated_halo, m, halo));
  s.flops = LANES * (flops_of(Method::truncated_halo).apply * static_cast<double>(m) +
                     flops_of(Method::truncated_halo).halo * static_cast<double>(halo));
  return s;
}

CountedScheme lanes_tiles(Index m) {
  const Counts counted = of_one_more([&](Memory& memory, Index tiles) {
    const System s(memory, LANES * m * tiles);
    Array scratch = scratch_of(LANES + 6 * m);
    lanes::tiles::truncated_tiles(s.lower, s.diag, s.upper, s.y, s.x, as_lanes(scratch.data()), LANES * m * tiles, 0, 0,
                                  tiles, static_cast<int>(m), static_cast<int>(LANES + 6 * m));
  });
  // Rows, the interface system of the lanes by three steps of cyclic reduction, and where tiles meet.
  const Operations formula{LANES * (6 * m + 2 + 8 * 3 + 2) + 6, LANES * (27 * m / 2 + 3 + 15 * 3 + 3 + 2) + 6,
                           LANES * (m / 2 + 4) + 1};
  return counted_scheme("lanes-tiles", LANES * m, counted, formula,
                        plan_of("lanes-tiles", Method::truncated_halo, m, 0));
}

/// Products pass from lane to lane down and, of both a tile and the one below it, up.
CountedScheme lanes_streamed(Index m, Index reach, bool corrects, bool symmetric) {
  const Index own = symmetric ? 1 : 0;
  Counts counted = of_one_more([&](Memory& memory, Index tiles) {
    const Index n = LANES * m * tiles;
    Scalar *multiplier = memory.make(n, 0.25), *reciprocal = memory.make(n, 0.25),
           *coupling = memory.make(n + LANES * tiles, 0.25), *y = memory.make(n, 1), *x = memory.make(n);
    Array products(static_cast<std::size_t>(LANES * tiles), 0.5), scratch = scratch_of(LANES + 2 * m);
    (corrects ? lanes::corrected::interleaved_streamed : lanes::plain::interleaved_streamed)(
        as_lanes(symmetric ? coupling : multiplier), as_lanes(reciprocal), as_lanes(coupling), products.data(),
        products.data(), y, x, as_lanes(scratch.data()), n, 0, 0, 0, tiles, static_cast<int>(m),
        static_cast<int>(reach), static_cast<int>(LANES + 2 * m), tiles, 1, tiles, tiles, static_cast<int>(own));
  });
  // Factors are read again that a tile has just read.
  const Index again = LANES * (corrects ? 4 * m : 2 * reach) + (symmetric ? LANES * m : 0);
  counted.reads -= again;
  Operations formula{LANES * (2 * m + 2 * reach + 3), LANES * (3 * m + 2 * reach + 3), 0};
  if (corrects) formula = {LANES * (8 * m + 5), LANES * (9 * m + 5), 0};
  Plan plan = plan_of("lanes-streamed", Method::truncated_streamed, m, 0);
  plan.form = symmetric ? Form::symmetric : Form::general;
  plan.add<StoredFactors>({.reach = reach, .corrects = corrects});
  const std::string name =
      std::string("lanes-streamed") + (symmetric ? ", symmetric" : "") + (corrects ? ", corrected" : "");
  return counted_scheme(name, LANES * m, counted, formula, plan);
}

/// A tile of the side above the meeting.
CountedScheme lanes_twisted(Index m) {
  const auto rows = static_cast<int>(m), slot = static_cast<int>(LANES + m);
  Counts counted = of_one_more([&](Memory& memory, Index tiles) {
    const Index n = LANES * m * tiles;
    Scalar *multiplier = memory.make(n, 0.25), *reciprocal = memory.make(n, 0.25), *coupling = memory.make(n, 0.25),
           *y = memory.make(n, 1), *x = memory.make(n), *swept = memory.make(n);
    Array products(static_cast<std::size_t>(LANES * tiles), 0.5), scratch = scratch_of(LANES + m);
    lanes::twisted::twisted_eliminate(as_lanes(multiplier), products.data(), y, as_lanes(swept),
                                      as_lanes(scratch.data()), n, tiles, rows, slot);
    lanes::twisted::twisted_substitute(as_lanes(reciprocal), as_lanes(coupling), products.data(), as_lanes(swept), x,
                                       as_lanes(scratch.data()), n, tiles, rows, slot, 0.25, 0.25);
  });
  counted.reads -= 2 * LANES * m;  // the factor by which what enters is taken off, which was just read
  return counted_scheme("lanes-twisted", LANES * m, counted, {LANES * (4 * m + 2), LANES * (7 * m + 2), 0},
                        plan_of("lanes-twisted", Method::exact_factored, m, 0));
}

/// The system of what is left of partitions, which the host solves, is not in it.
CountedScheme lanes_twopass(Index m) {
  const auto rows = static_cast<int>(m), slot = static_cast<int>(LANES + 2 * m);
  const Counts counted = of_one_more([&](Memory& memory, Index tiles) {
    const Index n = LANES * m * tiles, padded = LANES * tiles;
    const System s(memory, n);
    Array segments(static_cast<std::size_t>(8 * padded)), outer(static_cast<std::size_t>(padded), 1),
        scratch = scratch_of(slot);
    lanes::reduce::exact_reduce(s.lower, s.diag, s.upper, s.y, segments.data(), as_lanes(scratch.data()), n, 0, 0,
                                tiles, rows, slot, padded);
    lanes::substitute::exact_substitute(s.lower, s.diag, s.upper, s.y, s.x, outer.data(), outer.data(),
                                        as_lanes(scratch.data()), n, 0, 0, tiles, rows, slot);
  });
  CountedScheme s = counted_scheme("lanes-twopass", LANES * m, counted,
                                   {LANES * (36 * m - 40), LANES * (18 * m - 28), LANES * (2 * m - 3)},
                                   plan_of("lanes-twopass", Method::exact_twopass, m, 0));
  // The first and the last row of a partition, whose unknowns are known in the second pass, take less.
  s.flops = LANES * (flops_of(Method::exact_twopass).apply * static_cast<double>(m) - (40 + 28 + 3));
  return s;
}

/// All segments of a bundle of `width` lines. @param windowed  what the sweep down leaves stays in the cache
CountedScheme beside_halo(Index m, Index halo, Index segments, Index width, bool windowed) {
  const Index length = m * segments, vectors = width / LANES, slot = 2 * vectors * (m + 2 * halo + 1);
  const Counts counted = of_one_more([&](Memory& memory, Index bundles) {
    const Index lines = width * bundles;
    const System s(memory, length * lines);
    Array scratch = scratch_of(slot);
    if (!windowed) memory.watch(scratch.data() + 2 * width, scratch.data() + scratch.size());
    lanes::beside_halo::strided_halo(s.lower, s.diag, s.upper, s.y, s.x, as_lanes(scratch.data()), 1, length * lines,
                                     lines, static_cast<int>(length), lines, static_cast<int>(width),
                                     static_cast<int>(bundles), static_cast<int>(m), static_cast<int>(halo),
                                     static_cast<int>(segments), slot);
  });
  const Index down = width * (length + 2 * halo * (segments - 1)), back = width * (length + halo * (segments - 1));
  Plan plan = plan_of("beside-halo", Method::truncated_halo, m, halo);
  plan.add<Beside>({.segments = segments, .bundle = width, .windowed = windowed});
  CountedScheme s = counted_scheme(windowed ? "beside-halo" : "beside-halo, not in the cache", width * length, counted,
                                   {2 * down + back, 4 * down + back, down}, plan);
  s.flops =
      static_cast<double>(width) * (flops_of(Method::truncated_halo).apply * static_cast<double>(length) +
                                    flops_of(Method::truncated_halo).halo * static_cast<double>(halo * (segments - 1)));
  return s;
}

CountedScheme beside_factored(Form form, bool windowed) {
  constexpr Index kLength = 12, kWidth = 16;
  constexpr Index kSlot = (kLength + 1) * kWidth / LANES;
  Counts counted = of_one_more([&](Memory& memory, Index bundles) {
    const Index lines = kWidth * bundles, n = kLength * lines;
    Scalar *y = memory.make(n, 1), *x = memory.make(n);
    Array scratch = scratch_of(kSlot), line(static_cast<std::size_t>(kLength), 0.25);
    if (!windowed) memory.watch(scratch.data() + kWidth, scratch.data() + scratch.size());
    const auto size = static_cast<int>(kLength), width = static_cast<int>(kWidth), all = static_cast<int>(bundles);
    if (form == Form::shared) {
      lanes::shared::strided_shared(line.data(), line.data(), line.data(), y, x, as_lanes(scratch.data()), 1, n, lines,
                                    size, lines, width, all, kSlot);
      return;
    }
    Scalar *multiplier = memory.make(n, 0.25), *reciprocal = memory.make(n, 0.25), *coupling = memory.make(n, 0.25);
    const bool symmetric = form == Form::symmetric;
    lanes::beside::strided_factored(symmetric ? coupling : multiplier, reciprocal, coupling, y, x,
                                    as_lanes(scratch.data()), 1, n, lines, size, lines, width, all, kSlot,
                                    symmetric ? lines : 0);
  });
  // In the cache are the row above on the way down, and symmetric couplings on the way back if all else is.
  counted.reads -= windowed ? (form == Form::symmetric ? kWidth * kLength : 0) : kWidth * (kLength - 1);
  Plan plan = plan_of("beside-factored", Method::exact_factored, kLength, 0);
  plan.form = form;
  plan.add<Beside>({.bundle = kWidth, .windowed = windowed});
  plan.add<FactoredLines>({.resident = true});
  const Index rows = kWidth * kLength;
  const std::string of = form == Form::general ? "" : std::string(", ") + oclspkt::name(form);
  CountedScheme s = counted_scheme("beside-factored" + of + (windowed ? "" : ", not in the cache"), rows, counted,
                                   {2 * rows, 3 * rows, 0}, plan);
  s.flops = flops_of(Method::exact_factored).apply * static_cast<double>(rows);
  return s;
}

}  // namespace

std::vector<CountedScheme> count_lane_schemes() {
  std::vector<CountedScheme> all = {lanes_halo(16, 8),
                                    lanes_halo(48, 16),
                                    lanes_tiles(8),
                                    lanes_tiles(16),
                                    lanes_streamed(16, 8, false, false),
                                    lanes_streamed(24, 24, false, true),
                                    lanes_streamed(16, 16, true, false),
                                    lanes_streamed(24, 24, true, true),
                                    lanes_twisted(16),
                                    lanes_twisted(24),
                                    lanes_twopass(16),
                                    lanes_twopass(24),
                                    beside_halo(12, 4, 3, 16, true),
                                    beside_halo(16, 2, 5, 8, false)};
  for (const Form form : {Form::general, Form::symmetric, Form::shared}) {
    for (const bool windowed : {true, false}) all.push_back(beside_factored(form, windowed));
  }
  return all;
}

}  // namespace oclspkt::bench::paper
