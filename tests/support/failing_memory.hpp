// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt::test {

/// While it lives, one allocation that our libraries ask for fails, or all from one on: operator new and
/// aligned_alloc(), whichever thread asks. What drivers and other libraries ask for is neither counted nor failed. One
/// at a time; our libraries must be loaded before.
class FailingMemory {
 public:
  /// @param first  the allocation that fails, counted from 0
  /// @param all    those after it fail, too
  FailingMemory(int first, bool all);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  /// Allocations that failed so far.
  static int failed();
};

}  // namespace oclspkt::test
