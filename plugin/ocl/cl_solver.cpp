// SPDX-License-Identifier: BSD-2-Clause
#include "cl_solver.hpp"

#include <algorithm>
#include <mutex>

#include "callers_vectors.hpp"
#include "device_state.hpp"
#include "error_name.hpp"
#include "native.hpp"
#include "scalars.hpp"
#include "schemes/scheme.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {
namespace {

/// Minimum time limit in seconds, because the first launch may compile.
constexpr double kLeastTimeLimit = 10;
/// The time limit is this multiple of the predicted time.
constexpr double kTimeLimitFactor = 100;

/// Make a pipeline for vectors of `bytes` bytes, unless the present pipeline is large enough.
void fit_pipeline(std::unique_ptr<Pipeline>& pipeline, OpenDevice& device, std::int64_t bytes) {
  const std::int64_t slot = std::min(bytes, piece_bytes(bytes));
  const auto slots = static_cast<int>(std::min<std::int64_t>(Pipeline::kSlots, quotient_up(bytes, slot)));
  if (pipeline && pipeline->slot_bytes() >= slot && pipeline->slots() >= slots) return;
  pipeline.reset();
  pipeline = std::make_unique<Pipeline>(device, slot, slots);
}

Limits limits_of(const FoundDevice& found, const DeviceSettings& settings, bool in_place, std::size_t word) {
  Limits limits;
  limits.allocation = found.info.max_allocation;
  limits.alignment = std::max<Index>(1, static_cast<Index>(found.base_alignment / word));
  if (settings.use.chunk > 0) limits.chunk = settings.use.chunk;
  if (settings.use.device_memory > 0) {
    limits.memory = settings.use.device_memory;
  } else if (!in_place) {
    limits.memory = found.info.memory;
  }
  return limits;
}

/// Lay a plan out in memory, as a whole or in chunks. If callers' queues belong to another run-time, the layout has one
/// chunk and leaves room for two vectors of that run-time.
/// @throws InvalidInput, VectorsNotShared
Layout layout_within(Limits left, const FoundDevice& found, const DeviceSettings& settings, const Plan& plan,
                     const LineSet& lines, int word) {
  const auto within = [&] {
    return lines.contiguous() ? make_layout(plan, word, left) : make_strided_layout(plan, lines, word, left);
  };
  if (settings.queues_of == nullptr) return within();
  left.memory -= 2 * lines.extent() * word;
  try {
    Layout layout = within();
    if (layout.chunks.size() == 1) return layout;
  } catch (const InvalidInput&) {  // no tile fits
  }
  throw VectorsNotShared(describe(found.info) + ": its memory, or the chunk that was asked for, does not hold " +
                         lines.describe() + " at once and two vectors more");
}

/// Make a worker of the plan's scheme, unless the present worker is of that scheme. Let the worker store its arrays for
/// the chunks.
template <typename T>
void take_worker(DeviceState<T>& s, const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool in_place) {
  const Carrier& carrier = carrier_of(plan);
  s.bands.forget(in_place);
  if (!s.worker || s.carries != carrier.name) {
    s.worker = carrier.make<T>();
    s.carries = carrier.name;
  }
  s.bands.take(s.worker->store(plan, lines, bands, in_place));
}

/// Use a caller's queue from now on.
/// @throws InvalidInput if the queue belongs to another device or context
template <typename T>
void take_queue(DeviceState<T>& s, const DeviceQueue& queue) {
  if (s.callers && s.queue == queue) return;
  auto callers = s.device->by_queue(queue);
  settle(s);  // only one queue at a time may use the solver's memory
  s.callers = std::move(callers);
  s.queue = queue;
}

/// Returns a caller's vectors in buffers of OpenCL. @param call  without a queue: a call of apply_on_device()
template <typename T>
Vectors<T> callers_buffers(DeviceState<T>& s, const CardVectors::Call& call, const Plan& plan, const LineSet& lines,
                           bool in_place) {
  constexpr VectorNames kByQueue{"buffers x and y of enqueue", "buffer y of enqueue", "buffer x of enqueue"},
      kAlone{"buffers x and y of apply_on_device", "buffer y of apply_on_device", "buffer x of apply_on_device"};
  const VectorNames& names = call.queue ? kByQueue : kAlone;
  if (call.queue) take_queue(s, call.queue);
  const auto buffer_of = [&](const char* name, void* handle) {
    return call.queue ? callers_memory(s.device->context(), name, handle, call.bytes)
                      : memory_object(name, static_cast<cl_mem>(handle));
  };
  Vectors<T> callers{.y_buffer = buffer_of(names.y, const_cast<void*>(call.y)), .x_buffer = buffer_of(names.x, call.x)};
  check_vectors(s.device->context(), lines, call.bytes, names, callers.y_buffer, callers.x_buffer);
  const std::size_t alignment = scheme_of(plan).nature().kernels == Kernels::groups ? kVectorBytes : sizeof(T);
  const bool y_fits = aligned(callers.y_buffer, alignment);
  callers.unaligned = !y_fits || !aligned(callers.x_buffer, alignment);
  if (callers.unaligned && (in_place || !call.queue)) {
    throw InvalidInput(std::string(y_fits ? names.x : names.y) + " uses host memory that is not aligned to " +
                       std::to_string(alignment) + " bytes: align it, or make the buffer without CL_MEM_USE_HOST_PTR");
  }
  if (call.queue) callers.enqueued = s.enqueued = true;
  return callers;
}

/// Take a caller's vectors on the device. Vectors of another run-time on the same card are copied to imported buffers.
/// The host waits whenever one run-time is about to use data of the other run-time.
/// @throws DeviceError, InvalidInput
template <typename T>
Vectors<T> take_vectors(DeviceState<T>& s, const CardVectors::Call& call, const Plan& plan, const LineSet& lines,
                        bool in_place) {
  try {
    if (!call.queue || !s.imported) return callers_buffers(s, call, plan, lines, in_place);
    s.imported->bring(call, lines.rows() != lines.extent());
    s.imported->acquire(*s.for_calls);
    return {.y_buffer = s.imported->y(), .x_buffer = s.imported->x()};
  } catch (const cl::Error& error) {
    throw device_error(s.device->info(), "taking a caller's vectors", error);
  }
}

/// Copy x from its imported buffer to the caller. @param limit  the time limit in seconds from now on
template <typename T>
void return_vector(DeviceState<T>& s, const CardVectors::Call& call, double limit) {
  try {
    s.imported->release(*s.for_calls, Waiter(*s.for_calls, true, limit));
    s.imported->take(call);
  } catch (const cl::Error& error) {
    throw device_error(s.device->info(), "handing vectors over", error);
  }
}

template <typename T>
class ClSolver final : public VisitedSolver<T> {
 public:
  ClSolver(int device, const DeviceSettings& settings)
      : index_(device),
        found_(Registry::instance().device(device)),
        settings_(settings),
        in_place_(works_in_place(found_, settings)),
        holding_(std::make_shared<DeviceHolding<T>>()) {
    Registry::instance().require_usable(device);
  }
  ~ClSolver() override { Registry::instance().retire(std::move(holding_), index_); }
  ClSolver& operator=(ClSolver&&) = delete;

  void set_up(const Plan& plan, const Bands<T>& bands) override {
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
    take_worker(s, plan_, lines_, view, in_place_);
    try {
      open(s);
      const double limit = std::max(kLeastTimeLimit, time_limit());
      if (settings_.queues_of != nullptr) {
        ImportedVectors::ensure(s.imported, *s.device, *settings_.queues_of, vector_bytes(),
                                Waiter(*s.device, !in_place_, limit));
      }
      make_buffers(s, limit);
      const Site here = site(s, *s.device, limit);
      try {
        s.bands.fill(here);
        bytes_ += s.worker->build(here, view);
        s.worker->rehearse(here);
      } catch (...) {
        drain(here);
        throw;
      }
      if (!in_place_ && layout_.resident) s.worker->release_stored();
      ready_ = true;
    } catch (const cl::Error& error) {
      throw device_error(found_.info, "set-up for " + std::to_string(plan.n) + " rows", error);
    }
  }

  bool in_units(const T* units) override {
    if (plan_.n == 0) return true;
    const Limits most = limits_of(found_, settings_, in_place_, sizeof(T));
    const std::int64_t bytes = in_place_ ? 0 : vector_bytes();
    if (bytes > most.allocation || bytes > most.memory - bytes_) return false;
    constexpr const char* kWhat = "bringing units of columns";
    Buffer brought = in_place_ ? Buffer() : bring_vector(kWhat, units);
    locked(kWhat, [&](State& s) {
      s.scale = s.device->kernel("change_rows", sizeof(T) == sizeof(double), 1, " -D MULTIPLY");
      s.units = in_place_ ? wrap(*s.device, units, vector_bytes()) : std::move(brought);
    });
    bytes_ += bytes;
    return true;
  }

  void apply(const oclspkt::Place& place, Columns<const T> y, Columns<T> x, Index count) override {
    if (ready_ && plan_.n == 0) return;
    for (Index k = 0; k < count; ++k) {
      const std::lock_guard lock(holding_->mutex);
      State& s = usable_state();
      const CardVectors::Call call{place.queue, y[k], x[k], vector_bytes()};
      const bool on_host = place.kind == oclspkt::Place::Kind::host;
      const Vectors<T> vectors = on_host ? Vectors<T>{y[k], x[k]} : take_vectors(s, call, plan_, lines_, in_place_);
      run_passes(site_of(s, vectors), s, pieces_, vectors);
      if (place.queue && s.imported) return_vector(s, call, time_limit());
    }
  }

  DeviceHandles handles() const override {
    if (Registry::instance().forked() || found_.info.cuda) return {};
    const std::lock_guard lock(holding_->mutex);
    const State& s = holding_->state;
    if (!s.device) return {};
    return {s.device->context()(), found_.handle(), s.for_calls->queue()()};
  }

  bool takes(const DeviceQueue& queue) const override {
    if (Registry::instance().forked()) return false;
    const std::lock_guard lock(holding_->mutex);
    const State& s = holding_->state;
    if (!ready_ || (!s.device && plan_.n > 0)) return false;
    if (plan_.n == 0 || (s.callers && s.queue == queue)) return true;
    if (s.imported) return s.imported->takes(queue);
    try {
      s.device->by_queue(queue);
    } catch (const InvalidInput&) {
      return false;
    } catch (const cl::Error&) {
      return false;
    }
    return true;
  }

  std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& layout) override {
    return locked("bringing the spikes of cut lines to it",
                  [&](State& s) { return make_borders(index_, s.device, layout, s.imported, vector_bytes()); });
  }

  std::unique_ptr<Visit<T>> visit(const VisitSteps<T>& steps) override {
    Registry::instance().require_usable(index_);
    const std::int64_t vector = kept_vector_bytes();
    if (vector == 0 ||
        (steps.between != nullptr && bytes_ + vector > limits_of(found_, settings_, in_place_, sizeof(T)).memory))
      return nullptr;
    std::shared_ptr<OpenDevice> open;
    {
      const std::lock_guard lock(holding_->mutex);
      open = holding_->state.device;
    }
    if (!open) return nullptr;
    return make_visit(index_, open, steps);
  }

  Times times() const override { return times_; }
  double rounding() const override { return worker() != nullptr ? worker()->rounding() : 0; }
  std::int64_t bytes() const override { return bytes_ + (worker() != nullptr ? worker()->host_bytes() : 0); }
  const Factors<T>* factors() const override { return worker() != nullptr ? worker()->factors() : nullptr; }

  std::int64_t kept_vector_bytes() const override {
    const std::lock_guard lock(holding_->mutex);
    const State& s = holding_->state;
    const bool whole = ready_ && s.device && plan_.n > 0 && layout_.resident && layout_.chunks.size() == 1;
    if (!whole || in_place_ || s.placed || lines_.rows() != lines_.extent()) return 0;
    return round_up(layout_.longest, layout_.needs.block_rows) * static_cast<Index>(sizeof(T));
  }

  void keep_vectors(const char* what, std::int64_t bytes) override {
    locked(what, [&](State& s) {
      bytes_ -= bytes_of(s.y) + bytes_of(s.x);
      bytes_ += ensure(*s.device, s.y, Access::read, bytes) + ensure(*s.device, s.x, Access::read_write, bytes);
    });
  }

  std::pair<Buffer, Buffer> vectors() const override {
    const std::lock_guard lock(holding_->mutex);
    return {holding_->state.y, holding_->state.x};
  }

  Buffer bring_vector(const char* what, const T* values) override {
    return locked(what, [&](State& s) {
      Buffer buffer = make_buffer(*s.device, Access::read, vector_bytes());
      const Site here = site(s, *s.device, time_limit());
      try {
        s.pipeline->bring(values, vector_bytes(), buffer, here.waiter, times_);
      } catch (...) {
        drain(here);
        throw;
      }
      return buffer;
    });
  }

  void solve(const Vectors<T>& vectors) override {
    const std::lock_guard lock(holding_->mutex);
    State& s = usable_state();
    run_passes(site_of(s, vectors), s, pieces_, vectors);
  }

 private:
  using State = DeviceState<T>;

  const Worker<T>* worker() const { return holding_->state.worker.get(); }
  std::int64_t vector_bytes() const { return lines_.extent() * static_cast<std::int64_t>(sizeof(T)); }

  /// Returns the state of a successful set-up. @pre the caller holds the lock
  State& usable_state() {
    Registry::instance().require_usable(index_);
    State& s = holding_->state;
    if (!ready_) throw DeviceError(describe(found_.info) + " has no set-up that succeeded: set the solver up first");
    if (s.device) return s;
    throw DeviceError(describe(found_.info) + " was released since the last set-up: set the solver up again");
  }

  /// Call work(state) under the lock. @param what  the work in words, for errors
  /// @throws DeviceError unless the solver is set up
  template <typename Work>
  auto locked(const char* what, const Work& work) {
    const std::lock_guard lock(holding_->mutex);
    State& s = usable_state();
    try {
      return work(s);
    } catch (const cl::Error& error) {
      throw device_error(found_.info, what, error);
    }
  }

  void cut_chunks() {
    layout_ =
        layout_within(limits_of(found_, settings_, in_place_, sizeof(T)), found_, settings_, plan_, lines_, sizeof(T));
    pieces_.clear();
    if (in_place_) return;
    constexpr auto kWord = static_cast<std::int64_t>(sizeof(T));
    const Index rows = piece_bytes(layout_.longest * kWord) / kWord;
    const bool whole = !lines_.contiguous() || plan_.cut().whole;
    for (const Chunk& chunk : layout_.chunks) pieces_.push_back(make_pieces(plan_, chunk, rows, whole));
  }

  double time_limit() const {
    if (settings_.use.timeout > 0) return settings_.use.timeout;
    return std::max(kLeastTimeLimit, kTimeLimitFactor * this->expected_seconds());
  }

  void open(State& s) {
    if (s.device) return;
    auto device = Registry::instance().open(index_);
    if (!watched_) Registry::instance().watch(holding_);
    watched_ = true;
    s.for_calls = found_.by_groups(settings_.variant) && !settings_.use.kernel_times ? device->without_times() : device;
    s.device = std::move(device);
  }

  /// @param limit  the time limit in seconds from now on
  Site site(State& s, OpenDevice& device, double limit) {
    return {.device = device,
            .waiter{device, !in_place_, limit},
            .plan = plan_,
            .lines = lines_,
            .layout = layout_,
            .pipeline = s.pipeline.get(),
            .times = times_,
            .bands = s.bands.chunks(),
            .scratch = s.scratch,
            .y = s.y,
            .x = s.x,
            .earlier = s.earlier,
            .files = settings_.use.fpga_binary,
            .nan_safe_bytes = settings_.nan_safe_bytes,
            .last_number = s.last_number,
            .own_bank = bank_of(s.placed, &SecondBank::own)};
  }

  /// Make the buffers of bands, vectors and scratch, and choose their banks.
  void make_buffers(State& s, double limit) {
    Placed wanted;
    if (settings_.use.fpga_banks == "spread" && bank_vendor(found_.info) != nullptr)
      wanted = scheme_of(plan_).second_bank(plan_);
    if (s.placed != wanted) {  // release buffers in the previous banks
      s.placed = wanted;
      s.scratch = s.y = s.x = Buffer();
      s.bands.clear();
    }
    bytes_ =
        ensure(*s.device, s.scratch, Access::read_write, layout_.scratch_bytes, bank_of(s.placed, &SecondBank::own));
    if (!in_place_) {
      const std::int64_t array = round_up(layout_.longest, layout_.needs.block_rows) * static_cast<Index>(sizeof(T));
      bytes_ += ensure(*s.device, s.y, Access::read, array, bank_of(s.placed, &SecondBank::y)) +
                ensure(*s.device, s.x, Access::read_write, array, bank_of(s.placed, &SecondBank::x));
      fit_pipeline(s.pipeline, *s.device, layout_.longest * static_cast<std::int64_t>(sizeof(T)));
      bytes_ += s.pipeline->bytes() + (s.imported ? s.imported->bytes() : 0);
    }
    bytes_ += s.bands.make(site(s, *s.device, limit), s.placed);
  }

  /// Returns the site of an apply. Vectors in device buffers use our queue for callers, or the caller's own queue.
  Site site_of(State& s, const Vectors<T>& vectors) {
    if (!vectors.enqueued) settle(s);  // both queues use the solver's memory
    return site(s, !vectors.on_device() ? *s.device : vectors.enqueued ? *s.callers : *s.for_calls, time_limit());
  }

  const int index_;
  const FoundDevice& found_;
  const DeviceSettings settings_;
  const bool in_place_;  ///< kernels work in the caller's memory
  std::shared_ptr<DeviceHolding<T>> holding_;
  bool watched_ = false;
  bool ready_ = false;  ///< the last set-up succeeded

  Plan plan_;
  Layout layout_;
  std::vector<Pieces> pieces_;  ///< pieces of each chunk; empty if kernels work in place
  LineSet lines_;
  Times times_;
  std::int64_t bytes_ = 0;  ///< bytes on the device and of pinned host memory
};

}  // namespace

template <typename T>
std::unique_ptr<DeviceSolver<T>> make_solver(int device, const DeviceSettings& settings) {
  return std::make_unique<ClSolver<T>>(device, settings);
}

#define OCLSPKT_INSTANTIATE(T) template std::unique_ptr<DeviceSolver<T>> make_solver(int, const DeviceSettings&);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl
