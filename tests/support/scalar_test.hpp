// SPDX-License-Identifier: BSD-2-Clause
// Suites whose cases run for every scalar.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace oclspkt::test {

/// Register a case for float in <suite>/0 and for double in <suite>/1, as GoogleTest names typed suites.
template <template <typename> class Suite, template <typename> class Case>
bool register_scalars(const std::string& suite, const char* name, const char* file, int line) {
  testing::RegisterTest((suite + "/0").c_str(), name, "float", nullptr, file, line,
                        []() -> Suite<float>* { return new Case<float>; });
  testing::RegisterTest((suite + "/1").c_str(), name, "double", nullptr, file, line,
                        []() -> Suite<double>* { return new Case<double>; });
  return true;
}

}  // namespace oclspkt::test

/// A case of a suite that is a class template over the scalar, whose body calls that scalar T.
#define SCALAR_TEST(suite, name)                                                                 \
  template <typename T>                                                                          \
  class suite##_##name : public suite<T> {                                                       \
    void TestBody() override;                                                                    \
  };                                                                                             \
  [[maybe_unused]] const bool suite##_##name##_is_registered =                                   \
      oclspkt::test::register_scalars<suite, suite##_##name>(#suite, #name, __FILE__, __LINE__); \
  template <typename T>                                                                          \
  void suite##_##name<T>::TestBody()
