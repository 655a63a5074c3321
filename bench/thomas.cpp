// SPDX-License-Identifier: BSD-2-Clause
#include "thomas.hpp"

#include <memory>

#include "clock.hpp"

namespace oclspkt::bench {
namespace {

/// @param[out] scaled shape [n]; scratch: the upper band over the pivots
template <typename T>
void solve(Index n, const BandsView<T>& bands, const T* y, T* scaled, T* x) {
  T coupling = 0, value = 0;
  for (Index i = 0; i < n; ++i) {
    const T reciprocal = T(1) / (bands.diag[i] - bands.lower[i] * coupling);
    scaled[i] = coupling = bands.upper[i] * reciprocal;
    x[i] = value = (y[i] - bands.lower[i] * value) * reciprocal;
  }
  for (Index i = n - 2; i >= 0; --i) x[i] = value = x[i] - scaled[i] * value;
}

/// x_i = reciprocal_i y_i - multiplier_i x_{i-1} down, x_i -= scaled_i x_{i+1} up: one multiply-add a row on the chain.
template <typename T>
struct Factors {
  explicit Factors(const Problem<T>& p) : reciprocal(p.n()), multiplier(p.n()), scaled(p.n()) {
    const BandsView<T> bands = p.bands.view();
    T coupling = 0;
    for (Index i = 0; i < p.n(); ++i) {
      reciprocal[i] = T(1) / (bands.diag[i] - bands.lower[i] * coupling);
      multiplier[i] = bands.lower[i] * reciprocal[i];
      scaled[i] = coupling = bands.upper[i] * reciprocal[i];
    }
  }
  void solve(const T* y, T* x) const {
    T value = 0;
    for (Index i = 0; i < scaled.size(); ++i) x[i] = value = reciprocal[i] * y[i] - multiplier[i] * value;
    for (Index i = scaled.size() - 2; i >= 0; --i) x[i] = value = x[i] - scaled[i] * value;
  }
  AlignedArray<T> reciprocal, multiplier, scaled;
};

}  // namespace

template <typename T>
Peer<T> make_thomas(Problem<T>& p) {
  p.scratch[0].resize(p.n());
  Peer<T> peer;
  peer.run = [&p](int repeats) {
    return seconds_of(repeats, [&] { solve(p.n(), p.bands.view(), p.y.data(), p.scratch[0].data(), p.x.data()); });
  };
  return peer;
}

template <typename T>
Peer<T> make_thomas_stored(Problem<T>& p) {
  std::shared_ptr<Factors<T>> factors;
  Peer<T> peer;
  peer.setup_seconds = seconds_of([&] { factors = std::make_shared<Factors<T>>(p); });
  peer.run = [factors, &p](int repeats) {
    return seconds_of(repeats, [&] { factors->solve(p.y.data(), p.x.data()); });
  };
  return peer;
}

template Peer<float> make_thomas(Problem<float>&);
template Peer<double> make_thomas(Problem<double>&);
template Peer<float> make_thomas_stored(Problem<float>&);
template Peer<double> make_thomas_stored(Problem<double>&);

}  // namespace oclspkt::bench
