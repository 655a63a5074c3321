// SPDX-License-Identifier: BSD-2-Clause
// Tuned figures of a device that no file of the library is for.
#pragma once

#include <string>
#include <vector>

#include "measure_schemes.hpp"

namespace oclspkt::bench::gpu {

/// Halve and double the figures of a device one after the other, as long as the cases whose plans change by it get
/// faster, and keep what is faster. Costs, which decide between schemes, stay.
/// @param seconds  nothing is tried later than that
/// @return a file as OCLSPKT_TUNING names it, of the tables that are other than the library's
std::string tune_figures(const std::vector<SchemeCase>& cases, const SchemePlace& place, double seconds);

}  // namespace oclspkt::bench::gpu
