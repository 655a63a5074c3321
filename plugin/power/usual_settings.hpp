// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "meter.hpp"

namespace oclspkt {

/// Settings of the solvers' meters, except rated power. Tests change them before any solver is set up.
OCLSPKT_API MeterSettings& usual_meter_settings();

}  // namespace oclspkt
