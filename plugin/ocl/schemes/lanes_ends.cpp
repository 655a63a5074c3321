// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass from both ends of the system to the tile where they meet, which makes the factors on the way:
// kernels/cpu/ends_eliminate.cl, ends_substitute.cl.
#include "geometry.hpp"
#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Numbers that either side leaves where they meet.
constexpr Index kMetWords = 4;

template <typename T>
class LanesEnds final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    return {.slot = plan.lanes + 7 * plan.m, .all = 2 * swept_bytes(plan, word) + 2 * kMetWords * word};
  }

  void make_kernels(const Site& s) override {
    this->make(s, eliminate_, "ends_eliminate", "", s.plan.lanes);
    this->make(s, substitute_, "ends_substitute", "", s.plan.lanes);
  }

  std::int64_t make_buffers(const Site& s) override {
    swept_bytes_ = swept_bytes(s.plan, sizeof(T));
    return ensure(s.device, met_, Access::read_write, kMetBytes) +
           ensure(s.device, swept_, Access::read_write, swept_bytes_) +
           ensure(s.device, coupling_, Access::read_write, swept_bytes_);
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
  static constexpr std::int64_t kMetBytes = 2 * kMetWords * static_cast<Index>(sizeof(T));

  /// @param n  rows; 0 to launch over none
  Event eliminate(const Site& s, const Buffer& y, Index n) {
    const ChunkBands& b = s.bands.front();
    set_arguments(s.device, eliminate_, b.lower, b.diag, b.upper, y, coupling_, swept_, met_, s.scratch, Long{n},
                  Long{n > 0 ? s.plan.as<Sides>().meeting : 0}, static_cast<Int>(s.plan.m),
                  static_cast<Int>(s.layout.slot));
    return launch(s.device, eliminate_, {s.layout.runs},
                  {rows("lower", b.lower, n), rows("diag", b.diag, n), rows("upper", b.upper, n), rows("y", y, n),
                   vectors(s, "coupling", coupling_), vectors(s, "swept", swept_), met(), LaneNeeds<T>::scratch_of(s)});
  }

  Event substitute(const Site& s, const Buffer& x, Index n) {
    set_arguments(s.device, substitute_, coupling_, swept_, met_, x, s.scratch, Long{n},
                  Long{n > 0 ? s.plan.as<Sides>().meeting : 0}, static_cast<Int>(s.plan.m),
                  static_cast<Int>(s.layout.slot));
    return launch(s.device, substitute_, {s.layout.runs},
                  {vectors(s, "coupling", coupling_), vectors(s, "swept", swept_), met(), rows("x", x, n),
                   LaneNeeds<T>::scratch_of(s)});
  }

  static BufferNeed rows(const char* name, const Buffer& buffer, Index n) {
    return {name, &buffer, n * static_cast<Index>(sizeof(T)), sizeof(T)};
  }
  BufferNeed vectors(const Site& s, const char* name, const Buffer& buffer) const {
    return {name, &buffer, swept_bytes_, sizeof(T) * size(s.plan.lanes)};
  }
  BufferNeed met() const { return {"met", &met_, kMetBytes, sizeof(T)}; }

  Kernel eliminate_, substitute_;
  Buffer met_;               ///< what both sides leave where they meet
  Buffer swept_, coupling_;  ///< what the first pass leaves for the second: right-hand sides, and scaled couplings
  std::int64_t swept_bytes_ = 0;
};

}  // namespace

Carrier lanes_ends() { return carrier<LanesEnds>("lanes-ends"); }

}  // namespace oclspkt::ocl
