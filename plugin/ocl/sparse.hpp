// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "cl_space.hpp"

namespace oclspkt::ocl {

/// A sparse matrix in buffers of a space's device, with the kernels of its products.
template <typename T>
class ClMatrix final : public SpaceMatrix<T> {
 public:
  /// @pre the state's lock is held
  /// @throws DeviceError, BuildError, cl::Error
  ClMatrix(int index, const std::shared_ptr<SpaceState>& state, const SparseForm& form);

  void set_values(const T* values) override;
  std::int64_t bytes() const override { return bytes_; }
  const SpaceState* state() const { return part_.state(); }

  /// Enqueue z = A x, or z = y + A x if y is given, and count it.
  /// @param x, y, z  of columns(), rows(), rows() numbers, or null buffers if these are 0; x is not z, y may be z
  /// @pre the state's lock is held
  /// @throws DeviceError; BuildError, once for each of the two products; cl::Error
  void enqueue_product(const Buffer& x, const Buffer* y, const Buffer& z) const;

 private:
  struct Memory;
  class Part final : public SpacePart {
   public:
    using SpacePart::SpacePart;
    Memory& memory() const { return static_cast<Memory&>(held()); }
  };

  std::int64_t bytes_;
  Part part_;
};

}  // namespace oclspkt::ocl
