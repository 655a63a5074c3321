// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "fpga_model.hpp"

namespace oclspkt::bench {

/// A board as its file describes it.
struct DescribedBoard {
  std::string name = "Bittware A10PL4, as the library knows it (bench/boards/a10pl4.json has the sources)", source;
  std::vector<std::string> fitted;   ///< each figure that was fitted, and to what
  std::vector<std::string> derived;  ///< names of the figures that nobody measured
  FpgaBoard figures;
};

/// Read a board from a JSON file, such as bench/boards/a10pl4.json. Every figure must be there.
/// @throws InvalidInput that names the file, the key and what is legal: for a file that cannot be read or is not JSON,
/// a
///         key that is unknown, missing or of another type, and a figure without meaning
DescribedBoard read_board(const std::string& file);

}  // namespace oclspkt::bench
