// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>
#include <vector>

namespace oclspkt::cuda {

enum class TokenKind {
  word,       ///< a name, a keyword, or a number
  sign,       ///< one character
  literal,    ///< a string or a character
  condition,  ///< if, else or endif: #ifdef and #ifndef are if, #elif is else
  pragma,     ///< the whole line from its '#' on
};

/// A token of C that lies in the text it was read from.
struct Token {
  TokenKind kind;
  std::string_view text;  ///< of a condition that word, which the text may spell otherwise
  int directive;          ///< number of the line of the preprocessor that it is in, 0 if none
  bool taken = false;     ///< rewritten already
};

/// The tokens of a text but comments, blanks, and the lines of the preprocessor other than #define, #pragma and
/// conditions, of which what is told is only their kind.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace oclspkt::cuda
