// SPDX-License-Identifier: BSD-2-Clause
#include "bands_case.hpp"

#include <array>

#include "backward_error.hpp"
#include "matrices.hpp"

namespace oclspkt::fuzz {
namespace {

using Limits = std::numeric_limits<double>;

constexpr double kEps = Limits::epsilon();
constexpr double kOdd[] = {
    // Around dominance.
    0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 4, 3, -4, 1 + kEps, 1 - kEps / 2, -(1 + kEps), 2 + 4 * kEps, 2 - 2 * kEps,
    // Far apart.
    1e-8, 1e8, -1e-20, 1e20, 1e-16, 1e16, 1.0 / 3, -0.1, 1e-150, 1e150, 1e-30, -1e30, 9007199254740992.0,
    // At the edges of the range.
    1e-300, 1e300, -1e300, Limits::denorm_min(), 1e-310, -1e-310, Limits::min(), Limits::max(), -Limits::max(),
    Limits::max() / 2, Limits::min() * 4};
constexpr double kNotFinite[] = {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()};

/// Into the range of T: the exponents of float are an eighth of double's.
template <typename T>
T fit(double value) {
  const bool fits = !std::isfinite(value) || value == 0 ||
                    (std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max()) &&
                     std::abs(value) >= static_cast<double>(std::numeric_limits<T>::min()));
  return static_cast<T>(fits || sizeof(T) == 8 ? value : std::copysign(std::pow(std::abs(value), 0.125), value));
}

template <typename T>
T take_value(Bytes& bytes) {
  const int code = bytes.byte();
  if (code < 64) return fit<T>(kOdd[static_cast<std::size_t>(code) % std::size(kOdd)]);
  if (code < 128) return static_cast<T>(code - 96);
  if (code < 192) return static_cast<T>(std::ldexp(1.0, code - 160));
  if (code < 240) return static_cast<T>((code - 216) / 16.0);
  if (code < 248) return fit<T>(bytes.number<double>());
  if (code < 250) return static_cast<T>(bytes.number<std::int16_t>() / 32768.0);
  if (code < 253) return static_cast<T>(kNotFinite[code - 250]);
  return T(0);
}

/// Mostly short lines; up to kMostRows.
Index take_size(Bytes& bytes) {
  const Index code = bytes.byte(), beyond = code - 200;
  return beyond < 0 ? code : 200 + beyond * beyond * 12 / 13;
}

LineSet take_unequal(Bytes& bytes) {
  std::vector<Index> starts{0};
  for (int line = bytes.below(24); line > 0; --line) {
    starts.push_back(std::min(kMostRows, starts.back() + take_size(bytes)));
  }
  return LineSet::unequal(std::move(starts));
}

LineSet take_strided(Bytes& bytes) {
  const Index length = bytes.below(40), inner = 1 + bytes.below(9), outer = 1 + bytes.below(4);
  if (bytes.below(2) == 0) return LineSet::grid_axis(1 + bytes.below(2), inner, length, outer);
  // Rows beside each other, or lines with gaps between their rows.
  const Index gap = 1 + bytes.below(3);
  return LineSet::strided(length, inner * gap, inner, gap, outer, inner * gap * std::max<Index>(length, 1) + 2);
}

template <typename T>
using Rows = std::array<T, 3>;

/// A few rows of odd numbers, over and over.
template <typename T>
void fill_repeated(Bytes& bytes, Bands<T>& bands) {
  std::vector<Rows<T>> period(1 + static_cast<std::size_t>(bytes.below(5)));
  for (Rows<T>& row : period) {
    for (T& value : row) value = take_value<T>(bytes);
  }
  for (Index i = 0; i < bands.lines().extent(); ++i) {
    const Rows<T>& row = period[static_cast<std::size_t>(i) % period.size()];
    bands.lower()[i] = row[0];
    bands.diag()[i] = row[1];
    bands.upper()[i] = row[2];
  }
}

enum class Pattern { near_dominant, row_sums_zero, uniform, sparse, scaled_rows, scaled_columns, random_bits, count };

/// d of a near dominant matrix.
constexpr double kDominance[] = {1, 1, 1 + 4 * kEps, 1 - 4 * kEps, 1 + 1e-9, 1.01, 1.5, 4, 0.99, 0.8, 0.5, 0.1};

/// Random rows from a seed of the input's.
template <typename T>
void fill_random(Bytes& bytes, Bands<T>& bands) {
  const auto pattern = static_cast<Pattern>(bytes.below(static_cast<int>(Pattern::count)));
  const double d = kDominance[bytes.below(std::size(kDominance))];
  std::mt19937_64 generator(bytes.number<std::uint16_t>());
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<int> exponent(-60, 60);
  const auto random_bits = [&] {
    const std::uint64_t bits = generator();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return std::isfinite(value) ? fit<T>(value) : T(1);
  };
  double column = 1, next_column = std::ldexp(1.0, exponent(generator));
  for (Index i = 0; i < bands.lines().extent(); ++i) {
    T a = static_cast<T>(uniform(generator)), c = static_cast<T>(uniform(generator));
    T b = static_cast<T>(d * (std::abs(static_cast<double>(a)) + std::abs(static_cast<double>(c))));
    switch (pattern) {
      case Pattern::row_sums_zero:
        a = -std::abs(a);
        c = -std::abs(c);
        b = -(a + c);
        break;
      case Pattern::uniform:
        b = static_cast<T>(uniform(generator) * d);
        break;
      case Pattern::sparse:
        if (uniform(generator) > 0) a = 0;
        if (uniform(generator) > 0) c = 0;
        if (uniform(generator) > 0.8) b = 0;
        break;
      case Pattern::scaled_rows: {
        const T scale = static_cast<T>(std::ldexp(1.0, exponent(generator)));
        a *= scale;
        b *= scale;
        c *= scale;
        break;
      }
      case Pattern::scaled_columns: {
        const double last = column;
        column = next_column;
        next_column = std::ldexp(1.0, exponent(generator));
        a *= static_cast<T>(last);
        b *= static_cast<T>(column);
        c *= static_cast<T>(next_column);
        break;
      }
      case Pattern::random_bits:
        a = random_bits();
        b = random_bits();
        c = random_bits();
        break;
      default:
        break;
    }
    bands.lower()[i] = a;
    bands.diag()[i] = b;
    bands.upper()[i] = c;
  }
}

}  // namespace

LineSet take_lines(Bytes& bytes) {
  switch (bytes.below(6)) {
    case 3: {
      const Index length = take_size(bytes);
      return LineSet::equal(std::min<Index>(bytes.below(64), kMostRows / std::max<Index>(1, length)), length);
    }
    case 4:
      return take_unequal(bytes);
    case 5:
      return take_strided(bytes);
    default:
      return LineSet::one(take_size(bytes));
  }
}

template <typename T>
void poke(Bytes& bytes, const LineSet& lines, T* lower, T* diag, T* upper) {
  for (int left = bytes.below(8); left > 0 && lines.extent() > 0; --left) {
    const Index at = bytes.number<std::uint16_t>() % lines.extent();
    T* const band = std::array{lower, diag, upper, diag}[static_cast<std::size_t>(bytes.below(4))];
    band[at] = take_value<T>(bytes);
  }
}

template <typename T>
Bands<T> take_bands(Bytes& bytes, const LineSet& lines) {
  Bands<T> bands(lines);
  if (bytes.below(2) == 0) {
    fill_repeated(bytes, bands);
  } else {
    fill_random(bytes, bands);
  }
  poke(bytes, lines, bands.lower(), bands.diag(), bands.upper());
  return bands;
}

template <typename T>
std::vector<T> take_right_hand_side(Bytes& bytes, const LineSet& lines, const BandsView<T>& bands) {
  const int kind = bytes.below(6);
  std::vector<T> y = test::random_vector<T>(lines.extent());
  if (kind == 1 || kind == 2) multiply(lines, bands, test::random_vector<T>(lines.extent()).data(), y.data());
  if (kind == 3) std::fill(y.begin(), y.end(), T(0));
  if (kind == 4) {
    const T odd[] = {take_value<T>(bytes), take_value<T>(bytes), take_value<T>(bytes)};
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = odd[i % std::size(odd)];
  }
  if (kind == 5 && !y.empty()) y[bytes.number<std::uint16_t>() % y.size()] = std::numeric_limits<T>::quiet_NaN();
  std::vector<bool> used(y.size());
  for (Index l = 0; l < lines.count(); ++l) {
    for (Index i = 0; i < lines.length(l); ++i) {
      used[static_cast<std::size_t>(lines.first(l) + i * lines.row_stride())] = true;
    }
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!used[i]) y[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return y;
}

Options take_options(Bytes& bytes) {
  constexpr const char* kDevices[] = {"host", "model", "host", "all", "auto,model", "gpu", "fpga", "model cpu,host"};
  constexpr double kRtol[] = {0, 0, 0, 1e-12, 1e-6, 1e-2, 0.9, 1e-320};
  constexpr Index kPartition[] = {0, 0, 1, 2, 3, 16, 31, 1000};
  Options options;
  options.devices = kDevices[bytes.below(std::size(kDevices))];
  // Half of all inputs leave the choice to the solver.
  const int method = bytes.below(2 * static_cast<int>(std::size(kMethodChoiceNames)));
  options.method = static_cast<MethodChoice>(method % 2 == 0 ? 0 : method / 2);
  options.rtol = kRtol[bytes.below(std::size(kRtol))];
  options.partition = kPartition[bytes.below(std::size(kPartition))];
  const int rest = bytes.byte();
  options.singular = rest % 4 == 0 ? Singular::pin : Singular::fail;
  options.on_device_failure = static_cast<OnDeviceFailure>(rest / 4 % 3);
  options.use.transfer = rest / 16 % 2 == 0 ? Transfer::automatic : Transfer::copy;
  options.profile = "none";
  if (rest / 32 == 6) options.balance = "even";
  options.use.device_memory = rest / 32 == 7 ? 5 * 64 * (1 + bytes.byte()) : 0;
  return options;
}

#define OCLSPKT_INSTANTIATE(T)                             \
  template Bands<T> take_bands<T>(Bytes&, const LineSet&); \
  template void poke(Bytes&, const LineSet&, T*, T*, T*);  \
  template std::vector<T> take_right_hand_side(Bytes&, const LineSet&, const BandsView<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::fuzz
