// SPDX-License-Identifier: BSD-2-Clause
// truncated-streamed by one work-item: each half of a block from its own cut, as Macintosh, Banks and Kelson have it
// (2019).
#include "schemes/task_scheme.hpp"

namespace oclspkt {
namespace {

class FpgaSpktrunc final : public TaskScheme<FpgaSpktrunc> {
 public:
  static constexpr CutSweep kSweep = CutSweep::half;
  const char* name() const override { return "fpga-spktrunc"; }
};

}  // namespace

const Scheme& fpga_spktrunc() {
  static const FpgaSpktrunc scheme;
  return scheme;
}

}  // namespace oclspkt
