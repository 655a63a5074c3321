// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item: as fpga-spkboth, after a sweep of Jacobi's method over the systems of the cuts.
#include "schemes/task_scheme.hpp"

namespace oclspkt {
namespace {

class FpgaSpkjac final : public TaskScheme<FpgaSpkjac> {
 public:
  static constexpr CutSweep kSweep = CutSweep::jacobi;
  const char* name() const override { return "fpga-spkjac"; }
};

}  // namespace

const Scheme& fpga_spkjac() {
  static const FpgaSpkjac scheme;
  return scheme;
}

}  // namespace oclspkt
