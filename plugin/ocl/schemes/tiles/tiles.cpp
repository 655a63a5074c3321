// SPDX-License-Identifier: BSD-2-Clause
// Workers for lines end to end that solve by work-groups, in one pass.
#include <algorithm>
#include <limits>
#include <string>

#include "parallel.hpp"
#include "schemes/table.hpp"
#include "schemes/tiles/tile_plans.hpp"

namespace oclspkt::ocl {
namespace {

/// Number of work-groups that keep a GPU busy.
constexpr Index kBusyGroups = 2048;

std::string form_options(const Plan& plan) {
  return std::string(plan.form == Form::shared ? " -D SHARED_FACTORS" : "") +
         (plan.symmetric() ? " -D SYMMETRIC" : "") + (plan.narrow ? " -D NARROW_FACTORS" : "");
}

/// A kernel in two forms. The exact form propagates NaN and Inf exactly, at a cost of about 10 %. The fast form only
/// notes in device memory that it met a NaN or Inf. An exact launch follows each fast launch. It repeats the work only
/// if there is a note, so the host need not wait for the note. If all rows belong to one line, a NaN may reach all of
/// them, and the fast form alone suffices.
template <typename T>
class TileKernel {
 public:
  /// Build the forms that the plan needs, and allocate memory for the note.
  /// @param more        compiler options in addition to the shape
  /// @param all_couple  no factor between two rows is 0, so all rows belong to one line
  /// @param exact       use only the exact form
  /// @return bytes on the device
  template <typename Make>
  std::int64_t build(const Site& s, const Make& make, const std::string& more, bool all_couple, bool exact) {
    const std::string shape = "-D GROUP_ITEMS=" + std::to_string(s.plan.items) +
                              " -D ITEM_ROWS=" + std::to_string(s.plan.item_rows) + more + " -D NAN_SAFE=";
    on_demand_ = !all_couple && !exact;
    make(kernel_, shape + (exact && !all_couple ? "1" : "0"));
    if (on_demand_) make(again_, shape + "1 -D ON_DEMAND");
    constexpr std::int64_t kBytes = sizeof(Int);
    constexpr Int kNone = 0;
    met_by_ = make_buffer(s.device, Access::read_write, kBytes);
    s.pipeline->bring(&kNone, kBytes, met_by_, s.waiter, s.times);
    return kBytes;
  }

  /// Launch the kernel over some tiles. If needed, also launch the exact form that repeats the work on demand.
  /// @param names  names of the arrays of bands or factors, as BufferNeed::name
  /// @param again  most work-groups of the repetition, which rarely has work to do
  /// @param more   further arguments, after the common arguments
  template <typename... Args>
  Event start(const Site& s, const Tiles& t, const std::array<const char*, 3>& names, const Geometry& geometry,
              Index again, const Args&... more) {
    const std::int64_t vector = t.chunk.rows() * static_cast<Index>(sizeof(T));
    const std::int64_t array =
        (s.plan.form == Form::shared ? shared_tiles(s.plan).period : t.chunk.rows()) * s.plan.factor_word(sizeof(T));
    const auto need = [](const char* name, const Buffer& buffer, std::int64_t bytes) {
      return BufferNeed{name, &buffer, bytes, kVectorBytes};
    };
    // The number differs from the last 2^31 numbers, and is never 0.
    const Int number = s.last_number = s.last_number == std::numeric_limits<Int>::max() ? 1 : s.last_number + 1;
    Geometry groups = geometry;
    for (Kernel* kernel = &kernel_;; kernel = &again_) {
      Event event =
          launch(s.device, *kernel, groups, need(names[0], t.bands.lower, array), need(names[1], t.bands.diag, array),
                 need(names[2], t.bands.upper, array), need("y", t.y, vector), need("x", t.x, vector), met_by_, number,
                 Long{s.plan.n}, Long{t.chunk.first}, Long{t.chunk.tile_begin}, Long{t.chunk.tile_end}, more...);
      if (!on_demand_ || kernel == &again_) return event;
      s.earlier.push_back(event);
      groups.groups = std::min<std::int64_t>(groups.groups, again);
    }
  }

 private:
  Kernel kernel_, again_;
  bool on_demand_ = false;
  Buffer met_by_;  ///< holds the number of the last launch that met a non-finite number
};

/// True if the vectors are so short that the exact form costs little.
template <typename T>
bool is_short(const Site& s) {
  return s.plan.n * static_cast<Index>(sizeof(T)) <= s.nan_safe_bytes;
}

/// Returns the geometry with one work-group for each tile, or for each run of tiles. Without tiles, one work-group
/// starts and does nothing.
template <typename T>
Geometry groups_of(const Plan& plan, Index tiles) {
  return {std::max<Index>(1, tiles), static_cast<std::size_t>(plan.items),
          size(group_local_words(plan.items, plan.item_rows)) * sizeof(T)};
}

/// Runs truncated-halo by work-groups (kernels/gpu/tile_halo.cl).
template <typename T>
class TilesHalo final : public Worker<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    const auto make = [&](Kernel& kernel, const std::string& options) { this->make(s, kernel, "tile_halo", options); };
    // Kernels in float wait for the memory, so the exact form costs nothing.
    return kernel_.build(s, make, form_options(s.plan), false, sizeof(T) == sizeof(float) || is_short<T>(s));
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    return kernel_.start(s, t, {"lower", "diag", "upper"}, groups_of<T>(plan, t.chunk.tile_end - t.chunk.tile_begin),
                         kBusyGroups, static_cast<Int>(plan.m), static_cast<Int>(plan.halo), Int{plan.as<Scan>().steps},
                         static_cast<Int>(shared_tiles(plan).period));
  }

 private:
  TileKernel<T> kernel_;
};

/// Base of workers whose kernels run by work-groups and read stored factors in the order of the rows.
template <typename T>
class StoredTileWorker : public FactorWorker<T> {
 public:
  static Needs needs(const Plan&, const LineSet&, int, Index) { return {}; }

  Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) override {
    this->factors_.factor(lines, bands, plan.form);
    const FactorsView<T> f = this->factors_.view();
    all_couple_ = plan.form != Form::shared && all_of_pieces(plan.n - 1, kPieceRows, [&](Index first, Index end) {
                    bool couple = true;
                    for (Index i = first; i < end; ++i) couple &= f.coupling[i] != 0 && f.multiplier_at(i + 1) != 0;
                    return couple;
                  });
    if (!plan.narrow) return stored(f);
    const Stored narrow = this->keep_narrow({f.multiplier, f.reciprocal, f.coupling}, plan.n);
    this->factors_.release();
    return narrow;
  }

 protected:
  std::int64_t build_forms(const Site& s, const char* name, const std::string& more) {
    const auto make = [&](Kernel& kernel, const std::string& options) { this->make(s, kernel, name, options); };
    return kernel_.build(s, make, more, all_couple_, is_short<T>(s));
  }
  static constexpr std::array<const char*, 3> kNames = {"multiplier", "reciprocal", "coupling"};
  TileKernel<T> kernel_;

 private:
  bool all_couple_ = false;
};

/// Runs truncated-halo for lines with equal bands (kernels/gpu/tile_shared.cl).
template <typename T>
class TilesKept final : public StoredTileWorker<T> {
 public:
  std::int64_t build(const Site& s, const BandsView<T>&) override {
    const KeptTiles& kept = s.plan.as<KeptTiles>();
    return this->build_forms(
        s, "tile_shared",
        " -D STEPS=" + std::to_string(s.plan.as<Scan>().steps) + " -D ITEM_TILES=" + std::to_string(kept.item_tiles) +
            (kept.symmetric ? " -D SYMMETRIC" : "") + (kept.tells_products ? " -D PRODUCTS_TOLD" : ""));
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const Index groups = std::max<Index>(1, std::min<Index>(plan.runs, t.chunk.tile_end - t.chunk.tile_begin));
    return this->kernel_.start(s, t, this->kNames, {groups, static_cast<std::size_t>(plan.items)}, groups,
                               static_cast<Int>(plan.m), static_cast<Int>(plan.halo),
                               static_cast<Int>(shared_tiles(plan).period));
  }
};

/// Runs truncated-streamed by work-groups (kernels/gpu/tile_stored.cl).
template <typename T>
class TilesStreamed final : public StoredTileWorker<T> {
 public:
  std::int64_t build(const Site& s, const BandsView<T>&) override {
    return this->build_forms(s, "tile_stored",
                             form_options(s.plan) + (s.plan.as<StoredFactors>().corrects ? " -D CORRECTED" : "") +
                                 " -D CORE_GROUPS=" + std::to_string(runs_of_core(s.plan, sizeof(T))));
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    return this->kernel_.start(s, t, this->kNames, groups_of<T>(plan, t.chunk.tile_end - t.chunk.tile_begin),
                               kBusyGroups, Long{plan.m}, Int{plan.run_tiles}, static_cast<Int>(plan.halo),
                               static_cast<Int>(shared_tiles(plan).period));
  }
};

}  // namespace

Carrier tiles_halo() { return carrier<TilesHalo>("tiles-halo"); }
Carrier tiles_kept() { return carrier<TilesKept>("tiles-kept"); }
Carrier tiles_streamed() { return carrier<TilesStreamed>("tiles-streamed"); }

}  // namespace oclspkt::ocl
