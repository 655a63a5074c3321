// SPDX-License-Identifier: BSD-2-Clause
// exact-factored from both ends of the system to the tile where they meet, two work-groups and two passes with nothing
// between them: kernels/cpu/twisted_eliminate.cl, twisted_substitute.cl.
#include "schemes/lane_needs.hpp"
#include "schemes/lanes/interleaved_factors.hpp"
#include "schemes/lanes/outer_numbers.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class LanesTwisted final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    return {.slot = plan.lanes + plan.m, .all = swept_bytes(plan, word) + 2 * factor_tiles(plan) * plan.lanes * word};
  }

  Resident store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) override {
    factors_.factor(lines, bands, plan.form, Order::towards, plan.as<Sides>().meeting * plan.tile_rows());
    interleaved_.interleave(plan, factors_.view(), plan.form == Form::shared ? lines.length(0) : plan.n);
    factors_.release();
    return resident(interleaved_.view());
  }
  void release_stored() override { interleaved_ = {}; }
  const Factors<T>* factors() const override { return &factors_; }
  std::int64_t host_bytes() const override { return factors_.bytes() + interleaved_.bytes(); }

  void make_kernels(const Site& s) override {
    this->make(s, eliminate_, "twisted_eliminate", "", s.plan.lanes);
    this->make(s, substitute_, "twisted_substitute", "", s.plan.lanes);
  }

  std::int64_t make_buffers(const Site& s) override {
    swept_bytes_ = swept_bytes(s.plan, sizeof(T));
    return ensure(s.device, swept_, Access::read_write, swept_bytes_) +
           through_.resize(s.device, factor_tiles(s.plan) * s.plan.lanes);
  }

  std::int64_t bring(const Site& s, const BandsView<T>&) override {
    std::copy_n(interleaved_.down(), through_.count(), through_.tops());
    std::copy_n(interleaved_.up(), through_.count(), through_.bottoms());
    through_.give(s);
    return 0;
  }

  void rehearse(const Site& s) override {
    const Event first = eliminate(s, s.scratch, 0);
    s.waiter.wait(substitute(s, s.scratch, 0));
  }

  Event finish(const Site& s, const Tiles& t) override {
    s.earlier = {eliminate(s, t.y, s.plan.n)};
    return substitute(s, t.x, s.plan.n);
  }

 private:
  /// @param n  rows; 0 to launch over none
  Event eliminate(const Site& s, const Buffer& y, Index n) {
    const ChunkBands& f = s.bands.front();
    set_arguments(s.device, eliminate_, f.lower, through_.top(), y, swept_, s.scratch, Long{n},
                  Long{n > 0 ? s.plan.as<Sides>().meeting : 0}, static_cast<Int>(s.plan.m),
                  static_cast<Int>(s.layout.slot));
    return launch(s.device, eliminate_, {s.layout.runs},
                  {factor(s, "multiplier", f.lower, n),
                   through_.need_top("through"),
                   {"y", &y, n * static_cast<Index>(sizeof(T)), sizeof(T)},
                   swept(s),
                   LaneNeeds<T>::scratch_of(s)});
  }

  Event substitute(const Site& s, const Buffer& x, Index n) {
    const ChunkBands& f = s.bands.front();
    set_arguments(s.device, substitute_, f.diag, f.upper, through_.bottom(), swept_, x, s.scratch, Long{n},
                  Long{n > 0 ? s.plan.as<Sides>().meeting : 0}, static_cast<Int>(s.plan.m),
                  static_cast<Int>(s.layout.slot), factors_.meeting().from_above, factors_.meeting().reciprocal);
    return launch(s.device, substitute_, {s.layout.runs},
                  {factor(s, "reciprocal", f.diag, n),
                   factor(s, "coupling", f.upper, n),
                   through_.need_bottom("through"),
                   swept(s),
                   {"x", &x, n * static_cast<Index>(sizeof(T)), sizeof(T)},
                   LaneNeeds<T>::scratch_of(s)});
  }

  BufferNeed factor(const Site& s, const char* name, const Buffer& buffer, Index n) const {
    return {name, &buffer, n > 0 ? swept_bytes_ : 0, sizeof(T) * size(s.plan.lanes)};
  }
  BufferNeed swept(const Site& s) const { return {"swept", &swept_, swept_bytes_, sizeof(T) * size(s.plan.lanes)}; }

  Kernel eliminate_, substitute_;
  Factors<T> factors_;
  InterleavedFactors<T> interleaved_;
  OuterNumbers<T> through_;  ///< what passes through each partition
  Buffer swept_;             ///< what the first pass leaves for the second
  std::int64_t swept_bytes_ = 0;
};

}  // namespace

Carrier lanes_twisted() { return carrier<LanesTwisted>("lanes-twisted"); }

}  // namespace oclspkt::ocl
