// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "error_name.hpp"
#include "native.hpp"
#include "space.hpp"
#include "space_state.hpp"
#include "waiter.hpp"

namespace oclspkt::ocl {

/// What an owner holds on the device of a space. It ends with the owner or with the device, whichever comes first.
class SpacePart {
 public:
  /// @pre the state's lock is held
  SpacePart(int index, std::shared_ptr<SpaceState> state, std::shared_ptr<Holding> held);
  ~SpacePart();
  SpacePart(const SpacePart&) = delete;
  SpacePart& operator=(const SpacePart&) = delete;
  SpaceState* state() const { return state_.get(); }
  int index() const { return index_; }
  Holding& held() const { return *held_; }

 private:
  int index_;
  std::shared_ptr<SpaceState> state_;
  std::shared_ptr<Holding> held_;
};

/// A buffer of a space.
class SpaceMemory : public SpacePart {
 public:
  /// @pre the state's lock is held
  SpaceMemory(int index, std::shared_ptr<SpaceState> state, Buffer buffer)
      : SpacePart(index, std::move(state), std::make_shared<ArrayMemory>(std::move(buffer))) {}
  const Buffer& buffer() const { return static_cast<ArrayMemory&>(held()).buffer; }
};

template <typename T>
class ClArray final : public SpaceArray<T> {
 public:
  ClArray(int index, std::shared_ptr<SpaceState> state, Buffer buffer, Index size)
      : SpaceArray<T>(size), memory_(index, std::move(state), std::move(buffer)) {}
  void* memory() const override { return this->size() > 0 ? native_memory(memory_.buffer()) : nullptr; }
  const SpaceMemory& own() const { return memory_; }

 private:
  SpaceMemory memory_;
};

class ClIndices final : public SpaceIndices {
 public:
  ClIndices(int index, std::shared_ptr<SpaceState> state, Buffer buffer, Index size)
      : SpaceIndices(size), memory_(index, std::move(state), std::move(buffer)) {}
  const SpaceMemory& own() const { return memory_; }

 private:
  SpaceMemory memory_;
};

/// Host memory that queues of the device read and write.
template <typename T>
class ClMessage final : public SpaceMessage<T> {
 public:
  /// @pre the state's lock is held
  ClMessage(int index, std::shared_ptr<SpaceState> state, std::unique_ptr<Staging> memory, Index size)
      : SpaceMessage<T>(size), part_(index, std::move(state), std::make_shared<Held>(std::move(memory))) {}
  T* data() const override {
    const std::unique_ptr<Staging>& memory = static_cast<Held&>(part_.held()).memory;
    return memory ? reinterpret_cast<T*>(memory->data()) : nullptr;
  }
  SpaceState* state() const { return part_.state(); }

 private:
  struct Held final : Holding {
    explicit Held(std::unique_ptr<Staging> made) : memory(std::move(made)) {}
    void drop() override { memory.reset(); }
    std::unique_ptr<Staging> memory;
  };
  SpacePart part_;
};

/// Call work(state) under the state's lock, so that nothing is released meanwhile.
/// @param index  of the device
/// @param what   in words, for errors
template <typename Work>
auto work_on(int index, SpaceState& state, const char* what, const Work& work) {
  Registry::instance().require_usable(index);
  const std::lock_guard lock(state.mutex);
  if (!state.device) throw DeviceError("the device was released, and with it all vectors that it held");
  try {
    return work(state);
  } catch (const cl::Error& error) {
    throw device_error(state.device->info(), what, error);
  }
}

/// How norms are computed: from plain squares, or from three sums, see kernels/common/vector_sum.cl.
enum class Squares { plain, by_size };

/// A space by OpenCL, or by CUDA behind OpenCL's functions.
template <typename T>
class ClSpace final : public Space<T> {
 public:
  using Array = SpaceArray<T>;
  /// @throws InvalidInput, DeviceError
  ClSpace(int device, const DeviceSettings& settings);
  ~ClSpace() override;
  ClSpace(const ClSpace&) = delete;
  ClSpace& operator=(const ClSpace&) = delete;

  const DeviceInfo& device() const override;
  DeviceQueue queue() const override;
  SpaceCounts counts() const override;
  bool usable() const override;
  void flush() override;
  void finish() override;
  std::unique_ptr<Array> make(Index size) override;
  std::unique_ptr<Array> wrap(T* host, Index size) override;
  std::unique_ptr<Array> adopt(void* memory, Index size) override;
  void bring(const T* from, Array& to) override;
  void take(const Array& from, T* to) override;
  std::unique_ptr<SpaceMessage<T>> make_message(Index size) override;
  void take(const Array& from, SpaceMessage<T>& to, const std::function<void()>& meanwhile) override;
  void bring(const SpaceMessage<T>& from, Array& to) override;
  void fill(Array& z, T number) override;
  void copy(const Array& from, Array& to) override;
  void combine(Array& z, T keep, std::span<const Term<T>> terms) override;
  void pointwise(Pointwise what, Array& z, const Array& x, const Array* y, T number) override;
  void put(Merge how, const Array& x, Stride from, Array& z, Stride to, Index count) override;
  void sums(std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values) override;
  std::unique_ptr<SpaceIndices> make_indices(std::span<const Index> places) override;
  void gather(const Array& x, const SpaceIndices& places, Array& out) override;
  void scatter_add(const Array& from, const SpaceIndices& places, Array& x) override;
  Index slice_rows() const override;
  std::unique_ptr<SpaceMatrix<T>> make_matrix(const SparseForm& form) override;
  void product(const SpaceMatrix<T>& a, const Array& x, const Array* y, Array& z) override;

 private:
  static constexpr bool kDouble = sizeof(T) == sizeof(double);
  static constexpr std::int64_t kWord = sizeof(T);

  template <typename Work>
  auto work(const char* what, const Work& work) const {
    return work_on(index_, *state_, what, work);
  }
  static Waiter waiter(const SpaceState& s) { return {*s.device, s.limited, s.time_limit}; }
  /// An array's buffer. @throws InvalidInput if it is of another space or size
  const Buffer& buffer(const Array& array, Index size) const;
  /// @throws InvalidInput if a message is of another space, or of another size than its array
  void check(const SpaceMessage<T>& message, const Array& array) const;
  void launch_places(SpaceState& s, VectorKernel text, const Buffer& from, const SpaceIndices& places,
                     const Buffer& to);
  void combine_some(SpaceState& s, Array& z, T number, bool keep, std::span<const Term<T>> terms);
  void enqueue_dots(SpaceState& s, std::span<const SumOf<T>> products, std::int64_t first);
  void enqueue_sum(SpaceState& s, const SumOf<T>& sum, std::int64_t first, std::int64_t first_place, Squares squares);
  /// @return places of norms that must be computed again by size
  std::vector<std::size_t> make_sums(SpaceState& s, std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values,
                                     Squares squares);
  void wait_for_numbers(SpaceState& s, std::int64_t bytes) const;

  int index_;
  std::shared_ptr<SpaceState> state_;
};

}  // namespace oclspkt::ocl
