// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "schemes/part.hpp"

namespace oclspkt::ocl {

/// What schemes by work-groups share: kernels of many work-items that read and write whole vectors.
template <typename T>
class GroupPart : public Part<T> {
 public:
  std::size_t alignment() const override { return kVectorBytes; }

 protected:
  /// A kernel for a shape of work-groups, told by `options`.
  static void make(const Site& s, Kernel& kernel, const char* name, const std::string& options) {
    Part<T>::make(s, kernel, name, options, 1);
  }
};

}  // namespace oclspkt::ocl
