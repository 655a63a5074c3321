// SPDX-License-Identifier: BSD-2-Clause
// Every kind of plan, by name.
#pragma once

#include <optional>

#include "device.hpp"
#include "plan.hpp"
#include "systems.hpp"

namespace oclspkt::freeze {

enum class Arrangement { any, equal, beside };

/// A way to make plans.
struct PlanMaker {
  std::string name;
  Variant variant = Variant::cpu;
  Arrangement lines = Arrangement::any;  ///< that it takes; any: laid end to end
  Kind matrix = Kind::dominant;          ///< that its form suits
  bool only_double = false;
  /// No plan where device or lines do not suit.
  std::function<std::optional<Plan>(const LineSet& lines, int word, DeviceTraits traits)> make;
};

std::vector<PlanMaker> makers_for_cpus();
std::vector<PlanMaker> makers_for_gpus();
std::vector<PlanMaker> makers_of_grids();
std::vector<PlanMaker> makers_for_fpgas();

}  // namespace oclspkt::freeze
