// SPDX-License-Identifier: BSD-2-Clause
#include "survey.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace oclspkt {

namespace {

template <typename T>
bool same_row(const BandsView<T>& bands, Index a, Index b) {
  return bands.lower[a] == bands.lower[b] && bands.diag[a] == bands.diag[b] && bands.upper[a] == bands.upper[b];
}

/// Take the rows of one line into the survey; false at a number that is not finite.
template <typename T>
bool add_line(const LineSet& lines, const BandsView<T>& bands, Index line, Survey& s) {
  const Index first = lines.first(line), stride = lines.row_stride(), length = lines.length(line);
  s.shared = s.shared && length == lines.length(0);
  const Index to_pattern = lines.first(0) - first;
  for (Index i = 0, at = first; i < length; ++i, at += stride) {
    const double lower = std::abs(static_cast<double>(bands.lower[at]));
    const double upper = std::abs(static_cast<double>(bands.upper[at]));
    double diag = std::abs(static_cast<double>(bands.diag[at])), off = lower + upper;
    if (!(std::isfinite(off) && std::isfinite(diag))) {
      if (!(std::isfinite(lower) && std::isfinite(upper) && std::isfinite(diag))) {
        s.weakest_row = at;
        return false;
      }
      off = lower / 4 + upper / 4;  // only the sum overflows
      diag /= 4;
    }
    const double size = std::max({lower, std::abs(static_cast<double>(bands.diag[at])), upper});
    if (size > s.largest_row) s.largest_row = size;
    if (size < s.smallest_row && size > 0) s.smallest_row = size;
    s.shared = s.shared && same_row(bands, at, at + to_pattern);
    s.symmetric = s.symmetric && (i == 0 || bands.lower[at] == bands.upper[at - stride]);
    if (diag >= s.dominance * off && diag > 0) continue;  // infinity * 0 is NaN and falls through
    const double d = off > 0 ? diag / off : diag > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    if (d < s.dominance) {
      s.dominance = d;
      s.weakest_row = at;
    }
  }
  return true;
}

Survey nothing_seen() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {.dominance = kInfinity, .finite = true, .symmetric = true, .shared = true, .smallest_row = kInfinity};
}

}  // namespace

template <typename T>
Survey survey_line(const LineSet& lines, const BandsView<T>& bands, Index line) {
  Survey s = nothing_seen();
  return add_line(lines, bands, line, s) ? s : Survey{.weakest_row = s.weakest_row};
}

template <typename T>
Survey survey(const LineSet& lines, const BandsView<T>& bands) {
  Survey s = nothing_seen();
  for (Index l = 0; l < lines.count(); ++l) {
    if (!add_line(lines, bands, l, s)) return {.weakest_row = s.weakest_row};
  }
  s.shared = s.shared && lines.count() > 1;
  return s;
}

template <typename T>
bool in_range(const Survey& survey) {
  constexpr int kBits = std::numeric_limits<T>::max_exponent;
  // What is left of the exponents is for solutions and sums that are larger than the rows.
  const double farthest = std::ldexp(1.0, kBits / 8 * 7), widest = std::ldexp(1.0, kBits / 2);
  if (!(survey.largest_row > 0)) return true;  // no rows, or zeros only
  return survey.largest_row <= farthest && survey.smallest_row >= 1 / farthest &&
         survey.largest_row / widest <= survey.smallest_row;
}

template <typename T>
std::vector<Index> extreme_lines(const LineSet& lines, const BandsView<T>& bands) {
  std::vector<Index> extreme;
  for (Index l = 0; l < lines.count(); ++l) {
    Survey s = nothing_seen();
    if (!add_line(lines, bands, l, s) || !in_range<T>(s)) extreme.push_back(l);
  }
  return extreme;
}

template <typename T>
double line_dominance(const LineSet& lines, const BandsView<T>& bands, Index line) {
  Survey s = nothing_seen();
  return add_line(lines, bands, line, s) ? s.dominance : 0;
}

template <typename T>
LineSet uncoupled_lines(const LineSet& lines, const BandsView<T>& bands) {
  const auto cut = [&](Index i) { return bands.lower[i] == 0 && bands.upper[i - 1] == 0; };
  Index count = 1;
  for (Index i = 1; i < lines.rows(); ++i) count += cut(i);
  if (count <= lines.count()) return lines;
  std::vector<Index> starts{0};
  starts.reserve(static_cast<std::size_t>(count) + 1);
  for (Index i = 1; i < lines.rows(); ++i) {
    if (cut(i)) starts.push_back(i);
  }
  starts.push_back(lines.rows());
  return LineSet::unequal(std::move(starts));
}

#define OCLSPKT_INSTANTIATE(T)                                                    \
  template bool in_range<T>(const Survey&);                                       \
  template std::vector<Index> extreme_lines(const LineSet&, const BandsView<T>&); \
  template Survey survey(const LineSet&, const BandsView<T>&);                    \
  template Survey survey_line(const LineSet&, const BandsView<T>&, Index);        \
  template LineSet uncoupled_lines(const LineSet&, const BandsView<T>&);          \
  template double line_dominance(const LineSet&, const BandsView<T>&, Index);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
