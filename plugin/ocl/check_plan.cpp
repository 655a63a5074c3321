// SPDX-License-Identifier: BSD-2-Clause
#include "check_plan.hpp"

#include "error_name.hpp"
#include "geometry.hpp"
#include "grid_plan.hpp"

namespace oclspkt::ocl {

void check_plan(const FoundDevice& found, const DeviceSettings& settings, const Plan& plan, const LineSet& lines,
                std::size_t word) {
  if (plan.made_by != nullptr && plan.n == lines.rows()) return;
  if (plan.n > 0 && !device_carries(plan, lines)) {
    throw InvalidInput(describe(found.info) + " has no kernels for method " + name(plan.method) + " and " +
                       lines.describe() +
                       ": choose truncated-halo, truncated-streamed, exact-twopass or exact-factored "
                       "(make_twisted_plan) for lines laid end to end, exact-factored, truncated-halo or, by kernels "
                       "made for GPUs (make_grid_plan), truncated-streamed for lines side by side, or the host");
  }
  if (plan.n > 0 && plan.method == Method::truncated_streamed && !plan.has<StoredFactors>() && !grid(plan)) {
    throw InvalidInput(describe(found.info) +
                       " solves truncated-streamed only by stored factors: use make_stored_plan or make_run_plan");
  }
  const bool contiguous = lines.contiguous();
  const bool cuts_lines = !contiguous && (plan.method == Method::truncated_halo || grid(plan));
  if (plan.n > 0 && cuts_lines != (segments_of(plan) > 0)) {
    throw InvalidInput(std::string("the plan is for lines ") + (contiguous ? "side by side" : "laid end to end") +
                       ", the bands are " + lines.describe() + ": make the plan for these lines");
  }
  if (lines.rows() != plan.n) {
    throw InvalidInput("the plan has " + std::to_string(plan.n) + " rows, the bands are " + lines.describe() +
                       ": make the plan for these lines");
  }
  const bool is_double = word == sizeof(double);
  if (plan.by_groups()) {
    if (found.by_groups(settings.variant)) return;
    throw InvalidInput("the plan is by work-groups, " + describe(found.info) +
                       " uses kernels made for CPUs: choose variant gpu");
  }
  if (found.by_task(settings.variant)) {
    throw InvalidInput("the plan is by lanes, " + describe(found.info) +
                       " uses kernels made for FPGAs: choose variant cpu");
  }
  const int lanes = lines.contiguous() ? found.tile_lanes(is_double) : found.lanes(is_double);
  if (plan.n > 0 && plan.lanes != lanes) {
    throw InvalidInput("the plan is for " + std::to_string(plan.lanes) + " lanes, " + describe(found.info) + " has " +
                       std::to_string(lanes) + ": make the plan with the traits of this device");
  }
}

}  // namespace oclspkt::ocl
