// SPDX-License-Identifier: BSD-2-Clause
// Suites whose cases run for every scalar.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <string>

namespace oclspkt::test {

/// Register a case for one scalar in <suite>/<index>, as GoogleTest names typed suites.
template <typename Suite, typename Case>
void register_scalar(const std::string& suite, const char* index, const char* name, const char* scalar,
                     const char* file, int line) {
  testing::RegisterTest((suite + index).c_str(), name, scalar, nullptr, file, line,
                        []() -> Suite* { return new Case; });
}

/// Register a case for float in <suite>/0 and for double in <suite>/1.
template <template <typename> class Suite, template <typename> class Case>
bool register_scalars(const std::string& suite, const char* name, const char* file, int line) {
  register_scalar<Suite<float>, Case<float>>(suite, "/0", name, "float", file, line);
  register_scalar<Suite<double>, Case<double>>(suite, "/1", name, "double", file, line);
  return true;
}

/// register_scalars() for complex numbers.
template <template <typename> class Suite, template <typename> class Case>
bool register_complex(const std::string& suite, const char* name, const char* file, int line) {
  using Single = std::complex<float>;
  using Double = std::complex<double>;
  register_scalar<Suite<Single>, Case<Single>>(suite, "/0", name, "complex<float>", file, line);
  register_scalar<Suite<Double>, Case<Double>>(suite, "/1", name, "complex<double>", file, line);
  return true;
}

}  // namespace oclspkt::test

#define OCLSPKT_TYPED_TEST(suite, name, registered)                                        \
  template <typename T>                                                                    \
  class suite##_##name : public suite<T> {                                                 \
    void TestBody() override;                                                              \
  };                                                                                       \
  [[maybe_unused]] const bool suite##_##name##_is_registered =                             \
      oclspkt::test::registered<suite, suite##_##name>(#suite, #name, __FILE__, __LINE__); \
  template <typename T>                                                                    \
  void suite##_##name<T>::TestBody()

/// A case of a suite that is a class template over the scalar, whose body calls that scalar T.
#define SCALAR_TEST(suite, name) OCLSPKT_TYPED_TEST(suite, name, register_scalars)

/// SCALAR_TEST for complex numbers.
#define COMPLEX_TEST(suite, name) OCLSPKT_TYPED_TEST(suite, name, register_complex)
