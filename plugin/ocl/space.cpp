// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <functional>

#include "callers_vectors.hpp"
#include "scalars.hpp"
#include "space_cg.hpp"
#include "space_state.hpp"

namespace oclspkt::ocl {
namespace {

/// Minimum elements of a work-group on CPUs. Launching the group costs more than the work on fewer elements.
constexpr Index kLeastRun = 4096;

/// Threads copy host arrays of at least kPiped bytes through pinned memory, because a driver copies pageable memory
/// with one thread. Shorter arrays go through SpaceState::going_up, and the host does not wait.
constexpr std::int64_t kPiped = std::int64_t{4} << 20;

constexpr const char* kVectorTexts[] = {"vector_combine", "vector_pointwise", "vector_dots",   "vector_sum",
                                        "vector_extreme", "vector_put",       "vector_gather", "vector_scatter_add",
                                        "cg_step",        "cg_direction"};
constexpr const char* kVectorForms[] = {"TERMS", "OPERATION", "TERMS", "SUM", "EXTREME", "MERGE", "", "", "CG", ""};
/// Make host memory of at least `bytes` bytes that the device copies to and from.
/// @pre no command uses the present memory
void ensure_staging(const OpenDevice& device, std::unique_ptr<Staging>& room, std::int64_t bytes) {
  if (room && room->bytes() >= bytes) return;
  room.reset();
  room = std::make_unique<Staging>(device, device.queue(), bytes);
}

}  // namespace

SpaceState::SpaceState(std::shared_ptr<OpenDevice> open, bool of_double, bool for_gpus)
    : device(std::move(open)),
      is_double(of_double),
      by_groups(for_gpus),
      word(of_double ? sizeof(double) : sizeof(float)),
      units(std::max<Index>(1, device->info().cores)) {}

void SpaceState::drop() {
  const std::lock_guard lock(mutex);
  if (device) clFinish(device->queue()());
  for (Holding* part : parts) part->drop();
  for (auto& text : kernels) {
    for (auto& form : text) form[0] = form[1] = {};
  }
  partial = Buffer();
  numbers.reset();
  going_up.reset();
  went_up = Event();
  pipeline.reset();
  device.reset();
}

bool SpaceState::by_pipeline(std::int64_t bytes, bool made,
                             const std::function<void(Pipeline&, const Waiter&, Times&)>& work) {
  if ((!limited && !made) || bytes < kPiped) return false;
  const Waiter waiter = this->waiter();
  waiter.drain(device->queue());
  if (!pipeline) pipeline = std::make_unique<Pipeline>(*device, kMostPiece, Pipeline::kSlots);
  try {
    Times times;
    work(*pipeline, waiter, times);
  } catch (...) {
    // Wait for commands that still run, because their memory is used again.
    try {
      pipeline->drain(waiter);
    } catch (const std::exception&) {
    }
    pipeline.reset();
    throw;
  }
  return true;
}

void SpaceState::wait_for_copy(const Event& copied, const cl::CommandQueue& queue) const {
  const Waiter waiter = this->waiter();
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

void SpaceState::count(std::int64_t up, std::int64_t down) {
  counts.bytes_up += up;
  counts.bytes_down += down;
  ++counts.waits;
}

void SpaceState::write(const Buffer& to, const void* from, std::int64_t bytes) {
  const auto bring = [&](Pipeline& pieces, const Waiter& waiter, Times& times) {
    pieces.bring(from, bytes, to, waiter, times);
  };
  if (!by_pipeline(bytes, false, bring)) wait_for_copy(enqueue_write(*device, from, to, bytes));
  count(bytes, 0);
}

Kernel& SpaceState::kernel(VectorKernel text, int form, bool keep) {
  const auto index = static_cast<std::size_t>(text);
  Kernel& kernel = kernels[index][form][keep ? 1 : 0];
  if (kernel.handle() != nullptr) return kernel;
  std::string options = "-D GROUP_ITEMS=" + std::to_string(by_groups ? kGroupItems : 1);
  if (*kVectorForms[index] != '\0') options += std::string(" -D ") + kVectorForms[index] + "=" + std::to_string(form);
  if (text == VectorKernel::combine) options += std::string(" -D KEEP=") + (keep ? "1" : "0");
  kernel = device->kernel(kVectorTexts[index], is_double, by_groups ? 1 : 0, options);
  return kernel;
}

SpaceState::Runs SpaceState::runs(Index n, Index most) const {
  const Index step = by_groups ? kGroupItems * static_cast<Index>(kVectorBytes) / word : kLeastRun;
  const Index groups = std::clamp<Index>(quotient_up(n, step), 1, std::max<Index>(1, most));
  const Index run = quotient_up(quotient_up(n, groups), step) * step;
  return {{std::max<Index>(1, quotient_up(n, run)), static_cast<std::size_t>(by_groups ? kGroupItems : 1)}, run};
}

SpaceState::Runs SpaceState::runs_of_sums(Index n) const {
  constexpr Index kRunOfSums = 8192;  // elements that a work-group of a processor adds up
  return by_groups ? runs(n, kGroupsOfUnit * units) : runs(n, quotient_up(n, kRunOfSums));
}

void SpaceState::make_room(std::int64_t bytes) {
  ensure(*device, partial, Access::read_write, bytes);
  ensure_staging(*device, numbers, bytes);
}

namespace {

class ClIndices final : public SpaceIndices {
 public:
  ClIndices(int index, std::shared_ptr<SpaceState> state, Buffer buffer, Index size)
      : SpaceIndices(size), part_(index, std::move(state), std::move(buffer)) {}
  const Buffer& buffer() const { return part_.value(); }

 private:
  SpacePart<Buffer> part_;
};

const Buffer& indices_of(const SpaceIndices& places) { return static_cast<const ClIndices&>(places).buffer(); }

/// Host memory that the device's transfer queues read and write.
template <typename T>
class ClMessage final : public SpaceMessage<T> {
 public:
  ClMessage(int index, std::shared_ptr<SpaceState> state, std::unique_ptr<Staging> memory, Index size)
      : SpaceMessage<T>(size), part_(index, std::move(state), std::move(memory)) {}
  T* data() const override { return part_.value() ? reinterpret_cast<T*>(part_.value()->data()) : nullptr; }
  SpaceState* state() const { return part_.state(); }

 private:
  SpacePart<std::unique_ptr<Staging>> part_;
};

/// @throws InvalidInput if a message belongs to another space, or if its size differs from the array's
template <typename T>
void check_message(const SpaceState& state, const SpaceMessage<T>& message, const SpaceArray<T>& array) {
  if (message.size() != array.size() || static_cast<const ClMessage<T>&>(message).state() != &state) {
    throw InvalidInput("a message of " + std::to_string(message.size()) + " scalars, or of another space, for " +
                       std::to_string(array.size()));
  }
}

template <typename T>
void combine_some(SpaceState& s, SpaceArray<T>& z, T number, bool keep, std::span<const Term<T>> terms) {
  Kernel& kernel = s.kernel(VectorKernel::combine, static_cast<int>(terms.size()), keep);
  const SpaceState::Runs runs = s.runs(z.size());
  s.set(kernel, runs, z.size(), buffer_of(s, z, z.size()), number);
  cl_uint argument = 4;
  for (const Term<T>& term : terms) {
    kernel.handle.setArg(argument++, buffer_of(s, *term.x, z.size()));
    kernel.handle.setArg(argument++, term.factor);
  }
  s.launch(kernel, runs.geometry);
}

/// A space on OpenCL, or on CUDA behind OpenCL's functions.
template <typename T>
class ClSpace final : public Space<T> {
 public:
  using Array = SpaceArray<T>;

  /// @throws InvalidInput, DeviceError
  ClSpace(int device, const DeviceSettings& settings) : index_(device) {
    constexpr bool kDouble = sizeof(T) == sizeof(double);
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
    state_->limited = !found.info.host_unified || settings.use.transfer == Transfer::copy;
    if (settings.use.timeout > 0) state_->time_limit = settings.use.timeout;
    registry.watch(state_);
  }
  ~ClSpace() override { Registry::instance().retire(std::move(state_), index_); }
  ClSpace& operator=(ClSpace&&) = delete;

  const DeviceInfo& device() const override { return Registry::instance().device(index_).info; }

  DeviceQueue queue() const override {
    return work("giving its queue", [](SpaceState& s) {
      return DeviceQueue{native_kind(), native_queue(s.device->queue())};
    });
  }

  SpaceCounts counts() const override {
    const std::lock_guard lock(state_->mutex);
    return state_->counts;
  }

  bool usable() const override {
    Registry& registry = Registry::instance();
    if (registry.forked() || registry.is_lost(index_)) return false;
    const std::lock_guard lock(state_->mutex);
    return state_->device != nullptr;
  }

  void flush() override {
    work("beginning work", [](SpaceState& s) { s.device->queue().flush(); });
  }

  void finish() override {
    work("finishing work", [&](SpaceState& s) {
      s.waiter().drain(s.device->queue());
      ++s.counts.waits;
    });
  }

  std::unique_ptr<Array> make(Index size) override {
    return work("making an array", [&](SpaceState& s) {
      return array(size > 0 ? make_buffer(*s.device, Access::read_write, size * kWord) : Buffer(), size);
    });
  }

  std::unique_ptr<Array> wrap(T* host, Index size) override {
    return work("taking memory of the host for an array", [&](SpaceState& s) {
      if (!s.device->info().host_unified) {
        throw InvalidInput(describe(s.device->info()) + " does not share the host's memory: copy vectors to it");
      }
      if (s.by_groups && reinterpret_cast<std::uintptr_t>(host) % kVectorBytes != 0) {
        throw InvalidInput("memory of the host that kernels for GPUs take begins at a multiple of 16 bytes");
      }
      return array(size > 0 ? ocl::wrap(*s.device, host, size * kWord) : Buffer(), size);
    });
  }

  std::unique_ptr<Array> adopt(void* memory, Index size) override {
    return work("taking memory of the caller for an array", [&](SpaceState& s) {
      constexpr const char* kName = "the memory given";
      if (size == 0) return array({}, size);
      const cl::Context& context = s.device->context();
      const std::function<std::string()> wanted = [&] { return std::to_string(size) + " scalars"; };
      Buffer own = callers_memory(context, kName, memory, size * kWord);
      for (const cl_mem_flags unfit : {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY}) {
        check_memory({context, "of the space's queue, which a release of devices changes", size * kWord, wanted}, kName,
                     own, unfit);
      }
      if (s.by_groups && !aligned(own, kVectorBytes)) {
        throw InvalidInput("the memory given begins at no multiple of 16 bytes, as kernels for GPUs need it");
      }
      return array(std::move(own), size);
    });
  }

  void bring(const T* from, Array& to) override {
    work("copying an array to it", [&](SpaceState& s) {
      if (to.size() == 0) return;
      const std::int64_t bytes = to.size() * kWord;
      const Buffer& target = buffer_of(s, to, to.size());
      if (bytes >= kPiped) return s.write(target, from, bytes);
      s.counts.bytes_up += bytes;
      if (s.went_up() != nullptr) s.waiter().wait(s.went_up);
      ensure_staging(*s.device, s.going_up, bytes);
      std::copy_n(from, to.size(), reinterpret_cast<T*>(s.going_up->data()));
      s.went_up = enqueue_write(*s.device, s.going_up->data(), target, bytes);
    });
  }

  void take(const Array& from, T* to) override {
    work("copying an array from it", [&](SpaceState& s) {
      if (from.size() == 0) return;
      const std::int64_t bytes = from.size() * kWord;
      const Buffer& source = buffer_of(s, from, from.size());
      const auto come = [&](Pipeline& pieces, const Waiter& waiter, Times& times) {
        pieces.take(source, to, bytes, waiter, times);
      };
      if (!s.by_pipeline(bytes, false, come)) s.wait_for_copy(enqueue_read(*s.device, source, to, bytes));
      s.count(0, bytes);
    });
  }

  std::unique_ptr<SpaceMessage<T>> make_message(Index size) override {
    return work("making memory for messages", [&](SpaceState& s) {
      std::unique_ptr<Staging> memory;
      // The queue for transfers to the host frees the memory after its commands, even if waiting for them fails.
      if (size > 0) memory = std::make_unique<Staging>(*s.device, s.device->transfer_queues().down, size * kWord);
      return std::unique_ptr<SpaceMessage<T>>(new ClMessage<T>(index_, state_, std::move(memory), size));
    });
  }

  // The copy goes through a transfer queue. In the kernels' queue it would delay later kernels.
  void take(const Array& from, SpaceMessage<T>& to, const std::function<void()>& meanwhile) override {
    const std::int64_t bytes = from.size() * kWord;
    Event done;
    work("copying an array from it", [&](SpaceState& s) {
      check_message(s, to, from);
      const Buffer& source = buffer_of(s, from, from.size());
      s.device->queue().enqueueMarkerWithWaitList(nullptr, &done);
      s.device->queue().flush();
      if (bytes > 0) done = enqueue_read_beside(*s.device, source, to.data(), bytes, done);
    });
    const auto come = [&] {
      work("copying an array from it", [&](SpaceState& s) {
        s.wait_for_copy(done, s.device->transfer_queues().down);
        s.count(0, bytes);
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

  void bring(const SpaceMessage<T>& from, Array& to) override {
    if (to.size() == 0) return;
    work("copying an array to it", [&](SpaceState& s) {
      check_message(s, from, to);
      const std::int64_t bytes = to.size() * kWord;
      const Event done = enqueue_write_beside(*s.device, from.data(), buffer_of(s, to, to.size()), bytes);
      const OpenDevice::TransferQueues& queues = s.device->transfer_queues();
      try {
        s.wait_for_copy(done, queues.up);
      } catch (...) {
        clEnqueueMarkerWithWaitList(queues.down(), 1, &done(), nullptr);  // the message is freed in that queue
        throw;
      }
      s.count(bytes, 0);
    });
  }

  void fill(Array& z, T number) override {
    if (z.size() == 0) return;
    work("filling an array", [&](SpaceState& s) { combine_some<T>(s, z, number, false, {}); });
  }

  void copy(const Array& from, Array& to) override {
    work("copying an array", [&](SpaceState& s) {
      const Buffer &source = buffer_of(s, from, to.size()), &target = buffer_of(s, to, to.size());
      if (to.size() == 0 || same(source, target)) return;
      enqueue_copy(*s.device, source, target, to.size() * kWord);
      ++s.counts.launches;
    });
  }

  void combine(Array& z, T keep, std::span<const Term<T>> terms) override {
    work("adding arrays", [&](SpaceState& s) {
      for (const Term<T>& term : terms) buffer_of(s, *term.x, z.size());
      if (z.size() == 0) return;
      // A single launch reads z as a term before it writes z. A later launch would read the new z.
      if (terms.size() > kMostTerms && std::ranges::any_of(terms, [&](const Term<T>& t) { return t.x == &z; })) {
        throw InvalidInput("an array that is written is one of more than 8 terms: copy it first");
      }
      combine_some<T>(s, z, keep, keep != T(0), terms.first(std::min(kMostTerms, terms.size())));
      for (std::size_t first = kMostTerms; first < terms.size(); first += kMostTerms) {
        combine_some<T>(s, z, T(1), true, terms.subspan(first, std::min(kMostTerms, terms.size() - first)));
      }
    });
  }

  void pointwise(Pointwise what, Array& z, const Array& x, const Array* y, T number) override {
    if (takes_two(what) != (y != nullptr)) {
      throw InvalidInput("an operation on arrays has one too many, or one too few");
    }
    work("an operation on arrays", [&](SpaceState& s) {
      const Buffer &from = buffer_of(s, x, z.size()), &beside = buffer_of(s, y != nullptr ? *y : x, z.size());
      if (z.size() == 0) return;
      s.run(VectorKernel::pointwise, static_cast<int>(what), z.size(), buffer_of(s, z, z.size()), from, beside, number);
    });
  }

  void put(Merge how, const Array& x, Stride from, Array& z, Stride to, Index count) override {
    work("putting places of an array into another one", [&](SpaceState& s) {
      const Buffer &source = buffer_of(s, x, x.size()), &target = buffer_of(s, z, z.size());
      const auto fits = [&](Stride places, Index size) {
        return places.first >= 0 && places.step > 0 && places.first + (count - 1) * places.step < size;
      };
      if (count <= 0) return;
      if (!fits(from, x.size()) || !fits(to, z.size()) || same(source, target)) {
        throw InvalidInput("places to be put into an array lie outside of one, or in the same one");
      }
      s.run(VectorKernel::put, static_cast<int>(how), count, source, Long{from.first}, Long{from.step}, target,
            Long{to.first}, Long{to.step});
    });
  }

  void sums(std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values) override {
    work("adding up arrays", [&](SpaceState& s) { add_up(s, wanted, values); });
  }

  std::unique_ptr<SpaceIndices> make_indices(std::span<const Index> places) override {
    return work("copying places to it", [&](SpaceState& s) {
      const auto count = static_cast<Index>(places.size());
      const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(Long));
      Buffer buffer;
      if (count > 0) {
        buffer = make_buffer(*s.device, Access::read_write, bytes);
        s.wait_for_copy(enqueue_write(*s.device, places.data(), buffer, bytes));
      }
      return std::unique_ptr<SpaceIndices>(new ClIndices(index_, state_, std::move(buffer), count));
    });
  }

  void gather(const Array& x, const SpaceIndices& places, Array& out) override {
    work("gathering places of an array", [&](SpaceState& s) {
      const Buffer &from = buffer_of(s, x, x.size()), &to = buffer_of(s, out, places.size());
      if (places.size() > 0) s.run(VectorKernel::gather, 0, places.size(), from, indices_of(places), to);
    });
  }

  void scatter_add(const Array& from, const SpaceIndices& places, Array& x) override {
    work("adding to places of an array", [&](SpaceState& s) {
      const Buffer &source = buffer_of(s, from, places.size()), &to = buffer_of(s, x, x.size());
      if (places.size() > 0) s.run(VectorKernel::scatter_add, 0, places.size(), source, indices_of(places), to);
    });
  }

  Index slice_rows() const override {
    return work("looking at it", [](SpaceState& s) { return ocl::slice_rows(s); });
  }

  std::unique_ptr<SpaceMatrix<T>> make_matrix(const SparseForm& form) override {
    return work("bringing a sparse matrix to it",
                [&](SpaceState&) { return ocl::make_matrix<T>(index_, state_, form); });
  }

  void product(const SpaceMatrix<T>& a, const Array& x, const Array* y, Array& z) override {
    work("a sparse product", [&](SpaceState& s) {
      const Buffer &from = buffer_of(s, x, a.columns()), &to = buffer_of(s, z, a.rows());
      if (&x == &z && z.size() > 0) {
        throw InvalidInput("a sparse product writes the array that it reads: give it another");
      }
      enqueue_product(s, a, from, y != nullptr ? &buffer_of(s, *y, a.rows()) : nullptr, to);
    });
  }

  std::unique_ptr<SpaceCg<T>> make_cg(CgForm form, CgNorm norm, Index rows, int kept) override {
    return work("making memory for conjugate gradients",
                [&](SpaceState&) { return ocl::make_cg<T>(index_, state_, form, norm, rows, kept); });
  }

 private:
  static constexpr std::int64_t kWord = sizeof(T);

  template <typename Work>
  auto work(const char* what, const Work& work) const {
    return work_on(index_, *state_, what, work);
  }
  std::unique_ptr<Array> array(Buffer buffer, Index size) const {
    return std::make_unique<ClArray<T>>(index_, state_, std::move(buffer), size);
  }

  int index_;
  std::shared_ptr<SpaceState> state_;
};

}  // namespace

template <typename T>
std::shared_ptr<Space<T>> make_space(int device, const DeviceSettings& settings) {
  return std::make_shared<ClSpace<T>>(device, settings);
}

#define OCLSPKT_INSTANTIATE(T) template std::shared_ptr<Space<T>> make_space(int, const DeviceSettings&);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl
