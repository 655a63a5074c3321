// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "petsc_compat.h"

#include "oclspkt/cut_solver.hpp"

namespace oclspkt::petsc {

/// The exchange between processes of an MPI communicator, by persistent requests. Messages use PETSc's inner
/// communicator with a tag of this object, so no other object or program receives them.
///
/// The last owner frees channels and communicator. After PetscFinalize() and MPI_Finalize(), nothing is freed, because
/// PETSc and MPI have freed it.
class MpiExchange final : public Exchange {
 public:
  /// Must be called between PetscInitialize() and PetscFinalize(). Collective.
  /// @throws Error with MPI's text if a call fails and the communicator's error handler returns
  explicit MpiExchange(MPI_Comm comm);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Channel> open(std::vector<Leg> out, std::vector<Leg> in, std::size_t scalar_bytes) override;
  void largest(std::span<double> values) override;

 private:
  class Communicator;
  class MpiChannel;

  std::shared_ptr<const Communicator> comm_;
  int rank_ = 0, size_ = 1;
};

}  // namespace oclspkt::petsc
