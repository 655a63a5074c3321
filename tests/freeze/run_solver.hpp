// SPDX-License-Identifier: BSD-2-Clause
// A life of a Solver, told in a text.
#pragma once

#include "cases.hpp"
#include "hash.hpp"
#include "oclspkt/solver.hpp"
#include "on_device.hpp"
#include "systems.hpp"

namespace oclspkt::freeze {

/// What happens to a solver after its first apply.
struct Life {
  bool again = false;      ///< it applies again, and is set up again with other values
  bool transpose = false;  ///< it solves the transposed system, too
  bool on_device = false;  ///< with vectors in buffers of the device, too
  Known known = {};
};

template <typename T>
class SolverRun {
 public:
  SolverRun(const Options& options, Kind kind, const LineSet& lines, const Life& life)
      : solver_(options), kind_(kind), lines_(lines), life_(life), y_(test::random_vector<T>(lines.extent())) {}

  std::string text() {
    const Bands<T> bands = matrix<T>(kind_, lines_);
    solver_.set_up(lines_, bands.view().lower, bands.view().diag, bands.view().upper, life_.known);
    tell(text_of(solver_.report()));
    apply();
    if (life_.again) live_on();
    if (life_.transpose) {
      std::vector<T> x = unsolved();
      solver_.apply_transpose(y_.data(), x.data());
      tell("transposed " + hash_of(x) + " " + text_of(solver_.transposed().report()));
    }
    if (life_.on_device && solver_.device_handles()) {
      tell("on device " + apply_on_device<T>(solver_.device_handles(), y_,
                                             [&](_cl_mem* y, _cl_mem* x) { solver_.apply_on_device(y, x); }));
    }
    const Counts counts = solver_.counts();
    tell("set-ups " + std::to_string(counts.set_ups) + ", uploads " + std::to_string(counts.uploads) + ", trials " +
         std::to_string(counts.trials));
    return text_;
  }

 private:
  void tell(const std::string& what) { text_ += (text_.empty() ? "" : " | ") + what; }
  /// Places of no line keep this.
  std::vector<T> unsolved() const { return std::vector<T>(y_.size(), T(77)); }
  void apply() {
    std::vector<T> x = unsolved();
    solver_.apply(y_.data(), x.data());
    tell("x " + hash_of(x));
  }
  void live_on() {
    apply();
    Bands<T>& bands = solver_.bands(lines_);
    for (Index i = 0; i < lines_.extent(); ++i) bands.diag()[i] *= T(2);
    solver_.set_up(life_.known);
    tell("again " + text_of(solver_.report()));
    apply();
    Bands<T> copy;
    solver_.copy_bands(copy);
    tell("diag " + hash_of(copy.diag(), static_cast<std::size_t>(lines_.extent()) * sizeof(T)));
  }

  Solver<T> solver_;
  Kind kind_;
  LineSet lines_;
  Life life_;
  std::vector<T> y_;
  std::string text_;
};

template <typename T>
void add_solver_case(Cases& cases, const std::string& name, const Options& options, Kind kind, const Shape& shape,
                     const Life& life = {}, bool quick = false) {
  const std::string full = name + " " + freeze::name(kind) + " " + shape.name + " " + kScalarName<T>;
  cases.push_back({full, quick, [=] { return SolverRun<T>(options, kind, shape.make(), life).text(); }});
}
template <typename... Arguments>
void add_solver_cases_of_both(Cases& cases, const Arguments&... arguments) {
  add_solver_case<float>(cases, arguments...);
  add_solver_case<double>(cases, arguments...);
}

}  // namespace oclspkt::freeze
