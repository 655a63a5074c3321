// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "matrices.hpp"

namespace oclspkt::bench {

/// What `oclspkt-bench choices` takes; the member initialisers are the only place where a default is written.
struct ChoicesSettings {
  std::string devices = "auto";
  std::string precision = "double";
  Index rows = 1'000'000;
};

/// The matrices of the table: constant diffusion, random rows of a dominance, wind of either direction and one that
/// turns.
std::vector<MatrixSpec> choice_cases();

/// The command: print, as a page, what set-up chooses for each of choice_cases() and why.
/// @return 0
/// @throws InvalidInput for what the caller can mend
int choices_command(const std::vector<std::string>& arguments, const std::string& command);

}  // namespace oclspkt::bench
