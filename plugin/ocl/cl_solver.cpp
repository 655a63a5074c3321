// SPDX-License-Identifier: BSD-2-Clause
#include "cl_solver.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "fault.hpp"

namespace oclspkt::ocl {
namespace {

/// Seconds that a device always gets: a first launch may compile.
constexpr double kLeastTimeLimit = 10;
/// A device is given up when it takes that much longer than predicted.
constexpr double kTimeLimitFactor = 100;

/// The bytes of places [first, end) of an array.
std::span<const std::byte> bytes_of(const void* array, std::int64_t word, const Chunk& places) {
  return {static_cast<const std::byte*>(array) + places.first * word, size(places.rows() * word)};
}

/// A buffer of at least that size, kept if it is large enough. @return the bytes that it has
std::int64_t ensure(const OpenDevice& device, cl::Buffer& buffer, cl_mem_flags flags, std::int64_t bytes) {
  const std::int64_t present = buffer() != nullptr ? static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>()) : 0;
  if (present >= bytes) return present;
  buffer = cl::Buffer();  // give back before asking for more
  buffer = device.buffer(flags, bytes);
  return bytes;
}

}  // namespace

template <typename T>
ClSolver<T>::ClSolver(int device, const DeviceSettings& settings)
    : index_(device),
      found_(Registry::instance().device(device)),
      settings_(settings),
      in_place_(works_in_place(found_, settings)),
      holding_(std::make_shared<DeviceHolding<T>>()) {
  Registry::instance().require_usable(device);
}

template <typename T>
ClSolver<T>::~ClSolver() {
  Registry::instance().retire(std::move(holding_), index_);
}

template <typename T>
Limits ClSolver<T>::limits() const {
  Limits limits;
  limits.allocation = found_.info.max_allocation;
  limits.alignment = std::max<Index>(1, static_cast<Index>(found_.base_alignment / sizeof(T)));
  if (settings_.device_memory > 0) {
    limits.memory = settings_.device_memory;
  } else if (!in_place_) {
    limits.memory = found_.info.memory;
  }
  return limits;
}

template <typename T>
double ClSolver<T>::time_limit() const {
  if (settings_.timeout > 0) return settings_.timeout;
  return std::max(kLeastTimeLimit, kTimeLimitFactor * settings_.predicted_seconds);
}

template <typename T>
void ClSolver<T>::check(const Plan& plan, const Bands<T>& bands) const {
  if (plan.n > 0 && !device_carries(plan, bands.lines())) {
    throw InvalidInput(describe(found_.info) + " has no kernels for method " + name(plan.method) + " and " +
                       bands.lines().describe() +
                       ": choose truncated-halo, truncated-streamed, exact-twopass or exact-factored "
                       "(make_twisted_plan) for lines laid end to end, exact-factored, truncated-halo or, by kernels "
                       "made for GPUs (make_grid_plan), truncated-streamed for lines side by side, or the host");
  }
  if (plan.n > 0 && plan.method == Method::truncated_streamed && !plan.stored && !plan.grid()) {
    throw InvalidInput(describe(found_.info) +
                       " carries truncated-streamed by stored factors only (make_stored_plan, make_run_plan)");
  }
  const bool contiguous = bands.lines().contiguous();
  const bool cuts_lines = !contiguous && (plan.method == Method::truncated_halo || plan.grid());
  if (plan.n > 0 && cuts_lines != (plan.segments > 0)) {
    throw InvalidInput(std::string("the plan is for lines ") + (contiguous ? "side by side" : "laid end to end") +
                       ", the bands are " + bands.lines().describe());
  }
  if (bands.lines().rows() != plan.n) {
    throw InvalidInput("the plan has " + std::to_string(plan.n) + " rows, the bands are " + bands.lines().describe());
  }
  const bool is_double = sizeof(T) == sizeof(double);
  if (plan.by_groups()) {
    if (found_.by_groups(settings_.variant)) return;
    throw InvalidInput("the plan is by work-groups, " + describe(found_.info) + " uses kernels made for CPUs");
  }
  const int lanes = bands.lines().contiguous() ? found_.tile_lanes(is_double) : found_.lanes(is_double);
  if (plan.n > 0 && plan.lanes != lanes) {
    throw InvalidInput("the plan is for " + std::to_string(plan.lanes) + " lanes, " + describe(found_.info) + " has " +
                       std::to_string(lanes));
  }
}

template <typename T>
void ClSolver<T>::set_up(const Plan& plan, const Bands<T>& bands) {
  ready_ = false;
  check(plan, bands);
  const bool reduces = plan.by_partitions();
  Registry::instance().require_usable(index_);
  const std::lock_guard lock(holding_->mutex);
  State& s = holding_->state;
  plan_ = plan;
  const BandsView<T> view = bands.view();
  resident_ = {view.lower, view.diag, view.upper, sizeof(T)};
  lines_ = bands.lines();
  ready_ = plan.n == 0;
  if (ready_) return;
  layout_ = strided() ? make_strided_layout(plan, lines_, sizeof(T), limits()) : make_layout(plan, sizeof(T), limits());
  cut_chunks();
  if (stores_factors()) {
    store_factors(s, view);
  } else if (plan.narrow) {
    keep_narrow({view.lower, view.diag, view.upper});
  }
  segments_.resize(reduces ? size(plan.partitions()) : 0);
  reduced_.resize(reduces ? plan.partitions() : 0);
  try {
    if (!s.device) {
      auto device = Registry::instance().open(index_);
      if (!watched_) Registry::instance().watch(holding_);
      watched_ = true;
      s.for_calls = found_.by_groups(settings_.variant) && !settings_.kernel_times ? device->without_times() : device;
      s.device = std::move(device);
    }
    guarded_ = always_guards();
    make_kernels(s);
    make_buffers(s);
    const Waiter waiter(*s.device, !in_place_, std::max(kLeastTimeLimit, time_limit()));
    try {
      set_up_bands(s, waiter);
      if (makes_factors()) {
        make_factors(s, waiter, view);
      } else if (plan.turned()) {
        std::copy_n(turned_.down(), s.tops.size(), s.tops.data());
        std::copy_n(turned_.up(), s.bottoms.size(), s.bottoms.data());
        give_outers(s, waiter);
      }
      s.levels.clear();
      s.reduced.clear();
      if (plan.reduces_tiles()) {
        make_reduced_levels(s);
      } else if (plan.tiled()) {
        set_up_levels(s, waiter);
      } else if (plan.grid_folds()) {
        set_up_grid_levels(s, waiter);
      }
      rehearse(s, waiter);
    } catch (...) {
      drain(s, waiter);
      throw;
    }
    if (!in_place_ && layout_.resident) give_back_what_is_resident();
    ready_ = true;
  } catch (const cl::Error& error) {
    throw device_error(found_.info, "set-up for " + std::to_string(plan.n) + " rows", error);
  }
}

template <typename T>
void ClSolver<T>::make_kernels(State& s) const {
  const auto make = [&](Kernel& kernel, const char* name) {
    if (kernel.handle() != nullptr) return;
    const std::string options =
        std::string(plan_.narrow ? "-D NARROW_FACTORS " : "") + (plan_.corrects ? "-D CORRECTED" : "");
    kernel = s.device->kernel(name, sizeof(T) == sizeof(double), plan_.lanes, options);
  };
  if (plan_.grid()) {
    make_grid_kernel(s);
  } else if (plan_.paper) {
    make_paper_kernels(s);
  } else if (factored()) {
    factors_.shared() ? make(s.strided_shared, "strided_shared")
                      : make(s.strided_factored[plan_.narrow], "strided_factored");
  } else if (plan_.reduces_tiles()) {
    make_reduce_kernels(s);
  } else if (plan_.tiled()) {
    make_tile_kernels(s, guarded_);
  } else if (strided()) {
    make(s.strided_halo, "strided_halo");
  } else if (plan_.twisted()) {
    make(s.twisted_eliminate, "twisted_eliminate");
    make(s.twisted_substitute, "twisted_substitute");
  } else if (plan_.from_ends) {
    make(s.ends_eliminate, "ends_eliminate");
    make(s.ends_substitute, "ends_substitute");
  } else if (plan_.stored) {
    make(s.turned_streamed[plan_.narrow][plan_.corrects], "turned_streamed");
    if (makes_factors()) make(s.turned_factor[plan_.narrow], "turned_factor");
  } else if (reduces()) {
    make(s.exact_reduce, "exact_reduce");
    make(s.exact_substitute, "exact_substitute");
  } else if (plan_.walked) {
    make(s.truncated_walk, "truncated_walk");
  } else {
    make(s.truncated_halo, "truncated_halo");
  }
}

template <typename T>
void ClSolver<T>::make_buffers(State& s) {
  const std::int64_t array = layout_.longest * static_cast<Index>(sizeof(T));
  bytes_ = ensure(*s.device, s.scratch, CL_MEM_READ_WRITE, layout_.scratch_bytes) +
           ensure(*s.device, s.top_buffer, CL_MEM_READ_WRITE, layout_.outer_bytes) +
           ensure(*s.device, s.bottom_buffer, CL_MEM_READ_WRITE, layout_.outer_bytes) +
           ensure(*s.device, s.segments, CL_MEM_WRITE_ONLY, layout_.segment_bytes) +
           ensure(*s.device, s.swept, CL_MEM_READ_WRITE, layout_.swept_bytes) +
           ensure(*s.device, s.coupling, CL_MEM_READ_WRITE, layout_.coupling_bytes);
  PaperState& paper = s.paper;
  for (cl::Buffer* marshalled : {&paper.lower, &paper.diag, &paper.upper, &paper.y, &paper.reciprocals, &paper.left}) {
    bytes_ += ensure(*s.device, *marshalled, CL_MEM_READ_WRITE, layout_.marshalled_bytes);
  }
  for (cl::Buffer* tips : {&paper.v, &paper.f_bottom, &paper.w, &paper.f_top}) {
    bytes_ += ensure(*s.device, *tips, CL_MEM_READ_WRITE, layout_.tip_bytes);
  }
  const Index outers = layout_.outer_bytes / static_cast<Index>(sizeof(T));
  for (AlignedArray<T>* outer : {&s.tops, &s.bottoms}) {
    outer->resize(outers);
    std::fill_n(outer->data(), outers, T(0));
  }
  s.segment_words.resize(reduces() ? kSegmentWords * layout_.padded : 0);
  s.bands.resize(in_place_ || layout_.resident ? layout_.band_chunks.size() : 1);
  bytes_ += s.bottoms.bytes() + s.tops.bytes() + s.segment_words.bytes() +
            static_cast<std::int64_t>(segments_.size() * sizeof(SchurSegment<T>));
  if (in_place_) return;
  bytes_ += ensure(*s.device, s.y, CL_MEM_READ_ONLY, array) + ensure(*s.device, s.x, CL_MEM_READ_WRITE, array);
  make_pipeline(s);
  for (std::size_t i = 0; i < s.bands.size(); ++i) {
    const std::int64_t bytes = layout_.resident ? layout_.band_chunks[i].rows() * resident_.word : array;
    ChunkBands& bands = s.bands[i];
    bytes_ += ensure(*s.device, bands.diag, CL_MEM_READ_ONLY, bytes) +
              ensure(*s.device, bands.upper, CL_MEM_READ_ONLY, bytes);
    if (plan_.couplings_serve()) {
      bands.lower = bands.upper;
    } else {
      if (bands.lower() == bands.upper()) bands.lower = cl::Buffer();
      bytes_ += ensure(*s.device, bands.lower, CL_MEM_READ_ONLY, bytes);
    }
  }
  bytes_ += s.pipeline->bytes();
}

template <typename T>
void ClSolver<T>::set_up_bands(State& s, const Waiter& waiter) {
  if (!in_place_ && !layout_.resident) return;  // every apply brings them
  for (std::size_t i = 0; i < layout_.band_chunks.size(); ++i) {
    const Chunk& chunk = layout_.band_chunks[i];
    if (in_place_) {
      const auto wrapped = [&](const void* array) {
        const auto bytes = bytes_of(array, resident_.word, chunk);
        return wrap(*s.device, bytes.data(), static_cast<Index>(bytes.size()));
      };
      const cl::Buffer upper = wrapped(resident_.upper);
      s.bands[i] = {plan_.couplings_serve() ? upper : wrapped(resident_.lower), wrapped(resident_.diag), upper};
    } else {
      upload_bands(s, waiter, s.bands[i], chunk);
    }
  }
}

/// Launch the kernels over no tiles: run-times that compile at the first launch do so now, and what does not fit fails.
template <typename T>
void ClSolver<T>::rehearse(State& s, const Waiter& waiter) {
  if (plan_.twisted() || plan_.from_ends) {
    waiter.wait(launch_from_ends(s, s.scratch, s.scratch, 0));
    return;
  }
  if (plan_.reduces_tiles()) {
    rehearse_levels(s, waiter);
    return;
  }
  if (plan_.folds()) {
    if (s.levels.size() > 1) {
      waiter.wait(launch_fold(s, 0, 0));
      waiter.wait(launch_back(s, 0, 0));
    }
    waiter.wait(launch_last(s, 0));
    return;
  }
  const Chunk nothing;
  if (reduces()) {
    waiter.wait(launch_reduce(s, s.bands.front(), s.scratch, nothing));
  }
  waiter.wait(launch_solve(s, s.bands.front(), s.scratch, s.scratch, nothing));
  s.earlier.clear();
}

template <typename T>
void ClSolver<T>::upload_bands(State& s, const Waiter& waiter, const ChunkBands& to, const Chunk& chunk) {
  const auto bring = [&](const cl::Buffer& buffer, const void* array) {
    const auto bytes = bytes_of(array, resident_.word, chunk);
    s.pipeline->bring(bytes.data(), static_cast<std::int64_t>(bytes.size()), buffer, waiter, times_);
  };
  if (!plan_.couplings_serve()) bring(to.lower, resident_.lower);
  bring(to.diag, resident_.diag);
  bring(to.upper, resident_.upper);
}

template <typename T>
cl::Event ClSolver<T>::launch_reduce(State& s, const ChunkBands& bands, const cl::Buffer& y, const Chunk& chunk) {
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const std::size_t word = sizeof(T), vector = word * size(plan_.lanes);
  Kernel& kernel = s.exact_reduce;
  set_arguments(*s.device, kernel, bands.lower, bands.diag, bands.upper, y, s.segments, s.scratch, cl_long{plan_.n},
                cl_long{chunk.first}, cl_long{chunk.tile_begin}, cl_long{chunk.tile_end}, static_cast<cl_int>(plan_.m),
                static_cast<cl_int>(layout_.slot), cl_long{layout_.padded});
  return launch(*s.device, kernel, {layout_.runs},
                {{"lower", &bands.lower, array, word},
                 {"diag", &bands.diag, array, word},
                 {"upper", &bands.upper, array, word},
                 {"y", &y, array, word},
                 {"segments", &s.segments, layout_.segment_bytes, word},
                 {"scratch", &s.scratch, layout_.scratch_bytes, vector}});
}

/// The kernel that gives x: the only one of truncated-halo, the second of exact-twopass.
template <typename T>
cl::Event ClSolver<T>::launch_solve(State& s, const ChunkBands& bands, const cl::Buffer& y, const cl::Buffer& x,
                                    const Chunk& chunk) {
  if (plan_.twisted() || plan_.from_ends) return launch_from_ends(s, y, x, plan_.n);
  if (plan_.folds()) return launch_levels(s, y, x);
  if (plan_.reduces_tiles()) return launch_reduced_levels(s, y, x);
  if (plan_.grid()) return launch_grid(s, bands, y, x, chunk);
  if (plan_.paper) return launch_paper(s, bands, y, x, chunk);
  if (plan_.keeps_factors()) return launch_kept(s, bands, y, x, chunk);
  if (plan_.takes_lines()) return launch_lines(s, bands, y, x, chunk);
  if (plan_.tiled()) return plan_.stored ? launch_runs(s, bands, y, x, chunk) : launch_tiles(s, bands, y, x, chunk);
  if (factored()) return launch_factored(s, bands, y, x, chunk);
  if (plan_.stored) return launch_turned(s, bands, y, x, chunk);
  if (strided()) return launch_segments(s, bands, y, x, chunk);
  const std::int64_t array = chunk.rows() * static_cast<Index>(sizeof(T));
  const std::size_t word = sizeof(T), vector = word * size(plan_.lanes);
  const auto n = cl_long{plan_.n}, first = cl_long{chunk.first};
  const auto begin = cl_long{chunk.tile_begin}, end = cl_long{chunk.tile_end};
  const auto m = static_cast<cl_int>(plan_.m), halo = static_cast<cl_int>(plan_.halo);
  const auto slot = static_cast<cl_int>(layout_.slot);
  const BufferNeed lower{"lower", &bands.lower, array, word}, diag{"diag", &bands.diag, array, word},
      upper{"upper", &bands.upper, array, word}, right{"y", &y, array, word}, left{"x", &x, array, word},
      scratch{"scratch", &s.scratch, layout_.scratch_bytes, vector};
  if (plan_.walked) {
    set_arguments(*s.device, s.truncated_walk, bands.lower, bands.diag, bands.upper, y, x, s.scratch, n, first, begin,
                  end, m, slot);
    return launch(*s.device, s.truncated_walk, {layout_.runs}, {lower, diag, upper, right, left, scratch});
  }
  if (plan_.method == Method::truncated_halo) {
    set_arguments(*s.device, s.truncated_halo, bands.lower, bands.diag, bands.upper, y, x, s.scratch, n, first, begin,
                  end, m, halo, slot);
    return launch(*s.device, s.truncated_halo, {layout_.runs}, {lower, diag, upper, right, left, scratch});
  }
  set_arguments(*s.device, s.exact_substitute, bands.lower, bands.diag, bands.upper, y, x, s.top_buffer,
                s.bottom_buffer, s.scratch, n, first, begin, end, m, slot);
  return launch(*s.device, s.exact_substitute, {layout_.runs},
                {lower,
                 diag,
                 upper,
                 right,
                 left,
                 scratch,
                 {"tops", &s.top_buffer, layout_.outer_bytes, word},
                 {"bottoms", &s.bottom_buffer, layout_.outer_bytes, word}});
}

/// Between the two passes of exact-twopass: read what is left of the segments, solve for their outer unknowns on the
/// host and hand them to the second pass.
template <typename T>
void ClSolver<T>::settle_interfaces(State& s, const Waiter& waiter) {
  const cl::CommandQueue& queue = s.device->queue();
  fault_point(Place::read, s.device->info(), queue());
  cl::Event event;
  queue.enqueueReadBuffer(s.segments, CL_FALSE, 0, size(layout_.segment_bytes), s.segment_words.data(), nullptr,
                          &event);
  waiter.wait(event);
  times_.transfer_seconds += seconds(event);
  const T* words = s.segment_words.data();
  const auto row = [&](Index first, Index k) {
    const T* p = words + first * layout_.padded + k;
    return ExcessRow<T>{p[0], p[layout_.padded], p[2 * layout_.padded], p[3 * layout_.padded]};
  };
  for (Index k = 0; k < plan_.partitions(); ++k)
    segments_[size(k)] = {row(0, k), row(kSegmentWords / 2, k), plan_.m == 1};
  reduced_.solve(segments_.data(), s.tops.data(), s.bottoms.data());
  give_outers(s, waiter);
}

/// Bring to the device one number for the top and one for the bottom of every partition.
template <typename T>
void ClSolver<T>::give_outers(State& s, const Waiter& waiter) {
  const cl::CommandQueue& queue = s.device->queue();
  for (const auto& [buffer, host] : {std::pair{&s.top_buffer, &s.tops}, {&s.bottom_buffer, &s.bottoms}}) {
    fault_point(Place::write, s.device->info(), queue());
    cl::Event event;
    queue.enqueueWriteBuffer(*buffer, CL_FALSE, 0, size(layout_.outer_bytes), host->data(), nullptr, &event);
    waiter.wait(event);
    times_.transfer_seconds += seconds(event);
  }
}

template class ClSolver<float>;
template class ClSolver<double>;

}  // namespace oclspkt::ocl
