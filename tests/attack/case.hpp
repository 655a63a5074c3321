// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "oclspkt/line_set.hpp"

namespace oclspkt::attack {

enum class Layout { one, equal, unequal, beside };
inline constexpr const char* kLayoutNames[] = {"one", "equal", "unequal", "beside"};

/// How a system is solved.
///   plain      by the first set-up of a solver
///   later      by the second, after one with a tame matrix of the same family
///   transpose  by apply_transpose()
enum class Use { plain, later, transpose };
inline constexpr const char* kUseNames[] = {"plain", "later", "transpose"};

/// How the units of columns are spread.
///   each    each column has its own
///   blocks  1 and another one by turns, from some places of the line on
///   decays  falling to the middle of the line and rising behind it, as exponentials of a potential do
///   turns   two units, by turns in every column
enum class Pattern { each, blocks, decays, turns };
inline constexpr const char* kPatternNames[] = {"each", "blocks", "decays", "turns"};

/// A number of the matrix that is multiplied by another one.
struct Edit {
  char band = 'd';  ///< l, d, u
  Index at = 0;     ///< offset of the row
  double factor = 1;
};

/// Most parameters that a family has.
inline constexpr int kMostParameters = 4;

/// All that is needed to make one system of the attack again.
struct Case {
  std::string family = "jump";
  Index rows = 100;  ///< of a line; of unequal lines of the longest
  Index lines = 1;
  Layout layout = Layout::one;
  std::array<double, kMostParameters> parameters{};  ///< in the order of the family's parameters
  bool over_diagonal = false;                        ///< rows divided by their diagonal
  bool reversed = false;                             ///< the last row first
  bool transposed = false;                           ///< the matrix; `use` transpose solves with the transpose
  double row_decades = 0, column_decades = 0;        ///< rows, columns are scaled by up to 10^+-this
  Pattern pattern = Pattern::each;                   ///< of the scales of columns
  bool inverse_rows = false;                         ///< rows are divided by the unit of their diagonal's column
  double range = 0;                                  ///< all numbers are multiplied by 10^this
  Use use = Use::plain;
  double rtol = 0;      ///< Options::rtol
  Index partition = 0;  ///< Options::partition
  std::uint64_t seed = 1;
  std::vector<Edit> edits;
};

/// What is wrong with a text that stands for a case or an option.
class BadText : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "jump rows=597 at=347 K=1.7e13 ..."; what has its default is left out.
std::string to_text(const Case& c);

/// @throws BadText
Case parse_case(const std::string& text);

/// @throws BadText
double parse_number(const std::string& word, const std::string& name);

}  // namespace oclspkt::attack
