// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
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

/// Expect that a call throws an E whose text holds all words.
template <typename E = InvalidInput, typename Call>
void expect_refusal(const Call& call, const std::initializer_list<std::string>& words) {
  const std::string text = thrown_text<E>(call);
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text << ", not " << word;
}
template <typename E = InvalidInput, typename Call>
void expect_refusal(const Call& call, const std::string& word) {
  expect_refusal<E>(call, {word});
}

}  // namespace oclspkt::test
