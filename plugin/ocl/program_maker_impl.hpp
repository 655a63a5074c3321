// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "program_maker.hpp"

namespace oclspkt::ocl {

/// The program maker of the process.
ProgramMaker& program_maker();

}  // namespace oclspkt::ocl
