// SPDX-License-Identifier: BSD-2-Clause
// Linked into every test program with random matrices: says which seed they come from.
#include <gtest/gtest.h>

#include <cstdio>

#include "matrices.hpp"

namespace {

class PrintSeed : public ::testing::Environment {
 public:
  void SetUp() override { std::printf("seed of the random matrices: %u\n", oclspkt::test::kSeed); }
};

const ::testing::Environment* const print_seed = ::testing::AddGlobalTestEnvironment(new PrintSeed);

}  // namespace
