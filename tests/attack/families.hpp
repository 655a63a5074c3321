// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <random>

#include "case.hpp"

namespace oclspkt::attack {

/// The random numbers of an attack.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator_); }
  bool chance(double share) { return uniform(0, 1) < share; }
  /// A whole number of [low, high].
  Index whole(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(generator_); }
  double normal() { return std::normal_distribution<double>()(generator_); }
  std::uint64_t seed() { return generator_(); }
  template <typename Values>
  auto of(const Values& values) {
    return values[static_cast<std::size_t>(whole(0, static_cast<Index>(std::size(values)) - 1))];
  }

 private:
  std::mt19937_64 generator_;
};

/// How the values of a parameter are spread.
///   linear       evenly from low to high
///   logarithmic  exponents evenly
///   above_one    1 + 10^low ... 1 + 10^high in half of the draws, 1 ... 1.3 in the others
///   place        a row of the line, half of the draws beside a border of partitions, tiles or work-groups
///   whole        low, low + 1, ..., high
enum class Spread { linear, logarithmic, above_one, place, whole };

struct Parameter {
  const char* name;
  Spread spread = Spread::linear;
  double low = 0, high = 0;
  double high_in_float = 0;  ///< what float draws have for high
  double zeros = 0;          ///< share of the draws that are 0
};

/// One line's bands.
struct Line {
  explicit Line(Index n) : lower(static_cast<std::size_t>(n)), diag(lower), upper(lower) {}
  std::vector<double> lower, diag, upper;
  std::size_t rows() const { return diag.size(); }
};

/// A kind of matrix.
struct Family {
  const char* name;
  std::vector<Parameter> parameters;
  /// Write all rows of a line; the first row's lower and the last row's upper may be anything.
  void (*write)(const std::array<double, kMostParameters>& parameters, Dice& dice, Line& line);
  Index least_rows = 2, most_rows = 6000;
};

const std::vector<Family>& families();
/// @throws BadText
const Family& family_named(const std::string& name);

/// A matrix in double; couplings out of lines are 0.
struct System {
  LineSet lines;
  std::vector<double> lower, diag, upper;  ///< shape [lines.extent()]
  std::vector<int> decade;                 ///< of each column's unit
};

/// The system of a case, always the same.
System make_system(const Case& c);

/// The matrix that a solver has seen before, for Use::later: parameters that spread logarithmically are small.
Case tame(Case c);

/// Draw a case of a family.
/// @param in_float keep to numbers that float can tell apart
Case draw_case(const Family& family, bool in_float, Dice& dice);

/// A case near another one: some of its numbers are changed by a little.
Case near_case(Case c, bool in_float, Dice& dice);

/// The same case with some of its matrix's numbers changed.
Case edited_case(Case c, Dice& dice);

/// A row of [0, rows): half of the draws beside a border of partitions, tiles or work-groups.
Index draw_place(Index rows, Dice& dice);

}  // namespace oclspkt::attack
