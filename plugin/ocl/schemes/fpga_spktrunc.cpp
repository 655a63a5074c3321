// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item: kernels/fpga/task_spktrunc.cl.
#include "schemes/table.hpp"
#include "schemes/task.hpp"

namespace oclspkt::ocl {
namespace {

template <typename T>
class FpgaSpktrunc final : public TaskPart<T> {
 public:
  FpgaSpktrunc() : TaskPart<T>("task_spktrunc", CutSweep::half) {}
};

}  // namespace

Carrier fpga_spktrunc() { return carrier<FpgaSpktrunc>("fpga-spktrunc"); }

}  // namespace oclspkt::ocl
