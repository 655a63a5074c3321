// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by lane-interleaved stored factors, for lines laid end to end:
// kernels/cpu/interleaved_streamed.cl. A device that shares the host's memory makes the factors itself:
// interleaved_factor.cl.
#include "schemes/lane_needs.hpp"
#include "schemes/lanes/interleaved_factors.hpp"
#include "schemes/lanes/outer_numbers.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class LanesStreamed final : public Part<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    return {.slot = plan.lanes + 2 * plan.m, .all = 2 * factor_tiles(plan) * plan.lanes * word};
  }

  Resident store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place) override {
    on_device_ = plan.as<StoredFactors>().lead_in >= 0 && plan.form != Form::shared && in_place;
    if (on_device_) {
      factors_ = {};
      interleaved_.reserve(plan);
    } else if (plan.form == Form::shared && shared_tiles(plan).head > 0) {
      const Bands<T> kept = kept_rows(plan, bands);
      factors_.factor(kept.lines(), kept.view(), Form::general);
      interleaved_.interleave(plan, factors_.view(), kept.lines().rows());
    } else {
      factors_.factor(lines, bands, plan.form, Order::down);
      interleaved_.interleave(plan, factors_.view(), plan.form == Form::shared ? lines.length(0) : plan.n);
    }
    factors_.release();
    return plan.narrow ? resident(interleaved_.narrow_view()) : resident(interleaved_.view());
  }
  void release_stored() override { interleaved_ = {}; }
  const Factors<T>* factors() const override { return on_device_ ? nullptr : &factors_; }
  std::int64_t host_bytes() const override { return factors_.bytes() + interleaved_.bytes(); }

  void make_kernels(const Site& s) override {
    const std::string narrow = s.plan.narrow ? "-D NARROW_FACTORS " : "";
    const std::string corrected = s.plan.as<StoredFactors>().corrects ? "-D CORRECTED" : "";
    this->make(s, streamed_, "interleaved_streamed", narrow + corrected, s.plan.lanes);
    if (on_device_) this->make(s, factor_, "interleaved_factor", narrow + corrected, s.plan.lanes);
  }

  std::int64_t make_buffers(const Site& s) override {
    return through_.resize(s.device, factor_tiles(s.plan) * s.plan.lanes);
  }

  std::int64_t bring(const Site& s, const BandsView<T>& bands) override {
    if (on_device_) {
      make_factors(s, bands);
      return 0;
    }
    std::copy_n(interleaved_.down(), through_.count(), through_.tops());
    std::copy_n(interleaved_.up(), through_.count(), through_.bottoms());
    through_.give(s);
    return 0;
  }

  Event finish(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const LaneNeeds<T> needs(s, t);
    const LaneCounts c(s, t.chunk);
    const Chunk places = places_of_factors(plan, t.chunk);
    const FactorNeeds factors(plan, t.bands, places);
    const SharedTiles shared = shared_tiles(plan);
    const Index all = plan.form == Form::shared ? shared.all : plan.tiles();
    const Index head = plan.form == Form::shared ? shared.head : all;
    set_arguments(s.device, streamed_, t.bands.lower, t.bands.diag, t.bands.upper, through_.top(), through_.bottom(),
                  t.y, t.x, s.scratch, c.n, c.first, Long{places.first / factor_words(plan)}, c.begin, c.end, c.m,
                  static_cast<Int>(plan.as<StoredFactors>().reach), c.slot, Long{head}, Long{shared.period},
                  Long{shared.tail}, Long{all}, static_cast<Int>(plan.symmetric()));
    return launch(s.device, streamed_, {s.layout.runs},
                  {factors.multiplier, factors.reciprocal, factors.coupling, through_.need_top("down"),
                   through_.need_bottom("up"), needs.y, needs.x, needs.scratch});
  }

  bool begins_show() const override { return true; }

 private:
  struct FactorNeeds {
    FactorNeeds(const Plan& plan, const ChunkBands& factors, const Chunk& places)
        : word(plan.factor_word(sizeof(T))),
          multiplier(need("multiplier", factors.lower, plan, places)),
          reciprocal(need("reciprocal", factors.diag, plan, places)),
          coupling(need("coupling", factors.upper, plan, places)) {}
    BufferNeed need(const char* name, const Buffer& buffer, const Plan& plan, const Chunk& places) const {
      return {name, &buffer, places.rows() * word, size(Index{word} * plan.lanes)};
    }
    int word;  ///< bytes
    BufferNeed multiplier, reciprocal, coupling;
  };

  /// Let the device make the factors, in place.
  void make_factors(const Site& s, const BandsView<T>& bands) {
    const Plan& plan = s.plan;
    for (std::size_t i = 0; i < s.layout.chunks.size(); ++i) {
      const Chunk &chunk = s.layout.chunks[i], &places = s.layout.band_chunks[i];
      const auto wrapped = [&](const T* band) {
        return wrap(s.device, band + chunk.first, chunk.rows() * static_cast<Index>(sizeof(T)));
      };
      const ChunkBands from{wrapped(bands.lower), wrapped(bands.diag), wrapped(bands.upper)};
      const ChunkBands& made = s.bands[i];
      const LaneNeeds<T> needs(s, {from, s.scratch, s.scratch, chunk});
      const LaneCounts c(s, chunk);
      const FactorNeeds factors(plan, made, places);
      set_arguments(s.device, factor_, from.lower, from.diag, from.upper, made.lower, made.diag, made.upper,
                    through_.top(), through_.bottom(), s.scratch, c.n, c.first, Long{places.first / factor_words(plan)},
                    c.begin, c.end, c.m, static_cast<Int>(plan.as<StoredFactors>().lead_in),
                    static_cast<Int>(passes(plan)), static_cast<Int>(plan.symmetric()));
      s.waiter.wait(launch(s.device, factor_, {s.layout.runs},
                           {needs.lower, needs.diag, needs.upper, factors.multiplier, factors.reciprocal,
                            factors.coupling, through_.need_top("down"), through_.need_bottom("up"), needs.scratch}));
    }
  }

  Kernel streamed_, factor_;
  bool on_device_ = false;             ///< the device makes the factors
  Factors<T> factors_;                 ///< what their elimination showed
  InterleavedFactors<T> interleaved_;  ///< the same, lane-interleaved
  OuterNumbers<T> through_;            ///< what passes through each partition
};

}  // namespace

Carrier lanes_streamed() { return carrier<LanesStreamed>("lanes-streamed"); }

}  // namespace oclspkt::ocl
