// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "cl_solver.hpp"
#include "error_name.hpp"
#include "native.hpp"
#include "pipeline.hpp"
#include "runtime.hpp"
#include "scalars.hpp"

namespace oclspkt::ocl {
namespace {

constexpr std::size_t kItems = 128;  ///< work-items of a work-group
constexpr double kTimeLimit = 60;    ///< seconds that commands of the caller may take

Geometry items_for(Index count) { return {std::max<Index>(1, quotient_up(count, static_cast<Index>(kItems))), kItems}; }

/// Copy numbers of the host to a new buffer. Without numbers, return a buffer that no kernel reads.
template <typename V>
Buffer bring(const OpenDevice& device, const V* numbers, std::size_t count) {
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(V);
  Buffer buffer = make_buffer(device, Access::read_write, static_cast<std::int64_t>(bytes));
  if (count > 0) device.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, count * sizeof(V), numbers);
  return buffer;
}

/// The spikes of the cuts on one side of this part of the system: above it or below it.
template <typename T>
struct Side {
  Buffer runs;
  Index count = 0, entries = 0;
  Side() = default;
  Side(const OpenDevice& device, const std::vector<typename BorderLayout<T>::Run>& all, Index entries_of_all)
      : count(static_cast<Index>(all.size())), entries(entries_of_all) {
    std::vector<Long> words;
    for (const auto& run : all) words.insert(words.end(), {run.before, run.at, run.first, run.wide, run.slot});
    runs = bring(device, words.data(), words.size());
  }
};

/// All objects of these borders that the device may use (see Holding).
template <typename T>
struct BorderState {
  BorderState(std::shared_ptr<OpenDevice> open, const BorderLayout<T>& layout, std::shared_ptr<ImportedVectors> shared,
              std::int64_t bytes_of_vector)
      : device(std::move(open)),
        imported(std::move(shared)),
        vector_bytes(bytes_of_vector),
        slots(layout.slots),
        stride(layout.stride),
        take_kernel(device->kernel("border_take", kDouble, 1)),
        put_kernel(device->kernel("border_put", kDouble, 1)),
        correct_kernel(device->kernel("border_correct", kDouble, 1)),
        above(*device, layout.above, layout.above_entries),
        below(*device, layout.below, layout.below_entries),
        spikes(bring(*device, layout.spikes, static_cast<std::size_t>(layout.spike_count))),
        x_rows(bring(*device, wide(layout.rows.x).data(), layout.rows.x.size())) {
    std::vector<Long> rows = wide(layout.rows.y);
    const std::vector<Long> beside = wide(layout.rows.z);
    rows.insert(rows.end(), beside.begin(), beside.end());
    read_rows = bring(*device, rows.data(), rows.size());
    numbers = make_buffer(*device, Access::read_write, bytes(4));
    unknowns = make_buffer(*device, Access::read_write, bytes(2));
    told = std::make_unique<Staging>(*device, device->queue(), bytes(4));
    sent = std::make_unique<Staging>(*device, device->queue(), bytes(2));
    if (imported) by_queue = device;
  }
  ~BorderState() {
    if (by_queue) clFinish(by_queue->queue()());
  }
  BorderState& operator=(BorderState&&) = delete;

  static constexpr bool kDouble = sizeof(T) == sizeof(double);
  static std::vector<Long> wide(const std::vector<Index>& rows) { return {rows.begin(), rows.end()}; }
  std::int64_t bytes(Index of_each_slot) const { return of_each_slot * slots * static_cast<Index>(sizeof(T)); }

  /// `by_queue` has the queue for work on vectors: the device's own queue if vectors are imported, else a caller's.
  std::shared_ptr<OpenDevice> device, by_queue;
  std::shared_ptr<ImportedVectors> imported;  ///< null: vectors are in the callers' memory
  std::int64_t vector_bytes;
  DeviceQueue queue;
  Index slots, stride;
  Kernel take_kernel, put_kernel, correct_kernel;
  Side<T> above, below;
  Buffer spikes, x_rows, read_rows, numbers, unknowns;
  std::unique_ptr<Staging> told, sent;
};

template <typename T>
class ClBorders final : public Borders<T> {
 public:
  using Owned = Held<std::unique_ptr<BorderState<T>>>;
  ClBorders(int index, std::shared_ptr<Owned> state) : index_(index), state_(std::move(state)) {}
  ~ClBorders() override { Registry::instance().retire(std::move(state_), index_); }
  ClBorders& operator=(ClBorders&&) = delete;

  void take(const DeviceQueue& queue, const void* y, const void* z, T* numbers) override {
    work(queue, "reading the rows next to cuts", [&](BorderState<T>& s) {
      const Buffer from = memory(s, "vector y", const_cast<void*>(y), &ImportedVectors::y),
                   beside = memory(s, "vector x", const_cast<void*>(z), &ImportedVectors::x);
      if (s.imported) s.imported->acquire(*s.by_queue);
      launch(*s.by_queue, s.take_kernel, items_for(4 * s.slots), from, beside, s.read_rows, s.numbers,
             Long{2 * s.slots});
      const Event read = enqueue_read(*s.by_queue, s.numbers, s.told->data(), s.bytes(4));
      if (s.imported) {
        s.imported->release(*s.by_queue, waiter(s));
      } else {
        waiter(s).wait(read);
      }
      std::copy_n(reinterpret_cast<const T*>(s.told->data()), 4 * s.slots, numbers);
    });
  }

  void put(const DeviceQueue& queue, const T* unknowns, void* x) override {
    work(queue, "writing the rows next to cuts", [&](BorderState<T>& s) {
      const Buffer to = memory(s, "vector x", x, &ImportedVectors::x);
      std::copy_n(unknowns, 2 * s.slots,
                  reinterpret_cast<T*>(s.sent->data()));  // take() has waited for earlier copies
      if (s.imported) s.imported->acquire(*s.by_queue);
      enqueue_write(*s.by_queue, s.sent->data(), s.unknowns, s.bytes(2));
      correct(s, s.above, to, 0);
      correct(s, s.below, to, s.slots);
      launch(*s.by_queue, s.put_kernel, items_for(2 * s.slots), s.unknowns, s.x_rows, to, Long{2 * s.slots});
      if (s.imported) {
        s.imported->release(*s.by_queue, waiter(s));
        s.imported->take({queue, nullptr, x, s.vector_bytes});
      } else if (s.device->info().host_unified) {
        s.by_queue->queue().finish();  // the host may write the vector after this function
      }
    });
  }

 private:
  template <typename Work>
  void work(const DeviceQueue& queue, const char* what, const Work& work) {
    Registry::instance().require_usable(index_);
    if (!state_->value) throw DeviceError("the device was released since the last set-up: set the solver up again");
    BorderState<T>& s = *state_->value;
    try {
      if (!s.imported && (!s.by_queue || s.queue != queue)) {
        auto device = s.device->by_queue(queue);
        if (s.by_queue) clFinish(s.by_queue->queue()());
        s.by_queue = std::move(device);
        s.queue = queue;
      }
      work(s);
    } catch (const cl::Error& error) {
      throw device_error(s.device->info(), what, error);
    }
  }

  static Waiter waiter(const BorderState<T>& s) { return {*s.by_queue, !s.device->info().host_unified, kTimeLimit}; }

  static Buffer memory(const BorderState<T>& s, const char* name, void* handle,
                       const Buffer& (ImportedVectors::*imported)() const) {
    return s.imported ? ((*s.imported).*imported)() : callers_memory(s.device->context(), name, handle, sizeof(T));
  }

  /// Subtract spikes * unknowns of one side from x. @param offset  index of the side's first unknown
  static void correct(BorderState<T>& s, const Side<T>& side, const Buffer& x, Index offset) {
    if (side.entries == 0) return;
    launch(*s.by_queue, s.correct_kernel, items_for(side.entries), s.spikes, side.runs, s.unknowns, x, Long{offset},
           Long{side.count}, Long{side.entries}, Long{s.stride});
  }

  int index_;
  std::shared_ptr<Owned> state_;
};

}  // namespace

template <typename T>
std::unique_ptr<Borders<T>> make_borders(int device, const std::shared_ptr<OpenDevice>& open,
                                         const BorderLayout<T>& layout,
                                         const std::shared_ptr<ImportedVectors>& imported, std::int64_t bytes) {
  try {
    auto state =
        std::make_shared<typename ClBorders<T>::Owned>(std::make_unique<BorderState<T>>(open, layout, imported, bytes));
    Registry::instance().watch(state);
    return std::make_unique<ClBorders<T>>(device, std::move(state));
  } catch (const cl::Error& error) {
    throw device_error(open->info(), "bringing the spikes of cut lines to it", error);
  }
}

#define OCLSPKT_INSTANTIATE(T)                                                                                       \
  template std::unique_ptr<Borders<T>> make_borders(int, const std::shared_ptr<OpenDevice>&, const BorderLayout<T>&, \
                                                    const std::shared_ptr<ImportedVectors>&, std::int64_t);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl
