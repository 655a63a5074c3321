// SPDX-License-Identifier: BSD-2-Clause
#include "fpga_operations.hpp"

#include <algorithm>
#include <utility>

namespace oclspkt {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The result of a sweep over a block: x_i = value_i - coupling_i x_next -+ (entering_0 ... entering_i) x_before, where
/// the sign of the last term alternates with i.
template <typename T>
struct Swept {
  std::vector<T> coupling, value, entering;
  T spike = T(0);
};

/// The unknowns on either side of the cut between two blocks.
template <typename T>
struct Cut {
  T above = T(0), below = T(0);
};

/// Which results of a sweep contain the influence of the unknown before the block.
enum class Follow { nothing, rows, spike };

template <typename T>
Swept<T> nothing_swept(Index m) {
  const std::vector<T> zeros(at(m), T(0));
  return {zeros, zeros, zeros, T(0)};
}

/// Rows [k m, (k + 1) m) of a system; identity rows if the block is behind the last one.
template <typename T>
FpgaRows<T> load(const FpgaRows<T>& system, Index k, Index m) {
  const auto rows = static_cast<Index>(system.diag.size());
  const auto get = [&](const std::vector<T>& array, T behind) {
    std::vector<T> block(at(m), behind);
    if (k * m < rows) std::copy_n(array.begin() + k * m, m, block.begin());
    return block;
  };
  return {get(system.lower, T(0)), get(system.diag, T(1)), get(system.upper, T(0)), get(system.y, T(0))};
}

/// Sweep a block from its first row to its last one, or in the opposite direction.
template <typename T>
Swept<T> sweep(const FpgaRows<T>& rows, bool down, Follow follow) {
  const auto m = static_cast<Index>(rows.diag.size());
  const std::vector<T>&before = down ? rows.lower : rows.upper, &behind = down ? rows.upper : rows.lower;
  Swept<T> swept = nothing_swept<T>(m);
  T c = T(0), f = T(0);
  swept.spike = T(-1);
  for (Index step = 0; step < m; ++step) {
    const Index i = down ? step : m - 1 - step;
    const T a = before[at(i)], r = T(1) / (rows.diag[at(i)] - a * c);
    c = behind[at(i)] * r;
    f = (rows.y[at(i)] - a * f) * r;
    swept.coupling[at(i)] = c;
    swept.value[at(i)] = f;
    if (follow == Follow::nothing) continue;
    swept.entering[at(i)] = a * r;
    if (follow == Follow::spike) swept.spike = -(swept.entering[at(i)] * swept.spike);
  }
  return swept;
}

/// Solve x_above + v_b x_below = f_above, w_t x_above + x_below = f_below.
template <typename T>
Cut<T> solve_cut(T f_above, T v_b, T f_below, T w_t, T inverse) {
  const T above = (f_above - v_b * f_below) * inverse;
  return {above, f_below - w_t * above};
}

/// Compute all rows of a block from the unknowns on both sides of the block.
template <typename T>
void substitute(const Swept<T>& down, T x_above, T x_below, T* x) {
  const auto m = static_cast<Index>(down.value.size());
  T entered = x_above, value = x_below;
  for (Index i = 0; i < m; ++i) {
    entered = -(down.entering[at(i)] * entered);
    x[i] = down.value[at(i)] + entered;
  }
  for (Index i = m - 1; i >= 0; --i) x[i] = value = x[i] - down.coupling[at(i)] * value;
}

/// Compute one half of a block, top or bottom, from the unknown outside that end of the block.
template <typename T>
void halve(const Swept<T>& swept, bool bottom, T outside, T* x) {
  const auto m = static_cast<Index>(swept.value.size());
  T value = outside;
  for (Index step = 0; step < m / 2; ++step) {
    const Index i = bottom ? m - 1 - step : step;
    x[i] = value = swept.value[at(i)] - swept.coupling[at(i)] * value;
  }
}

/// Solve like kernels spktrunc and spkboth of kernels/fpga.
template <typename T>
std::vector<T> run_truncated(const FpgaRows<T>& system, Index m, bool both) {
  const auto rows = static_cast<Index>(system.diag.size());
  std::vector<T> x(at(rows + m), T(0));  // one block more; it is discarded
  Swept<T> above = nothing_swept<T>(m);
  Cut<T> cut_above;
  for (Index k = 0; k <= rows / m; ++k) {
    const FpgaRows<T> block = load(system, k, m);
    const Swept<T> down = sweep(block, true, both ? Follow::rows : Follow::nothing);
    const Swept<T> up = sweep(block, false, Follow::nothing);
    const T v_b = above.coupling.back(), w_t = up.coupling.front(), inverse = T(1) / (T(1) - v_b * w_t);
    const Cut<T> cut = solve_cut(above.value.back(), v_b, up.value.front(), w_t, inverse);
    std::vector<T> first(at(m));  // takes the rows of block -1
    T* const x_above = k > 0 ? x.data() + (k - 1) * m : first.data();
    if (both) {
      substitute(above, cut_above.above, cut.below, x_above);
    } else {
      halve(above, true, cut.below, x_above);
      halve(up, false, cut.above, x.data() + k * m);
    }
    above = down;
    cut_above = cut;
  }
  x.resize(at(rows));
  return x;
}

/// Solve like kernel spkjac of kernels/fpga: each cut is solved twice. The second solve uses the results of the first
/// at the neighbouring cuts.
template <typename T>
std::vector<T> run_jacobi(const FpgaRows<T>& system, Index m) {
  const auto rows = static_cast<Index>(system.diag.size());
  std::vector<T> x(at(rows), T(0));
  Swept<T> down_1 = nothing_swept<T>(m), down_2 = down_1, up_1 = down_1;
  T inverse_1 = T(1);
  Cut<T> once_1, once_2, twice_2;
  for (Index k = 0; k <= rows / m + 1; ++k) {
    const FpgaRows<T> block = load(system, k, m);
    const Swept<T> down = sweep(block, true, Follow::spike), up = sweep(block, false, Follow::spike);
    const T v_b = down_1.coupling.back(), w_t = up.coupling.front(), inverse = T(1) / (T(1) - v_b * w_t);
    const Cut<T> once = solve_cut(down_1.value.back(), v_b, up.value.front(), w_t, inverse);
    const T f_above = down_2.value.back() - down_2.spike * once_2.above,
            f_below = up_1.value.front() - up_1.spike * once.below;
    const Cut<T> twice_1 = solve_cut(f_above, down_2.coupling.back(), f_below, up_1.coupling.front(), inverse_1);
    std::vector<T> outside(at(m));
    substitute(down_2, twice_2.above, twice_1.below, k > 1 ? x.data() + (k - 2) * m : outside.data());
    down_2 = std::exchange(down_1, down);
    up_1 = up;
    inverse_1 = inverse;
    once_2 = std::exchange(once_1, once);
    twice_2 = twice_1;
  }
  return x;
}

/// Thomas' algorithm: with `stored` couplings; else the back substitution divides by the pivots again.
template <typename T>
std::vector<T> run_thomas(const FpgaRows<T>& s, bool stored) {
  const auto rows = static_cast<Index>(s.diag.size());
  std::vector<T> pivots(at(rows)), couplings(at(rows)), x(at(rows));
  T k = T(0), f = T(0);
  for (Index i = 0; i < rows; ++i) {
    const T a = s.lower[at(i)], pivot = s.diag[at(i)] - a * k, rest = s.y[at(i)] - a * f;
    if (stored) {
      const T inverse = T(1) / pivot;
      couplings[at(i)] = k = s.upper[at(i)] * inverse;
      f = rest * inverse;
    } else {
      pivots[at(i)] = pivot;
      k = s.upper[at(i)] / pivot;
      f = rest / pivot;
    }
    x[at(i)] = f;
  }
  T below = T(0);
  for (Index i = rows - 1; i >= 0; --i) {
    const T coupling = stored ? couplings[at(i)] : s.upper[at(i)] / pivots[at(i)];
    x[at(i)] = below = x[at(i)] - coupling * below;
  }
  return x;
}

/// Operations of a whole solve of `blocks` blocks.
Operations count_blocks(FpgaKernel kernel, Index m, Index blocks) {
  const std::size_t rows = at(m * blocks);
  const std::vector<Counted> ones(rows, 1.0), fours(rows, 4.0);
  Counted::counts() = {};
  run_fpga_kernel<Counted>(kernel, {ones, fours, ones, ones}, m);
  return Counted::counts();
}

}  // namespace

Operations& Counted::counts() {
  thread_local Operations counts;
  return counts;
}

template <typename T>
std::vector<T> run_fpga_kernel(FpgaKernel kernel, const FpgaRows<T>& system, Index m) {
  switch (kernel) {
    case FpgaKernel::spktrunc:
      return run_truncated(system, m, false);
    case FpgaKernel::spkboth:
      return run_truncated(system, m, true);
    case FpgaKernel::spkjac:
      return run_jacobi(system, m);
    default:
      return run_thomas(system, kernel != FpgaKernel::tdma);
  }
}

Operations count_fpga_operations(FpgaKernel kernel, Index m) {
  // The difference between three and two blocks: operations that fill and flush the pipeline cancel.
  const Operations two = count_blocks(kernel, m, 2), three = count_blocks(kernel, m, 3);
  return {three.add - two.add, three.mul - two.mul, three.div - two.div};
}

Operations paper_operations(FpgaKernel kernel, Index m) {
  if (kernel == FpgaKernel::spktrunc) return {5 * m + 3, 6 * m + 5, 3 * m + 3};
  if (kernel == FpgaKernel::tdma) return {3 * m, 3 * m, 3 * m};
  return {};
}

template std::vector<float> run_fpga_kernel(FpgaKernel, const FpgaRows<float>&, Index);
template std::vector<double> run_fpga_kernel(FpgaKernel, const FpgaRows<double>&, Index);
template std::vector<Counted> run_fpga_kernel(FpgaKernel, const FpgaRows<Counted>&, Index);

}  // namespace oclspkt
