// SPDX-License-Identifier: BSD-2-Clause
// exact-twopass by lanes: the first pass leaves two equations of every partition, the host solves the system in their
// unknowns, and the second pass substitutes. kernels/cpu/exact_reduce.cl, exact_substitute.cl.
#include "interface.hpp"
#include "schemes/lane_needs.hpp"
#include "schemes/lanes/outer_numbers.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Numbers of a SchurSegment that the first pass writes for each partition.
constexpr Index kSegmentWords = 8;

/// Partitions, padded to whole tiles.
Index padded(const Plan& plan) { return plan.tiles() * plan.lanes; }

template <typename T>
class LanesTwopass final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    const std::int64_t equations = kSegmentWords * padded(plan) * word;
    return {.slot = swept_both_ways(plan), .largest = equations, .all = equations + 2 * padded(plan) * word};
  }

  Resident store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place) override {
    segments_.resize(size(plan.partitions()));
    reduced_.resize(plan.partitions());
    return Part<T>::store(plan, lines, bands, in_place);
  }

  void make_kernels(const Site& s) override {
    this->make(s, reduce_, "exact_reduce", "", s.plan.lanes);
    this->make(s, substitute_, "exact_substitute", "", s.plan.lanes);
  }

  std::int64_t make_buffers(const Site& s) override {
    segment_bytes_ = kSegmentWords * padded(s.plan) * static_cast<Index>(sizeof(T));
    words_.resize(kSegmentWords * padded(s.plan));
    return ensure(s.device, equations_, Access::write, segment_bytes_) + outers_.resize(s.device, padded(s.plan)) +
           words_.bytes() + static_cast<std::int64_t>(segments_.size() * sizeof(SchurSegment<T>));
  }

  bool two_passes() const override { return true; }

  Event begin(const Site& s, const Tiles& t) override {
    const LaneNeeds<T> needs(s, t);
    const LaneCounts c(s, t.chunk);
    set_arguments(s.device, reduce_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, equations_, s.scratch, c.n,
                  c.first, c.begin, c.end, c.m, c.slot, Long{padded(s.plan)});
    return launch(s.device, reduce_, {s.layout.runs},
                  {needs.lower,
                   needs.diag,
                   needs.upper,
                   needs.y,
                   {"segments", &equations_, segment_bytes_, sizeof(T)},
                   needs.scratch});
  }

  void join(const Site& s) override {
    const Event event = enqueue_read(s.device, equations_, words_.data(), segment_bytes_);
    s.waiter.wait(event);
    s.times.transfer_seconds += seconds(event);
    const Index stride = padded(s.plan);
    const auto row = [&](Index first, Index k) {
      const T* p = words_.data() + first * stride + k;
      return ExcessRow<T>{p[0], p[stride], p[2 * stride], p[3 * stride]};
    };
    for (Index k = 0; k < s.plan.partitions(); ++k) {
      segments_[size(k)] = {row(0, k), row(kSegmentWords / 2, k), s.plan.m == 1};
    }
    reduced_.solve(segments_.data(), outers_.tops(), outers_.bottoms());
    outers_.give(s);
  }

  Event finish(const Site& s, const Tiles& t) override {
    const LaneNeeds<T> needs(s, t);
    const LaneCounts c(s, t.chunk);
    set_arguments(s.device, substitute_, t.bands.lower, t.bands.diag, t.bands.upper, t.y, t.x, outers_.top(),
                  outers_.bottom(), s.scratch, c.n, c.first, c.begin, c.end, c.m, c.slot);
    return launch(s.device, substitute_, {s.layout.runs},
                  {needs.lower, needs.diag, needs.upper, needs.y, needs.x, needs.scratch, outers_.need_top("tops"),
                   outers_.need_bottom("bottoms")});
  }

 private:
  Kernel reduce_, substitute_;
  Buffer equations_;
  std::int64_t segment_bytes_ = 0;
  AlignedArray<T> words_;  ///< what the first pass wrote
  OuterNumbers<T> outers_;
  std::vector<SchurSegment<T>> segments_;
  ReducedSystem<T> reduced_;
};

}  // namespace

Carrier lanes_twopass() { return carrier<LanesTwopass>("lanes-twopass"); }

}  // namespace oclspkt::ocl
