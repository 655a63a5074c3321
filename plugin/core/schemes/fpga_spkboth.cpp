// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item: all rows of a block from the unknowns on both sides of it.
#include "schemes/task_scheme.hpp"

namespace oclspkt {
namespace {

class FpgaSpkboth final : public TaskScheme<FpgaSpkboth> {
 public:
  static constexpr CutSweep kSweep = CutSweep::both;
  const char* name() const override { return "fpga-spkboth"; }
};

}  // namespace

const Scheme& fpga_spkboth() {
  static const FpgaSpkboth scheme;
  return scheme;
}

}  // namespace oclspkt
