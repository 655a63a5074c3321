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

/// A token of C; it refers to the text that it was read from.
struct Token {
  TokenKind kind;
  std::string_view text;  ///< for a condition "if", "else" or "endif", however the text spells it
  int directive;          ///< number of the preprocessor line that contains it, 0 if none
  bool taken = false;     ///< already rewritten
};

/// The tokens of a text without comments and blanks. Preprocessor lines other than #define, #pragma and conditions are
/// left out; of conditions only the kind is returned.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace oclspkt::cuda
