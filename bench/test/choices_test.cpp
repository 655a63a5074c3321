// SPDX-License-Identifier: BSD-2-Clause
#include "choices.hpp"

#include <gtest/gtest.h>

#include "program.hpp"

namespace oclspkt::bench {
namespace {

using test::run_program;

/// The text between the heading of a case and the next one.
std::string section(const std::string& page, const MatrixSpec& spec) {
  const auto begin = page.find("## " + spec.describe() + "\n");
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("\n## ", begin) - begin);
}

TEST(ChoicesCommand, ExplainsEveryCaseAndSumsUp) {
  const auto run = run_program("choices --devices host --rows 2e4");
  ASSERT_EQ(run.status, 0) << run.output;
  for (const MatrixSpec& spec : choice_cases()) {
    const std::string text = section(run.output, spec);
    EXPECT_NE(text.find(": taken, "), std::string::npos) << spec.describe() << '\n' << text;
    const bool dominant = spec.matrix != Matrix::random || spec.dominance >= 1;
    EXPECT_NE(run.output.find("| " + spec.describe() + (dominant ? " | exact-factored | host |" : " | pivot | host |")),
              std::string::npos)
        << spec.describe();
  }
}

TEST(ChoicesCommand, NamesBadInput) {
  EXPECT_NE(run_program("choices --precision half").output.find("float or double"), std::string::npos);
  EXPECT_NE(run_program("choices --rows 0").output.find("whole number"), std::string::npos);
  EXPECT_EQ(run_program("choices --help").status, 0);
}

}  // namespace
}  // namespace oclspkt::bench
