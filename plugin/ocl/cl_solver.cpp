// SPDX-License-Identifier: BSD-2-Clause
#include "cl_solver.hpp"
#include "geometry.hpp"
#include "grid_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "fault.hpp"
#include "page_locks.hpp"

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
  if (settings_.chunk > 0) limits.chunk = settings_.chunk;
  if (settings_.device_memory > 0) {
    limits.memory = settings_.device_memory;
  } else if (!in_place_) {
    limits.memory = found_.info.memory;
  }
  return limits;
}

/// How the plan lies in so much memory.
template <typename T>
Layout ClSolver<T>::layout_within(const Limits& limits) const {
  return lines_.contiguous() ? make_layout(plan_, sizeof(T), limits)
                             : make_strided_layout(plan_, lines_, sizeof(T), limits);
}

template <typename T>
double ClSolver<T>::time_limit() const {
  if (settings_.timeout > 0) return settings_.timeout;
  return std::max(kLeastTimeLimit, kTimeLimitFactor * this->expected_seconds());
}

template <typename T>
void ClSolver<T>::check(const Plan& plan, const Bands<T>& bands) const {
  if (plan.made_by != nullptr && plan.n == bands.lines().rows()) return;
  if (plan.n > 0 && !device_carries(plan, bands.lines())) {
    throw InvalidInput(describe(found_.info) + " has no kernels for method " + name(plan.method) + " and " +
                       bands.lines().describe() +
                       ": choose truncated-halo, truncated-streamed, exact-twopass or exact-factored "
                       "(make_twisted_plan) for lines laid end to end, exact-factored, truncated-halo or, by kernels "
                       "made for GPUs (make_grid_plan), truncated-streamed for lines side by side, or the host");
  }
  if (plan.n > 0 && plan.method == Method::truncated_streamed && !plan.has<StoredFactors>() && !grid(plan)) {
    throw InvalidInput(describe(found_.info) +
                       " solves truncated-streamed only by stored factors: use make_stored_plan or make_run_plan");
  }
  const bool contiguous = bands.lines().contiguous();
  const bool cuts_lines = !contiguous && (plan.method == Method::truncated_halo || grid(plan));
  if (plan.n > 0 && cuts_lines != (segments_of(plan) > 0)) {
    throw InvalidInput(std::string("the plan is for lines ") + (contiguous ? "side by side" : "laid end to end") +
                       ", the bands are " + bands.lines().describe() + ": make the plan for these lines");
  }
  if (bands.lines().rows() != plan.n) {
    throw InvalidInput("the plan has " + std::to_string(plan.n) + " rows, the bands are " + bands.lines().describe() +
                       ": make the plan for these lines");
  }
  const bool is_double = sizeof(T) == sizeof(double);
  if (plan.by_groups()) {
    if (found_.by_groups(settings_.variant)) return;
    throw InvalidInput("the plan is by work-groups, " + describe(found_.info) +
                       " uses kernels made for CPUs: choose variant gpu");
  }
  if (found_.by_task(settings_.variant)) {
    throw InvalidInput("the plan is by lanes, " + describe(found_.info) +
                       " uses kernels made for FPGAs: choose variant cpu");
  }
  const int lanes = bands.lines().contiguous() ? found_.tile_lanes(is_double) : found_.lanes(is_double);
  if (plan.n > 0 && plan.lanes != lanes) {
    throw InvalidInput("the plan is for " + std::to_string(plan.lanes) + " lanes, " + describe(found_.info) + " has " +
                       std::to_string(lanes) + ": make the plan with the traits of this device");
  }
}

template <typename T>
void ClSolver<T>::set_up(const Plan& plan, const Bands<T>& bands) {
  ready_ = false;
  check(plan, bands);
  Registry::instance().require_usable(index_);
  const std::lock_guard lock(holding_->mutex);
  State& s = holding_->state;
  settle(s);
  plan_ = plan;
  lines_ = bands.lines();
  ready_ = plan.n == 0;
  if (ready_) return;
  layout_ = layout_within(limits());
  if (settings_.queues_of != nullptr) layout_ = layout_beside_vectors();
  cut_chunks();
  const BandsView<T> view = bands.view();
  take_part(s, view);
  try {
    open(s);
    nan_safe_ = s.part->nan_safe_at_once(plan_, settings_.nan_safe_bytes);
    const Waiter waiter(*s.device, !in_place_, std::max(kLeastTimeLimit, time_limit()));
    if (settings_.queues_of != nullptr) import_vectors(s, waiter);
    s.part->make_kernels(site(s, waiter));
    make_buffers(s, waiter);
    try {
      set_up_bands(s, waiter);
      bytes_ += s.part->bring(site(s, waiter), view);
      s.part->rehearse(site(s, waiter));
    } catch (...) {
      drain(s, waiter);
      throw;
    }
    if (!in_place_ && layout_.resident) {
      s.part->release_stored();
      resident_ = {.word = resident_.word};
    }
    ready_ = true;
  } catch (const cl::Error& error) {
    throw device_error(found_.info, "set-up for " + std::to_string(plan.n) + " rows", error);
  }
}

/// Take the scheme of the plan, the one at hand if it is the same, and have it store what goes with the chunks.
template <typename T>
void ClSolver<T>::take_part(State& s, const BandsView<T>& bands) {
  const Carrier& carrier = carrier_of(plan_);
  if (in_place_) s.bands.clear();  // they wrap memory that is about to be given back
  s.band_locks.clear();
  if (!s.part || s.carries != carrier.name) {
    s.part = carrier.make<T>();
    s.carries = carrier.name;
  }
  resident_ = s.part->store(plan_, lines_, bands, in_place_);
}

template <typename T>
void ClSolver<T>::open(State& s) {
  if (s.device) return;
  auto device = Registry::instance().open(index_);
  if (!watched_) Registry::instance().watch(holding_);
  watched_ = true;
  s.for_calls = found_.by_groups(settings_.variant) && !settings_.kernel_times ? device->without_times() : device;
  s.device = std::move(device);
}

template <typename T>
Site ClSolver<T>::site(State& s, const Waiter& waiter) {
  return {.device = *s.device,
          .waiter = waiter,
          .plan = plan_,
          .lines = lines_,
          .layout = layout_,
          .pipeline = s.pipeline.get(),
          .times = times_,
          .bands = s.bands,
          .scratch = s.scratch,
          .y = s.y,
          .x = s.x,
          .non_finite = s.non_finite,
          .nan_safe = nan_safe_,
          .earlier = s.earlier,
          .files = settings_.fpga_binary,
          .own_bank = s.bank(&SecondBank::own)};
}

/// Say where buffers are to lie; those that lie elsewhere are given back.
template <typename T>
void ClSolver<T>::place_buffers(State& s) const {
  std::optional<SecondBank> wanted;
  if (settings_.spread_banks && bank_vendor(found_.info) != nullptr) wanted = scheme_of(plan_).second_bank(plan_);
  if (s.placed == wanted) return;
  s.placed = wanted;
  s.scratch = s.y = s.x = Buffer();
  s.bands.clear();
}

template <typename T>
void ClSolver<T>::make_buffers(State& s, const Waiter& waiter) {
  place_buffers(s);
  const auto padded = [block = s.part->block_rows(plan_)](Index rows) { return round_up(rows, block); };
  const std::int64_t array = padded(layout_.longest) * static_cast<Index>(sizeof(T));
  bytes_ = ensure(*s.device, s.scratch, Access::read_write, layout_.scratch_bytes, s.bank(&SecondBank::own)) +
           s.part->make_buffers(site(s, waiter));
  s.bands.resize(in_place_ || layout_.resident ? layout_.band_chunks.size() : 1);
  if (in_place_) return;
  bytes_ += ensure(*s.device, s.y, Access::read, array, s.bank(&SecondBank::y)) +
            ensure(*s.device, s.x, Access::read_write, array, s.bank(&SecondBank::x));
  make_pipeline(s);
  for (std::size_t i = 0; i < s.bands.size(); ++i) {
    const std::int64_t bytes = layout_.resident ? padded(layout_.band_chunks[i].rows()) * resident_.word : array;
    ChunkBands& bands = s.bands[i];
    bytes_ += ensure(*s.device, bands.diag, Access::read, bytes, s.bank(&SecondBank::diag)) +
              ensure(*s.device, bands.upper, Access::read, bytes, s.bank(&SecondBank::upper));
    if (plan_.symmetric()) {
      bands.lower = bands.upper;
    } else {
      if (same(bands.lower, bands.upper)) bands.lower = Buffer();
      bytes_ += ensure(*s.device, bands.lower, Access::read, bytes, s.bank(&SecondBank::lower));
    }
  }
  bytes_ += s.pipeline->bytes() + (s.imported ? s.imported->bytes() : 0);
}

template <typename T>
void ClSolver<T>::set_up_bands(State& s, const Waiter& waiter) {
  if (!in_place_ && !layout_.resident) {  // every apply brings them
    lock_bands(s);
    return;
  }
  for (std::size_t i = 0; i < layout_.band_chunks.size(); ++i) {
    const Chunk& chunk = layout_.band_chunks[i];
    if (in_place_) {
      const auto wrapped = [&](const void* array) {
        const auto bytes = bytes_of(array, resident_.word, chunk);
        return wrap(*s.device, bytes.data(), static_cast<Index>(bytes.size()));
      };
      const Buffer upper = wrapped(resident_.upper);
      s.bands[i] = {plan_.symmetric() ? upper : wrapped(resident_.lower), wrapped(resident_.diag), upper};
    } else {
      upload_bands(s, waiter, s.bands[i], chunk);
    }
  }
}

/// Lock the pages of what every apply brings: it stays where it is until the next set-up.
template <typename T>
void ClSolver<T>::lock_bands(State& s) const {
  Index places = 0;
  for (const Chunk& chunk : layout_.band_chunks) places = std::max(places, chunk.end);
  for (const void* array : {plan_.symmetric() ? nullptr : resident_.lower, resident_.diag, resident_.upper}) {
    if (array == nullptr) continue;
    s.band_locks.push_back(lock_pages(index_, array, places * resident_.word));
  }
}

template <typename T>
void ClSolver<T>::upload_bands(State& s, const Waiter& waiter, const ChunkBands& to, const Chunk& chunk) {
  const auto bring = [&](const Buffer& buffer, const void* array) {
    const auto bytes = bytes_of(array, resident_.word, chunk);
    s.pipeline->bring(bytes.data(), static_cast<std::int64_t>(bytes.size()), buffer, waiter, times_);
  };
  if (!plan_.symmetric()) bring(to.lower, resident_.lower);
  bring(to.diag, resident_.diag);
  bring(to.upper, resident_.upper);
}

template class ClSolver<float>;
template class ClSolver<double>;

}  // namespace oclspkt::ocl
