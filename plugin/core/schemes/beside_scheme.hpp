// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "geometry.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt {

/// Base of schemes for lines side by side. A scheme may also solve other lines; its plans for other lines have no
/// Beside.
class BesideScheme : public Scheme {
 public:
  bool fits(const Plan& plan, const LineSet& lines) const override {
    if (!plan.has<Beside>()) return Scheme::fits(plan, lines);
    return plan.n == lines.rows() && (plan.n == 0 || lines.beside());
  }
  Cut cut(const Plan& plan) const override {
    const Beside* beside = plan.find<Beside>();
    return beside != nullptr ? Cut{0, 0, 0, false, beside->chunk_blocks} : Scheme::cut(plan);
  }
  Index pieces(const Plan& plan, const LineSet& lines) const override {
    const Beside* beside = plan.find<Beside>();
    return beside != nullptr && beside->segments > 0 ? lines.count() * beside->segments : Scheme::pieces(plan, lines);
  }
};

/// Rows swept per row solved. The first segment of a line has no halo above it, the last segment has no halo below it.
inline double overlap_of_segments(const Plan& plan) {
  const auto segments = static_cast<double>(plan.as<Beside>().segments);
  const double cut = segments > 0 ? 1 - 1 / segments : 1;
  return plan.m > 0 ? 1 + cut * 2 * static_cast<double>(plan.halo) / static_cast<double>(plan.m) : 1;
}

}  // namespace oclspkt
