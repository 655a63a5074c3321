// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "lines.hxx"

namespace oclspkt::petsc {

class MpiExchange : public Exchange {
 public:
  explicit MpiExchange(MPI_Comm) {}
};

}  // namespace oclspkt::petsc
