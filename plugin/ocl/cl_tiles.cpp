// SPDX-License-Identifier: BSD-2-Clause
// What ClSolver does by work-groups of many work-items: the kernels made for GPUs.
#include <algorithm>

#include "cl_solver.hpp"
#include "parallel.hpp"

namespace oclspkt::ocl {
namespace {

/// A work-group for each of some tiles, or runs of them; one that has nothing to do where there are none.
template <typename T>
Geometry group_geometry(const Plan& plan, Index tiles) {
  return {std::max<Index>(1, tiles), static_cast<std::size_t>(plan.items),
          size(group_local_words(plan.items, plan.item_rows)) * sizeof(T)};
}

/// Rows of a work-item of the last level.
Index item_rows_of(Index rows, int items) { return std::max<Index>(1, quotient_up(rows, items)); }

}  // namespace

/// Launches take care of NaN at once. In float truncated-halo waits for the memory either way; exact-twopass takes care
/// tile by tile, and whole lines do not see those of others.
template <typename T>
bool ClSolver<T>::always_guards() const {
  const bool is_free = plan_.reduces_tiles() || plan_.takes_lines() || (sizeof(T) == sizeof(float) && !plan_.stored);
  return plan_.tiled() && (is_free || plan_.n * static_cast<Index>(sizeof(T)) <= settings_.guarded_bytes);
}

template <typename T>
void ClSolver<T>::make_tile_kernels(State& s, bool guarded) const {
  if (plan_.takes_lines()) {
    make_line_kernel(s);
    return;
  }
  const auto make = [&](Kernel& kernel, const char* name, const std::string& more, int items = 0, Index rows = 0) {
    const std::string options = "-D GROUP_ITEMS=" + std::to_string(items > 0 ? items : plan_.items) +
                                " -D ITEM_ROWS=" + std::to_string(rows > 0 ? rows : plan_.item_rows) +
                                " -D GUARDED=" + (guarded ? "1" : "0") + more;
    if (kernel.handle() != nullptr && kernel.options == options) return;
    kernel = s.device->kernel(name, sizeof(T) == sizeof(double), 1, options);
  };
  const std::string form = std::string(plan_.form == Form::shared ? " -D SHARED_FACTORS" : "") +
                           (plan_.couplings_serve() ? " -D COUPLINGS_SERVE" : "") +
                           (plan_.narrow ? " -D NARROW_FACTORS" : "");
  if (plan_.keeps_factors()) {
    make(s.tile_shared[guarded], "tile_shared",
         " -D STEPS=" + std::to_string(plan_.steps) + " -D TOGETHER=" + std::to_string(plan_.together) +
             (plan_.mirrors ? " -D COUPLINGS_SERVE" : "") + (plan_.tells_products ? " -D PRODUCTS_TOLD" : ""));
    return;
  }
  if (!plan_.stored) {
    make(s.tile_halo[guarded], "tile_halo", form);
    return;
  }
  if (!plan_.folds()) {
    make(s.tile_stored[guarded], "tile_stored", " -D STREAMED=1" + form + (plan_.corrects ? " -D CORRECTED" : ""));
    return;
  }
  const auto [levels, rows_of_last] = fold_cut(plan_).depth(plan_.n);
  const std::string left = levels > 1 ? " -D LEFT" : "";
  const Index last_rows = item_rows_of(rows_of_last, plan_.level_items);
  make(s.tile_last[guarded], "tile_last", left, plan_.level_items, last_rows);
  if (levels == 1) return;
  make(s.tile_fold[guarded], "tile_fold", form);
  make(s.tile_stored[guarded], "tile_stored", " -D STREAMED=0" + form);
  if (levels == 2) return;
  // What is left of a symmetric matrix is symmetric but for rounding.
  make(s.upper_fold[guarded], "tile_fold", left);
  make(s.upper_stored[guarded], "tile_stored", " -D STREAMED=0" + left);
}

/// Make factors; resident_ is then where those of all rows stand.
template <typename T>
void ClSolver<T>::store_tile_factors(const BandsView<T>& bands) {
  if (plan_.folds()) {
    tile_factors_.factor(plan_.n, bands, fold_cut(plan_));
    const auto& level = tile_factors_.levels().front();
    resident_ = {level.multiplier.data(), level.reciprocal.data(), level.coupling.data(), sizeof(T)};
  } else if (plan_.takes_lines()) {
    line_factors_.factor(bands, plan_.m, plan_.line_tile_rows());
    resident_ = resident(line_factors_.factors.view());
  } else {
    factors_.factor(lines_, bands, plan_.form);
    const FactorsView<T> f = factors_.view();
    resident_ = resident(f);
    if (!plan_.narrow) return;
    keep_narrow({f.multiplier, f.reciprocal, f.coupling});
    factors_.release();
  }
}

/// Round three arrays of the system; resident_ is then where they stand.
template <typename T>
void ClSolver<T>::keep_narrow(const std::array<const T*, 3>& from) {
  for (std::size_t k = 0; k < from.size(); ++k) {
    narrow_[k].resize(plan_.n);
    for_pieces(plan_.n, kPieceRows,
               [&](Index begin, Index end) { std::copy(from[k] + begin, from[k] + end, &narrow_[k][begin]); });
  }
  resident_ = {narrow_[0].data(), narrow_[1].data(), narrow_[2].data(), sizeof(float)};
}

/// Bring an array to a buffer of its own; an empty one has none.
template <typename T>
void ClSolver<T>::bring(State& s, const Waiter& waiter, cl::Buffer& buffer, const AlignedArray<T>& array) {
  const std::int64_t bytes = array.size() * static_cast<Index>(sizeof(T));
  if (bytes == 0) return;
  buffer = s.device->buffer(CL_MEM_READ_ONLY, bytes);
  bytes_ += bytes;
  s.pipeline->bring(array.data(), bytes, buffer, waiter, times_);
}

/// Row r of the last level to where its work-items read side by side.
template <typename T>
AlignedArray<T> ClSolver<T>::turned_to_items(const AlignedArray<T>& array, const TileLevel& level) const {
  AlignedArray<T> turned(Index{level.item_rows} * level.items);
  std::fill_n(turned.data(), turned.size(), T(0));
  for (Index row = 0; row < array.size(); ++row) {
    turned[row % level.item_rows * level.items + row / level.item_rows] = array[row];
  }
  return turned;
}

/// Bring to the device what is not by rows of the system, and give back what it has now.
template <typename T>
void ClSolver<T>::set_up_levels(State& s, const Waiter& waiter) {
  AlignedArray<T> zero;
  zero.resize(1);
  static_assert(sizeof(T) >= sizeof(cl_int));
  std::fill_n(zero.data(), 1, T(0));
  bring(s, waiter, s.care, zero);
  if (!s.met) s.met = std::make_unique<Staging>(*s.device, s.device->queue(), sizeof(cl_int));
  if (plan_.takes_lines()) set_up_lines(s, waiter);
  if (!plan_.folds()) return;
  for (const auto& level : tile_factors_.levels()) {
    TileLevel& on_device = s.levels.emplace_back();
    on_device.rows = level.rows;
    on_device.tiles = level.segments;
    const bool last = s.levels.size() == tile_factors_.levels().size();
    bring(s, waiter, on_device.weight, level.weight);
    if (s.levels.size() == 1) {
      const ChunkBands& bands = s.bands.front();
      on_device.multiplier = bands.lower;
      if (plan_.couplings_serve()) bring(s, waiter, on_device.multiplier, level.multiplier);
      on_device.reciprocal = bands.diag;
      on_device.coupling = bands.upper;
      on_device.y = s.y;
      on_device.x = s.x;
      continue;
    }
    if (last) {
      on_device.items = plan_.level_items;
      on_device.item_rows = static_cast<cl_int>(item_rows_of(level.rows, plan_.level_items));
    }
    const auto bring_turned = [&](cl::Buffer& buffer, const AlignedArray<T>& array) {
      last ? bring(s, waiter, buffer, turned_to_items(array, on_device)) : bring(s, waiter, buffer, array);
    };
    bring_turned(on_device.multiplier, level.multiplier);
    bring_turned(on_device.reciprocal, level.reciprocal);
    bring_turned(on_device.coupling, level.coupling);
    const std::int64_t bytes = on_device.reciprocal.template getInfo<CL_MEM_SIZE>();
    AlignedArray<T> zeros(bytes / static_cast<Index>(sizeof(T)));  // what is beyond the rows of the last level
    std::fill_n(zeros.data(), zeros.size(), T(0));
    for (cl::Buffer* vector : {&on_device.y, &on_device.taken, &on_device.x}) {
      *vector = s.device->buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, zeros.data());
    }
    bytes_ += 3 * bytes;
  }
  tile_factors_ = {};
}

/// Ask the device whether launches met a number that is not finite; s.met tells when the event has ended.
template <typename T>
cl::Event ClSolver<T>::ask_what_was_met(State& s) const {
  cl::Event event;
  s.device->queue().enqueueReadBuffer(s.care, CL_FALSE, 0, sizeof(cl_int), s.met->data(), nullptr, &event);
  s.asked = true;
  return event;
}

/// True if the launches since the last call met a number that is not finite, which they then spread among lines.
template <typename T>
bool ClSolver<T>::met_what_is_not_finite(State& s, const Waiter& waiter) {
  if (!s.asked) waiter.wait(ask_what_was_met(s));
  s.asked = false;
  auto& met = *reinterpret_cast<cl_int*>(s.met->data());
  if (met == 0) return false;
  met = 0;
  cl::Event event;
  s.device->queue().enqueueWriteBuffer(s.care, CL_FALSE, 0, sizeof met, &met, nullptr, &event);
  waiter.wait(event);
  return true;
}

template <typename T>
cl::Event ClSolver<T>::launch_tiles(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                                    const Chunk& chunk) {
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const std::int64_t stored = (plan_.form == Form::shared ? plan_.shared.period : chunk.rows()) * resident_.word;
  const Geometry geometry = group_geometry<T>(plan_, chunk.tile_end - chunk.tile_begin);
  Kernel& kernel = s.tile_halo[guarded_];
  set_arguments(*s.device, kernel, bands.lower, bands.diag, bands.upper, y, x, s.care, cl_long{plan_.n},
                cl_long{chunk.first}, cl_long{chunk.tile_begin}, cl_long{chunk.tile_end}, static_cast<cl_int>(plan_.m),
                static_cast<cl_int>(plan_.halo), cl_int{plan_.steps}, static_cast<cl_int>(plan_.shared.period),
                cl::Local(geometry.local_bytes));
  return launch(*s.device, kernel, geometry,
                {{"lower", &bands.lower, stored, kVectorBytes},
                 {"diag", &bands.diag, stored, kVectorBytes},
                 {"upper", &bands.upper, stored, kVectorBytes},
                 {"y", &y, array, kVectorBytes},
                 {"x", &x, array, kVectorBytes}});
}

/// By factors that work-groups keep: the tiles of a chunk.
template <typename T>
cl::Event ClSolver<T>::launch_kept(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                                   const Chunk& chunk) {
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const std::int64_t stored = plan_.shared.period * resident_.word;
  const Index groups = std::min<Index>(plan_.runs, chunk.tile_end - chunk.tile_begin);
  Kernel& kernel = s.tile_shared[guarded_];
  set_arguments(*s.device, kernel, factors.lower, factors.diag, factors.upper, y, x, s.care, cl_long{plan_.n},
                cl_long{chunk.first}, cl_long{chunk.tile_begin}, cl_long{chunk.tile_end}, static_cast<cl_int>(plan_.m),
                static_cast<cl_int>(plan_.halo), static_cast<cl_int>(plan_.shared.period));
  return launch(*s.device, kernel, {std::max<Index>(1, groups), static_cast<std::size_t>(plan_.items)},
                {{"multiplier", &factors.lower, stored, kVectorBytes},
                 {"reciprocal", &factors.diag, stored, kVectorBytes},
                 {"coupling", &factors.upper, stored, kVectorBytes},
                 {"y", &y, array, kVectorBytes},
                 {"x", &x, array, kVectorBytes}});
}

/// Truncated-streamed: the runs of a chunk.
template <typename T>
cl::Event ClSolver<T>::launch_runs(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                                   const Chunk& chunk) {
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const std::int64_t stored = (plan_.form == Form::shared ? plan_.shared.period : chunk.rows()) * resident_.word;
  const Geometry geometry = group_geometry<T>(plan_, chunk.tile_end - chunk.tile_begin);
  Kernel& kernel = s.tile_stored[guarded_];
  set_arguments(*s.device, kernel, factors.lower, factors.diag, factors.upper, y, x, y, s.care, cl_long{plan_.n},
                cl_long{chunk.first}, cl_long{chunk.tile_begin}, cl_long{chunk.tile_end}, cl_long{plan_.m},
                cl_int{plan_.run_tiles}, static_cast<cl_int>(plan_.halo), static_cast<cl_int>(plan_.shared.period), y,
                cl_int{1}, cl_int{0}, cl::Local(geometry.local_bytes));
  return launch(*s.device, kernel, geometry,
                {{"multiplier", &factors.lower, stored, kVectorBytes},
                 {"reciprocal", &factors.diag, stored, kVectorBytes},
                 {"coupling", &factors.upper, stored, kVectorBytes},
                 {"y", &y, array, kVectorBytes},
                 {"x", &x, array, kVectorBytes}});
}

/// Exact-factored, down: fold the first `tiles` tiles of a level to rows of the next.
template <typename T>
cl::Event ClSolver<T>::launch_fold(State& s, std::size_t level, Index tiles) {
  const TileLevel &from = s.levels[level], &to = s.levels[level + 1];
  const bool serve = level == 0 && plan_.couplings_serve();
  const cl::Buffer &multiplier = serve ? from.coupling : from.multiplier, &taken = level > 0 ? from.taken : from.y;
  Kernel& kernel = (level > 0 ? s.upper_fold : s.tile_fold)[guarded_];
  const Geometry geometry = group_geometry<T>(plan_, tiles);
  const std::int64_t array = from.rows * static_cast<Index>(sizeof(T)), left = to.rows * static_cast<Index>(sizeof(T));
  set_arguments(*s.device, kernel, multiplier, from.weight, from.y, taken, to.y, to.taken, cl_long{from.rows},
                cl_long{tiles}, to.item_rows, to.items, cl::Local(geometry.local_bytes));
  return launch(*s.device, kernel, geometry,
                {{"multiplier", &multiplier, array, kVectorBytes},
                 {"weight", &from.weight, array, kVectorBytes},
                 {"y", &from.y, array, kVectorBytes},
                 {"taken", &taken, array, kVectorBytes},
                 {"left", &to.y, left, sizeof(T)},
                 {"left_taken", &to.taken, left, sizeof(T)}});
}

/// And back: solve the first `tiles` tiles with the unknowns of the next level around them.
template <typename T>
cl::Event ClSolver<T>::launch_back(State& s, std::size_t level, Index tiles) {
  const TileLevel &here = s.levels[level], &next = s.levels[level + 1];
  const cl::Buffer& taken = level > 0 ? here.taken : here.y;
  const Geometry geometry = group_geometry<T>(plan_, tiles);
  const std::int64_t array = here.rows * static_cast<Index>(sizeof(T));
  const bool serve = level == 0 && plan_.couplings_serve();
  const std::int64_t multipliers = serve ? here.tiles * static_cast<Index>(sizeof(T)) : array;
  Kernel& kernel = (level > 0 ? s.upper_stored : s.tile_stored)[guarded_];
  set_arguments(*s.device, kernel, here.multiplier, here.reciprocal, here.coupling, here.y, here.x, next.x, s.care,
                cl_long{here.rows}, cl_long{0}, cl_long{0}, cl_long{tiles}, cl_long{plan_.group_rows()}, cl_int{1},
                cl_int{0}, cl_int{0}, taken, next.item_rows, next.items, cl::Local(geometry.local_bytes));
  return launch(*s.device, kernel, geometry,
                {{"multiplier", &here.multiplier, multipliers, serve ? sizeof(T) : kVectorBytes},
                 {"reciprocal", &here.reciprocal, array, kVectorBytes},
                 {"coupling", &here.coupling, array, kVectorBytes},
                 {"y", &here.y, array, kVectorBytes},
                 {"x", &here.x, array, kVectorBytes},
                 {"outer", &next.x, next.rows * static_cast<Index>(sizeof(T)), sizeof(T)},
                 {"taken", &taken, array, kVectorBytes}});
}

/// The last level, whole, or its first `rows`.
template <typename T>
cl::Event ClSolver<T>::launch_last(State& s, Index rows) {
  const TileLevel& here = s.levels.back();
  const bool first = s.levels.size() == 1;
  const cl::Buffer& taken = first ? here.y : here.taken;
  const auto items = static_cast<std::size_t>(plan_.level_items);
  const auto item_rows = static_cast<cl_int>(item_rows_of(here.rows, plan_.level_items));
  const Geometry geometry{1, items, size(group_local_words(plan_.level_items, 0)) * sizeof(T)};
  const std::int64_t array = here.rows * static_cast<Index>(sizeof(T));
  Kernel& kernel = s.tile_last[guarded_];
  set_arguments(*s.device, kernel, here.multiplier, here.reciprocal, here.coupling, here.y, taken, here.x, s.care,
                static_cast<cl_int>(rows), first ? cl_int{1} : here.items, first ? item_rows : cl_int{1},
                cl::Local(geometry.local_bytes));
  return launch(*s.device, kernel, geometry,
                {{"multiplier", &here.multiplier, array, sizeof(T)},
                 {"reciprocal", &here.reciprocal, array, sizeof(T)},
                 {"coupling", &here.coupling, array, sizeof(T)},
                 {"y", &here.y, array, sizeof(T)},
                 {"taken", &taken, array, sizeof(T)},
                 {"x", &here.x, array, sizeof(T)}});
}

/// Exact-factored: all levels, down and back.
template <typename T>
cl::Event ClSolver<T>::launch_levels(State& s, const cl::Buffer& y, const cl::Buffer& x) {
  s.levels.front().y = y;
  s.levels.front().x = x;
  const std::size_t last = s.levels.size() - 1;
  return launch_down_and_back(
      s, last, last + 1, [&](std::size_t i) { return launch_fold(s, i, s.levels[i].tiles); },
      [&](std::size_t i) {
        return i == last ? launch_last(s, s.levels[i].rows) : launch_back(s, i, s.levels[i].tiles);
      });
}

#define OCLSPKT_INSTANTIATE(T)                                                                                  \
  template bool ClSolver<T>::always_guards() const;                                                             \
  template void ClSolver<T>::make_tile_kernels(State&, bool) const;                                             \
  template void ClSolver<T>::keep_narrow(const std::array<const T*, 3>&);                                       \
  template void ClSolver<T>::store_tile_factors(const BandsView<T>&);                                           \
  template void ClSolver<T>::bring(State&, const Waiter&, cl::Buffer&, const AlignedArray<T>&);                 \
  template void ClSolver<T>::set_up_levels(State&, const Waiter&);                                              \
  template cl::Event ClSolver<T>::ask_what_was_met(State&) const;                                               \
  template bool ClSolver<T>::met_what_is_not_finite(State&, const Waiter&);                                     \
  template cl::Event ClSolver<T>::launch_levels(State&, const cl::Buffer&, const cl::Buffer&);                  \
  template cl::Event ClSolver<T>::launch_fold(State&, std::size_t, Index);                                      \
  template cl::Event ClSolver<T>::launch_back(State&, std::size_t, Index);                                      \
  template cl::Event ClSolver<T>::launch_last(State&, Index);                                                   \
  template cl::Event ClSolver<T>::launch_kept(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&,  \
                                              const Chunk&);                                                    \
  template cl::Event ClSolver<T>::launch_runs(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&,  \
                                              const Chunk&);                                                    \
  template cl::Event ClSolver<T>::launch_tiles(State&, const ChunkBands&, const cl::Buffer&, const cl::Buffer&, \
                                               const Chunk&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::ocl
