// SPDX-License-Identifier: BSD-2-Clause
#include "cl_solver.hpp"

#include <algorithm>
#include <chrono>

#include "error_name.hpp"
#include "passes.hpp"
#include "schemes/scheme.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Check that a device has kernels for a plan, and that the plan is for these lines and this device.
/// @param word  bytes of a scalar
/// @throws InvalidInput that says what to do
void check_plan(const FoundDevice& found, const DeviceSettings& settings, const Plan& plan, const LineSet& lines,
                std::size_t word) {
  const Scheme& scheme = scheme_of(plan);
  carrier_of(plan);
  if (!scheme.fits(plan, lines)) {
    throw InvalidInput(std::string("the plan of scheme ") + scheme.name() + " is for " + std::to_string(plan.n) +
                       " rows, the bands are " + lines.describe() + ": make the plan for these lines");
  }
  const std::string device = describe(found.info);
  const bool by_groups = scheme.kernels() == Kernels::groups;
  if (by_groups && !found.by_groups(settings.variant)) {
    throw InvalidInput("the plan is by work-groups, " + device + " uses kernels made for CPUs: choose variant gpu");
  }
  const int lanes = lines.contiguous() ? found.tile_lanes(word == sizeof(double)) : found.lanes(word == sizeof(double));
  if (!by_groups && plan.lanes > 1 && (plan.lanes != lanes || found.by_task(settings.variant))) {
    throw InvalidInput("the plan is for kernels by " + std::to_string(plan.lanes) + " lanes, " + device + " has " +
                       std::to_string(lanes) +
                       " or uses kernels made for FPGAs: make the plan with the traits of this device");
  }
}

/// Seconds that any device gets, because the first launch may compile.
constexpr double kLeastTimeLimit = 10;
/// A device is given up after this multiple of the predicted time.
constexpr double kTimeLimitFactor = 100;

using Clock = std::chrono::steady_clock;

/// Make a pipeline for vectors of so many bytes, or keep one that is large enough.
void fit_pipeline(std::unique_ptr<Pipeline>& pipeline, OpenDevice& device, std::int64_t bytes) {
  const std::int64_t slot = std::min(bytes, piece_bytes(bytes));
  const auto slots = static_cast<int>(std::min<std::int64_t>(Pipeline::kSlots, quotient_up(bytes, slot)));
  if (pipeline && pipeline->slot_bytes() >= slot && pipeline->slots() >= slots) return;
  pipeline.reset();
  pipeline = std::make_unique<Pipeline>(device, slot, slots);
}

/// While it lives, an apply in buffers of the device uses the queue that the caller got, or gave.
class CallersQueue {
 public:
  template <typename T>
  CallersQueue(DeviceState<T>& state, const Vectors<T>& vectors)
      : device_(state.device),
        for_calls_(vectors.enqueued ? state.callers : state.for_calls),
        on_(vectors.on_device()) {
    if (on_) std::swap(device_, for_calls_);
  }
  ~CallersQueue() {
    if (on_) std::swap(device_, for_calls_);
  }
  CallersQueue(const CallersQueue&) = delete;
  CallersQueue& operator=(const CallersQueue&) = delete;
  bool takes_times() const { return !on_ || device_ == for_calls_; }

 private:
  std::shared_ptr<OpenDevice>&device_, &for_calls_;
  bool on_;
};

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

/// How the plan is laid out in memory: as a whole, or in chunks that leave room for two vectors of callers.
/// @throws InvalidInput, VectorsNotShared
template <typename T>
Layout ClSolver<T>::make_layout() const {
  Limits left = limits();
  const auto within = [&] {
    return lines_.contiguous() ? ocl::make_layout(plan_, sizeof(T), left)
                               : make_strided_layout(plan_, lines_, sizeof(T), left);
  };
  if (settings_.queues_of == nullptr) return within();
  left.memory -= 2 * vector_bytes();
  try {
    Layout layout = within();
    if (layout.chunks.size() == 1) return layout;
  } catch (const InvalidInput&) {  // not even a tile fits
  }
  throw VectorsNotShared(describe(found_.info) + ": its memory, or the chunk that was asked for, does not hold " +
                         lines_.describe() + " at once and two vectors more");
}

/// Cut the rows into chunks, and chunks into pieces for the pipeline.
template <typename T>
void ClSolver<T>::cut_chunks() {
  layout_ = make_layout();
  pieces_.clear();
  if (in_place_) return;
  constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));
  const Index rows = piece_bytes(layout_.longest * kWord) / kWord;
  const bool whole = !lines_.contiguous() || plan_.cut().whole;
  for (const Chunk& chunk : layout_.chunks) pieces_.push_back(make_pieces(plan_, chunk, rows, whole));
}

template <typename T>
double ClSolver<T>::time_limit() const {
  if (settings_.timeout > 0) return settings_.timeout;
  return std::max(kLeastTimeLimit, kTimeLimitFactor * this->expected_seconds());
}

template <typename T>
void ClSolver<T>::set_up(const Plan& plan, const Bands<T>& bands) {
  ready_ = false;
  check_plan(found_, settings_, plan, bands.lines(), sizeof(T));
  Registry::instance().require_usable(index_);
  const std::lock_guard lock(holding_->mutex);
  State& s = holding_->state;
  settle(s);
  s.units = Buffer();
  plan_ = plan;
  lines_ = bands.lines();
  ready_ = plan.n == 0;
  if (ready_) return;
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
      s.bands.fill(site(s, waiter));
      bytes_ += s.part->bring(site(s, waiter), view);
      s.part->rehearse(site(s, waiter));
    } catch (...) {
      drain(s, waiter);
      throw;
    }
    if (!in_place_ && layout_.resident) s.part->release_stored();
    ready_ = true;
  } catch (const cl::Error& error) {
    throw device_error(found_.info, "set-up for " + std::to_string(plan.n) + " rows", error);
  }
}

/// Make the plan's scheme, or keep the present one if it is the same, and let it store its arrays for the chunks.
template <typename T>
void ClSolver<T>::take_part(State& s, const BandsView<T>& bands) {
  const Carrier& carrier = carrier_of(plan_);
  s.bands.forget(in_place_);
  if (!s.part || s.carries != carrier.name) {
    s.part = carrier.make<T>();
    s.carries = carrier.name;
  }
  s.bands.take(s.part->store(plan_, lines_, bands, in_place_));
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
          .bands = s.bands.chunks(),
          .scratch = s.scratch,
          .y = s.y,
          .x = s.x,
          .non_finite = s.non_finite,
          .nan_safe = nan_safe_,
          .earlier = s.earlier,
          .files = settings_.fpga_binary,
          .own_bank = bank_of(s.placed, &SecondBank::own)};
}

/// Decide where buffers are placed; buffers that are elsewhere are released.
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
  const Index block = s.part->block_rows(plan_);
  bytes_ =
      ensure(*s.device, s.scratch, Access::read_write, layout_.scratch_bytes, bank_of(s.placed, &SecondBank::own)) +
      s.part->make_buffers(site(s, waiter));
  if (!in_place_) {
    const std::int64_t array = round_up(layout_.longest, block) * static_cast<Index>(sizeof(T));
    bytes_ += ensure(*s.device, s.y, Access::read, array, bank_of(s.placed, &SecondBank::y)) +
              ensure(*s.device, s.x, Access::read_write, array, bank_of(s.placed, &SecondBank::x));
    fit_pipeline(s.pipeline, *s.device, layout_.longest * static_cast<std::int64_t>(sizeof(T)));
    bytes_ += s.pipeline->bytes() + (s.imported ? s.imported->bytes() : 0);
  }
  bytes_ += s.bands.make(site(s, waiter), block, s.placed);
}

template <typename T>
void ClSolver<T>::apply(const T* y, T* x) {
  solve({y, x});
}

template <typename T>
void ClSolver<T>::solve(const Vectors<T>& vectors) {
  const auto start = Clock::now();
  Registry::instance().require_usable(index_);
  const std::lock_guard lock(holding_->mutex);
  State& s = holding_->state;
  if (!ready_) throw DeviceError(describe(found_.info) + " has no set-up that succeeded: set the solver up first");
  if (plan_.n == 0) return;
  if (!s.device) {
    throw DeviceError(describe(found_.info) + " was released since the last set-up: set the solver up again");
  }
  if (!vectors.enqueued) settle(s);  // both queues use the solver's memory
  const CallersQueue queue(s, vectors);
  const Waiter waiter(*s.device, !in_place_, time_limit());
  s.earlier.clear();  // an apply that failed may have left some
  try {
    try {
      const Site here = site(s, waiter);
      Passes<T>(here, s, pieces_, vectors).run();
    } catch (...) {
      drain(s, waiter);
      throw;
    }
  } catch (const cl::Error& error) {
    throw device_error(found_.info, "solving " + std::to_string(plan_.n) + " rows", error);
  }
  for (const Event& launch : s.earlier) times_.kernel_seconds += seconds(launch);
  s.earlier.clear();
  const double spent = std::chrono::duration<double>(Clock::now() - start).count();
  if (!queue.takes_times() && !vectors.enqueued) times_.kernel_seconds += spent;
  times_.total_seconds += spent;
  ++times_.applies;
}

/// After a failure: wait for the enqueued commands, which use memory that the caller or this solver releases next.
template <typename T>
void ClSolver<T>::drain(State& s, const Waiter& waiter) const noexcept {
  if (in_place_) {
    clFinish(s.device->queue()());
    s.y = s.x = Buffer();
    return;
  }
  if (Registry::instance().is_lost(index_) || !s.pipeline) return;
  try {
    s.pipeline->drain(waiter);
    waiter.drain(s.device->queue());
  } catch (...) {
    // Nobody can know whether the device still uses the memory. A wait that took too long has reported so already.
    Registry::instance().abandon(*s.device, "an error left commands that cannot be waited for");
  }
}

template class ClSolver<float>;
template class ClSolver<double>;

}  // namespace oclspkt::ocl
