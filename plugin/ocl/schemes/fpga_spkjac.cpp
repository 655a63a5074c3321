// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item: kernels/fpga/task_spkjac.cl.
#include "schemes/table.hpp"
#include "schemes/task.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class FpgaSpkjac final : public TaskPart<T> {
 public:
  FpgaSpkjac() : TaskPart<T>("task_spkjac", CutSweep::jacobi) {}
};

}  // namespace

Carrier fpga_spkjac() { return carrier<FpgaSpkjac>("fpga-spkjac"); }

}  // namespace oclspkt::ocl
