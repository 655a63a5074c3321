// SPDX-License-Identifier: BSD-2-Clause
#include "matrix_options.hpp"

#include <cmath>

#include "oclspkt/error.hpp"

namespace oclspkt::bench {

namespace po = boost::program_options;

void MatrixOptions::add_to(po::options_description& all) {
  auto add = all.add_options();
  add("matrix", po::value(&name_)->default_value(name_), ("one of: " + known_matrices()).c_str());
  add("dominance", po::value(&spec_.dominance)->default_value(spec_.dominance),
      "of matrix random: |diag| / (|lower| + |upper|)");
  add("symmetric", po::bool_switch(&spec_.symmetric),
      "of matrix random: couplings the same both ways, positive diagonal");
  add("lambda", po::value(&spec_.lambda)->default_value(spec_.lambda),
      "of matrix diffusion: tridiag(-lambda, 1 + 2 lambda, -lambda), and conduction: the same with a random "
      "conductivity");
  add("peclet", po::value(&spec_.peclet)->default_value(spec_.peclet),
      "of matrix advection and turning-wind: tridiag(-1 - Pe, 2 + Pe, -1), mirrored where negative");
  add("seed", po::value(&spec_.seed)->default_value(spec_.seed), "of random numbers");
}

MatrixSpec MatrixOptions::read(const po::variables_map& given) const {
  MatrixSpec spec = spec_;
  spec.matrix = parse_matrix(name_);
  const auto require = [](bool holds, const std::string& otherwise) {
    if (!holds) throw InvalidInput(otherwise);
  };
  const auto only_of = [&](const char* option, bool has_it, const char* owners) {
    require(has_it || given[option].defaulted(),
            std::string("--") + option + " belongs to --matrix " + owners + ", not " + name(spec.matrix));
  };
  only_of("dominance", spec.matrix == Matrix::random, "random");
  only_of("symmetric", spec.matrix == Matrix::random, "random");
  only_of("lambda", diffuses(spec.matrix), "diffusion and conduction");
  only_of("peclet", blows(spec.matrix), "advection and turning-wind");
  require(spec.dominance > 0 && std::isfinite(spec.dominance), "--dominance must be positive");
  require(spec.lambda >= 0 && std::isfinite(spec.lambda), "--lambda must not be negative");
  require(std::isfinite(spec.peclet), "--peclet must be finite");
  return spec;
}

}  // namespace oclspkt::bench
