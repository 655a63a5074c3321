// SPDX-License-Identifier: BSD-2-Clause
// A scheme that is not the library's: Thomas' algorithm by one work-item of a device. docs/schemes.md explains it.
#pragma once

#include "schemes/lane_needs.hpp"
#include "schemes/table.hpp"

namespace oclspkt::test {

inline constexpr const char* kThomas = "thomas-serial";

/// What the scheme says of its plans.
class ThomasScheme final : public SchemeOf<ThomasScheme> {
 public:
  /// What a plan of this scheme holds that no other has.
  struct Geometry {
    Index lines;
  };

  const char* name() const override { return kThomas; }
  std::string shape(const Plan& plan) const override {
    return format("%lld lines by one work-item", static_cast<long long>(plan.as<Geometry>().lines));
  }
  double words(const Plan&) const override { return 9; }  // 4 and 2 down, 2 and 1 back
  Cut cut(const Plan& plan) const override { return {plan.n, 0, 0, true}; }
  bool in_pieces(const Plan&) const override { return false; }

  template <typename T>
  Rounding bound(const Plan&, const LineSet&, const BandsView<T>&, const Survey& survey) const {
    return {survey.dominance >= 1 ? rounding_by_growth(kDominantGrowth) : kNothingKnown};
  }

  /// Nobody gets it who does not name it.
  template <typename T>
  bool suits(Method method, const Problem<T>& problem) const {
    return method == Method::exact_factored && problem.options.variant == name() && by_lanes(problem);
  }
  template <typename T>
  std::optional<Proposal> proposal(const Problem<T>& problem, Rejection&) const {
    Plan plan = this->one_partition(problem);
    plan.chunk_tiles = 1;
    plan.add(Geometry{problem.bands.lines().count()});
    return exact_proposal(problem, plan);
  }
};

/// The same on a device.
template <typename T>
class ThomasWorker final : public ocl::Worker<T> {
 public:
  static ocl::Needs needs(const Plan& plan, const LineSet&, int word, Index) { return {.all = plan.n * word}; }

  std::int64_t build(const ocl::Site& s, const BandsView<T>&) override {
    constexpr const char* kText = R"(
__kernel void thomas_serial(__global const scalar_t* lower, __global const scalar_t* diag,
                            __global const scalar_t* upper, __global const scalar_t* y, __global scalar_t* x,
                            __global scalar_t* c, const long n) {
  scalar_t d = 0, above = 0;
  for (long i = 0; i < n; ++i) {
    const scalar_t p = 1 / (diag[i] - lower[i] * above);
    d = (y[i] - lower[i] * d) * p;
    above = upper[i] * p;
    x[i] = d;
    c[i] = above;
  }
  for (long i = n - 2; i >= 0; --i) x[i] -= c[i] * x[i + 1];
})";
    this->make_from(s, kernel_, "thomas_serial", kText);
    return ocl::ensure(s.device, couplings_, ocl::Access::read_write, s.layout.needs.all);
  }

  ocl::Event enqueue(const ocl::Site& s, const ocl::Tiles& t) override {
    const ocl::LaneNeeds<T> b(s, t);  // of no rows where launches are rehearsed
    return ocl::launch(s.device, kernel_, {1}, b.lower, b.diag, b.upper, b.y, b.x, b.as_x("couplings", couplings_),
                       ocl::Long{t.chunk.rows()});
  }

 private:
  ocl::Kernel kernel_;
  ocl::Buffer couplings_;
};

/// Both, once a process.
inline void add_thomas() { [[maybe_unused]] static const Scheme& added = ocl::add<ThomasScheme, ThomasWorker>(); }

}  // namespace oclspkt::test
