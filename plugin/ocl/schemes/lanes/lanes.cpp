// SPDX-License-Identifier: BSD-2-Clause
// Workers for lines end to end, by lanes.
#include <algorithm>

#include "interface.hpp"
#include "schemes/lane_needs.hpp"
#include "schemes/lanes/interleaved_factors.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Vectors of scratch: two for each row, if both sweeps include the rows of the halo.
Index swept_both_ways(const Plan& plan) {
  const Cut cut = plan.cut();
  return plan.lanes + 2 * (cut.before + plan.m + cut.behind);
}

/// Runs truncated-halo by lanes (kernels/cpu/truncated_halo.cl; with streamed tiles, truncated_tiles.cl).
template <typename T, bool kStreams>
class HaloWorker final : public Worker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int, Index) {
    return {.slot = kStreams ? plan.lanes + 6 * plan.m : swept_both_ways(plan)};
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    this->make(s, kernel_, kStreams ? "truncated_tiles" : "truncated_halo");
    return 0;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const LaneNeeds<T> b(s, t);
    const LaneCounts c(s, t.chunk);
    if constexpr (kStreams) {
      return launch(s.device, kernel_, {s.layout.runs}, b.lower, b.diag, b.upper, b.y, b.x, b.scratch, c.n, c.first,
                    c.begin, c.end, c.m, c.slot);
    } else {
      return launch(s.device, kernel_, {s.layout.runs}, b.lower, b.diag, b.upper, b.y, b.x, b.scratch, c.n, c.first,
                    c.begin, c.end, c.m, c.halo, c.slot);
    }
  }

 private:
  Kernel kernel_;
};

template <typename T>
using LanesHalo = HaloWorker<T, false>;
template <typename T>
using LanesTiles = HaloWorker<T, true>;

/// One number for the top and one for the bottom of every partition, on the host and on the device.
template <typename T>
class OuterNumbers {
 public:
  /// Allocate `count` tops and `count` bottoms, all 0 on the host. @return bytes of the host and of the device
  std::int64_t resize(const OpenDevice& device, Index count) {
    bytes_ = count * static_cast<Index>(sizeof(T));
    for (AlignedArray<T>* array : {&tops_, &bottoms_}) {
      array->resize(count);
      std::fill_n(array->data(), count, T(0));
    }
    return ensure(device, top_, Access::read_write, bytes_) + ensure(device, bottom_, Access::read_write, bytes_) +
           tops_.bytes() + bottoms_.bytes();
  }
  Index count() const { return tops_.size(); }
  T* tops() { return tops_.data(); }
  T* bottoms() { return bottoms_.data(); }
  BufferNeed top(const char* name) const { return {name, &top_, bytes_, sizeof(T)}; }
  BufferNeed bottom(const char* name) const { return {name, &bottom_, bytes_, sizeof(T)}; }

  /// Copy the numbers of the host to the device.
  void give(const Site& site) {
    for (const auto& [buffer, host] : {std::pair{&top_, &tops_}, {&bottom_, &bottoms_}}) {
      const Event event = enqueue_write(site.device, host->data(), *buffer, bytes_);
      site.waiter.wait(event);
      site.times.transfer_seconds += seconds(event);
    }
  }

 private:
  std::int64_t bytes_ = 0;
  Buffer top_, bottom_;
  AlignedArray<T> tops_, bottoms_;
};

/// Base of workers with lane-interleaved stored factors, and with products of factors over each partition.
template <typename T>
class InterleavedWorker : public FactorWorker<T> {
 public:
  void release_stored() override { interleaved_ = {}; }
  std::int64_t host_bytes() const override { return this->factors_.bytes() + interleaved_.bytes(); }

 protected:
  /// Interleave `rows` rows of factors_, release factors_, and return the arrays for the device.
  Stored interleave(const Plan& plan, Index rows) {
    interleaved_.interleave(plan, this->factors_.view(), rows);
    this->factors_.release();
    return view(plan);
  }
  Stored view(const Plan& plan) const {
    return plan.narrow ? stored(interleaved_.narrow_view()) : stored(interleaved_.view());
  }
  /// Allocate the products of factors over each partition (InterleavedFactors::down(), up()) on host and device.
  /// @return bytes
  std::int64_t make_room(const Site& s) { return through_.resize(s.device, factor_tiles(s.plan) * s.plan.lanes); }
  void bring_through(const Site& s) {
    std::copy_n(interleaved_.down(), through_.count(), through_.tops());
    std::copy_n(interleaved_.up(), through_.count(), through_.bottoms());
    through_.give(s);
  }

  InterleavedFactors<T> interleaved_;
  OuterNumbers<T> through_;
};

/// Runs truncated-streamed by stored factors (kernels/cpu/interleaved_streamed.cl). If a device shares the host's
/// memory, the device makes the factors itself (kernels/cpu/interleaved_factor.cl).
template <typename T>
class LanesStreamed final : public InterleavedWorker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    return {.slot = plan.lanes + 2 * plan.m, .all = 2 * factor_tiles(plan) * plan.lanes * word, .begins_show = true};
  }

  Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place) override {
    on_device_ = plan.as<StoredFactors>().lead_in >= 0 && plan.form != Form::shared && in_place;
    if (on_device_) {
      this->factors_ = {};
      this->interleaved_.reserve(plan);
      return this->view(plan);
    }
    if (plan.form == Form::shared && shared_tiles(plan).head > 0) {
      const Bands<T> kept = kept_rows(plan, bands);
      this->factors_.factor(kept.lines(), kept.view(), Form::general);
      return this->interleave(plan, kept.lines().rows());
    }
    this->factors_.factor(lines, bands, plan.form, Order::down);
    return this->interleave(plan, plan.form == Form::shared ? lines.length(0) : plan.n);
  }
  const Factors<T>* factors() const override { return on_device_ ? nullptr : &this->factors_; }

  std::int64_t build(const Site& s, const BandsView<T>& bands) override {
    const std::string options = std::string(s.plan.narrow ? "-D NARROW_FACTORS " : "") +
                                (s.plan.as<StoredFactors>().corrects ? "-D CORRECTED" : "");
    this->make(s, streamed_, "interleaved_streamed", options);
    if (on_device_) this->make(s, factor_, "interleaved_factor", options);
    const std::int64_t bytes = this->make_room(s);
    on_device_ ? make_factors(s, bands) : this->bring_through(s);
    return bytes;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const Plan& plan = s.plan;
    const LaneNeeds<T> b(s, t);
    const LaneCounts c(s, t.chunk);
    const Chunk places = places_of_factors(plan, t.chunk);
    const FactorNeeds factors(plan, t.bands, places);
    const SharedTiles shared = shared_tiles(plan);
    const Index all = plan.form == Form::shared ? shared.all : plan.tiles();
    const Index head = plan.form == Form::shared ? shared.head : all;
    return launch(s.device, streamed_, {s.layout.runs}, factors.multiplier, factors.reciprocal, factors.coupling,
                  this->through_.top("down"), this->through_.bottom("up"), b.y, b.x, b.scratch, c.n, c.first,
                  Long{places.first / factor_words(plan)}, c.begin, c.end, c.m,
                  static_cast<Int>(plan.as<StoredFactors>().reach), c.slot, Long{head}, Long{shared.period},
                  Long{shared.tail}, Long{all}, static_cast<Int>(plan.symmetric()));
  }

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
    int word;  ///< bytes of a number
    BufferNeed multiplier, reciprocal, coupling;
  };

  /// Let the device make the factors in memory that it shares with the host.
  void make_factors(const Site& s, const BandsView<T>& bands) {
    const Plan& plan = s.plan;
    for (std::size_t i = 0; i < s.layout.chunks.size(); ++i) {
      const Chunk &chunk = s.layout.chunks[i], &places = s.layout.band_chunks[i];
      const auto wrapped = [&](const T* band) {
        return wrap(s.device, band + chunk.first, chunk.rows() * static_cast<Index>(sizeof(T)));
      };
      const ChunkBands from{wrapped(bands.lower), wrapped(bands.diag), wrapped(bands.upper)};
      const LaneNeeds<T> b(s, {from, s.scratch, s.scratch, chunk});
      const LaneCounts c(s, chunk);
      const FactorNeeds factors(plan, s.bands[i], places);
      s.waiter.wait(launch(s.device, factor_, {s.layout.runs}, b.lower, b.diag, b.upper, factors.multiplier,
                           factors.reciprocal, factors.coupling, this->through_.top("down"),
                           this->through_.bottom("up"), b.scratch, c.n, c.first,
                           Long{places.first / factor_words(plan)}, c.begin, c.end, c.m,
                           static_cast<Int>(plan.as<StoredFactors>().lead_in), static_cast<Int>(passes(plan)),
                           static_cast<Int>(plan.symmetric())));
    }
  }

  Kernel streamed_, factor_;
  bool on_device_ = false;  ///< the device makes the factors
};

/// Runs exact-factored from both ends of the system to a tile in the middle (kernels/cpu/twisted_eliminate.cl,
/// twisted_substitute.cl). Both kernels have two work-groups. Between their launches the host does nothing.
template <typename T>
class LanesTwisted final : public InterleavedWorker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    return {.slot = plan.lanes + plan.m, .all = swept_bytes(plan, word) + 2 * factor_tiles(plan) * plan.lanes * word};
  }

  Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) override {
    this->factors_.factor(lines, bands, plan.form, Order::towards, plan.as<Sides>().meeting * plan.tile_rows());
    return this->interleave(plan, plan.form == Form::shared ? lines.length(0) : plan.n);
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    this->make(s, eliminate_, "twisted_eliminate");
    this->make(s, substitute_, "twisted_substitute");
    const std::int64_t swept = ensure(s.device, swept_, Access::read_write, swept_bytes(s.plan, sizeof(T)));
    const std::int64_t bytes = swept + this->make_room(s);
    this->bring_through(s);
    return bytes;
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const bool any = t.chunk.tile_end > 0;
    const ChunkBands& f = s.bands.front();
    const std::size_t vector = sizeof(T) * size(s.plan.lanes);
    const std::int64_t all = swept_bytes(s.plan, sizeof(T)), rows = any ? s.plan.n * static_cast<Index>(sizeof(T)) : 0;
    const auto factor = [&](const char* name, const Buffer& buffer) {
      return BufferNeed{name, &buffer, any ? all : 0, vector};
    };
    const BufferNeed swept{"swept", &swept_, all, vector}, scratch = LaneNeeds<T>::scratch_of(s);
    const Long n{any ? s.plan.n : 0}, meeting{any ? s.plan.as<Sides>().meeting : 0};
    const Int m{static_cast<Int>(s.plan.m)}, slot{static_cast<Int>(s.layout.needs.slot)};
    s.earlier = {launch(s.device, eliminate_, {s.layout.runs}, factor("multiplier", f.lower),
                        this->through_.top("through"), BufferNeed{"y", &t.y, rows, sizeof(T)}, swept, scratch, n,
                        meeting, m, slot)};
    return launch(s.device, substitute_, {s.layout.runs}, factor("reciprocal", f.diag), factor("coupling", f.upper),
                  this->through_.bottom("through"), swept, BufferNeed{"x", &t.x, rows, sizeof(T)}, scratch, n, meeting,
                  m, slot, this->factors_.meeting().from_above, this->factors_.meeting().reciprocal);
  }

 private:
  /// Bytes of the results of the first launch, in whole tiles.
  static std::int64_t swept_bytes(const Plan& plan, Index word) { return plan.tiles() * plan.tile_rows() * word; }

  Kernel eliminate_, substitute_;
  Buffer swept_;  ///< results of the first launch, input of the second launch
};

/// Runs exact-twopass by lanes (kernels/cpu/exact_reduce.cl, exact_substitute.cl). The first pass reduces every
/// partition to two equations. The host solves the system of these equations, and the second pass substitutes.
template <typename T>
class LanesTwopass final : public Worker<T> {
 public:
  static Needs needs(const Plan& plan, const LineSet&, int word, Index) {
    const std::int64_t equations = kSegmentWords * padded(plan) * word;
    return {
        .slot = swept_both_ways(plan), .largest = equations, .all = equations + 2 * padded(plan) * word, .passes = 2};
  }

  Stored store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place) override {
    segments_.resize(size(plan.partitions()));
    reduced_.resize(plan.partitions());
    return Worker<T>::store(plan, lines, bands, in_place);
  }

  std::int64_t build(const Site& s, const BandsView<T>&) override {
    this->make(s, reduce_, "exact_reduce");
    this->make(s, substitute_, "exact_substitute");
    segment_bytes_ = kSegmentWords * padded(s.plan) * static_cast<Index>(sizeof(T));
    words_.resize(kSegmentWords * padded(s.plan));
    return ensure(s.device, equations_, Access::write, segment_bytes_) + outers_.resize(s.device, padded(s.plan)) +
           words_.bytes() + static_cast<std::int64_t>(segments_.size() * sizeof(SchurSegment<T>));
  }

  Event enqueue(const Site& s, const Tiles& t) override {
    const LaneNeeds<T> b(s, t);
    const LaneCounts c(s, t.chunk);
    if (t.pass == 0) {
      return launch(s.device, reduce_, {s.layout.runs}, b.lower, b.diag, b.upper, b.y,
                    BufferNeed{"segments", &equations_, segment_bytes_, sizeof(T)}, b.scratch, c.n, c.first, c.begin,
                    c.end, c.m, c.slot, Long{padded(s.plan)});
    }
    if (t.chunk.tile_begin == 0 && t.chunk.tile_end > 0) join(s);
    return launch(s.device, substitute_, {s.layout.runs}, b.lower, b.diag, b.upper, b.y, b.x, outers_.top("tops"),
                  outers_.bottom("bottoms"), b.scratch, c.n, c.first, c.begin, c.end, c.m, c.slot);
  }

 private:
  /// How many numbers a SchurSegment has. The first pass writes one SchurSegment for each partition.
  static constexpr Index kSegmentWords = 8;
  /// Number of partitions, padded to whole tiles.
  static Index padded(const Plan& plan) { return plan.tiles() * plan.lanes; }

  /// Solve for the top and bottom unknowns of all partitions, before the first tiles of the second pass.
  void join(const Site& s) {
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

  Kernel reduce_, substitute_;
  Buffer equations_;
  std::int64_t segment_bytes_ = 0;
  AlignedArray<T> words_;  ///< results of the first pass
  OuterNumbers<T> outers_;
  std::vector<SchurSegment<T>> segments_;
  ReducedSystem<T> reduced_;
};

}  // namespace

Carrier lanes_halo() { return carrier<LanesHalo>("lanes-halo"); }
Carrier lanes_tiles() { return carrier<LanesTiles>("lanes-tiles"); }
Carrier lanes_streamed() { return carrier<LanesStreamed>("lanes-streamed"); }
Carrier lanes_twisted() { return carrier<LanesTwisted>("lanes-twisted"); }
Carrier lanes_twopass() { return carrier<LanesTwopass>("lanes-twopass"); }

}  // namespace oclspkt::ocl
