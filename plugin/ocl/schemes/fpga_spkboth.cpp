// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item: kernels/fpga/task_spkboth.cl.
#include "schemes/table.hpp"
#include "schemes/task.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class FpgaSpkboth final : public TaskPart<T> {
 public:
  FpgaSpkboth() : TaskPart<T>("task_spkboth", CutSweep::both) {}
};

}  // namespace

Carrier fpga_spkboth() { return carrier<FpgaSpkboth>("fpga-spkboth"); }

}  // namespace oclspkt::ocl
