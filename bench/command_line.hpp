// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "measure.hpp"
#include "oclspkt/line_set.hpp"

namespace oclspkt::bench {

/// Read the arguments of `command` into the variables that `options` name. An option "help" prints them all.
/// @return the values given; empty if only the help was asked for
/// @throws InvalidInput that names the option and where the help is
boost::program_options::variables_map read_command_line(const std::vector<std::string>& arguments,
                                                        const std::string& command,
                                                        const boost::program_options::options_description& options);

/// The options of how long is measured.
void add_budget_options(boost::program_options::options_description& all, Budget& budget);

/// @throws InvalidInput unless there is a round at least, and no time is negative
void check_budget(const Budget& budget);

/// The option that lets the tests of the output run anywhere.
void add_allow_debug(boost::program_options::options_description& all, bool& allow_debug);

/// A number of rows, also as 2e7.
/// @throws InvalidInput unless it is a whole number from 1 to 2^40
Index parse_rows(const std::string& text, const std::string& option = "rows");

/// @throws InvalidInput unless it is float or double
void check_precision(const std::string& precision);

}  // namespace oclspkt::bench
