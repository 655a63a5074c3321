// SPDX-License-Identifier: BSD-2-Clause
// truncated-halo by lanes, for lines side by side that are cut into segments.
#include "schemes/lane_bounds.hpp"
#include "schemes/scheme.hpp"
#include "schemes/texts.hpp"

namespace oclspkt {
namespace {

class BesideHalo final : public SchemeOf<BesideHalo> {
 public:
  const char* name() const override { return "beside-halo"; }
  std::string shape(const Plan& plan) const override {
    return format("halo %lld, %lld segments a line", static_cast<long long>(plan.halo),
                  static_cast<long long>(plan.segments));
  }
  /// Where the window between both sweeps is memory, what it keeps is written and read again.
  double words(const Plan& plan) const override { return (plan.windowed ? 4 : 8) * plan.overlap() + 1; }
  template <typename T>
  Rounding bound(const Plan& plan, const LineSet&, const BandsView<T>& bands, const Survey& survey) const {
    return bound_halos(plan, plan.segments == 1, bands, survey);
  }
};

}  // namespace

const Scheme& beside_halo() {
  static const BesideHalo scheme;
  return scheme;
}

}  // namespace oclspkt
