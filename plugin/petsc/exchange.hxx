// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "petsc_compat.h"

#include "oclspkt/cut_solver.hpp"

namespace oclspkt::petsc {

/// The exchange between the processes of an MPI communicator, by persistent requests. They use PETSc's inner
/// communicator with a tag of their own, so their messages do not match those of the program or of another object.
///
/// Channels and the communicator are freed with their last owner. After PetscFinalize() and MPI_Finalize() they are not
/// freed, because PETSc and MPI have done so.
class MpiExchange final : public Exchange {
 public:
  /// Collective, between PetscInitialize() and PetscFinalize().
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
