// SPDX-License-Identifier: BSD-2-Clause
#include "cut_parts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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
                                   bundles_.capacity() * sizeof(Bundle) + spike_facts_.capacity() * sizeof(SpikeFacts));
}

template class CutParts<float>;
template class CutParts<double>;

}  // namespace oclspkt
