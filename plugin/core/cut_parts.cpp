// SPDX-License-Identifier: BSD-2-Clause
#include "cut_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "parallel.hpp"

namespace oclspkt {
namespace {

template <typename T>
T largest(const T (&row)[3]) {
  return std::max({std::abs(row[0]), std::abs(row[1]), std::abs(row[2])});
}

/// Keep a row, and leave an uncoupled one of the same size in its place: y over its diagonal overflows only if the
/// line's own solution does.
template <typename T>
void uncouple(Bands<T>& bands, Index at, T (&kept)[3]) {
  kept[0] = std::exchange(bands.lower()[at], T(0));
  kept[1] = bands.diag()[at];
  kept[2] = std::exchange(bands.upper()[at], T(0));
  const T size = largest(kept);
  bands.diag()[at] = size == 0 ? T(1) : size;
}

template <typename T>
void restore(Bands<T>& bands, Index at, const T (&kept)[3]) {
  bands.lower()[at] = kept[0];
  bands.diag()[at] = kept[1];
  bands.upper()[at] = kept[2];
}

template <typename T>
void fill_zeros(AlignedArray<T>& array) {
  for_pieces(array.size(), kPieceRows,
             [&](Index first, Index end) { std::fill_n(array.data() + first, end - first, T(0)); });
}

}  // namespace

template <typename T>
void CutParts<T>::reset(const LineSet& lines, const std::vector<char>& above, const std::vector<char>& below) {
  lines_ = lines;
  slots_.clear();
  bundles_.clear();
  const auto is_cut = [&](Index l) {
    return above[static_cast<std::size_t>(l)] != 0 || below[static_cast<std::size_t>(l)] != 0;
  };
  const Index wide = lines.side_by_side();
  for (Index l = 0; l < lines.count(); l += wide) {
    bool any = false;
    for (Index w = 0; w < wide; ++w) any = any || is_cut(l + w);
    if (!any) continue;
    Bundle bundle{slots(), wide, lines.first(l), lines.length(l)};
    bundles_.push_back(bundle);
    for (Index w = 0; w < wide; ++w) {
      PartSlot slot{l + w, above[static_cast<std::size_t>(l + w)] != 0, below[static_cast<std::size_t>(l + w)] != 0};
      if (slot.above) slot.top = lines.first(l + w);
      if (slot.below) slot.bottom = lines.first(l + w) + (lines.length(l + w) - 1) * lines.row_stride();
      slots_.push_back(slot);
    }
  }
  edges_.assign(slots_.size(), Edge{});
  spike_size_.assign(slots_.size(), 0);
  g_top_.resize(slots());
  g_bottom_.resize(slots());
  unknowns_.resize(2 * slots());
  numbers_.resize(4 * slots());
  for (AlignedArray<T>* array : {&g_top_, &g_bottom_, &unknowns_, &numbers_}) {
    std::fill_n(array->data(), array->size(), T(0));
  }
}

template <typename T>
Index CutParts<T>::slot_of(Index line) const {
  const auto at = std::lower_bound(slots_.begin(), slots_.end(), line,
                                   [](const PartSlot& slot, Index wanted) { return slot.line < wanted; });
  return at != slots_.end() && at->line == line ? at - slots_.begin() : -1;
}

template <typename T>
Index CutParts<T>::first_inner(const PartSlot& s) const {
  return lines_.first(s.line) + (s.above ? lines_.row_stride() : 0);
}

template <typename T>
Index CutParts<T>::last_inner(const PartSlot& s) const {
  return lines_.first(s.line) + (lines_.length(s.line) - 1 - (s.below ? 1 : 0)) * lines_.row_stride();
}

template <typename T>
void CutParts<T>::uncouple_cuts(Bands<T>& bands) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    Edge& edge = edges_[i];
    edge = {};
    if (s.above) uncouple(bands, s.top, edge.top);
    if (s.below && !s.one_row()) uncouple(bands, s.bottom, edge.bottom);
    if (!has_inner(s)) continue;
    if (s.above) edge.first_lower = std::exchange(bands.lower()[first_inner(s)], T(0));
    if (s.below) edge.last_upper = std::exchange(bands.upper()[last_inner(s)], T(0));
  }
}

template <typename T>
void CutParts<T>::put_back(Bands<T>& bands) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    if (s.above) restore(bands, s.top, edges_[i].top);
    if (s.below && !s.one_row()) restore(bands, s.bottom, edges_[i].bottom);
    if (!has_inner(s)) continue;
    if (s.above) bands.lower()[first_inner(s)] = edges_[i].first_lower;
    if (s.below) bands.upper()[last_inner(s)] = edges_[i].last_upper;
  }
}

template <typename T>
bool CutParts<T>::find_decaying_spikes(const BandsView<T>& bands, double dominance) {
  // Squares and products of what is left out are no numbers any more.
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
/// @param at, wide  row r of the spike goes to near_p_[r * wide + at]
template <typename T>
void CutParts<T>::find_near_spikes(const BandsView<T>& bands, std::size_t slot, Index at, Index wide) {
  const PartSlot& s = slots_[slot];
  Edge& edge = edges_[slot];
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
      if (!(size <= spike_size_[slot])) spike_size_[slot] = size;
    }
    return out[at];
  };
  const Index stride = lines_.row_stride();
  spike_size_[slot] = 0;
  edge.p_first = edge.p_last = edge.q_first = edge.q_last = T(0);
  if (s.above) edge.p_first = sweep(first_inner(s), stride, bands.lower, bands.upper, edge.first_lower, near_p_);
  if (s.below) edge.q_last = sweep(last_inner(s), -stride, bands.upper, bands.lower, edge.last_upper, near_q_);
}

template <typename T>
void CutParts<T>::leave_out(const std::vector<char>& left_out) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (left_out[i] == 0) continue;
    for (Index r = 0; r < near_rows_; ++r) {
      near_p_[r * slots() + static_cast<Index>(i)] = near_q_[r * slots() + static_cast<Index>(i)] = T(0);
    }
    edges_[i].p_first = edges_[i].q_last = T(0);
    spike_size_[i] = 0;
  }
}

template <typename T>
void CutParts<T>::find_spikes(const std::function<void(const T*, T*)>& solve, const std::vector<char>& left_out) {
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
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    spike_size_[i] = 0;
    if (!has_inner(s)) continue;
    const Index first = first_inner(s), stride = lines_.row_stride();
    std::mutex mutex;
    bool finite = true;
    for_pieces((last_inner(s) - first) / stride + 1, kPieceRows, [&](Index begin, Index end) {
      double largest = 0;
      bool all_finite = true;
      for (Index k = begin; k < end; ++k) {
        const Index at = first + k * stride;
        if (left_out[i] != 0) all_p_[at] = all_q_[at] = 0;
        const double size = std::abs(static_cast<double>(all_p_[at])) + std::abs(static_cast<double>(all_q_[at]));
        all_finite = all_finite && std::isfinite(size);
        if (size > largest) largest = size;
      }
      const std::lock_guard lock(mutex);
      finite = finite && all_finite;
      if (largest > spike_size_[i]) spike_size_[i] = largest;
    });
    if (!finite) spike_size_[i] = std::numeric_limits<double>::quiet_NaN();
    Edge& edge = edges_[i];
    edge.p_first = all_p_[first_inner(s)];
    edge.q_first = all_q_[first_inner(s)];
    edge.p_last = all_p_[last_inner(s)];
    edge.q_last = all_q_[last_inner(s)];
  }
}

template <typename T>
ReducedPart CutParts<T>::reduced(Index slot) const {
  const PartSlot& s = slots_[static_cast<std::size_t>(slot)];
  const Edge& e = edges_[static_cast<std::size_t>(slot)];
  const auto wide = [](T number) { return static_cast<double>(number); };
  ReducedPart r;
  if (s.one_row()) {
    r.above = wide(e.top[0]);
    r.tt = wide(e.top[1]);
    r.below = wide(e.top[2]);
    r.top_row = r.bottom_row = wide(largest(e.top));
    return r;
  }
  const bool inner = has_inner(s);
  if (s.above) {
    r.above = wide(e.top[0]);
    r.tt = wide(e.top[1]) - (inner ? wide(e.top[2]) * wide(e.p_first) : 0);
    r.tb = s.below ? (inner ? -wide(e.top[2]) * wide(e.q_first) : wide(e.top[2])) : 0;
    r.top_row = wide(largest(e.top));
  }
  if (s.below) {
    r.below = wide(e.bottom[2]);
    r.bb = wide(e.bottom[1]) - (inner ? wide(e.bottom[0]) * wide(e.q_last) : 0);
    r.bt = s.above ? (inner ? -wide(e.bottom[0]) * wide(e.p_last) : wide(e.bottom[0])) : 0;
    r.bottom_row = wide(largest(e.bottom));
  }
  return r;
}

/// Rows from the second row of a bundle down to the last where a spike from above is larger than the threshold.
template <typename T>
Index CutParts<T>::rows_above(const Bundle& b, const T* spike, double threshold) const {
  for (Index rows = b.length - 1; rows > 0; --rows) {
    const T* row = spike + b.first + rows * lines_.row_stride();
    if (!std::all_of(row, row + b.wide, [&](T number) { return std::abs(number) <= threshold; })) return rows;
  }
  return 0;
}

/// The same from the last row but one up.
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
  // The solver answers in rows next to cuts, too, where there is no spike.
  for (const PartSlot& s : slots_) {
    if (s.above) all_p_[s.top] = all_q_[s.top] = 0;
    if (s.below) all_p_[s.bottom] = all_q_[s.bottom] = 0;
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

/// The same of what find_decaying_spikes() found.
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

template <typename T>
void CutParts<T>::right_hand_sides(const T* y, const T* z) {
  const Index all = slots();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    T* const to = numbers_.data() + i;
    if (s.above) to[0] = y[s.top];
    if (s.below) to[all] = y[s.bottom];
    if (!has_inner(s)) continue;
    if (s.above) to[2 * all] = z[first_inner(s)];
    if (s.below) to[3 * all] = z[last_inner(s)];
  }
  right_hand_sides();
}

template <typename T>
void CutParts<T>::right_hand_sides() {
  const Index all = slots();
  const T* const numbers = numbers_.data();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    const Edge& e = edges_[i];
    const auto at = static_cast<Index>(i);
    const bool inner = has_inner(s);
    const auto without_inner = [&](T y, T coupling, T z) {
      if (!inner || coupling == 0) return y;  // NaN beyond a coupling of 0 stays there
      return static_cast<T>(static_cast<double>(y) - static_cast<double>(coupling) * static_cast<double>(z));
    };
    if (s.above) g_top_[at] = without_inner(numbers[at], e.top[2], numbers[2 * all + at]);
    if (s.below && !s.one_row()) g_bottom_[at] = without_inner(numbers[all + at], e.bottom[0], numbers[3 * all + at]);
  }
}

template <typename T>
BorderLayout<T> CutParts<T>::border_layout() const {
  BorderLayout<T> layout;
  layout.slots = slots();
  layout.stride = lines_.row_stride();
  const auto places = static_cast<std::size_t>(2 * slots());
  layout.y_rows.assign(places, -1);
  layout.z_rows.assign(places, -1);
  layout.x_rows.assign(places, -1);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    const std::size_t above = i, below = slots_.size() + i;
    layout.y_rows[above] = layout.x_rows[above] = s.top;
    layout.y_rows[below] = s.bottom;
    layout.x_rows[below] = s.one_row() ? -1 : s.bottom;
    if (!has_inner(s)) continue;
    if (s.above) layout.z_rows[above] = first_inner(s);
    if (s.below) layout.z_rows[below] = last_inner(s);
  }
  const auto add = [&](std::vector<typename BorderLayout<T>::Run>& runs, Index& entries, Index at, Index first_row,
                       Index rows, const Bundle& b) {
    if (rows == 0) return;
    runs.push_back({entries, at, b.first + first_row * lines_.row_stride(), b.wide, b.first_slot});
    entries += rows * b.wide;
  };
  for (const Bundle& b : bundles_) {
    add(layout.above, layout.above_entries, b.p_at, 1, b.p_rows, b);
    add(layout.below, layout.below_entries, b.q_at, b.length - 1 - b.q_rows, b.q_rows, b);
  }
  layout.spikes = spikes_.data();
  layout.spike_count = spikes_.size();
  return layout;
}

template <typename T>
void CutParts<T>::correct(T* x) const {
  const Index stride = lines_.row_stride();
  for (const Bundle& b : bundles_) {
    const auto take_off = [&](Index first_row, Index rows, const T* spike, const T* unknown) {
      if (b.wide == 1) {
        const T u = *unknown;
        T* to = x + b.first + first_row * stride;
        for (Index r = 0; r < rows; ++r) to[r * stride] -= spike[r] * u;
        return;
      }
      for (Index r = 0; r < rows; ++r, spike += b.wide) {
        T* to = x + b.first + (first_row + r) * stride;
        for (Index w = 0; w < b.wide; ++w) to[w] -= spike[w] * unknown[w];
      }
    };
    take_off(1, b.p_rows, spikes_.data() + b.p_at, unknowns_.data() + b.first_slot);
    take_off(b.length - 1 - b.q_rows, b.q_rows, spikes_.data() + b.q_at, unknowns_.data() + slots() + b.first_slot);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    if (s.above) x[s.top] = unknowns_[static_cast<Index>(i)];
    if (s.below && !s.one_row()) x[s.bottom] = unknowns_[slots() + static_cast<Index>(i)];
  }
}

template <typename T>
std::int64_t CutParts<T>::bytes() const {
  return spikes_.bytes() + g_top_.bytes() + g_bottom_.bytes() + unknowns_.bytes() + numbers_.bytes() +
         static_cast<std::int64_t>(slots_.capacity() * sizeof(PartSlot) + edges_.capacity() * sizeof(Edge) +
                                   bundles_.capacity() * sizeof(Bundle) + spike_size_.capacity() * sizeof(double));
}

template class CutParts<float>;
template class CutParts<double>;

}  // namespace oclspkt
