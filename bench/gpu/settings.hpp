// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oclspkt/line_set.hpp"
#include "oclspkt/options.hpp"

namespace oclspkt::bench::gpu {

/// What bands of lines are there for, by which they are chosen.
inline constexpr const char* kBandWords[] = {"general", "symmetric", "shared", "narrow"};

/// A matrix of one system by the word that names it on the command line.
inline constexpr const char* kMatrixWords[] = {"d3",        "d1.2",      "d1.01",     "lambda10", "lambda1e2",
                                               "lambda1e3", "lambda1e4", "lambda1e5", "poisson",  "scaled1e4"};

/// What oclspkt-bench-gpu and oclspkt-bench-cusparse take from the command line. Both take the same, so that one line
/// runs both; the latter has no use for device, variant, matrices, methods and named_rows.
struct Settings {
  std::string file;                                 ///< of the results
  std::string device = "gpu", variant = "default";  ///< as of Options; the first device that the words name
  bool small_systems = true;                        ///< one system of at most kSmallRows
  bool long_systems = true;                         ///< one system of more rows
  bool lines = true;                                ///< many lines
  std::vector<Index> rows = {10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 270'000'000};  ///< of one system
  std::vector<std::string> matrices{std::begin(kMatrixWords), std::end(kMatrixWords)};           ///< of one system
  std::vector<MethodChoice> methods{MethodChoice::automatic, MethodChoice::truncated_halo,
                                    MethodChoice::truncated_streamed, MethodChoice::exact_factored,
                                    MethodChoice::exact_twopass};  ///< of one system
  Index named_rows = 100'000'000;                                  ///< the size at which others than auto are timed
  Index line_rows = 30'000'000;                                    ///< of all lines together, about
  std::vector<std::string> bands{std::begin(kBandWords), std::end(kBandWords)};  ///< of lines
  std::vector<Index> lengths = {64, 256, 1024, 4096, 16384, 65536};
  std::vector<std::string> scalars = {"float", "double"};
  int repetitions = 7;
  int repeats = 0;                                           ///< applies whose bits are compared
  double seconds = std::numeric_limits<double>::infinity();  ///< no case begins later
  bool enqueued = false;                                     ///< applies go into a queue of the caller
  bool allow_debug = false;

  static constexpr Index kSmallRows = 1'000'000;
};

/// @return nothing if the help was asked for, and printed
/// @throws InvalidInput that names the option and what it takes
std::optional<Settings> parse_settings(int argc, char** argv);

// What lists and numbers of options are read by. @throws InvalidInput that names the option and what it takes
double parse_number(const std::string& word, const std::string& option, double least, double most);
std::vector<Index> parse_row_list(const std::string& list, const std::string& option);
std::vector<std::string> parse_names(const std::string& list, const std::string& option,
                                     std::span<const char* const> known);

/// Give each option of a command line to `take`, by its name, and its value.
/// @param names    of the options, joined by blanks; those that take a value end in =. "help" is known without it
/// @param help     with a place for the name of the program
/// @return the words behind the options; nothing if the help was asked for, and printed
/// @throws InvalidInput for an option that is not known
std::optional<std::vector<std::string>> parse_options(
    int argc, char** argv, const std::string& names, const char* help,
    const std::function<void(const std::string& name, const std::string& value)>& take);

/// The one file that a command line names.
/// @throws InvalidInput if it names none, or several
std::string file_among(const std::vector<std::string>& words);

/// The command line for the records, without the folder of the program and the name of the file.
std::string command_of(int argc, char** argv, const std::string& file);

/// Run a program and tell what it throws on stderr.
/// @return what main() returns: what the program gives, 2 after InvalidInput, 1 after any other exception
int run_program(const std::function<int()>& program);

}  // namespace oclspkt::bench::gpu
