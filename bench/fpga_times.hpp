// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "fpga_board.hpp"

namespace oclspkt::bench {

/// Print what the model predicts of a board: each kernel in each form, what limits it, and its operations.
/// @return the same figures, in seconds
/// @throws InvalidInput for a board with a meaningless figure
nlohmann::ordered_json print_fpga_times(const DescribedBoard& board, Index rows, std::ostream& out);

/// `oclspkt-bench fpga-model`. @return 0
/// @throws InvalidInput for what the caller can mend
int fpga_model_command(const std::vector<std::string>& arguments, const std::string& command);

}  // namespace oclspkt::bench
