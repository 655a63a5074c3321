// SPDX-License-Identifier: BSD-2-Clause
// What fuzzing found, each as small as it could be made.
#include <gtest/gtest.h>

#include <limits>
#include <new>

#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "selection.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

TEST(Found, ACommaAtTheEndIsAnEmptyWordAsAtTheBeginning) {
  for (const std::string language : {"host,", ",host", "host, "}) {
    EXPECT_THROW(select_devices(language, {}, {}), InvalidInput) << "'" << language << "'";
    EXPECT_FALSE(needs_no_device(language)) << "'" << language << "'";
  }
}

TEST(Found, LineSetsThatReachBeyondSixtyFourBitsAreRefused) {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  EXPECT_THROW(LineSet::strided(3, 1, 2, kMost), InvalidInput);
  EXPECT_THROW(LineSet::strided(2, kMost / 2, 2, kMost - 5), InvalidInput);
  EXPECT_THROW(LineSet::equal(kMost, 2), InvalidInput);
  EXPECT_EQ(LineSet::strided(3, 1, 2, kMost - 3).extent(), kMost);
}

TEST(Found, BandsOfMoreBytesThanThereAreFailToAllocate) {
  // 2^61 doubles are 2^64 bytes, which is 0 to an unsigned 64-bit number.
  for (const Index rows : {Index{1} << 61, (Index{1} << 61) + 1, Index{1} << 62, std::numeric_limits<Index>::max()}) {
    EXPECT_THROW(Bands<double>(LineSet::one(rows)), std::bad_alloc) << rows;
    EXPECT_THROW(Bands<float>(LineSet::one(rows)), std::bad_alloc) << rows;
  }
}

}  // namespace
}  // namespace oclspkt
