// SPDX-License-Identifier: BSD-2-Clause
#include "check_plan.hpp"

#include "error_name.hpp"
#include "schemes/scheme.hpp"
#include "schemes/table.hpp"

namespace oclspkt::ocl {

void check_plan(const FoundDevice& found, const DeviceSettings& settings, const Plan& plan, const LineSet& lines,
                std::size_t word) {
  const Scheme& scheme = scheme_of(plan);
  carrier_of(plan);
  if (!scheme.fits(plan, lines)) {
    throw InvalidInput(std::string("the plan of scheme ") + scheme.name() + " is for " + std::to_string(plan.n) +
                       " rows, the bands are " + lines.describe() + ": make the plan for these lines");
  }
  const std::string device = describe(found.info);
  const bool by_groups = scheme.kernels() == Kernels::groups;
  if (by_groups && !found.by_groups(settings.variant)) {
    throw InvalidInput("the plan is by work-groups, " + device + " uses kernels made for CPUs: choose variant gpu");
  }
  const int lanes = lines.contiguous() ? found.tile_lanes(word == sizeof(double)) : found.lanes(word == sizeof(double));
  if (!by_groups && plan.lanes > 1 && (plan.lanes != lanes || found.by_task(settings.variant))) {
    throw InvalidInput("the plan is for kernels by " + std::to_string(plan.lanes) + " lanes, " + device + " has " +
                       std::to_string(lanes) +
                       " or uses kernels made for FPGAs: make the plan with the traits of this device");
  }
}

}  // namespace oclspkt::ocl
