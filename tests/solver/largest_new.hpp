// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

namespace oclspkt::test {

/// Watches operator new of the whole process while it lives. One at a time.
class LargestNew {
 public:
  LargestNew();
  ~LargestNew();
  LargestNew(const LargestNew&) = delete;
  LargestNew& operator=(const LargestNew&) = delete;
  /// The largest number of bytes that was asked for.
  std::size_t bytes() const;
};

}  // namespace oclspkt::test
