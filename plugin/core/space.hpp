// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "oclspkt/device_handles.hpp"
#include "oclspkt/line_set.hpp"
#include "sparse_form.hpp"

namespace oclspkt {

struct DeviceInfo;

/// An object on the device of a space. It belongs to the space and must be destroyed before it.
class SpaceObject {
 public:
  explicit SpaceObject(Index size) : size_(size) {}
  virtual ~SpaceObject() = default;
  SpaceObject(const SpaceObject&) = delete;
  SpaceObject& operator=(const SpaceObject&) = delete;
  /// The number of scalars, of places, or of rows of a matrix.
  Index size() const { return size_; }

 private:
  Index size_;
};

/// A list of places in arrays, on the device.
using SpaceIndices = SpaceObject;

template <typename T>
class SpaceArray : public SpaceObject {
 public:
  using SpaceObject::SpaceObject;
  /// The array as an argument of Solver::enqueue() with the space's queue: a cl_mem, or an address under CUDA. Null for
  /// an array of size 0.
  virtual void* memory() const = 0;
};

/// Host memory that the device can copy from and to while it does other work.
template <typename T>
class SpaceMessage : public SpaceObject {
 public:
  using SpaceObject::SpaceObject;
  /// Null for size 0, and after the device was released.
  virtual T* data() const = 0;
};

/// A sparse matrix: see SparseForm.
template <typename T>
class SpaceMatrix : public SpaceObject {
 public:
  SpaceMatrix(Index rows, Index columns) : SpaceObject(rows), columns_(columns) {}
  Index rows() const { return size(); }
  Index columns() const { return columns_; }
  /// Set the values of the entries, in the order of the pattern from which the form was made.
  /// @param values  shape [entries of the pattern]; host; the caller may change it when the call returns
  /// @throws DeviceError
  virtual void set_values(const T* values) = 0;
  virtual std::int64_t bytes() const = 0;

 private:
  Index columns_;
};

template <typename T>
struct Term {
  T factor;
  const SpaceArray<T>* x;
};

/// The operation of Space::pointwise() at each place, on arrays x and y, or on x alone.
enum class Pointwise {
  multiply,           ///< x y
  divide,             ///< x / y; if y is 0: `number` if x is 0 too, else 0
  greater,            ///< y where x < y, else x
  less,               ///< x where x < y, else y
  greater_magnitude,  ///< the greater of |x| and |y|
  ratio,              ///< x / y; x where y is 0
  reciprocal,         ///< 1 / x, 0 where x is 0
  shift,              ///< x + number
  magnitude,          ///< |x|
  root                ///< sqrt(|x|)
};
inline constexpr bool takes_two(Pointwise what) { return what <= Pointwise::ratio; }

/// Places of an array: first, first + step, and so on.
struct Stride {
  Index first = 0, step = 1;
};

/// The result of Space::put() at a place, from the new value x and the old value z.
enum class Merge {
  insert,  ///< x
  add,     ///< z + x
  greater  ///< z where z > x, else x
};

/// The reductions of Space::sums(), over array x, or over x and y.
enum class SumKind {
  dot,                ///< sum of x y
  sum,                ///< sum of x
  norm1,              ///< sum of |x|
  norm2,              ///< Euclidean norm; no overflow or underflow of squares, as in LAPACK's dnrm2
  largest_magnitude,  ///< max |x|; NaN if any x is NaN
  least,              ///< min x and its first place; NaN at place 0 if x[0] is NaN; NaN at other places is ignored
  greatest            ///< max x and its first place; NaN is treated as for `least`
};

template <typename T>
struct SumOf {
  SumKind kind;
  const SpaceArray<T>* x;
  const SpaceArray<T>* y = nullptr;  ///< second array of a dot product
};

template <typename T>
struct SumValue {
  T value = 0;
  Index place = -1;  ///< place of the least or greatest value; -1 in empty arrays
};

enum class CgForm;
enum class CgNorm;
template <typename T>
class SpaceCg;

struct SpaceCounts {
  std::int64_t bytes_up = 0, bytes_down = 0;  ///< bytes copied to the device, to the host; 0 if both share memory
  std::int64_t launches = 0;
  std::int64_t waits = 0;  ///< how often the host waited for numbers or arrays
};

/// Vectors and sparse matrices on a device. All work goes through one queue, in order; the host waits only for numbers
/// that a call returns. One thread at a time uses a space.
///
/// A call may name the same array several times, also as its result: each place is read before it is written. All
/// functions throw InvalidInput for arrays of different sizes, and DeviceError; the result arrays are then undefined.
template <typename T>
class Space {
 public:
  using Array = SpaceArray<T>;
  virtual ~Space() = default;

  virtual const DeviceInfo& device() const = 0;
  virtual DeviceQueue queue() const = 0;
  virtual SpaceCounts counts() const = 0;
  /// False after the device was released. The arrays are then lost, and the caller must make a new space.
  virtual bool usable() const = 0;
  /// Make the device begin the enqueued work.
  virtual void flush() = 0;
  /// Wait until all enqueued work is done.
  virtual void finish() = 0;

  /// An array of undefined content.
  virtual std::unique_ptr<Array> make(Index size) = 0;
  /// Use host memory as an array, on devices that share it. The host must call finish() before it touches the memory.
  /// @throws InvalidInput on devices that do not share host memory
  virtual std::unique_ptr<Array> wrap(T* host, Index size) = 0;
  /// Use a caller's memory on this device as an array. The array keeps a reference to the memory.
  /// @param memory  a cl_mem of the queue's context, or an address under CUDA; at least `size` scalars; null for size 0
  /// @throws InvalidInput if `memory` is of another kind, or too small
  virtual std::unique_ptr<Array> adopt(void* memory, Index size) = 0;
  /// Copy host memory to an array, after all enqueued work. The caller may change the memory when the call returns.
  virtual void bring(const T* from, Array& to) = 0;
  /// Copy an array to host memory, after all enqueued work.
  virtual void take(const Array& from, T* to) = 0;
  virtual std::unique_ptr<SpaceMessage<T>> make_message(Index size) = 0;
  /// Copy an array to a message of equal size while the device does the work that `meanwhile` enqueues. When this call
  /// returns, all work that was enqueued before it has ended, even for messages of size 0.
  /// @pre the work that `meanwhile` enqueues does not write the array
  virtual void take(const Array& from, SpaceMessage<T>& to, const std::function<void()>& meanwhile) = 0;
  /// Copy a message to an array of equal size while the device does other work. Returns when the copy has ended.
  /// @pre all work on the array was enqueued before the last take() of a message, and so has ended
  virtual void bring(const SpaceMessage<T>& from, Array& to) = 0;

  virtual void fill(Array& z, T number) = 0;
  virtual void copy(const Array& from, Array& to) = 0;
  /// z = keep z + sum of terms, added in order. If keep is 0, z is not read; terms with factor 0 are read.
  /// @cost per scalar 1 word written, 1 read for each term and 1 for z; in passes of 8 terms
  virtual void combine(Array& z, T keep, std::span<const Term<T>> terms) = 0;
  /// @param y       null unless takes_two(what)
  /// @param number  see Pointwise
  virtual void pointwise(Pointwise what, Array& z, const Array& x, const Array* y, T number) = 0;
  /// Merge `count` places of x into `count` places of z. @pre z is not x
  /// @throws InvalidInput if a place lies outside of its array
  virtual void put(Merge how, const Array& x, Stride from, Array& z, Stride to, Index count) = 0;

  /// Compute any number of sums with one wait. Norms whose squares overflow or underflow, and norms of zeros, need a
  /// second wait. The bits of a sum depend on the device and its arrays alone, not on the other sums of the call.
  /// @param[out] values  shape [wanted.size()]; 0 for sums over empty arrays
  virtual void sums(std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values) = 0;

  virtual std::unique_ptr<SpaceIndices> make_indices(std::span<const Index> places) = 0;
  /// out[i] = x[places[i]]. @pre all places lie in x
  virtual void gather(const Array& x, const SpaceIndices& places, Array& out) = 0;
  /// x[places[i]] += from[i]. @pre all places lie in x, and differ
  virtual void scatter_add(const Array& from, const SpaceIndices& places, Array& x) = 0;

  /// Rows of a slice in sparse forms for this device, see FormRequest.
  virtual Index slice_rows() const = 0;
  /// Make a matrix; set_values() then sets its values.
  /// @throws InvalidInput if the form was made for another kind of device; BuildError
  virtual std::unique_ptr<SpaceMatrix<T>> make_matrix(const SparseForm& form) = 0;
  /// z = A x, or z = y + A x if y is not null; A x has the same bits in both cases. y may be z.
  /// @throws InvalidInput if x is z; BuildError at the first call with y, and at the first call without y
  virtual void product(const SpaceMatrix<T>& a, const Array& x, const Array* y, Array& z) = 0;

  /// Make what conjugate gradients for `rows` unknowns need besides vectors, see space_cg.hpp.
  /// @param kept  how many iterations' records are kept
  virtual std::unique_ptr<SpaceCg<T>> make_cg(CgForm form, CgNorm norm, Index rows, int kept) = 0;
};

}  // namespace oclspkt
