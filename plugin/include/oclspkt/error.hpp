// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "oclspkt/export.hpp"

namespace oclspkt {

/// Base of all errors that the library throws; the text names the cause and the cure.
class OCLSPKT_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's mistake: sizes, options, pointers. The solver is unchanged.
class OCLSPKT_API InvalidInput : public Error {
 public:
  using Error::Error;
};

/// A device failed (lost, out of memory, timed out). Its rows can be solved elsewhere.
class OCLSPKT_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// A kernel did not build; the text holds the first lines of the build log.
class OCLSPKT_API BuildError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Numerical breakdown: no method solves this matrix (singular, NaN, Inf).
class OCLSPKT_API Breakdown : public Error {
 public:
  using Error::Error;
};

/// The matrix holds NaN or Inf.
class OCLSPKT_API NotFinite : public Breakdown {
 public:
  using Breakdown::Breakdown;
};

}  // namespace oclspkt
