// SPDX-License-Identifier: BSD-2-Clause
#include "cl_space.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "callers_vectors.hpp"

namespace oclspkt::ocl {
namespace {

/// Work-items of a work-group on GPUs.
constexpr Index kGroupItems = 256;
/// Work-groups of a launch at most: launch() refuses 2^31 work-items and more.
constexpr Index kMostGroups = std::numeric_limits<std::int32_t>::max() / kGroupItems;
/// The fewest places for a work-group of a processor; launching a group costs more than fewer places do.
constexpr Index kLeastRun = 4096;

/// Bytes of a host array from which on threads copy it through pinned memory, because a driver copies pageable memory
/// with one thread. Shorter arrays go up through the space's own memory, and nobody waits.
constexpr std::int64_t kPiped = std::int64_t{4} << 20;

constexpr const char* kTexts[] = {"vector_combine", "vector_pointwise", "vector_dots",   "vector_sum",
                                  "vector_extreme", "vector_put",       "vector_gather", "vector_scatter_add"};
constexpr const char* kForms[] = {"TERMS", "OPERATION", "TERMS", "SUM", "EXTREME", "MERGE", "", ""};
/// The most forms of a text, each kept or not.
constexpr int kMostForms = 16;

/// Make memory of at least so many bytes that the device copies to and from.
/// @pre the present memory is not in use
void ensure_staging(const OpenDevice& device, std::unique_ptr<Staging>& room, std::int64_t bytes) {
  if (room && room->bytes() >= bytes) return;
  room.reset();
  room = std::make_unique<Staging>(device, device.queue(), bytes);
}

constexpr std::size_t place(VectorKernel text, int form, bool keep) {
  const int number = static_cast<int>(text) * kMostForms + form;
  return 2 * static_cast<std::size_t>(number) + (keep ? 1 : 0);
}

}  // namespace

SpaceState::SpaceState(std::shared_ptr<OpenDevice> open, bool of_double, bool for_gpus)
    : device(std::move(open)),
      is_double(of_double),
      by_groups(for_gpus),
      word(of_double ? sizeof(double) : sizeof(float)),
      units(std::max<Index>(1, device->info().cores)),
      kernels(place(VectorKernel::scatter_add, kMostForms, false)) {}

void SpaceState::drop() {
  const std::lock_guard lock(mutex);
  if (device) clFinish(device->queue()());
  for (Holding* part : parts) part->drop();
  kernels.assign(kernels.size(), {});
  partial = Buffer();
  numbers.reset();
  going_up.reset();
  went_up = Event();
  pipeline.reset();
  device.reset();
}

bool SpaceState::by_pipeline(std::int64_t bytes, bool made, const Waiter& waiter,
                             const std::function<void(Pipeline&, Times&)>& work) {
  if ((!limited && !made) || bytes < kPiped) return false;
  waiter.drain(device->queue());
  if (!pipeline) pipeline = std::make_unique<Pipeline>(*device, kMostPiece, Pipeline::kSlots);
  try {
    Times times;
    work(*pipeline, times);
  } catch (...) {
    // Commands still running write memory that is used again later.
    try {
      pipeline->drain(waiter);
    } catch (const std::exception&) {
    }
    pipeline.reset();
    throw;
  }
  return true;
}

void SpaceState::wait_for_copy(const Event& copied, const cl::CommandQueue& queue, const Waiter& waiter) const {
  try {
    waiter.wait(copied);
  } catch (...) {
    try {
      waiter.drain(queue);
    } catch (const std::exception&) {
    }
    throw;
  }
}

void SpaceState::write(const Buffer& to, const void* from, std::int64_t bytes, const Waiter& waiter) {
  const auto bring = [&](Pipeline& pieces, Times& times) { pieces.bring(from, bytes, to, waiter, times); };
  if (!by_pipeline(bytes, false, waiter, bring)) wait_for_copy(enqueue_write(*device, from, to, bytes), waiter);
  counts.bytes_up += bytes;
  ++counts.waits;
}

Kernel& SpaceState::kernel(VectorKernel text, int form, bool keep) {
  Kernel& kernel = kernels[place(text, form, keep)];
  if (kernel.handle() != nullptr) return kernel;
  const auto index = static_cast<std::size_t>(text);
  std::string options = "-D GROUP_ITEMS=" + std::to_string(by_groups ? kGroupItems : 1);
  if (*kForms[index] != '\0') options += std::string(" -D ") + kForms[index] + "=" + std::to_string(form);
  if (text == VectorKernel::combine) options += std::string(" -D KEEP=") + (keep ? "1" : "0");
  kernel = device->kernel(kTexts[index], is_double, by_groups ? 1 : 0, options);
  return kernel;
}

SpaceState::Runs SpaceState::runs(Index n) const { return runs(n, kMostGroups); }

SpaceState::Runs SpaceState::runs(Index n, Index most) const {
  const Index step = by_groups ? kGroupItems * static_cast<Index>(kVectorBytes) / word : kLeastRun;
  const Index groups = std::clamp<Index>(quotient_up(n, step), 1, std::max<Index>(1, most));
  const Index run = quotient_up(quotient_up(n, groups), step) * step;
  return {{std::max<Index>(1, quotient_up(n, run)), static_cast<std::size_t>(by_groups ? kGroupItems : 1)}, run};
}

void SpaceState::make_room(std::int64_t bytes) {
  ensure(*device, partial, Access::read_write, bytes);
  ensure_staging(*device, numbers, bytes);
}

SpacePart::SpacePart(int index, std::shared_ptr<SpaceState> state, std::shared_ptr<Holding> held)
    : index_(index), state_(std::move(state)), held_(std::move(held)) {
  state_->parts.insert(held_.get());
}

SpacePart::~SpacePart() {
  Registry& registry = Registry::instance();
  if (registry.forked()) {  // locks may be held for ever
    registry.retire(std::move(held_), index_);
    return;
  }
  const std::lock_guard lock(state_->mutex);
  state_->parts.erase(held_.get());
  registry.retire(std::move(held_), index_);
}

template <typename T>
ClSpace<T>::ClSpace(int device, const DeviceSettings& settings) : index_(device) {
  Registry& registry = Registry::instance();
  const FoundDevice& found = registry.device(device);
  registry.require_usable(device);
  if (kDouble && !found.info.fp64) {
    throw DeviceError(describe(found.info) +
                      " has no double precision: choose another device, or keep vectors on the host");
  }
  try {
    state_ = std::make_shared<SpaceState>(registry.open(device)->without_times(), kDouble,
                                          found.by_groups(settings.variant));
  } catch (const cl::Error& error) {
    throw device_error(found.info, "making a queue for vectors", error);
  }
  state_->limited = !found.info.host_unified || settings.copy_vectors;
  if (settings.timeout > 0) state_->time_limit = settings.timeout;
  registry.watch(state_);
}

template <typename T>
ClSpace<T>::~ClSpace() {
  Registry::instance().retire(std::move(state_), index_);
}

template <typename T>
const Buffer& ClSpace<T>::buffer(const Array& array, Index size) const {
  const SpaceMemory& own = static_cast<const ClArray<T>&>(array).own();
  if (own.state() != state_.get()) throw InvalidInput("an array is of another device, or of one that was released");
  if (array.size() != size) {
    throw InvalidInput("arrays of " + std::to_string(size) + " and of " + std::to_string(array.size()) +
                       " scalars in one operation: give arrays of one size");
  }
  return own.buffer();
}

template <typename T>
const DeviceInfo& ClSpace<T>::device() const {
  return Registry::instance().device(index_).info;
}

template <typename T>
DeviceQueue ClSpace<T>::queue() const {
  return work("giving its queue", [](SpaceState& s) {
    return DeviceQueue{native_kind(), native_queue(s.device->queue())};
  });
}

template <typename T>
SpaceCounts ClSpace<T>::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

template <typename T>
bool ClSpace<T>::usable() const {
  Registry& registry = Registry::instance();
  if (registry.forked() || registry.is_lost(index_)) return false;
  const std::lock_guard lock(state_->mutex);
  return state_->device != nullptr;
}

template <typename T>
void ClSpace<T>::flush() {
  work("beginning work", [](SpaceState& s) { s.device->queue().flush(); });
}

template <typename T>
void ClSpace<T>::finish() {
  work("finishing work", [&](SpaceState& s) {
    waiter(s).drain(s.device->queue());
    ++s.counts.waits;
  });
}

template <typename T>
std::unique_ptr<SpaceArray<T>> ClSpace<T>::make(Index size) {
  return work("making an array", [&](SpaceState& s) {
    return std::unique_ptr<Array>(new ClArray<T>(
        index_, state_, size > 0 ? make_buffer(*s.device, Access::read_write, size * kWord) : Buffer(), size));
  });
}

template <typename T>
std::unique_ptr<SpaceArray<T>> ClSpace<T>::wrap(T* host, Index size) {
  return work("taking memory of the host for an array", [&](SpaceState& s) {
    if (!s.device->info().host_unified) {
      throw InvalidInput(describe(s.device->info()) + " does not share the host's memory: copy vectors to it");
    }
    if (s.by_groups && reinterpret_cast<std::uintptr_t>(host) % kVectorBytes != 0) {
      throw InvalidInput("memory of the host that kernels for GPUs take begins at a multiple of 16 bytes");
    }
    return std::unique_ptr<Array>(
        new ClArray<T>(index_, state_, size > 0 ? ocl::wrap(*s.device, host, size * kWord) : Buffer(), size));
  });
}

template <typename T>
std::unique_ptr<SpaceArray<T>> ClSpace<T>::adopt(void* memory, Index size) {
  return work("taking memory of the caller for an array", [&](SpaceState& s) {
    Buffer own;
    if (size > 0) {
      constexpr const char* kName = "the memory given";
      const cl::Context& context = s.device->context();
      const std::function<std::string()> wanted = [&] { return std::to_string(size) + " scalars"; };
      own = callers_memory(context, kName, memory, size * kWord);
      for (const cl_mem_flags unfit : {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY}) {
        check_memory({context, "of the space's queue, which a release of devices changes", size * kWord, wanted}, kName,
                     own, unfit);
      }
      if (s.by_groups && !aligned(own, kVectorBytes)) {
        throw InvalidInput("the memory given begins at no multiple of 16 bytes, as kernels for GPUs need it");
      }
    }
    return std::unique_ptr<Array>(new ClArray<T>(index_, state_, std::move(own), size));
  });
}

template <typename T>
void ClSpace<T>::bring(const T* from, Array& to) {
  work("copying an array to it", [&](SpaceState& s) {
    if (to.size() == 0) return;
    const std::int64_t bytes = to.size() * kWord;
    const Buffer& target = buffer(to, to.size());
    if (bytes >= kPiped) {
      s.write(target, from, bytes, waiter(s));
      return;
    }
    s.counts.bytes_up += bytes;
    if (s.went_up() != nullptr) waiter(s).wait(s.went_up);
    ensure_staging(*s.device, s.going_up, bytes);
    std::copy_n(from, to.size(), reinterpret_cast<T*>(s.going_up->data()));
    s.went_up = enqueue_write(*s.device, s.going_up->data(), target, bytes);
  });
}

template <typename T>
void ClSpace<T>::take(const Array& from, T* to) {
  work("copying an array from it", [&](SpaceState& s) {
    if (from.size() == 0) return;
    const std::int64_t bytes = from.size() * kWord;
    const Buffer& source = buffer(from, from.size());
    const auto come = [&](Pipeline& pieces, Times& times) { pieces.take(source, to, bytes, waiter(s), times); };
    if (!s.by_pipeline(bytes, false, waiter(s), come))
      s.wait_for_copy(enqueue_read(*s.device, source, to, bytes), waiter(s));
    s.counts.bytes_down += bytes;
    ++s.counts.waits;
  });
}

template <typename T>
std::unique_ptr<SpaceMessage<T>> ClSpace<T>::make_message(Index size) {
  return work("making memory for messages", [&](SpaceState& s) {
    std::unique_ptr<Staging> memory;
    // The memory is freed behind all transfers down, even if waiting for them fails.
    if (size > 0) memory = std::make_unique<Staging>(*s.device, s.device->transfer_queues().down, size * kWord);
    return std::unique_ptr<SpaceMessage<T>>(new ClMessage<T>(index_, state_, std::move(memory), size));
  });
}

template <typename T>
void ClSpace<T>::check(const SpaceMessage<T>& message, const Array& array) const {
  if (message.size() != array.size() || static_cast<const ClMessage<T>&>(message).state() != state_.get()) {
    throw InvalidInput("a message of " + std::to_string(message.size()) + " scalars, or of another space, for " +
                       std::to_string(array.size()));
  }
}

// Uses the transfer queues: a copy in the kernels' queue would delay later kernels.
template <typename T>
void ClSpace<T>::take(const Array& from, SpaceMessage<T>& to, const std::function<void()>& meanwhile) {
  const std::int64_t bytes = from.size() * kWord;
  Event done;
  work("copying an array from it", [&](SpaceState& s) {
    check(to, from);
    const Buffer& source = buffer(from, from.size());
    s.device->queue().enqueueMarkerWithWaitList(nullptr, &done);
    s.device->queue().flush();
    if (bytes > 0) done = enqueue_read_beside(*s.device, source, to.data(), bytes, done);
  });
  const auto come = [&] {
    work("copying an array from it", [&](SpaceState& s) {
      s.wait_for_copy(done, s.device->transfer_queues().down, waiter(s));
      s.counts.bytes_down += bytes;
      ++s.counts.waits;
    });
  };
  try {
    meanwhile();
    flush();
  } catch (...) {
    // The caller may free the message as soon as this function ends.
    try {
      come();
    } catch (const std::exception&) {
    }
    throw;
  }
  come();
}

template <typename T>
void ClSpace<T>::bring(const SpaceMessage<T>& from, Array& to) {
  if (to.size() == 0) return;
  work("copying an array to it", [&](SpaceState& s) {
    check(from, to);
    const std::int64_t bytes = to.size() * kWord;
    const Event done = enqueue_write_beside(*s.device, from.data(), buffer(to, to.size()), bytes);
    const OpenDevice::TransferQueues& queues = s.device->transfer_queues();
    try {
      s.wait_for_copy(done, queues.up, waiter(s));
    } catch (...) {
      clEnqueueMarkerWithWaitList(queues.down(), 1, &done(), nullptr);  // the message is freed in that queue
      throw;
    }
    s.counts.bytes_up += bytes;
    ++s.counts.waits;
  });
}

template <typename T>
void ClSpace<T>::fill(Array& z, T number) {
  if (z.size() == 0) return;
  work("filling an array", [&](SpaceState& s) { combine_some(s, z, number, false, {}); });
}

template <typename T>
void ClSpace<T>::copy(const Array& from, Array& to) {
  work("copying an array", [&](SpaceState& s) {
    const Buffer &source = buffer(from, to.size()), &target = buffer(to, to.size());
    if (to.size() == 0 || same(source, target)) return;
    enqueue_copy(*s.device, source, target, to.size() * kWord);
    ++s.counts.launches;
  });
}

template <typename T>
void ClSpace<T>::combine(Array& z, T keep, std::span<const Term<T>> terms) {
  work("adding arrays", [&](SpaceState& s) {
    for (const Term<T>& term : terms) buffer(*term.x, z.size());
    if (z.size() == 0) return;
    // One pass reads z as a term before it writes it; several passes do not.
    if (terms.size() > kMostTerms &&
        std::any_of(terms.begin(), terms.end(), [&](const Term<T>& t) { return t.x == &z; })) {
      throw InvalidInput("an array that is written is one of more than 8 terms: copy it first");
    }
    const bool is_kept = keep != T(0);
    combine_some(s, z, keep, is_kept, terms.first(std::min(kMostTerms, terms.size())));
    for (std::size_t first = kMostTerms; first < terms.size(); first += kMostTerms) {
      combine_some(s, z, T(1), true, terms.subspan(first, std::min(kMostTerms, terms.size() - first)));
    }
  });
}

template <typename T>
void ClSpace<T>::combine_some(SpaceState& s, Array& z, T number, bool keep, std::span<const Term<T>> terms) {
  const Buffer& written = buffer(z, z.size());
  Kernel& kernel = s.kernel(VectorKernel::combine, static_cast<int>(terms.size()), keep);
  const auto [geometry, run] = s.runs(z.size());
  set_arguments(*s.device, kernel, written, number, Long{z.size()}, Long{run});
  cl_uint argument = 4;
  for (const Term<T>& term : terms) {
    kernel.handle.setArg(argument++, buffer(*term.x, z.size()));
    kernel.handle.setArg(argument++, term.factor);
  }
  launch_unseen(*s.device, kernel, geometry);
  ++s.counts.launches;
}

template <typename T>
void ClSpace<T>::pointwise(Pointwise what, Array& z, const Array& x, const Array* y, T number) {
  if (takes_two(what) != (y != nullptr)) throw InvalidInput("an operation on arrays has one too many, or one too few");
  work("an operation on arrays", [&](SpaceState& s) {
    const Buffer &from = buffer(x, z.size()), &beside = buffer(y != nullptr ? *y : x, z.size());
    if (z.size() == 0) return;
    Kernel& kernel = s.kernel(VectorKernel::pointwise, static_cast<int>(what));
    const auto [geometry, run] = s.runs(z.size());
    set_arguments(*s.device, kernel, buffer(z, z.size()), from, beside, number, Long{z.size()}, Long{run});
    launch_unseen(*s.device, kernel, geometry);
    ++s.counts.launches;
  });
}

template <typename T>
void ClSpace<T>::put(Merge how, const Array& x, Stride from, Array& z, Stride to, Index count) {
  work("putting places of an array into another one", [&](SpaceState& s) {
    const Buffer &source = buffer(x, x.size()), &target = buffer(z, z.size());
    const auto fits = [&](Stride places, Index size) {
      return places.first >= 0 && places.step > 0 && places.first + (count - 1) * places.step < size;
    };
    if (count <= 0) return;
    if (!fits(from, x.size()) || !fits(to, z.size()) || same(source, target)) {
      throw InvalidInput("places to be put into an array lie outside of one, or in the same one");
    }
    Kernel& kernel = s.kernel(VectorKernel::put, static_cast<int>(how));
    const auto [geometry, run] = s.runs(count);
    set_arguments(*s.device, kernel, source, Long{from.first}, Long{from.step}, target, Long{to.first}, Long{to.step},
                  Long{count}, Long{run});
    launch_unseen(*s.device, kernel, geometry);
    ++s.counts.launches;
  });
}

template <typename T>
std::unique_ptr<SpaceIndices> ClSpace<T>::make_indices(std::span<const Index> places) {
  return work("copying places to it", [&](SpaceState& s) {
    const auto count = static_cast<Index>(places.size());
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(Long));
    Buffer buffer;
    if (count > 0) {
      buffer = make_buffer(*s.device, Access::read_write, bytes);
      s.wait_for_copy(enqueue_write(*s.device, places.data(), buffer, bytes), waiter(s));
    }
    return std::unique_ptr<SpaceIndices>(new ClIndices(index_, state_, std::move(buffer), count));
  });
}

template <typename T>
void ClSpace<T>::gather(const Array& x, const SpaceIndices& places, Array& out) {
  work("gathering places of an array", [&](SpaceState& s) {
    launch_places(s, VectorKernel::gather, buffer(x, x.size()), places, buffer(out, places.size()));
  });
}

template <typename T>
void ClSpace<T>::scatter_add(const Array& from, const SpaceIndices& places, Array& x) {
  work("adding to places of an array", [&](SpaceState& s) {
    launch_places(s, VectorKernel::scatter_add, buffer(from, places.size()), places, buffer(x, x.size()));
  });
}

template <typename T>
void ClSpace<T>::launch_places(SpaceState& s, VectorKernel text, const Buffer& from, const SpaceIndices& places,
                               const Buffer& to) {
  if (places.size() == 0) return;
  Kernel& kernel = s.kernel(text, 0);
  const auto [geometry, run] = s.runs(places.size());
  set_arguments(*s.device, kernel, from, static_cast<const ClIndices&>(places).own().buffer(), to, Long{places.size()},
                Long{run});
  launch_unseen(*s.device, kernel, geometry);
  ++s.counts.launches;
}

template <typename T>
std::shared_ptr<Space<T>> make_space(int device, const DeviceSettings& settings) {
  return std::make_shared<ClSpace<T>>(device, settings);
}

template class ClSpace<float>;
template class ClSpace<double>;
template std::shared_ptr<Space<float>> make_space(int, const DeviceSettings&);
template std::shared_ptr<Space<double>> make_space(int, const DeviceSettings&);

}  // namespace oclspkt::ocl
