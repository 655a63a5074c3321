// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>

#include "fault.hpp"

namespace oclspkt::test {

/// Counts the calls that the OpenCL module makes and lets some of them fail, until it is destroyed. One at a time.
class Faults {
 public:
  /// Fail the calls number first ... first + times - 1, counted from 0 and now.
  struct Rule {
    int device = -1;  ///< -1: any
    int first = 0, times = 1;
    std::array<bool, std::size(ocl::kPlaces)> places{};  ///< that are counted for `first`
  };

  Faults();
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// Fail calls at any place.
  static void anywhere(int device, int first, int times = 1);
  /// Fail calls at one place.
  static void at(ocl::Place place, int device, int first = 0, int times = 1);
  /// Fail none, and begin to count anew.
  static void none();

  /// Calls since the last of the above: made to fail, and seen at a place.
  static int fired();
  static int seen(ocl::Place place);
  static int seen();

 private:
  static void set(const Rule& rule);
};

/// Set the hook of the module that the solver library has opened.
void set_fault_hook(ocl::FaultHook hook);

/// The code that a failing call answers.
cl_int code_of(ocl::Place place);

}  // namespace oclspkt::test
