// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "device.hpp"
#include "stored_model.hpp"

namespace oclspkt {

/// The truncated methods in plain C++, partition by partition, as the plan
/// cuts them: what the kernels are tested against. Lines side by side are taken each by
/// itself.
template <typename T>
class ModelSolver final : public DeviceSolver<T> {
 public:
  /// @pre the lines are laid end to end, or the plan cuts lines side by side into segments
  void set_up(const Plan& plan, const Bands<T>& bands) override;
  using Operator<T>::apply;
  void apply(const Place& /*place*/, Columns<const T> y, Columns<T> x, Index count) override {
    for (Index k = 0; k < count; ++k) solve(y[k], x[k]);
  }
  Times times() const override { return times_; }
  std::int64_t bytes() const override;
  const Factors<T>* factors() const override;

 private:
  struct Work;
  void solve(const T* y, T* x);
  Plan plan_;
  const Bands<T>* bands_ = nullptr;
  StoredModel<T> stored_;    ///< plans by stored factors
  Factors<T> grid_factors_;  ///< and those of lines side by side by work-groups
  AlignedArray<T> scratch_;  ///< reduced right-hand side and scaled upper band of a segment
  Times times_;
};

/// True if the model truncates as a plan does, whatever its kernels are: not by work-groups that share factors or
/// interface systems of stored factors, nor by one work-item.
bool model_carries(const Plan& plan);

/// Solve a plan by the model. @return shape [y]
template <typename T>
std::vector<T> solve_by_model(const Plan& plan, const Bands<T>& bands, const std::vector<T>& y) {
  ModelSolver<T> model;
  model.set_up(plan, bands);
  std::vector<T> x(y.size());
  model.apply(y.data(), x.data());
  return x;
}

}  // namespace oclspkt
