// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "oclspkt/options.hpp"

namespace oclspkt::petsc {

/// The prefix of every option of the preconditioner.
inline constexpr const char* kOptionPrefix = "-pc_oclspkt_";

/// How the operators of several directions are combined to one.
enum class Combine { additive, factored, symmetric, multiplicative };

/// The diagonal of a direction's tridiagonal matrix: the whole diagonal of the matrix, or the part that balances the
/// direction's couplings (ADI).
enum class Diagonal { full, split };

/// What happens if the matrix has entries that no direction takes: nothing, a warning if no Krylov method makes up for
/// these entries, or an error.
enum class Ignored { ignore, warn, error };

inline constexpr const char* kCombineNames[] = {"additive", "factored", "symmetric", "multiplicative"};
inline constexpr const char* kDiagonalNames[] = {"full", "split"};
inline constexpr const char* kIgnoredNames[] = {"ignore", "warn", "error"};

/// The values of all options of the preconditioner: the solver's Options, and settings that the solver does not know.
struct Settings : Options {
  std::string lines = "auto";  ///< auto, or directions joined by commas, see parse_directions()
  Combine combine = Combine::factored;
  Diagonal diagonal = Diagonal::full;
  Ignored ignored = Ignored::warn;
  bool explain = false;  ///< print the choice of method and device after every set-up

  bool operator==(const Settings&) const = default;
};

/// A member of Settings whose value is a word out of a list.
struct Choice {
  std::span<const char* const> names;
  int (*get)(const Settings&);
  void (*set)(Settings&, int);
};

/// How to find a member of Settings, to write and to read it.
template <typename T>
struct Member {
  T& (*writable)(Settings&);
  const T& (*readable)(const Settings&);
  T& operator()(Settings& settings) const { return writable(settings); }
  const T& operator()(const Settings& settings) const { return readable(settings); }
};
/// The member behind an option; its type decides how the option is read and printed.
using Field = std::variant<Member<std::string>, Member<double>, Member<Index>, Member<bool>, Choice>;

/// One option of the preconditioner. The default is not here: it is what default-constructed Settings hold.
struct OptionEntry {
  const char* name;      ///< without kOptionPrefix
  const char* function;  ///< the C functions are PCOCLSPKTSet<function> and PCOCLSPKTGet<function>
  const char* argument;  ///< C type of the setter's argument
  const char* unit;      ///< unit of the value, for the help; empty for words and switches
  Field field;
  const char* help;      ///< one line
  const char* notes;     ///< what a manual page adds to the help
  bool by_rank = false;  ///< the option concerns the work of one rank alone, so ranks may have different values
};

/// The only list of the options; the help, the view, the documentation, the Fortran module and the Python helper are
/// made from it.
std::span<const OptionEntry> option_table();

/// One value that a function returns through a pointer.
struct ResultValue {
  const char* name;
  const char* type;  ///< C type of the value
  const char* help;
};

/// A function that returns a result of the last set-up; before a set-up the call is an error. A second function may
/// return the result for one direction.
struct ResultEntry {
  const char* function;  ///< the C functions are PCOCLSPKTGet<function> and PCOCLSPKTGetDirection<function>
  std::vector<ResultValue> values;
  const char* help;                      ///< one line
  const char* level;                     ///< for whom: intermediate or advanced
  const char* notes;                     ///< what a manual page adds to the help
  const char* see_also;                  ///< functions joined by spaces, without PCOCLSPKT
  const char* direction_help = nullptr;  ///< help of the function for one direction; null: there is no such function
  const char* direction_notes = nullptr;
};

/// The argument that names the direction; the functions for one direction take it before their values.
extern const ResultValue kDirectionInput;

/// The only list of the functions that report on the last set-up.
const std::vector<ResultEntry>& result_table();

/// A function by which a program gives vectors or index sets to the preconditioner.
struct ActionEntry {
  const char* function;             ///< the C function is PCOCLSPKT<function>
  std::vector<ResultValue> inputs;  ///< IS, Vec or text
  const char* help;                 ///< one line, begins with a verb
  const char* notes;
  const char* see_also;  ///< functions joined by spaces, without PCOCLSPKT
};

/// The only list of the functions by which a program gives vectors and index sets to the preconditioner.
const std::vector<ActionEntry>& action_table();

/// The value as a user would type it.
std::string value_text(const OptionEntry& entry, const Settings& settings);

/// The words that a choice accepts, indexed by its values; empty for other options.
std::span<const char* const> words_of(const OptionEntry& entry);

/// The words that a choice accepts, as "a|b|c"; `<unit>` for numbers and free text.
std::string values_text(const OptionEntry& entry);

/// The options that differ from their defaults, as on a command line; empty if all have their defaults.
std::string non_default_options(const Settings& settings);

}  // namespace oclspkt::petsc
