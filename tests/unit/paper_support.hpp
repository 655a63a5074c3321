// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "certificate_support.hpp"
#include "propose.hpp"

// What is proposed in the paper's form, on GPUs and on CPUs.
namespace oclspkt::test {

/// For a matrix, on a device where variant paper is named.
struct Proposed {
  std::optional<Proposal> proposal;
  Rejection rejection;
};
template <typename T>
Proposed propose_on(const DeviceTraits& device, Bands<T> bands, const Options& options = {}) {
  bands.close_lines();
  const Survey survey = survey_rows(bands.lines(), bands.view());
  Proposed result;
  result.proposal = propose(Problem<T>{options, bands, survey, device}, Method::truncated_halo, result.rejection);
  return result;
}

/// Diffusion of a lambda that truncation shows for is refused, and why is said.
inline void expect_refused_where_truncation_shows(const DeviceTraits& device, double lambda,
                                                  const std::vector<std::string>& words) {
  const LineSet one = LineSet::one(100'000);
  Options options;
  for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::truncated_halo}) {
    options.method = method;
    const Proposed slow = propose_on(device, diffusion<double>(one, lambda), options);
    EXPECT_FALSE(slow.proposal);
    for (const std::string& word : words) {
      EXPECT_NE(slow.rejection.why.find(word), std::string::npos) << slow.rejection.why;
    }
    const Proposed weak = propose_on(device, random_dominant<double>(one, 0.9), options);
    EXPECT_FALSE(weak.proposal);
    EXPECT_NE(weak.rejection.why.find("does not pivot"), std::string::npos) << weak.rejection.why;
  }
  options.partition = 32;
  EXPECT_FALSE(propose_on(device, random_dominant<float>(one, 1.3), options).proposal);
  options.rtol = 0.1;
  EXPECT_TRUE(propose_on(device, random_dominant<float>(one, 1.3), options).proposal);
}

/// Of a hundred lines one is weak, and left to others.
inline void expect_weak_line_left(const DeviceTraits& device, const Options& options = {}) {
  constexpr Index kLength = 5000, kWeak = 17;
  Bands<double> bands = random_dominant<double>(LineSet::equal(100, kLength), 3);
  for (Index i = 0; i < kLength; ++i) {
    bands.lower()[kWeak * kLength + i] = bands.upper()[kWeak * kLength + i] = -1;
    bands.diag()[kWeak * kLength + i] = 2;
  }
  const Proposed p = propose_on(device, std::move(bands), options);
  EXPECT_FALSE(p.proposal);
  EXPECT_EQ(p.rejection.lines, std::vector<Index>{kWeak});
}

}  // namespace oclspkt::test
