// SPDX-License-Identifier: BSD-2-Clause
// exact-factored by lanes, for lines side by side: kernels/cpu/strided_factored.cl, strided_shared.cl.
#include "geometry.hpp"
#include "rounding.hpp"
#include "schemes/beside/beside.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class BesideFactored final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) {
    return {.slot = plan.as<Beside>().window / plan.lanes};
  }

  Resident store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) override {
    factors_.factor(lines, bands, plan.form, Order::down, 0, plan.narrow);
    return plan.narrow ? resident(factors_.narrow_view()) : resident(factors_.view());
  }
  void release_stored() override { factors_.release(); }
  const Factors<T>* factors() const override { return &factors_; }
  double rounding() const override { return factors_.pivots().rounding; }
  std::int64_t host_bytes() const override { return factors_.bytes(); }

  void make_kernels(const Site& s) override {
    // The forms without another kernel of their own have the options of all kernels by lanes.
    this->make(s, kernel_, factors_.shared() ? "strided_shared" : "strided_factored",
               s.plan.narrow ? "-D NARROW_FACTORS " : "", s.plan.lanes);
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Index blocks = t.chunk.tile_end - t.chunk.tile_begin;
    const Index kept = blocks == 0 ? 0 : factors_.shared() ? s.lines.length(0) : t.chunk.rows();
    const int word = s.plan.factor_word(sizeof(T));
    const auto factor = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, kept * word, size(word)};
    };
    const BesideCounts c(s, blocks);
    const LaneNeeds<T> needs(s, t);
    const auto set = [&](auto... above) {
      set_arguments(s.device, kernel_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, s.scratch, c.blocks,
                    c.block_stride, c.block_lines, c.length, c.row_stride, c.bundle, c.bundles, c.slot, above...);
    };
    factors_.shared() ? set() : set(Long{s.plan.symmetric() ? s.lines.row_stride() : 0});
    return launch(s.device, kernel_, work_groups_of(s, blocks * s.plan.as<Beside>().bundles),
                  {factor("multiplier", t.bands.lower), factor("reciprocal", t.bands.diag),
                   factor("coupling", t.bands.upper), needs.y, needs.x, needs.scratch});
  }

 private:
  Kernel kernel_;
  Factors<T> factors_;
};

}  // namespace

Carrier beside_factored() { return carrier<BesideFactored>("beside-factored"); }

}  // namespace oclspkt::ocl
