// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt {

/// Errors of a collective call: all processes learn the error of one before any of them communicates again.
class Accord {
 public:
  explicit Accord(Exchange& exchange) : exchange_(exchange) {}

  /// Call f unless an earlier call threw; agree() reports the exception.
  template <typename F>
  void attempt(const F& f) {
    if (own_) return;
    try {
      f();
    } catch (...) {
      own_ = std::current_exception();
    }
  }
  /// Collective: the largest of each value over all processes.
  /// @throws the exception of attempt(); on others InvalidInput, NotFinite or Breakdown with the process and its text
  void agree(std::vector<double>& values);
  void agree() {
    std::vector<double> none;
    agree(none);
  }

 private:
  [[noreturn]] void tell(int process);

  Exchange& exchange_;
  std::exception_ptr own_;
};

}  // namespace oclspkt
