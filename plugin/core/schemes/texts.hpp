// SPDX-License-Identifier: BSD-2-Clause
// Texts and counts of words that several schemes share.
#pragma once

#include <string>

#include "format.hpp"
#include "plan.hpp"

namespace oclspkt {

/// "work-groups of 128 x 16 rows"
inline std::string groups_text(const Plan& plan) {
  return format("work-groups of %d x %d rows", plan.items, plan.item_rows);
}

/// "narrow stored factors", "shared factors"
inline std::string factors_text(const Plan& plan) {
  return std::string(plan.narrow ? "narrow " : "") + (plan.form == Form::general ? "stored" : name(plan.form)) +
         " factors";
}

/// Words a row of a scheme that reads y and the bands twice, and writes x.
inline constexpr double kWordsOfTwoPasses = 9;

/// Words a row of a scheme that reads y and the bands, or stored factors, once, and writes x.
inline double words_of_one_pass(const Plan& plan) {
  const double each = plan.narrow ? 0.5 : 1;  // a narrow number takes half a word
  return 1 + plan.overlap() * (1 + (plan.form == Form::shared ? 0 : plan.symmetric() ? 2 : 3) * each);
}

}  // namespace oclspkt
