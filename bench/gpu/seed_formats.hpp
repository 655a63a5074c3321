// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "space.hpp"
#include "sparse_cases.hpp"

namespace oclspkt::bench::gpu {

/// Formats that the library does not have, because its own are quicker: what other programs used is timed beside them.
/// csr4: row by row, each row filled up to groups of four entries. hyb: as many entries of each row as two thirds of
/// the rows have at most, column by column (ELL); what is left by csr, added to it.
inline constexpr const char* kSeedFormats[] = {"csr4", "hyb"};

/// A product by such a format.
template <typename T>
class SeedProduct {
 public:
  virtual ~SeedProduct() = default;
  virtual void run(SpaceArray<T>& x, SpaceArray<T>& z) = 0;
  std::int64_t places = 0;  ///< for values
};

/// @param space  of an OpenCL device
/// @throws InvalidInput if it is of another run-time, DeviceError
template <typename T>
std::unique_ptr<SeedProduct<T>> make_seed_product(Space<T>& space, const std::string& format, const HostMatrix& matrix,
                                                  const std::vector<T>& values);

}  // namespace oclspkt::bench::gpu
