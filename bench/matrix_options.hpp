// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "matrices.hpp"

namespace oclspkt::bench {

/// The options of a command that say which matrix it is about.
class MatrixOptions {
 public:
  void add_to(boost::program_options::options_description& all);
  /// @throws InvalidInput for a matrix that there is not, a figure that it does not have, or one out of range
  MatrixSpec read(const boost::program_options::variables_map& given) const;

 private:
  MatrixSpec spec_;
  std::string name_ = name(spec_.matrix);
};

}  // namespace oclspkt::bench
