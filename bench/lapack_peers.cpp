// SPDX-License-Identifier: BSD-2-Clause
#include "lapack_peers.hpp"

#include <lapacke.h>

#include <memory>
#include <type_traits>
#include <vector>

#include "clock.hpp"
#include "parallel.hpp"

namespace oclspkt::bench {
namespace {

static_assert(std::is_same_v<lapack_int, int>);

template <typename T>
struct Lapack;
template <>
struct Lapack<float> {
  static constexpr auto gtsv = LAPACKE_sgtsv_work;
  static constexpr auto gttrf = LAPACKE_sgttrf_work;
  static constexpr auto gttrs = LAPACKE_sgttrs_work;
  static constexpr auto pttrf = LAPACKE_spttrf_work;
  static constexpr auto pttrs = LAPACKE_spttrs_work;
};
template <>
struct Lapack<double> {
  static constexpr auto gtsv = LAPACKE_dgtsv_work;
  static constexpr auto gttrf = LAPACKE_dgttrf_work;
  static constexpr auto gttrs = LAPACKE_dgttrs_work;
  static constexpr auto pttrf = LAPACKE_dpttrf_work;
  static constexpr auto pttrs = LAPACKE_dpttrs_work;
};

/// Copies of the bands, and what the factors take beside them.
template <typename T>
struct LapackFactors {
  explicit LapackFactors(const Problem<T>& p) : lower(p.n()), diag(p.n()), upper(p.n()) {
    copy_bands(p, lower.data(), diag.data(), upper.data());
  }
  AlignedArray<T> lower, diag, upper, upper2;
  std::vector<int> pivots;
};

/// A peer whose solve overwrites Problem::x, which holds y.
template <typename T, typename Solve>
std::function<double(int)> overwriting(Problem<T>& p, Solve solve) {
  return [&p, solve](int repeats) {
    return seconds_of(
        repeats, [&] { copy(p.y.data(), p.n(), p.x.data()); }, solve);
  };
}

template <typename T>
bool symmetric(const Problem<T>& p) {
  return std::equal(p.bands.view().upper, p.bands.view().upper + p.n() - 1, p.bands.view().lower + 1);
}

}  // namespace

template <typename T>
Peer<T> make_gtsv(Problem<T>& p) {
  const int n = narrow_rows(p.n());
  for (AlignedArray<T>& band : p.scratch) band.resize(p.n());
  Peer<T> peer;
  peer.run = [&p, n](int repeats) {
    T *lower = p.scratch[0].data(), *diag = p.scratch[1].data(), *upper = p.scratch[2].data(), *x = p.x.data();
    const auto prepare = [&] {
      copy_bands(p, lower, diag, upper);
      copy(p.y.data(), p.n(), x);
    };
    return seconds_of(repeats, prepare, [&] { Lapack<T>::gtsv(LAPACK_COL_MAJOR, n, 1, lower, diag, upper, x, n); });
  };
  return peer;
}

template <typename T>
Peer<T> make_gttrs(Problem<T>& p) {
  const int n = narrow_rows(p.n());
  auto f = std::make_shared<LapackFactors<T>>(p);
  f->upper2.resize(p.n());
  f->pivots.resize(static_cast<std::size_t>(n));
  Peer<T> peer;
  peer.setup_seconds = seconds_of([&] {
    Lapack<T>::gttrf(n, f->lower.data(), f->diag.data(), f->upper.data(), f->upper2.data(), f->pivots.data());
  });
  peer.run = overwriting(p, [&p, f, n] {
    Lapack<T>::gttrs(LAPACK_COL_MAJOR, 'N', n, 1, f->lower.data(), f->diag.data(), f->upper.data(), f->upper2.data(),
                     f->pivots.data(), p.x.data(), n);
  });
  return peer;
}

template <typename T>
Peer<T> make_pttrs(Problem<T>& p) {
  const int n = narrow_rows(p.n());
  Peer<T> peer;
  if (!symmetric(p)) {
    peer.absent = "the matrix is not symmetric";
    return peer;
  }
  auto f = std::make_shared<LapackFactors<T>>(p);
  f->lower = {};
  lapack_int failed = 0;
  peer.setup_seconds = seconds_of([&] { failed = Lapack<T>::pttrf(n, f->diag.data(), f->upper.data()); });
  if (failed != 0) peer.absent = "the matrix is not positive definite";
  peer.run = overwriting(
      p, [&p, f, n] { Lapack<T>::pttrs(LAPACK_COL_MAJOR, n, 1, f->diag.data(), f->upper.data(), p.x.data(), n); });
  return peer;
}

template Peer<float> make_gtsv(Problem<float>&);
template Peer<double> make_gtsv(Problem<double>&);
template Peer<float> make_gttrs(Problem<float>&);
template Peer<double> make_gttrs(Problem<double>&);
template Peer<float> make_pttrs(Problem<float>&);
template Peer<double> make_pttrs(Problem<double>&);

}  // namespace oclspkt::bench
