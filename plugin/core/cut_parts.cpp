// SPDX-License-Identifier: BSD-2-Clause
#include "cut_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

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
      slot.first = lines.first(l + w);
      slot.last = slot.first + (lines.length(l + w) - 1) * lines.row_stride();
      if (slot.above) slot.top = slot.first;
      if (slot.below) slot.bottom = slot.last;
      if (slot.above) slot.first += lines.row_stride();
      if (slot.below) slot.last -= lines.row_stride();
      slots_.push_back(slot);
    }
  }
  edges_.assign(slots_.size(), Edge{});
  spike_facts_.assign(slots_.size(), SpikeFacts{});
  for (AlignedArray<T>* array : {&couplings_, &g_, &unknowns_}) array->resize(2 * slots());
  numbers_.resize(4 * slots());
  const auto places = static_cast<std::size_t>(2 * slots());
  for (std::vector<Index>* rows : {&rows_.y, &rows_.z, &rows_.x}) rows->assign(places, -1);
  for (std::size_t top = 0, bottom = slots_.size(); top < slots_.size(); ++top, ++bottom) {
    const PartSlot& s = slots_[top];
    rows_.y[top] = rows_.x[top] = s.top;
    rows_.y[bottom] = s.bottom;
    rows_.x[bottom] = s.one_row() ? -1 : s.bottom;
    if (!s.has_inner()) continue;
    if (s.above) rows_.z[top] = s.first;
    if (s.below) rows_.z[bottom] = s.last;
  }
  for (AlignedArray<T>* array : {&couplings_, &g_, &unknowns_, &numbers_}) {
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
void CutParts<T>::uncouple_cuts(const BandsView<T>& bands, const Overlay& overlay) {
  // The new diagonal is the largest entry of the old row. y over this diagonal then overflows only if the line's
  // solution does.
  const auto uncouple = [&](Index at, T(&kept)[3]) {
    kept[0] = bands.lower[at];
    kept[1] = bands.diag[at];
    kept[2] = bands.upper[at];
    const Real<T> size = std::max({std::abs(kept[0]), std::abs(kept[1]), std::abs(kept[2])});
    overlay(at, 0, size == 0 ? T(1) : T(size), 0);
  };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    Edge& edge = edges_[i];
    edge = {};
    if (s.above) uncouple(s.top, edge.top);
    if (s.below && !s.one_row()) uncouple(s.bottom, edge.bottom);
    if (!s.has_inner()) continue;
    const auto at = static_cast<Index>(i);
    couplings_[at] = edge.top[2];
    couplings_[slots() + at] = edge.bottom[0];
    if (s.above) edge.first_lower = bands.lower[s.first];
    if (s.above) overlay(s.first, 0, bands.diag[s.first], bands.upper[s.first]);
    if (s.below) edge.last_upper = bands.upper[s.last];
    if (s.below) overlay(s.last, bands.lower[s.last], bands.diag[s.last], 0);
  }
}

template <typename T>
ReducedPart<T> CutParts<T>::reduced(Index slot) const {
  const PartSlot& s = slots_[static_cast<std::size_t>(slot)];
  const Edge& e = edges_[static_cast<std::size_t>(slot)];
  const auto wide = [](T number) { return widened<double>(number); };
  ReducedPart<T> r;
  if (s.one_row()) {
    r.above = wide(e.top[0]);
    r.tt = wide(e.top[1]);
    r.below = wide(e.top[2]);
    r.top_made_of = r.bottom_made_of = std::abs(r.tt);
    return r;
  }
  const bool inner = s.has_inner();
  if (s.above) {
    r.above = wide(e.top[0]);
    r.tt = wide(e.top[1]) - (inner ? wide(e.top[2]) * wide(e.p_first) : Doubled<T>(0));
    r.tb = s.below ? (inner ? -wide(e.top[2]) * wide(e.q_first) : wide(e.top[2])) : Doubled<T>(0);
    r.top_made_of = std::max(std::abs(wide(e.top[1])), std::abs(wide(e.top[1]) - r.tt));
  }
  if (s.below) {
    r.below = wide(e.bottom[2]);
    r.bb = wide(e.bottom[1]) - (inner ? wide(e.bottom[0]) * wide(e.q_last) : Doubled<T>(0));
    r.bt = s.above ? (inner ? -wide(e.bottom[0]) * wide(e.p_last) : wide(e.bottom[0])) : Doubled<T>(0);
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
    const auto left = widened<double>(y[k]) - widened<double>(couplings[k]) * widened<double>(z[k]);
    g[k] = couplings[k] == T(0) ? y[k] : static_cast<T>(left);  // a coupling of 0 stops NaN
  }
}

template <typename T>
void CutParts<T>::spoil_right_hand_sides() {
  std::fill_n(g_.data(), g_.size(), T(std::numeric_limits<Real<T>>::quiet_NaN()));
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
    finite = finite && is_finite(unknown);
  }
  return finite;
}

template <typename T>
std::int64_t CutParts<T>::bytes() const {
  return spikes_.bytes() + couplings_.bytes() + g_.bytes() + unknowns_.bytes() + numbers_.bytes() +
         static_cast<std::int64_t>(slots_.capacity() * sizeof(PartSlot) + edges_.capacity() * sizeof(Edge) +
                                   bundles_.capacity() * sizeof(Bundle) + spike_facts_.capacity() * sizeof(SpikeFacts));
}

template <typename T>
bool CutParts<T>::find_decaying_spikes(const BandsView<T>& bands, double dominance) {
  // Spikes end where they have decayed to 1e-40, far below rounding.
  constexpr double kNothing = 92, kLeastDominance = 1.02;  // kNothing is -log(1e-40)
  near_rows_ = 0;
  if (!(dominance >= kLeastDominance) || slots() == 0) return false;
  const auto rows = static_cast<Index>(kNothing / std::log(dominance)) + 1;
  for (const Bundle& b : bundles_) {
    if (b.length < 2 * rows + 4) return false;
  }
  near_rows_ = rows;
  for (AlignedArray<T>* spike : {&p_, &q_}) {
    spike->resize(rows * slots());
    std::fill_n(spike->data(), spike->size(), T(0));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) find_near_spikes(bands, i);
  return true;
}

/// Compute the spikes near a cut in double: eliminate rows towards the cut, and substitute away from it.
///
/// Notation: rounding.hpp; p and q are the spikes, S is the largest |p_i| + |q_i|, u_double and u_float are eps / 2 of
/// these types. A pivot takes a quotient, a product and a difference; a value takes a quotient and a product. The
/// residual of row i is thus at most 3 u_double |A_i| S. If T is float, storing the values adds u_float |A_i| S.
template <typename T>
void CutParts<T>::find_near_spikes(const BandsView<T>& bands, std::size_t slot) {
  constexpr double kNearError = 1.5 * kWithQuotients<T>;
  const auto at = static_cast<Index>(slot);
  const PartSlot& s = slots_[slot];
  Edge& edge = edges_[slot];
  SpikeFacts& facts = spike_facts_[slot];
  using Number = Doubled<T>;
  const auto wider = [](T number) { return widened<double>(number); };
  std::vector<Number> pivots(static_cast<std::size_t>(near_rows_));
  // Rows count from the cut inwards: `towards` couples a row to the previous row, `inwards` to the next row.
  const auto sweep = [&](Index first, Index step, const T* towards, const T* inwards, T coupling,
                         AlignedArray<T>& out) {
    Number pivot = wider(bands.diag[first + (near_rows_ - 1) * step]);
    pivots.back() = pivot;
    for (Index r = near_rows_ - 2; r >= 0; --r) {
      const Index row = first + r * step;
      pivot = wider(bands.diag[row]) - wider(inwards[row]) * wider(towards[row + step]) / pivot;
      pivots[static_cast<std::size_t>(r)] = pivot;
    }
    Number value = wider(coupling) / pivots.front();
    for (Index r = 0; r < near_rows_; ++r) {
      if (r > 0) value *= -wider(towards[first + r * step]) / pivots[static_cast<std::size_t>(r)];
      out[r * slots() + at] = static_cast<T>(value);
      facts.size = larger(facts.size, std::abs(value));
    }
    return out[at];
  };
  const Index stride = lines_.row_stride();
  facts = {};
  edge.p_first = edge.p_last = edge.q_first = edge.q_last = T(0);
  if (s.above) edge.p_first = sweep(s.first, stride, bands.lower, bands.upper, edge.first_lower, p_);
  if (s.below) edge.q_last = sweep(s.last, -stride, bands.upper, bands.lower, edge.last_upper, q_);
  facts.error = kNearError * facts.size;
}

template <typename T>
void CutParts<T>::leave_out(const std::vector<char>& left_out) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (left_out[i] == 0) continue;
    for (Index r = 0; r < near_rows_; ++r) {
      p_[r * slots() + static_cast<Index>(i)] = q_[r * slots() + static_cast<Index>(i)] = T(0);
    }
    edges_[i].p_first = edges_[i].q_last = T(0);
    spike_facts_[i] = {};
  }
}

template <typename T>
void CutParts<T>::find_spikes(const std::function<void(const T*, T*)>& solve, const std::vector<char>& left_out) {
  near_rows_ = 0;
  AlignedArray<T> y(lines_.extent());
  fill_zeros(y);
  for (AlignedArray<T>* spike : {&p_, &q_}) {
    spike->resize(lines_.extent());
    fill_zeros(*spike);
    const bool down = spike == &p_;
    bool any = false;
    const auto set = [&](bool clear) {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        const PartSlot& s = slots_[i];
        if (!s.has_inner() || left_out[i] != 0) continue;
        if (!(down ? s.above : s.below)) continue;
        any = true;
        y[down ? s.first : s.last] = clear ? T(0) : down ? edges_[i].first_lower : edges_[i].last_upper;
      }
    };
    set(false);
    if (any) solve(y.data(), spike->data());
    set(true);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const PartSlot& s = slots_[i];
    // The solver also writes to rows next to cuts and to lines in `left_out`: clear these.
    if (s.above) p_[s.top] = q_[s.top] = 0;
    if (s.below) p_[s.bottom] = q_[s.bottom] = 0;
    if (!s.has_inner()) continue;
    for (Index at = s.first; left_out[i] != 0 && at <= s.last; at += lines_.row_stride()) p_[at] = q_[at] = 0;
    Edge& edge = edges_[i];
    edge.p_first = p_[s.first];
    edge.q_first = q_[s.first];
    edge.p_last = p_[s.last];
    edge.q_last = q_[s.last];
  }
}

template <typename T>
void CutParts<T>::measure_spikes(const BandsView<T>& bands, const std::vector<char>& left_out) {
  for (const Bundle& b : bundles_) {
    SpikeFacts* const facts = spike_facts_.data() + b.first_slot;
    std::fill_n(facts, b.wide, SpikeFacts{});
    if (b.wide > 1) {
      constexpr Index kFewest = 64;  // fewest lines of a piece; numbers of neighbouring lines are adjacent in memory
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
  // kOwn bounds the rounding of the residual itself.
  using Number = Doubled<T>;
  constexpr double kOwn = 1.5 * kOfArithmetic<T> * kEpsOf<double>;
  const Index stride = lines_.row_stride();
  const auto wide = [](T number) { return widened<double>(number); };
  for (Index r = begin; r < end; ++r) {
    for (Index w = first_line; w < end_line; ++w) {
      const auto slot = static_cast<std::size_t>(b.first_slot + w);
      const PartSlot& s = slots_[slot];
      const Index at = b.first + r * stride + w;
      const bool top = r == 0, bottom = r + 1 == b.length;
      if ((top && s.above) || (bottom && s.below)) continue;
      const Number of_top = at == s.first ? wide(edges_[slot].first_lower) : Number(0);
      const Number of_bottom = at == s.last ? wide(edges_[slot].last_upper) : Number(0);
      const Number lower = wide(bands.lower[at]), diag = wide(bands.diag[at]), upper = wide(bands.upper[at]);
      double left = 0, sizes = 0;
      const auto see = [&](const AlignedArray<T>& spike, Number right) {
        const Number above = top ? Number(0) : lower * wide(spike[at - stride]), here = diag * wide(spike[at]);
        const Number below = bottom ? Number(0) : upper * wide(spike[at + stride]);
        left += std::abs(((right - above) - here) - below);
        sizes += std::abs(right) + std::abs(above) + std::abs(here) + std::abs(below);
      };
      see(p_, of_top);
      see(q_, of_bottom);
      const double row = std::abs(lower) + std::abs(diag) + std::abs(upper) + std::abs(of_top) + std::abs(of_bottom);
      SpikeFacts& line = facts[w];
      line.size = larger(line.size, std::abs(wide(p_[at])) + std::abs(wide(q_[at])));
      if (sizes != 0) line.error = larger(line.error, (left + kOwn * sizes) / (row * kEpsOf<T>));
    }
  }
}

template <typename T>
void CutParts<T>::keep_spikes(double threshold) {
  // Row r of a bundle's spike; rows count from the cut.
  const auto row = [&](const Bundle& b, const AlignedArray<T>& spike, Index r) {
    if (near_rows_ > 0) return spike.data() + r * slots() + b.first_slot;
    const Index in_line = &spike == &p_ ? 1 + r : b.length - 2 - r;
    return spike.data() + b.first + in_line * lines_.row_stride();
  };
  const auto rows_of = [&](const Bundle& b, const AlignedArray<T>& spike) {
    const auto small = [&](T number) { return std::abs(number) <= threshold; };
    Index rows = near_rows_ > 0 ? near_rows_ : b.length - 1;
    while (rows > 0 && std::all_of(row(b, spike, rows - 1), row(b, spike, rows - 1) + b.wide, small)) --rows;
    return rows;
  };
  Index size = 0;
  for (Bundle& b : bundles_) {
    b.p_rows = rows_of(b, p_);
    b.q_rows = rows_of(b, q_);
    b.p_at = size;
    b.q_at = b.p_at + b.p_rows * b.wide;
    size = b.q_at + b.q_rows * b.wide;
  }
  spikes_ = AlignedArray<T>(size);
  for (const Bundle& b : bundles_) {
    T* out = spikes_.data() + b.p_at;
    for (Index r = 0; r < b.p_rows; ++r) out = std::copy_n(row(b, p_, r), b.wide, out);
    for (Index r = b.q_rows - 1; r >= 0; --r) out = std::copy_n(row(b, q_, r), b.wide, out);
  }
  p_ = {};
  q_ = {};
}

template <typename T>
Index CutParts<T>::spike_rows() const {
  Index rows = 0;
  for (const Bundle& b : bundles_) rows = std::max({rows, b.p_rows, b.q_rows});
  return rows;
}

#define OCLSPKT_INSTANTIATE(T) template class CutParts<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
