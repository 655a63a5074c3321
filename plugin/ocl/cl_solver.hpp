// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "cl_paper.hpp"
#include "device.hpp"
#include "factors.hpp"
#include "grid_factors.hpp"
#include "interface.hpp"
#include "launch.hpp"
#include "layout.hpp"
#include "line_factors.hpp"
#include "pipeline.hpp"
#include "rounding.hpp"
#include "turned_factors.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

/// A buffer over memory of the host. Read-write even for what kernels only read: Intel's CPU run-time copies read-only
/// memory that is not aligned to 128 bytes.
template <typename T>
cl::Buffer wrap(const OpenDevice& device, const T* p, Index rows) {
  return device.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, rows * static_cast<Index>(sizeof(T)),
                       const_cast<T*>(p));
}

/// True if kernels work in the caller's memory. Those for GPUs want 16 bytes of alignment, which callers need not have.
inline bool works_in_place(const FoundDevice& found, const DeviceSettings& settings) {
  return found.info.host_unified && !settings.copy_vectors && !found.by_groups(settings.variant);
}

/// A level of SegmentFactors or GridFactors on a device. The first finds its factors among the chunks' bands (but for
/// multipliers where couplings serve), and its y and x there, too; of others `taken` is to be taken off y.
struct TileLevel {
  Index rows = 0, tiles = 0;
  cl_int item_rows = 1, items = 0;  ///< laid end to end: how vectors are turned, see kernels/gpu/tile_level.clh
  cl::Buffer multiplier, reciprocal, coupling, weight, y, taken, x;
};

/// A level of exact-twopass by work-groups. The first has the y and x of the system, the rows of the others are what is
/// left of the tiles of the level before, double where the device has that. Behind the last is what is left of its
/// tile.
struct ReducedLevel {
  Index rows = 0, tiles = 0;
  cl::Buffer y, left, kept, x;
};

/// Bytes of a number of a level and of the next one, and of what the kernels touch.
struct LevelSizes {
  std::size_t word, wide;
  std::int64_t array, rows_left, left, kept, outer;
};

/// Everything of a solver that a device may touch, host memory included: it has to outlive a device that was lost.
template <typename T>
struct DeviceState {
  std::shared_ptr<OpenDevice> device;     ///< null before the first set-up and after a release
  std::shared_ptr<OpenDevice> for_calls;  ///< by which apply_on_device() works: the same device
  Kernel truncated_halo, truncated_walk, exact_reduce, exact_substitute;
  Kernel tile_halo[2], tile_shared[2], tile_stored[2], tile_fold[2];  ///< the second of each takes care of NaN
  Kernel upper_stored[2], upper_fold[2];  ///< the same for levels between the first and the last
  Kernel tile_last[2];                    ///< the same for the last
  Kernel tile_line;
  Kernel tile_reduce[2], tile_substitute[2];  ///< the second of each for levels but the first
  Kernel turned_factor[2];                    ///< the second for narrow factors
  Kernel turned_streamed[2][2];               ///< the second of the first index for them, of the second Plan::corrects
  Kernel twisted_eliminate, twisted_substitute, ends_eliminate, ends_substitute;
  Kernel strided_factored[2], strided_shared, strided_halo;  ///< the second of the first for narrow factors
  Kernel grid, grid_fold, grid_upper, grid_upper_fold, grid_last;
  PaperState paper;
  struct ChunkBands {
    cl::Buffer lower, diag, upper;  ///< lower is upper where Plan::couplings_serve()
  };
  std::vector<ChunkBands> bands;  ///< of each chunk; of one that is refilled where they are not resident
  cl::Buffer y, x;                ///< of one chunk; in place: wrappers of the caller's memory, during an apply only
  cl::Buffer scratch, top_buffer, bottom_buffer, segments;
  cl::Buffer swept;                       ///< what the first pass from both ends leaves for the second
  cl::Buffer coupling;                    ///< the same of exact-twopass: the scaled couplings
  std::unique_ptr<Pipeline> pipeline;     ///< none in place
  std::vector<cl::Event> earlier;         ///< launches of a pass but the last, until their times are known
  cl::Buffer care;                        ///< by work-groups: not 0 if a launch met numbers that are not finite
  std::unique_ptr<Staging> met;           ///< what was read of it: into other memory it takes 40 us, not 6 (H200)
  bool asked = false;                     ///< it is being read, or has been
  std::vector<TileLevel> levels;          ///< of SegmentFactors or GridFactors
  cl::Buffer line_weights, line_reduced;  ///< of LineFactors
  std::vector<ReducedLevel> reduced;      ///< of exact-twopass by work-groups
  AlignedArray<T> segment_words;          ///< what kernel reduce wrote
  AlignedArray<T> tops, bottoms;          ///< of each partition: first and last unknown, or what passes through it
};

/// Three arrays of the host that go with the chunks: bands, or what is stored instead.
struct Resident {
  const void *lower = nullptr, *diag = nullptr, *upper = nullptr;
  std::int64_t word = 0;  ///< bytes of a number
};

template <typename S>
Resident resident(const FactorsView<S>& f) {
  return {f.multiplier, f.reciprocal, f.coupling, sizeof(S)};
}

/// The vectors of an apply: of the host, or in buffers of the device.
template <typename T>
struct Vectors {
  const T* y = nullptr;
  T* x = nullptr;
  cl::Buffer y_buffer{}, x_buffer{};
  bool on_device() const { return y_buffer() != nullptr; }
};

template <typename T>
class DeviceHolding final : public Holding {
 public:
  std::mutex mutex;
  DeviceState<T> state;
  void drop() override {
    const std::lock_guard lock(mutex);
    state = {};
  }
};

/// Every method but pivot for lines laid end to end, exact-factored, truncated-halo and, by work-groups,
/// truncated-streamed for lines side by side, by the kernels of kernels/cpu and kernels/gpu.
template <typename T>
class ClSolver final : public DeviceSolver<T> {
 public:
  ClSolver(int device, const DeviceSettings& settings);
  ~ClSolver() override;
  ClSolver(const ClSolver&) = delete;
  ClSolver& operator=(const ClSolver&) = delete;

  void set_up(const Plan& plan, const Bands<T>& bands) override;
  void apply(const T* y, T* x) override;
  DeviceHandles handles() const override;
  void apply_on_device(_cl_mem* y, _cl_mem* x) override;
  Times times() const override { return times_; }
  double rounding() const override { return factored() ? rounding_by_growth(factors_.pivots().growth) : 0; }
  std::int64_t bytes() const override {
    std::int64_t bytes = bytes_ + factors_.bytes() + turned_.bytes();
    for (const AlignedArray<float>& array : narrow_) bytes += array.bytes();
    return bytes;
  }
  const Factors<T>* factors() const override {
    const bool others = plan_.folds() || plan_.takes_lines() || plan_.grid_folds();
    return stores_factors() && !makes_factors() && !others ? &factors_ : nullptr;
  }

 private:
  using State = DeviceState<T>;
  using ChunkBands = typename State::ChunkBands;

  /// By stored factors for lines side by side.
  bool factored() const { return plan_.method == Method::exact_factored && !plan_.stored; }
  bool stores_factors() const { return factored() || plan_.stored || plan_.grid(); }
  /// The device makes the factors itself, in memory that it shares with the host.
  bool makes_factors() const { return plan_.turned() && plan_.lead_in >= 0 && plan_.form != Form::shared && in_place_; }
  /// exact-twopass by partitions and a reduced system.
  bool reduces() const { return plan_.by_partitions(); }
  /// Lines side by side.
  bool strided() const { return factored() || plan_.segments > 0; }
  /// Tiles may be launched a few at a time, while vectors still come.
  bool in_parts() const { return lines_.contiguous() && !plan_.twisted() && !plan_.from_ends && !plan_.by_levels(); }
  Limits limits() const;
  double time_limit() const;
  void check(const Plan& plan, const Bands<T>& bands) const;
  void make_kernels(State& s) const;
  void cut_chunks();
  void make_buffers(State& s);
  void make_pipeline(State& s);
  void set_up_bands(State& s, const Waiter& waiter);
  void store_factors(State& s, const BandsView<T>& bands);
  void give_back_what_is_resident();
  void make_factors(State& s, const Waiter& waiter, const BandsView<T>& bands);
  void rehearse(State& s, const Waiter& waiter);
  void upload_bands(State& s, const Waiter& waiter, const ChunkBands& to, const Chunk& chunk);

  void solve(const Vectors<T>& vectors);
  void drain(State& s, const Waiter& waiter) const noexcept;
  void run(State& s, const Waiter& waiter, const Vectors<T>& vectors);
  void pass(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, bool reduce);
  void pass_in_place(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, bool reduce);
  void pass_on_device(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, bool reduce);
  void pass_through(State& s, const Waiter& waiter, std::size_t chunk, const Vectors<T>& vectors, bool reduce);
  const ChunkBands& give_bands(State& s, const Waiter& waiter, std::size_t chunk);
  const ChunkBands& bands_of(const State& s, std::size_t chunk) const;
  void take_in_place(State& s, const Waiter& waiter, const Chunk& chunk);
  cl::Buffer checked(const State& s, const char* name, _cl_mem* handle, cl_mem_flags unfit) const;
  cl::Buffer part(const cl::Buffer& vector, const Chunk& chunk) const;
  /// The kernels of one pass over some tiles: the first of exact-twopass by partitions, or those that give x.
  cl::Event launch_pass(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x, const Chunk& tiles,
                        bool reduce) {
    return reduce ? launch_reduce(s, bands, y, tiles) : launch_solve(s, bands, y, x, tiles);
  }
  cl::Event launch_reduce(State& s, const ChunkBands& bands, const cl::Buffer& y, const Chunk& chunk);
  cl::Event launch_solve(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                         const Chunk& chunk);
  cl::Event launch_factored(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                            const Chunk& chunk);
  cl::Event launch_turned(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                          const Chunk& chunk);
  bool always_guards() const;
  void make_tile_kernels(State& s, bool guarded) const;
  /// Launch down(i) for the first `downs` levels, and back(i) for all, the last first. The event is that of back(0),
  /// those of the others are kept.
  template <typename Down, typename Back>
  static cl::Event launch_down_and_back(State& s, std::size_t downs, std::size_t levels, const Down& down,
                                        const Back& back) {
    s.earlier.clear();
    for (std::size_t i = 0; i < downs; ++i) s.earlier.push_back(down(i));
    for (std::size_t i = levels; i-- > 1;) s.earlier.push_back(back(i));
    return back(0);
  }
  void keep_narrow(const std::array<const T*, 3>& from);
  void store_tile_factors(const BandsView<T>& bands);
  void bring(State& s, const Waiter& waiter, cl::Buffer& buffer, const AlignedArray<T>& array);
  void set_up_levels(State& s, const Waiter& waiter);
  cl::Event ask_what_was_met(State& s) const;
  bool met_what_is_not_finite(State& s, const Waiter& waiter);
  cl::Event launch_levels(State& s, const cl::Buffer& y, const cl::Buffer& x);
  cl::Event launch_fold(State& s, std::size_t level, Index tiles);
  cl::Event launch_back(State& s, std::size_t level, Index tiles);
  cl::Event launch_last(State& s, Index rows);
  AlignedArray<T> turned_to_items(const AlignedArray<T>& array, const TileLevel& level) const;
  cl::Event launch_kept(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                        const Chunk& chunk);
  void make_line_kernel(State& s) const;
  void set_up_lines(State& s, const Waiter& waiter);
  cl::Event launch_lines(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                         const Chunk& chunk);
  cl::Event launch_runs(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                        const Chunk& chunk);
  cl::Event launch_tiles(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                         const Chunk& chunk);
  void make_paper_kernels(State& s) const;
  cl::Event launch_paper(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                         const Chunk& chunk);
  bool wide_levels(const State& s) const { return sizeof(T) < sizeof(double) && s.device->info().fp64; }
  Geometry level_geometry(const State& s, bool first, Index tiles) const;
  LevelSizes level_sizes(const State& s, std::size_t level) const;
  void make_reduce_kernels(State& s) const;
  void make_reduced_levels(State& s);
  void rehearse_levels(State& s, const Waiter& waiter);
  cl::Event launch_reduce_tiles(State& s, std::size_t level, Index tiles);
  cl::Event launch_substitute_tiles(State& s, std::size_t level, Index tiles);
  cl::Event launch_reduced_levels(State& s, const cl::Buffer& y, const cl::Buffer& x);
  void make_grid_kernel(State& s) const;
  cl::Event launch_grid(State& s, const ChunkBands& factors, const cl::Buffer& y, const cl::Buffer& x,
                        const Chunk& chunk);
  void make_fold_kernels(State& s) const;
  void store_grid_factors(const BandsView<T>& bands);
  void set_up_grid_levels(State& s, const Waiter& waiter);
  cl::Event launch_grid_levels(State& s, const cl::Buffer& y, const cl::Buffer& x, Index blocks);
  cl::Event launch_shared_fold(State& s, Index blocks);
  cl::Event launch_shared_back(State& s, Index blocks);
  cl::Event launch_grid_fold(State& s, std::size_t level, Index blocks);
  cl::Event launch_grid_back(State& s, std::size_t level, Index blocks);
  cl::Event launch_from_ends(State& s, const cl::Buffer& y, const cl::Buffer& x, Index n);
  cl::Event launch_eliminate(State& s, const cl::Buffer& y, Index n);
  cl::Event launch_substitute(State& s, const cl::Buffer& x, Index n);
  cl::Event launch_ends_eliminate(State& s, const cl::Buffer& y, Index n);
  cl::Event launch_ends_substitute(State& s, const cl::Buffer& x, Index n);
  cl::Event launch_segments(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                            const Chunk& chunk);
  Geometry strided_geometry(Index pieces) const;
  void copy_out(const Chunk& chunk, Index first, Index end, const std::byte* solved, T* x) const;
  void settle_interfaces(State& s, const Waiter& waiter);
  void give_outers(State& s, const Waiter& waiter);

  const int index_;
  const FoundDevice& found_;
  const DeviceSettings settings_;
  const bool in_place_;  ///< kernels work in the caller's memory
  std::shared_ptr<DeviceHolding<T>> holding_;
  bool watched_ = false;
  bool ready_ = false;  ///< the last set-up succeeded

  Plan plan_;
  Layout layout_;
  std::vector<Pieces> pieces_;  ///< of each chunk; none in place
  LineSet lines_;
  Factors<T> factors_;              ///< where they are stored
  TurnedFactors<T> turned_;         ///< the same in the order of the lanes, for lines laid end to end
  SegmentFactors<T> tile_factors_;  ///< plans that fold
  GridFactors<T> grid_factors_;     ///< the same for lines side by side
  LineFactors<T> line_factors_;     ///< plans that take lines
  AlignedArray<float> narrow_[3];   ///< by work-groups: factors_ or bands rounded
  bool guarded_ = false;            ///< by work-groups: launches take care of NaN, always or for now
  Resident resident_;  ///< multipliers, reciprocal pivots and scaled couplings where factors are stored, else bands
  std::vector<SchurSegment<T>> segments_;
  ReducedSystem<T> reduced_;
  Times times_;
  std::int64_t bytes_ = 0;
};

}  // namespace oclspkt::ocl
