// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "petsc_compat.h"

#include "oclspkt/cut_solver.hpp"

namespace oclspkt::petsc {

/// How the processes of a communicator talk: persistent requests on the communicator that PETSc keeps behind it, with a
/// tag of their own, so that no message of ours meets one of the program's or of another object.
///
/// Channels and the communicator are freed when nobody holds them any more; after PetscFinalize() and MPI_Finalize()
/// nothing is left to free.
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
