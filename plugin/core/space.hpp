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

/// Something on the device of a space. It belongs to that space, and is destroyed before it.
class SpaceObject {
 public:
  explicit SpaceObject(Index size) : size_(size) {}
  virtual ~SpaceObject() = default;
  SpaceObject(const SpaceObject&) = delete;
  SpaceObject& operator=(const SpaceObject&) = delete;
  /// How many scalars, places, or rows of a matrix it has.
  Index size() const { return size_; }

 private:
  Index size_;
};

/// Places in arrays.
using SpaceIndices = SpaceObject;

template <typename T>
class SpaceArray : public SpaceObject {
 public:
  using SpaceObject::SpaceObject;
  /// The array for Solver::enqueue() by the space's queue: a cl_mem, or an address by CUDA. Null for no scalars.
  virtual void* memory() const = 0;
};

/// Host memory that the device copies from and to by itself while it does other work.
template <typename T>
class SpaceMessage : public SpaceObject {
 public:
  using SpaceObject::SpaceObject;
  /// Null for no scalars, and once the device was released.
  virtual T* data() const = 0;
};

/// A sparse matrix: see SparseForm.
template <typename T>
class SpaceMatrix : public SpaceObject {
 public:
  SpaceMatrix(Index rows, Index columns) : SpaceObject(rows), columns_(columns) {}
  Index rows() const { return size(); }
  Index columns() const { return columns_; }
  /// Set the values, in the order of the pattern of which the form was made.
  /// @param values  shape [entries of the pattern]; host; free again when the call returns
  /// @throws DeviceError
  virtual void set_values(const T* values) = 0;
  /// Bytes on the device.
  virtual std::int64_t bytes() const = 0;

 private:
  Index columns_;
};

/// A number times an array.
template <typename T>
struct Term {
  T factor;
  const SpaceArray<T>* x;
};

/// The result of Space::pointwise() at each place, from arrays x and y, or x alone.
enum class Pointwise {
  multiply,           ///< x y
  divide,             ///< x / y; where y is 0: number where x is 0 too, else 0
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

/// The result of Space::put() at a place, from the value x that is put there and the value z that it has.
enum class Merge {
  insert,  ///< x
  add,     ///< z + x
  greater  ///< z where z > x, else x
};

/// The result of Space::sums() from an array, or two.
enum class SumKind {
  dot,                ///< sum of x y
  sum,                ///< sum of x
  norm1,              ///< sum of |x|
  norm2,              ///< as LAPACK's dnrm2: neither over- nor underflows on its way
  largest_magnitude,  ///< max |x|; NaN if one is NaN
  least,              ///< min x and its first place; NaN at place 0 if x[0] is NaN; NaN at other places is ignored
  greatest            ///< max x and its first place; NaN as for least
};

template <typename T>
struct SumOf {
  SumKind kind;
  const SpaceArray<T>* x;
  const SpaceArray<T>* y = nullptr;  ///< of a dot product
};

template <typename T>
struct SumValue {
  T value = 0;
  Index place = -1;  ///< of least and greatest; -1 in empty arrays
};

/// Counts of the work that a space has done.
struct SpaceCounts {
  std::int64_t bytes_up = 0, bytes_down = 0;  ///< between host and device; 0 where both have one memory
  std::int64_t launches = 0;
  std::int64_t waits = 0;  ///< of the host, for numbers or arrays
};

/// A device as a place for vectors and sparse matrices. All work goes through one queue, in order; the host waits only
/// for numbers that a call returns. Used by one thread at a time.
///
/// Arrays may be named several times in a call, the written one as well: each place is read before it is written.
/// All functions throw InvalidInput for arrays of unlike sizes, and DeviceError; the arrays to be written are undefined
/// then.
template <typename T>
class Space {
 public:
  using Array = SpaceArray<T>;
  virtual ~Space() = default;

  virtual const DeviceInfo& device() const = 0;
  virtual DeviceQueue queue() const = 0;
  virtual SpaceCounts counts() const = 0;
  /// False once the device was released: arrays are gone, and a space made anew takes this one's place.
  virtual bool usable() const = 0;
  /// Have the device begin what is enqueued.
  virtual void flush() = 0;
  /// Wait until all that is enqueued is done.
  virtual void finish() = 0;

  /// An array of undefined content.
  virtual std::unique_ptr<Array> make(Index size) = 0;
  /// Memory of the host as an array, on devices that share it. The host touches it after finish() only.
  /// @throws InvalidInput on other devices
  virtual std::unique_ptr<Array> wrap(T* host, Index size) = 0;
  /// Memory of a caller on this device as an array, which holds it: a cl_mem of the queue's context, or by CUDA an
  /// address, of `size` scalars or more. Null for no scalars.
  /// @throws InvalidInput if it is no memory of that kind, or too small
  virtual std::unique_ptr<Array> adopt(void* memory, Index size) = 0;
  /// Copy host memory to an array, behind what is enqueued. The memory is free again when the call returns.
  virtual void bring(const T* from, Array& to) = 0;
  /// Copy an array to host memory, once what is enqueued is done.
  virtual void take(const Array& from, T* to) = 0;
  virtual std::unique_ptr<SpaceMessage<T>> make_message(Index size) = 0;
  /// Copy an array to a message of its size while the device does what `meanwhile` enqueues. All that was enqueued
  /// before has ended when this returns, for messages of no scalars as well.
  /// @pre the work that `meanwhile` enqueues does not write the array
  virtual void take(const Array& from, SpaceMessage<T>& to, const std::function<void()>& meanwhile) = 0;
  /// Copy a message to an array of its size while the device does other work; the copy has ended when this returns.
  /// @pre all work on the array has ended: it was enqueued before the last take() of a message
  virtual void bring(const SpaceMessage<T>& from, Array& to) = 0;

  virtual void fill(Array& z, T number) = 0;
  virtual void copy(const Array& from, Array& to) = 0;
  /// z = keep z + sum of terms, added in their order. With keep == 0 z is not read; all terms are, whatever their
  /// factors. @cost 1 word written, 1 read a term, 1 for z; in passes of 8 terms
  virtual void combine(Array& z, T keep, std::span<const Term<T>> terms) = 0;
  /// @param y       null unless takes_two(what)
  /// @param number  see Pointwise
  virtual void pointwise(Pointwise what, Array& z, const Array& x, const Array* y, T number) = 0;
  /// Put `count` places of x into as many of z. @pre z is not x
  /// @throws InvalidInput if places lie outside
  virtual void put(Merge how, const Array& x, Stride from, Array& z, Stride to, Index count) = 0;

  /// Compute any number of sums with one wait. Norms whose squares over- or underflow, and norms of zeros, take a
  /// second one. The bits of a sum depend on the device and its arrays alone, also beside other dot products of one y.
  /// @param[out] values  shape [wanted.size()]; 0 for sums over nothing
  virtual void sums(std::span<const SumOf<T>> wanted, std::span<SumValue<T>> values) = 0;

  virtual std::unique_ptr<SpaceIndices> make_indices(std::span<const Index> places) = 0;
  /// out_i = x at place i. @pre places lie in x
  virtual void gather(const Array& x, const SpaceIndices& places, Array& out) = 0;
  /// x at place i += from_i. @pre places lie in x, no two alike
  virtual void scatter_add(const Array& from, const SpaceIndices& places, Array& x) = 0;

  /// Rows of a slice in forms for this device, see FormRequest.
  virtual Index slice_rows() const = 0;
  /// A matrix without values yet.
  /// @throws InvalidInput if the form was made for another kind of device; BuildError
  virtual std::unique_ptr<SpaceMatrix<T>> make_matrix(const SparseForm& form) = 0;
  /// z = A x, or z = y + A x if y is given, A x having the same bits in both. y may be z.
  /// @throws InvalidInput if x is z; BuildError, at the first call with y and at the first one without
  virtual void product(const SpaceMatrix<T>& a, const Array& x, const Array* y, Array& z) = 0;
};

}  // namespace oclspkt
