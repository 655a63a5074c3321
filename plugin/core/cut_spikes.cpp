// SPDX-License-Identifier: BSD-2-Clause
// The spikes of parts: how set-up finds, measures and keeps them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "cut_parts.hpp"
#include "parallel.hpp"
#include "rounding.hpp"

namespace oclspkt {
namespace {

template <typename T>
void fill_zeros(AlignedArray<T>& array) {
  for_pieces(array.size(), kPieceRows,
             [&](Index first, Index end) { std::fill_n(array.data() + first, end - first, T(0)); });
}

}  // namespace

template <typename T>
bool CutParts<T>::find_decaying_spikes(const BandsView<T>& bands, double dominance) {
  // A spike that has decayed to 1e-40 ends there: the rest is far below rounding.
  constexpr double kNothing = 92, kLeastDominance = 1.02;  // -log(1e-40)
  near_rows_ = 0;
  if (!(dominance >= kLeastDominance) || slots() == 0) return false;
  const auto rows = static_cast<Index>(kNothing / std::log(dominance)) + 1;
  for (const Bundle& b : bundles_) {
    if (b.length < 2 * rows + 4) return false;
  }
  near_rows_ = rows;
  for (AlignedArray<T>* spike : {&near_p_, &near_q_}) {
    spike->resize(rows * slots());
    std::fill_n(spike->data(), spike->size(), T(0));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) find_near_spikes(bands, i, static_cast<Index>(i), slots());
  return true;
}

/// Eliminate the rows near a cut towards it, and substitute away from it, in double.
///
/// Pivots and values take a quotient, a product and a difference each, so that no row keeps more than 3 u |A_i| S, with
/// u = eps / 2 of double; where T is float, rounding the values to it leaves u |A_i| S.
/// @param at, wide  row r of the spike goes to near_p_[r * wide + at]
template <typename T>
void CutParts<T>::find_near_spikes(const BandsView<T>& bands, std::size_t slot, Index at, Index wide) {
  constexpr double kNearError = 1.5;
  const PartSlot& s = slots_[slot];
  Edge& edge = edges_[slot];
  SpikeFacts& facts = spike_facts_[slot];
  const auto wider = [](T number) { return static_cast<double>(number); };
  std::vector<double> pivots(static_cast<std::size_t>(near_rows_));
  // From a cut inwards: `towards` couples a row to the one before it, `inwards` to the one behind.
  const auto sweep = [&](Index first, Index step, const T* towards, const T* inwards, T coupling,
                         AlignedArray<T>& out) {
    double pivot = wider(bands.diag[first + (near_rows_ - 1) * step]);
    pivots.back() = pivot;
    for (Index r = near_rows_ - 2; r >= 0; --r) {
      const Index row = first + r * step;
      pivot = wider(bands.diag[row]) - wider(inwards[row]) * wider(towards[row + step]) / pivot;
      pivots[static_cast<std::size_t>(r)] = pivot;
    }
    double value = wider(coupling) / pivots.front();
    for (Index r = 0; r < near_rows_; ++r) {
      if (r > 0) value *= -wider(towards[first + r * step]) / pivots[static_cast<std::size_t>(r)];
      out[r * wide + at] = static_cast<T>(value);
      const double size = std::abs(value);
      facts.size = larger(facts.size, size);
    }
    return out[at];
  };
  const Index stride = lines_.row_stride();
  facts = {};
  edge.p_first = edge.p_last = edge.q_first = edge.q_last = T(0);
  if (s.above) edge.p_first = sweep(first_inner(s), stride, bands.lower, bands.upper, edge.first_lower, near_p_);
  if (s.below) edge.q_last = sweep(last_inner(s), -stride, bands.upper, bands.lower, edge.last_upper, near_q_);
  facts.error = kNearError * facts.size;
}

template <typename T>
void CutParts<T>::leave_out(const std::vector<char>& left_out) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (left_out[i] == 0) continue;
    for (Index r = 0; r < near_rows_; ++r) {
      near_p_[r * slots() + static_cast<Index>(i)] = near_q_[r * slots() + static_cast<Index>(i)] = T(0);
    }
    edges_[i].p_first = edges_[i].q_last = T(0);
    spike_facts_[i] = {};
  }
}

template <typename T>
void CutParts<T>::find_spikes(const BandsView<T>& bands, const std::function<void(const T*, T*)>& solve,
                              const std::vector<char>& left_out) {
  near_rows_ = 0;
  AlignedArray<T> y(lines_.extent());
  fill_zeros(y);
  for (AlignedArray<T>* spike : {&all_p_, &all_q_}) {
    spike->resize(lines_.extent());
    fill_zeros(*spike);
    const bool down = spike == &all_p_;
    bool any = false;
    const auto set = [&](bool clear) {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        const PartSlot& s = slots_[i];
        if (!has_inner(s) || left_out[i] != 0) continue;
        if (!(down ? s.above : s.below)) continue;
        any = true;
        y[down ? first_inner(s) : last_inner(s)] = clear ? T(0) : down ? edges_[i].first_lower : edges_[i].last_upper;
      }
    };
    set(false);
    if (any) solve(y.data(), spike->data());
    set(true);
  }
  clear_between(left_out);
  measure_spikes(bands, left_out);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    if (!has_inner(s)) continue;
    Edge& edge = edges_[i];
    edge.p_first = all_p_[first_inner(s)];
    edge.q_first = all_q_[first_inner(s)];
    edge.p_last = all_p_[last_inner(s)];
    edge.q_last = all_q_[last_inner(s)];
  }
}

/// Clear the spikes in rows next to cuts, for which the solver writes values, too, and in lines that are left out.
template <typename T>
void CutParts<T>::clear_between(const std::vector<char>& left_out) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    if (s.above) all_p_[s.top] = all_q_[s.top] = 0;
    if (s.below) all_p_[s.bottom] = all_q_[s.bottom] = 0;
    if (left_out[i] == 0 || !has_inner(s)) continue;
    for (Index at = first_inner(s); at <= last_inner(s); at += lines_.row_stride()) all_p_[at] = all_q_[at] = 0;
  }
}

/// Compute spike_facts_ from all_p_ and all_q_.
template <typename T>
void CutParts<T>::measure_spikes(const BandsView<T>& bands, const std::vector<char>& left_out) {
  for (const Bundle& b : bundles_) {
    SpikeFacts* const facts = spike_facts_.data() + b.first_slot;
    std::fill_n(facts, b.wide, SpikeFacts{});
    if (b.wide > 1) {
      constexpr Index kFewest = 64;  // numbers of a row that lie together
      for_pieces(b.wide, std::max(kFewest, kPieceRows / b.length),
                 [&](Index first, Index end) { measure_rows(bands, b, 0, b.length, first, end, facts); });
      continue;
    }
    std::mutex mutex;
    for_pieces(b.length, kPieceRows, [&](Index begin, Index end) {
      SpikeFacts piece;
      measure_rows(bands, b, begin, end, 0, 1, &piece);
      const std::lock_guard lock(mutex);
      *facts = {larger(facts->size, piece.size), larger(facts->error, piece.error)};
    });
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (left_out[i] != 0) spike_facts_[i] = {};
  }
}

/// Update the facts of some lines of a bundle by their rows [begin, end).
/// @param[in,out] facts  shape [b.wide]
template <typename T>
void CutParts<T>::measure_rows(const BandsView<T>& bands, const Bundle& b, Index begin, Index end, Index first_line,
                               Index end_line, SpikeFacts* facts) const {
  // The rounding of the residual itself, at most, and eps of the spikes.
  constexpr double kOwn = 1.5 * std::numeric_limits<double>::epsilon(), kEps = std::numeric_limits<T>::epsilon();
  const Index stride = lines_.row_stride();
  const auto wide = [](T number) { return static_cast<double>(number); };
  for (Index r = begin; r < end; ++r) {
    for (Index w = first_line; w < end_line; ++w) {
      const auto slot = static_cast<std::size_t>(b.first_slot + w);
      const PartSlot& s = slots_[slot];
      const Index at = b.first + r * stride + w;
      const bool top = r == 0, bottom = r + 1 == b.length;
      if ((top && s.above) || (bottom && s.below)) continue;
      const double of_top = at == first_inner(s) ? wide(edges_[slot].first_lower) : 0;
      const double of_bottom = at == last_inner(s) ? wide(edges_[slot].last_upper) : 0;
      const double lower = wide(bands.lower[at]), diag = wide(bands.diag[at]), upper = wide(bands.upper[at]);
      double left = 0, sizes = 0;
      const auto see = [&](const AlignedArray<T>& spike, double right) {
        const double above = top ? 0 : lower * wide(spike[at - stride]), here = diag * wide(spike[at]);
        const double below = bottom ? 0 : upper * wide(spike[at + stride]);
        left += std::abs(((right - above) - here) - below);
        sizes += std::abs(right) + std::abs(above) + std::abs(here) + std::abs(below);
      };
      see(all_p_, of_top);
      see(all_q_, of_bottom);
      const double row = std::abs(lower) + std::abs(diag) + std::abs(upper) + std::abs(of_top) + std::abs(of_bottom);
      SpikeFacts& line = facts[w];
      line.size = larger(line.size, std::abs(wide(all_p_[at])) + std::abs(wide(all_q_[at])));
      if (sizes != 0) line.error = larger(line.error, (left + kOwn * sizes) / (row * kEps));
    }
  }
}

/// How many rows, from the second row of a bundle down, to the last one where a spike from above exceeds the threshold.
template <typename T>
Index CutParts<T>::rows_above(const Bundle& b, const T* spike, double threshold) const {
  for (Index rows = b.length - 1; rows > 0; --rows) {
    const T* row = spike + b.first + rows * lines_.row_stride();
    if (!std::all_of(row, row + b.wide, [&](T number) { return std::abs(number) <= threshold; })) return rows;
  }
  return 0;
}

/// How many rows, from the last row but one up, to the first one where a spike from below exceeds the threshold.
template <typename T>
Index CutParts<T>::rows_below(const Bundle& b, const T* spike, double threshold) const {
  for (Index rows = b.length - 1; rows > 0; --rows) {
    const T* row = spike + b.first + (b.length - 1 - rows) * lines_.row_stride();
    if (!std::all_of(row, row + b.wide, [&](T number) { return std::abs(number) <= threshold; })) return rows;
  }
  return 0;
}

template <typename T>
void CutParts<T>::keep_spikes(double threshold) {
  if (near_rows_ > 0) {
    keep_near_spikes(threshold);
    return;
  }
  Index size = 0;
  for (Bundle& b : bundles_) {
    b.p_rows = rows_above(b, all_p_.data(), threshold);
    b.q_rows = rows_below(b, all_q_.data(), threshold);
    b.p_at = size;
    b.q_at = b.p_at + b.p_rows * b.wide;
    size = b.q_at + b.q_rows * b.wide;
  }
  spikes_ = AlignedArray<T>(size);
  const Index stride = lines_.row_stride();
  for (const Bundle& b : bundles_) {
    T* out = spikes_.data() + b.p_at;
    for (Index r = 1; r <= b.p_rows; ++r) out = std::copy_n(all_p_.data() + b.first + r * stride, b.wide, out);
    for (Index r = b.length - 1 - b.q_rows; r < b.length - 1; ++r) {
      out = std::copy_n(all_q_.data() + b.first + r * stride, b.wide, out);
    }
  }
  all_p_ = {};
  all_q_ = {};
}

/// keep_spikes() for the spikes that find_decaying_spikes() found.
template <typename T>
void CutParts<T>::keep_near_spikes(double threshold) {
  const auto rows_of = [&](const Bundle& b, const AlignedArray<T>& spike) {
    Index rows = near_rows_;
    const auto small = [&](T number) { return std::abs(number) <= threshold; };
    while (rows > 0) {
      const T* row = spike.data() + (rows - 1) * slots() + b.first_slot;
      if (!std::all_of(row, row + b.wide, small)) break;
      --rows;
    }
    return rows;
  };
  Index size = 0;
  for (Bundle& b : bundles_) {
    b.p_rows = rows_of(b, near_p_);
    b.q_rows = rows_of(b, near_q_);
    b.p_at = size;
    b.q_at = b.p_at + b.p_rows * b.wide;
    size = b.q_at + b.q_rows * b.wide;
  }
  spikes_ = AlignedArray<T>(size);
  for (const Bundle& b : bundles_) {
    T* out = spikes_.data() + b.p_at;
    const auto row = [&](const AlignedArray<T>& spike, Index r) { return spike.data() + r * slots() + b.first_slot; };
    for (Index r = 0; r < b.p_rows; ++r) out = std::copy_n(row(near_p_, r), b.wide, out);
    for (Index r = b.q_rows - 1; r >= 0; --r) out = std::copy_n(row(near_q_, r), b.wide, out);
  }
  near_p_ = {};
  near_q_ = {};
}

template <typename T>
Index CutParts<T>::spike_rows() const {
  Index rows = 0;
  for (const Bundle& b : bundles_) rows = std::max({rows, b.p_rows, b.q_rows});
  return rows;
}

template bool CutParts<float>::find_decaying_spikes(const BandsView<float>&, double);
template bool CutParts<double>::find_decaying_spikes(const BandsView<double>&, double);
template void CutParts<float>::leave_out(const std::vector<char>&);
template void CutParts<double>::leave_out(const std::vector<char>&);
template void CutParts<float>::find_spikes(const BandsView<float>&, const std::function<void(const float*, float*)>&,
                                           const std::vector<char>&);
template void CutParts<double>::find_spikes(const BandsView<double>&,
                                            const std::function<void(const double*, double*)>&,
                                            const std::vector<char>&);
template void CutParts<float>::keep_spikes(double);
template void CutParts<double>::keep_spikes(double);
template Index CutParts<float>::spike_rows() const;
template Index CutParts<double>::spike_rows() const;

}  // namespace oclspkt
