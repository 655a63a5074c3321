// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "oclspkt/options.hpp"

namespace oclspkt::petsc {

inline constexpr const char* kOptionPrefix = "-pc_oclspkt_";

enum class Combine { additive, factored, symmetric, multiplicative };

/// The diagonal of a direction's tridiagonal matrix: the diagonal of the whole matrix, or only the part that balances
/// the direction's couplings (ADI).
enum class Diagonal { full, split };

/// The response to matrix entries in no direction's bands: nothing, a warning if no Krylov method corrects for these
/// entries, or an error.
enum class Ignored { ignore, warn, error };

inline constexpr const char* kCombineNames[] = {"additive", "factored", "symmetric", "multiplicative"};
inline constexpr const char* kDiagonalNames[] = {"full", "split"};
inline constexpr const char* kIgnoredNames[] = {"ignore", "warn", "error"};

/// The values of all options of the preconditioner. Settings adds the preconditioner's own options to the solver's.
struct Settings : Options {
  std::string lines = "auto";  ///< auto, or directions joined by commas
  Combine combine = Combine::factored;
  Diagonal diagonal = Diagonal::full;
  Ignored ignored = Ignored::warn;
  bool explain = false;  ///< print the choice of method and device after every set-up

  bool operator==(const Settings&) const = default;
};

/// A member of Settings whose value is a word from a list.
struct Choice {
  std::span<const char* const> names;
  int (*get)(const Settings&);
  void (*set)(Settings&, int);
};

/// Access to a member of Settings, for writing and for reading.
template <typename T>
struct Member {
  T& (*writable)(Settings&);
  const T& (*readable)(const Settings&);
  T& operator()(Settings& settings) const { return writable(settings); }
  const T& operator()(const Settings& settings) const { return readable(settings); }
};
/// The member behind an option; its type decides how the option is read and printed.
using Field = std::variant<Member<std::string>, Member<double>, Member<Index>, Member<bool>, Choice>;

/// One option of the preconditioner. Default-constructed Settings hold the default.
struct OptionEntry {
  const char* name;      ///< without kOptionPrefix
  const char* function;  ///< the C functions are PCOCLSPKTSet<function> and PCOCLSPKTGet<function>
  const char* argument;  ///< C type of the setter's argument
  const char* unit;      ///< unit of the value, for the help; empty for words and switches
  Field field;
  const char* help;      ///< one line
  const char* notes;     ///< more text for the manual page
  bool by_rank = false;  ///< ranks may have different values
};

/// All options. The help, the view, the documentation, the Fortran module and the Python helper are made from this
/// table.
std::span<const OptionEntry> option_table();

/// One value that a function returns through a pointer.
struct ResultValue {
  const char* name;
  const char* type;  ///< C type of the value
  const char* help;
};

/// A function that returns results of the last set-up. A call before a set-up is an error. A second function may return
/// the results for one direction.
struct ResultEntry {
  const char* function;  ///< the C functions are PCOCLSPKTGet<function> and PCOCLSPKTGetDirection<function>
  std::vector<ResultValue> values;
  const char* help;                      ///< one line
  const char* level;                     ///< PETSc's level of the manual page: intermediate or advanced
  const char* notes;                     ///< more text for the manual page
  const char* see_also;                  ///< functions joined by spaces, without PCOCLSPKT
  const char* direction_help = nullptr;  ///< help of the function for one direction; null: there is no such function
  const char* direction_notes = nullptr;
};

/// The input that names the direction. Functions for one direction take this input before their values.
extern const ResultValue kDirectionInput;

const std::vector<ResultEntry>& result_table();

/// A function that passes vectors or index sets to the preconditioner.
struct ActionEntry {
  const char* function;             ///< the C function is PCOCLSPKT<function>
  std::vector<ResultValue> inputs;  ///< IS, Vec or text
  const char* help;                 ///< one line, begins with a verb
  const char* notes;
  const char* see_also;  ///< functions joined by spaces, without PCOCLSPKT
};

const std::vector<ActionEntry>& action_table();

/// The value as a user would type it.
std::string value_text(const OptionEntry& entry, const Settings& settings);

/// The words that a choice accepts, indexed by its values; empty for other options.
std::span<const char* const> words_of(const OptionEntry& entry);

/// The words of a choice as "a|b|c"; `<unit>` for numbers and free text.
std::string values_text(const OptionEntry& entry);

/// The options that differ from their defaults, as on a command line; empty if all have their defaults.
std::string non_default_options(const Settings& settings);

}  // namespace oclspkt::petsc
