// SPDX-License-Identifier: BSD-2-Clause
#include "cut_rounding.hpp"

#include <algorithm>

#include "oclspkt/report.hpp"

namespace oclspkt {
namespace {

/// The rounding bound of a row next to a cut, in eps.
double next_to_cut(double spike_size, double dominance) {
  constexpr double kDominant = 9, kOther = 20;
  return dominance >= 1 ? kDominant : kOther * (1 + spike_size);
}

}  // namespace

double rounding_of_part(const CutPartErrors& errors, double dominance) {
  const double inner = (errors.inner + 1) * (1 + errors.spike_size) + errors.spike_error;
  const double beside = next_to_cut(errors.spike_size, dominance);
  return inner <= beside ? beside : inner;  // NaN stays
}

double inner_rounding_limit(double dominance) {
  // Spikes that the inner rows' own method solves leave 1 or 2 eps in a row; the rounding of their residual counts as
  // much again.
  constexpr double kSpikeError = 4, kWithoutDominance = 20;
  if (!(dominance >= 1)) return kWithoutDominance;
  return (kRoundingLimit - kSpikeError) / (1 + 1 / dominance) - 1;
}

}  // namespace oclspkt
