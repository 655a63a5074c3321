// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sparse_form.hpp"

namespace oclspkt::bench::gpu {

/// A sparse matrix of the host, row by row.
struct HostMatrix {
  std::string name;
  Index rows = 0, columns = 0;
  std::vector<std::int32_t> begin, column;  ///< see SparsePattern
  std::vector<double> values;               ///< exact in float as well, but for those of files

  SparsePattern<std::int32_t> pattern() const { return {rows, columns, begin.data(), column.data()}; }
  Index entries() const { return static_cast<Index>(column.size()); }
};

/// stencil5, stencil7: Laplacians of a square and a cube. fem: three unknowns a node and 9 to 31 neighbours near it, so
/// 27 to 93 entries a row. power: rows by a power law, the longest names a twentieth of the columns; any columns, some
/// twice.
inline constexpr const char* kSparseCases[] = {"stencil5", "stencil7", "fem", "power"};

/// @param name  of kSparseCases
/// @param most  rows: it has its usual number, or about this one where that is fewer
/// @throws InvalidInput for names that are none
HostMatrix make_sparse_case(const std::string& name, Index most);

/// Of about that many rows.
HostMatrix make_stencil(int dimensions, Index rows);

/// Read a Matrix Market file: coordinate, real, integer or pattern, general or symmetric. Entries of a pattern are 1.
/// @throws InvalidInput that names file, line and cure
HostMatrix read_matrix_market(const std::string& path);

/// What a product is held against.
struct HostProduct {
  std::vector<double> sums, magnitudes;  ///< of each row
};
template <typename T>
HostProduct multiply(const HostMatrix& a, const std::vector<T>& values, const std::vector<T>& x);

}  // namespace oclspkt::bench::gpu
