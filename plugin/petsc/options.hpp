// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "oclspkt/options.hpp"

namespace oclspkt::petsc {

/// What every option of the preconditioner begins with.
inline constexpr const char* kOptionPrefix = "-pc_oclspkt_";

/// How the operators of several directions make one.
enum class Combine { additive, factored, symmetric, multiplicative };

/// Which part of the diagonal goes with the couplings of a direction: all of it, or what they balance (ADI).
enum class Diagonal { full, split };

/// What happens if the matrix has entries that no direction takes: nothing, a warning where no Krylov method makes up
/// for them, or an error.
enum class Ignored { ignore, warn, error };

inline constexpr const char* kCombineNames[] = {"additive", "factored", "symmetric", "multiplicative"};
inline constexpr const char* kDiagonalNames[] = {"full", "split"};
inline constexpr const char* kIgnoredNames[] = {"ignore", "warn", "error"};

/// What the options of the preconditioner set: the solver's, and what the solver does not know of.
struct Settings : Options {
  std::string lines = "auto";  ///< auto, or directions joined by commas, see parse_directions()
  Combine combine = Combine::factored;
  Diagonal diagonal = Diagonal::full;
  Ignored ignored = Ignored::warn;
  bool explain = false;  ///< print the choice of method and device after every set-up

  bool operator==(const Settings&) const = default;
};

/// A member of Settings that takes one of a list of words.
struct Choice {
  std::span<const char* const> names;
  int (*get)(const Settings&);
  void (*set)(Settings&, int);
};

/// The member behind an option; its type decides how the option is read and printed.
using Field = std::variant<std::string Settings::*, double Settings::*, Index Settings::*, bool Settings::*, Choice>;

/// One option of the preconditioner. The default is not here: it is what default-constructed Settings hold.
struct OptionEntry {
  const char* name;      ///< without kOptionPrefix
  const char* function;  ///< the C functions are PCOCLSPKTSet<function> and PCOCLSPKTGet<function>
  const char* argument;  ///< C type of what the setter takes
  const char* unit;      ///< what the value counts, for the help; empty for words and switches
  Field field;
  const char* help;      ///< one line
  const char* notes;     ///< what a manual page adds to the help
  bool by_rank = false;  ///< it shapes the work of a rank alone, so ranks may have different values
};

/// The only place where the options are listed; the help, the view, the documentation, the Fortran module and the
/// Python helper are made from it.
std::span<const OptionEntry> option_table();

/// One value that a function hands out through a pointer.
struct ResultValue {
  const char* name;
  const char* type;  ///< C type of the value
  const char* help;
};

/// A function that tells what the last set-up chose; an error before it. Another one may tell it of one direction.
struct ResultEntry {
  const char* function;  ///< the C functions are PCOCLSPKTGet<function> and PCOCLSPKTGetDirection<function>
  std::vector<ResultValue> values;
  const char* help;                      ///< one line
  const char* level;                     ///< for whom: intermediate or advanced
  const char* notes;                     ///< what a manual page adds to the help
  const char* see_also;                  ///< functions joined by spaces, without PCOCLSPKT
  const char* direction_help = nullptr;  ///< of the function for one direction; null: there is none
  const char* direction_notes = nullptr;
};

/// What the functions for one direction are asked for, in front of their values.
extern const ResultValue kDirectionInput;

/// The only place where the functions are listed that report on the last set-up.
const std::vector<ResultEntry>& result_table();

/// A function that hands vectors or index sets over.
struct ActionEntry {
  const char* function;             ///< the C function is PCOCLSPKT<function>
  std::vector<ResultValue> inputs;  ///< IS, Vec or text
  const char* help;                 ///< one line, begins with a verb
  const char* notes;
  const char* see_also;  ///< functions joined by spaces, without PCOCLSPKT
};

/// The only place where the functions are listed by which a program hands over vectors and index sets.
const std::vector<ActionEntry>& action_table();

/// The value as a user would type it.
std::string value_text(const OptionEntry& entry, const Settings& settings);

/// The words a choice takes, by its values; none for other options.
std::span<const char* const> words_of(const OptionEntry& entry);

/// The words a choice takes, "a|b|c"; `<unit>` for numbers and free text.
std::string values_text(const OptionEntry& entry);

/// The options that differ from their defaults, as they stand on a command line; empty if none does.
std::string non_default_options(const Settings& settings);

}  // namespace oclspkt::petsc
