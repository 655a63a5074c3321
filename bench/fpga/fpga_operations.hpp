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

/// A number that counts what is done with it. Counts are those of the thread.
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

/// Rows of a system, each array of one length.
template <typename T>
struct FpgaRows {
  std::vector<T> lower, diag, upper, y;
};

/// Solve as a kernel does, operation by operation, in plain C++: kernels/fpga says what each computes.
/// @param system  whole blocks of m rows; lower of the first row and upper of the last one are 0
/// @param m       rows of a block, even
/// @return x, shape [rows]
template <typename T>
std::vector<T> run_fpga_kernel(FpgaKernel kernel, const FpgaRows<T>& system, Index m);

/// Count the operations that a kernel does for each block, by running it on numbers that count.
/// @param m rows of a block, even, or 1 for Thomas' algorithm
Operations count_fpga_operations(FpgaKernel kernel, Index m);

/// The same as Macintosh, Banks and Kelson (2019) have it in Table 1.
/// @return nothing but zeros for kernels that they have not
Operations paper_operations(FpgaKernel kernel, Index m);

/// Rows that a kernel has operations for side by side: tdma-stored and tdma-batch have them for one.
inline Index unrolled_rows(FpgaKernel kernel, Index m) {
  return kernel == FpgaKernel::tdma_stored || kernel == FpgaKernel::tdma_batch ? 1 : m;
}

/// Multiply-adders that so many operations take: one for each sum and each product, and one for two divisions. The
/// paper's Tables 1 and 2 agree by this rule.
inline double dsp_of(const Operations& o) {
  return static_cast<double>(o.add + o.mul) + static_cast<double>(o.div) / 2;
}

}  // namespace oclspkt
