// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "meter.hpp"

namespace oclspkt {

/// What solvers meter by, but for rated power. Tests change it, before any solver is set up.
OCLSPKT_API MeterSettings& usual_meter_settings();

}  // namespace oclspkt
