// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <vector>

#include "oclspkt/cut_solver.hpp"

namespace oclspkt {

/// Errors of a collective call: what one process meets is known to all before any of them goes on to talk.
class Accord {
 public:
  explicit Accord(Exchange& exchange) : exchange_(exchange) {}

  /// Do what may throw, unless something threw before; agree() tells.
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
  /// @throws what attempt() met; without that InvalidInput or Breakdown that names the process and its text
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
