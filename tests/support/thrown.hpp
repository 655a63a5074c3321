// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "oclspkt/error.hpp"

namespace oclspkt::test {

/// The text of the error that a call throws.
template <typename E = InvalidInput, typename Call>
std::string thrown_text(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace oclspkt::test
