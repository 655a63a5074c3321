// SPDX-License-Identifier: BSD-2-Clause
#include "cut_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
  spike_facts_.assign(slots_.size(), SpikeFacts{});
  for (AlignedArray<T>* array : {&couplings_, &g_, &unknowns_}) array->resize(2 * slots());
  numbers_.resize(4 * slots());
  place_rows();
  for (AlignedArray<T>* array : {&couplings_, &g_, &unknowns_, &numbers_}) {
    std::fill_n(array->data(), array->size(), T(0));
  }
}

template <typename T>
void CutParts<T>::place_rows() {
  const auto places = static_cast<std::size_t>(2 * slots());
  for (std::vector<Index>* rows : {&rows_.y, &rows_.z, &rows_.x}) rows->assign(places, -1);
  for (std::size_t above = 0; above < slots_.size(); ++above) {
    const PartSlot& s = slots_[above];
    const std::size_t below = slots_.size() + above;
    rows_.y[above] = rows_.x[above] = s.top;
    rows_.y[below] = s.bottom;
    rows_.x[below] = s.one_row() ? -1 : s.bottom;
    if (!has_inner(s)) continue;
    if (s.above) rows_.z[above] = first_inner(s);
    if (s.below) rows_.z[below] = last_inner(s);
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
    const auto at = static_cast<Index>(i);
    couplings_[at] = edge.top[2];
    couplings_[slots() + at] = edge.bottom[0];
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
ReducedPart CutParts<T>::reduced(Index slot) const {
  const PartSlot& s = slots_[static_cast<std::size_t>(slot)];
  const Edge& e = edges_[static_cast<std::size_t>(slot)];
  const auto wide = [](T number) { return static_cast<double>(number); };
  ReducedPart r;
  if (s.one_row()) {
    r.above = wide(e.top[0]);
    r.tt = wide(e.top[1]);
    r.below = wide(e.top[2]);
    r.top_made_of = r.bottom_made_of = std::abs(r.tt);
    return r;
  }
  const bool inner = has_inner(s);
  if (s.above) {
    r.above = wide(e.top[0]);
    r.tt = wide(e.top[1]) - (inner ? wide(e.top[2]) * wide(e.p_first) : 0);
    r.tb = s.below ? (inner ? -wide(e.top[2]) * wide(e.q_first) : wide(e.top[2])) : 0;
    r.top_made_of = std::max(std::abs(wide(e.top[1])), std::abs(wide(e.top[1]) - r.tt));
  }
  if (s.below) {
    r.below = wide(e.bottom[2]);
    r.bb = wide(e.bottom[1]) - (inner ? wide(e.bottom[0]) * wide(e.q_last) : 0);
    r.bt = s.above ? (inner ? -wide(e.bottom[0]) * wide(e.p_last) : wide(e.bottom[0])) : 0;
    r.bottom_made_of = std::max(std::abs(wide(e.bottom[1])), std::abs(wide(e.bottom[1]) - r.bb));
  }
  return r;
}

template <typename T>
void CutParts<T>::right_hand_sides(const T* y, const T* z) {
  const auto take = [](const std::vector<Index>& rows, const T* from, T* to) {
    for (std::size_t k = 0; k < rows.size(); ++k) to[k] = rows[k] >= 0 ? from[rows[k]] : T(0);
  };
  take(rows_.y, y, numbers_.data());
  take(rows_.z, z, numbers_.data() + 2 * slots());
  right_hand_sides();
}

template <typename T>
void CutParts<T>::right_hand_sides() {
  const T *const y = numbers_.data(), *const z = y + 2 * slots(), *const couplings = couplings_.data();
  T* const g = g_.data();
  for (Index k = 0; k < g_.size(); ++k) {
    const double left = static_cast<double>(y[k]) - static_cast<double>(couplings[k]) * static_cast<double>(z[k]);
    g[k] = couplings[k] == 0 ? y[k] : static_cast<T>(left);  // NaN beyond a coupling of 0 stays there
  }
}

template <typename T>
void CutParts<T>::spoil_right_hand_sides() {
  std::fill_n(g_.data(), g_.size(), std::numeric_limits<T>::quiet_NaN());
}

template <typename T>
BorderLayout<T> CutParts<T>::border_layout() const {
  BorderLayout<T> layout;
  layout.slots = slots();
  layout.stride = lines_.row_stride();
  layout.rows = rows_;
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
bool CutParts<T>::correct(T* x) const {
  const Index stride = lines_.row_stride();
  for (const Bundle& b : bundles_) {
    const auto take_off = [&](Index first_row, Index rows, const T* spike, const T* unknown) {
      T* const first = x + b.first + first_row * stride;
      for_pieces(rows, std::max<Index>(1, kPieceRows / b.wide), [&](Index begin, Index end) {
        if (b.wide == 1) {
          const T u = *unknown;
          for (Index r = begin; r < end; ++r) first[r * stride] -= spike[r] * u;
          return;
        }
        for (Index r = begin; r < end; ++r) {
          const T* const of_row = spike + r * b.wide;
          T* const to = first + r * stride;
          for (Index w = 0; w < b.wide; ++w) to[w] -= of_row[w] * unknown[w];
        }
      });
    };
    take_off(1, b.p_rows, spikes_.data() + b.p_at, unknowns_.data() + b.first_slot);
    take_off(b.length - 1 - b.q_rows, b.q_rows, spikes_.data() + b.q_at, unknowns_.data() + slots() + b.first_slot);
  }
  bool finite = true;
  for (std::size_t k = 0; k < rows_.x.size(); ++k) {
    if (rows_.x[k] < 0) continue;
    const T unknown = x[rows_.x[k]] = unknowns_[static_cast<Index>(k)];
    finite = finite && std::isfinite(unknown);
  }
  return finite;
}

template <typename T>
std::int64_t CutParts<T>::bytes() const {
  return spikes_.bytes() + couplings_.bytes() + g_.bytes() + unknowns_.bytes() + numbers_.bytes() +
         static_cast<std::int64_t>(slots_.capacity() * sizeof(PartSlot) + edges_.capacity() * sizeof(Edge) +
                                   bundles_.capacity() * sizeof(Bundle) + spike_facts_.capacity() * sizeof(SpikeFacts));
}

template class CutParts<float>;
template class CutParts<double>;

}  // namespace oclspkt
