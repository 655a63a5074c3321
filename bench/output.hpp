// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record.hpp"

namespace oclspkt::bench {

/// The table that a person reads: a heading, a line for each record, and the cause below where there is no time.
std::string table(const std::vector<Record>& records);

/// The records as JSON. Figures that do not exist (no time, error NaN) are null.
nlohmann::ordered_json to_json(const std::vector<Record>& records);

}  // namespace oclspkt::bench
