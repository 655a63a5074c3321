// SPDX-License-Identifier: BSD-2-Clause
#include "past_caches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace oclspkt {
namespace {

TEST(CopyPastCaches, TakesBytesFromAnywhereToAnywhereAndNoneBeside) {
  constexpr Index kAround = 128;
  for (const Index bytes : {0, 1, 63, 64, 65, 127, 200, 5000}) {
    for (const Index from : {0, 1, 8, 63}) {
      for (const Index to : {0, 4, 33, 64}) {
        std::vector<std::byte> source(static_cast<std::size_t>(bytes + kAround));
        for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i % 251);
        std::vector<std::byte> copy(static_cast<std::size_t>(bytes + 2 * kAround), std::byte{255}), expected = copy;
        std::copy_n(source.data() + from, bytes, expected.data() + to);
        copy_past_caches(source.data() + from, bytes, copy.data() + to);
        order_stores();
        EXPECT_EQ(copy, expected) << bytes << " bytes from " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace oclspkt
