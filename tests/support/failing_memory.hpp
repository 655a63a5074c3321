// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <set>
#include <utility>
#include <vector>

namespace oclspkt::test {

/// While it lives, one allocation that our libraries ask for fails, or all from one on: operator new and
/// aligned_alloc(), whichever thread asks. What drivers and other libraries ask for is neither counted nor failed. One
/// at a time; our libraries must be loaded before.
class FailingMemory {
 public:
  /// Allocations that have failed: the callers, and how often they had asked before, twice or more counting as once.
  using Known = std::set<std::pair<std::vector<void*>, int>>;

  /// @param first  the allocation that fails, counted from 0
  /// @param all    those after it fail, too
  FailingMemory(int first, bool all) : FailingMemory(nullptr, first, all) {}
  /// @param[in,out] known  the first allocation fails that is not among them, to which it is added
  FailingMemory(Known& known, bool all) : FailingMemory(&known, 0, all) {}
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  /// Allocations that failed so far.
  static int failed();

 private:
  FailingMemory(Known* known, int first, bool all);
};

}  // namespace oclspkt::test
