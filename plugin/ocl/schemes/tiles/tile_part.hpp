// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "parallel.hpp"
#include "schemes/tiles/tile_plans.hpp"
#include "schemes/work_groups.hpp"

namespace oclspkt::ocl {

/// Buffers of a launch over a chunk, in vectors.
template <typename T>
struct TileNeeds {
  TileNeeds(const Site& s, const Tiles& t)
      : stored((s.plan.form == Form::shared ? shared_tiles(s.plan).period : t.chunk.rows()) *
               s.plan.factor_word(sizeof(T))),
        y{"y", &t.y, t.chunk.rows() * static_cast<Index>(sizeof(T)), kVectorBytes},
        x{"x", &t.x, t.chunk.rows() * static_cast<Index>(sizeof(T)), kVectorBytes} {}
  BufferNeed array(const char* name, const Buffer& buffer) const { return {name, &buffer, stored, kVectorBytes}; }

  std::int64_t stored;  ///< bytes of each array of bands or factors
  BufferNeed y, x;
};

/// What schemes by work-groups share for lines laid end to end whose kernels come in several forms: NaN-safe, or a fast
/// one and one behind it that is NaN-safe on demand, see NonFinite; the fast one alone where all_couple_.
template <typename T>
class TilePart : public GroupPart<T> {
 public:
  bool nan_safe_at_once(const Plan& plan, std::int64_t nan_safe_bytes) const override {
    return plan.n * static_cast<Index>(sizeof(T)) <= nan_safe_bytes;
  }
  std::int64_t bring(const Site& s, const BandsView<T>&) override {
    return s.non_finite.set_up(s.device, s.waiter, *s.pipeline, s.times);
  }

 protected:
  /// Build a kernel in the forms that the plan needs. @param more  options beside its shape
  void make_forms(const Site& s, const char* name, const std::string& more) {
    const std::string shape = "-D GROUP_ITEMS=" + std::to_string(s.plan.items) +
                              " -D ITEM_ROWS=" + std::to_string(s.plan.item_rows) + more + " -D NAN_SAFE=";
    this->make(s, kernel_, name, shape + (s.nan_safe && !all_couple_ ? "1" : "0"));
    if (!s.nan_safe && !all_couple_) this->make(s, again_, name, shape + "1 -D ON_DEMAND");
  }
  /// Launch it over some tiles, and behind it what repeats it on demand.
  /// @param names  of the arrays that go with the chunks, see BufferNeed
  /// @param again  work-groups of the repetition, which has mostly nothing to do
  /// @param more   arguments behind those that all such kernels have
  template <typename... Args>
  Event launch_forms(const Site& s, const Tiles& t, const std::array<const char*, 3>& names, const Geometry& geometry,
                     Index again, const Args&... more) {
    const TileNeeds<T> needs(s, t);
    const Int number = s.non_finite.next();
    const auto start = [&](Kernel& kernel, const Geometry& groups) {
      set_arguments(s.device, kernel, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.non_finite.met_by(),
                    number, Long{s.plan.n}, Long{t.chunk.first}, Long{t.chunk.tile_begin}, Long{t.chunk.tile_end},
                    more...);
      return launch(s.device, kernel, groups,
                    {needs.array(names[0], t.bands.lower), needs.array(names[1], t.bands.diag),
                     needs.array(names[2], t.bands.upper), needs.y, needs.x});
    };
    Event event = start(kernel_, geometry);
    if (s.nan_safe || all_couple_) return event;
    s.earlier.push_back(event);
    Geometry few = geometry;
    few.groups = std::min<std::int64_t>(geometry.groups, again);
    return start(again_, few);
  }
  /// Options that tell the form of bands or factors.
  static std::string form(const Plan& plan) {
    return std::string(plan.form == Form::shared ? " -D SHARED_FACTORS" : "") +
           (plan.symmetric() ? " -D SYMMETRIC" : "") + (plan.narrow ? " -D NARROW_FACTORS" : "");
  }
  /// A work-group for each of some tiles, or runs of them; one that has nothing to do where there are none.
  static Geometry geometry(const Plan& plan, Index tiles) {
    return {std::max<Index>(1, tiles), static_cast<std::size_t>(plan.items),
            size(group_local_words(plan.items, plan.item_rows)) * sizeof(T)};
  }
  /// Enough of them to have a GPU busy.
  static constexpr Index kBusyGroups = 2048;

  /// No factor between two rows is 0, so all rows are of one line and there is nothing that a NaN must stay out of.
  bool all_couple_ = false;

 private:
  Kernel kernel_, again_;
};

/// The same by stored factors in the order of the rows.
template <typename T>
class StoredTilePart : public TilePart<T> {
 public:
  Resident store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) override {
    factors_.factor(lines, bands, plan.form);
    const FactorsView<T> f = factors_.view();
    this->all_couple_ = plan.form != Form::shared && all_couple(f, plan.n);
    if (!plan.narrow) return resident(f);
    const Resident narrow = this->keep_narrow({f.multiplier, f.reciprocal, f.coupling}, plan.n);
    factors_.release();
    return narrow;
  }
  void release_stored() override {
    factors_.release();
    Part<T>::release_stored();
  }
  const Factors<T>* factors() const override { return &factors_; }
  std::int64_t host_bytes() const override { return factors_.bytes() + Part<T>::host_bytes(); }

 private:
  static bool all_couple(const FactorsView<T>& f, Index n) {
    return all_of_pieces(n - 1, kPieceRows, [&](Index first, Index end) {
      bool couple = true;
      for (Index i = first; i < end; ++i) couple &= f.coupling[i] != 0 && f.multiplier_at(i + 1) != 0;
      return couple;
    });
  }

  Factors<T> factors_;
};

}  // namespace oclspkt::ocl
