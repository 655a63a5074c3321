// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "fpga_model.hpp"

namespace oclspkt {

/// Operations of a kernel for one block of rows.
struct Operations {
  Index add = 0;  ///< sums and differences
  Index mul = 0;
  Index div = 0;
  bool operator==(const Operations&) const = default;
};

/// A number that counts the operations on it. Each thread has its own counts.
class Counted {
 public:
  Counted(double value = 0) : value_(value) {}  // NOLINT(google-explicit-constructor): it stands in for a double
  double value() const { return value_; }
  static Operations& counts();
  Counted operator-() const { return -value_; }
  friend Counted operator+(Counted a, Counted b) { return ++counts().add, Counted(a.value_ + b.value_); }
  friend Counted operator-(Counted a, Counted b) { return ++counts().add, Counted(a.value_ - b.value_); }
  friend Counted operator*(Counted a, Counted b) { return ++counts().mul, Counted(a.value_ * b.value_); }
  friend Counted operator/(Counted a, Counted b) { return ++counts().div, Counted(a.value_ / b.value_); }

 private:
  double value_;
};

/// Rows of a system. All arrays have the same length.
template <typename T>
struct FpgaRows {
  std::vector<T> lower, diag, upper, y;
};

/// Solve like a kernel of kernels/fpga, operation by operation, in plain C++.
/// @param system  whole blocks of m rows; lower of the first row and upper of the last one are 0
/// @param m       rows of a block, even
/// @return x, shape [rows]
template <typename T>
std::vector<T> run_fpga_kernel(FpgaKernel kernel, const FpgaRows<T>& system, Index m);

/// Count the operations of a kernel for each block, by running it on Counted numbers.
/// @param m rows of a block, even, or 1 for Thomas' algorithm
Operations count_fpga_operations(FpgaKernel kernel, Index m);

/// The operations of a kernel for each block in Table 1 of Macintosh, Banks and Kelson (2019).
/// @return zeros for kernels that the table lacks
Operations paper_operations(FpgaKernel kernel, Index m);

/// How many rows a kernel processes in parallel: 1 for tdma-stored and tdma-batch, else a block.
inline Index unrolled_rows(FpgaKernel kernel, Index m) {
  return kernel == FpgaKernel::tdma_stored || kernel == FpgaKernel::tdma_batch ? 1 : m;
}

/// Multiply-adders that these operations occupy: one for each sum and each product, and one for two divisions. By this
/// rule, Tables 1 and 2 of Macintosh, Banks and Kelson (2019) agree.
inline double dsp_of(const Operations& o) {
  return static_cast<double>(o.add + o.mul) + static_cast<double>(o.div) / 2;
}

}  // namespace oclspkt
