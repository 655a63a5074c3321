// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measures.hxx"

namespace oclspkt::bench::petsc {

/// The table that a person reads.
std::string table(const Part& part);

/// A record for each contestant of each part.
nlohmann::ordered_json to_json(const std::vector<Part>& parts);

/// Medians over rounds of our times over those that they are held against, named.
nlohmann::ordered_json ratios(const std::vector<Part>& parts);

}  // namespace oclspkt::bench::petsc
