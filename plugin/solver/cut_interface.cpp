// SPDX-License-Identifier: BSD-2-Clause
// How every apply solves the interface systems of cuts: what goes where, and the small systems.
#include "cut_interface.hpp"

#include <algorithm>
#include <limits>

namespace oclspkt {

template <typename T>
Index CutInterface<T>::unknowns_of(Index c, int place) const {
  if (place == set_.cut[c].place) return set_.slot(c).unknowns();
  const auto& parts = set_.facts[static_cast<std::size_t>(c)];
  if (place == 0 || place + 1 == static_cast<int>(parts.size())) return 1;
  return parts[static_cast<std::size_t>(place)].rows == 1 ? 1 : 2;
}

/// Scalars that the part at `place` tells its root in an apply.
template <typename T>
Index CutInterface<T>::told(Index c, int place) const {
  if (set_.solved_at_cuts(c)) return 0;
  if (!set_.gathered(c)) return unknowns_of(c, place);
  return set_.rows(c, place);
}

template <typename T>
void CutInterface<T>::wire() {
  systems_.clear();
  place_.assign(set_.cut.lines.size(), {});
  wire_cuts();
  wire_rooted();
  unknowns_.resize(systems_.size());
}

/// Truncated lines: a 2x2 system for each cut of a part, on both of its sides, with the same numbers and hence bits.
template <typename T>
void CutInterface<T>::wire_cuts() {
  across_.open(*set_.exchange, route_across(set_.cut, [&](Index c, int) { return set_.solved_at_cuts(c) ? 1 : 0; }));
  std::vector<Index> from_above(set_.cut.lines.size(), -1), from_below(set_.cut.lines.size(), -1);
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.solved_at_cuts(c)) continue;
    const auto at = static_cast<std::size_t>(c);
    const ReducedPart here = set_.parts.reduced(set_.slot_at(c));
    const ReducedPart &above = set_.verdicts[at].above_part, &below = set_.verdicts[at].below_part;
    if (set_.cut.above(c)) {
      from_above[at] = systems_.size();
      place_[at].top = systems_.size() + 1;
      systems_.add({{0, above.bb, above.below, above.bottom_row}, {here.above, here.tt, 0, here.top_row}});
    }
    if (set_.cut.below(c)) {
      place_[at].bottom = systems_.size();
      from_below[at] = systems_.size() + 1;
      systems_.add({{0, here.bb, here.below, here.bottom_row}, {below.above, below.tt, 0, below.top_row}});
    }
  }
  across_at_.clear();
  for (const Route::Item& item : across_.route.in) {
    const auto at = static_cast<std::size_t>(item.line);
    across_at_.push_back(item.place < set_.cut[item.line].place ? from_above[at] : from_below[at]);
  }
}

/// The others: what is left of a whole line is solved by its root, gathered lines from all of their rows.
template <typename T>
void CutInterface<T>::wire_rooted() {
  up_.open(*set_.exchange, route_to_roots(set_.cut, [&](Index c, int place) { return told(c, place); }));
  back_.open(*set_.exchange, up_.route.back());
  std::vector<Index> part_at, line_at(set_.cut.lines.size(), 0);  // where the numbers of each part begin
  Index row = 0;
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.cut.rooted(c) || set_.solved_at_cuts(c)) continue;
    const auto at = static_cast<std::size_t>(c);
    Index next = set_.gathered(c) ? row : systems_.size();
    line_at[at] = static_cast<Index>(part_at.size());
    for (int place = 0; place < set_.cut.parts(c); ++place) {
      part_at.push_back(next);
      next += told(c, place);
    }
    const Index own = part_at[static_cast<std::size_t>(line_at[at] + set_.cut[c].place)];
    if (set_.gathered(c)) {
      row = next;
      place_[at].rows = own;
    } else {
      systems_.add(reduced_rows(set_.facts[at]));
      place_[at].top = own;
      place_[at].bottom = own + (set_.slot(c).above && !set_.slot(c).one_row() ? 1 : 0);
    }
  }
  up_at_.clear();
  for (const Route::Item& item : up_.route.in) {
    up_at_.push_back(part_at[static_cast<std::size_t>(line_at[static_cast<std::size_t>(item.line)] + item.place)]);
  }
}

template <typename T>
void CutInterface<T>::solve(const T* y, T* x) {
  if (y) set_.parts.right_hand_sides(y, x);
  exchange(y != nullptr, y);
  if (!y) return;
  set_.parts.correct(x);
  write_gathered(x);
}

/// @param speaks  false: this process has nothing to say
/// @param y       null where none of its lines is gathered
template <typename T>
void CutInterface<T>::exchange(bool speaks, const T* y) {
  pack(speaks, y);
  across_.start();
  up_.start();
  across_.finish();
  up_.finish();
  solve_here(speaks, y);
  back_.start();
  back_.finish();
  if (speaks) take_unknowns();
}

template <typename T>
void CutInterface<T>::pack(bool speaks, const T* y) {
  if (!speaks) {
    constexpr T kNothing = std::numeric_limits<T>::quiet_NaN();
    std::fill_n(across_.out.data(), across_.out.size(), kNothing);
    std::fill_n(up_.out.data(), up_.out.size(), kNothing);
    return;
  }
  for (const Route::Item& item : across_.route.out) {
    const bool up = item.place < set_.cut[item.line].place;
    across_.out[item.at] = (up ? set_.parts.g_top() : set_.parts.g_bottom())[set_.slot_at(item.line)];
  }
  for (const Route::Item& item : up_.route.out) {
    T* to = up_.out.data() + item.at;
    const PartSlot& s = set_.slot(item.line);
    if (set_.gathered(item.line)) {
      const T* from = y + set_.lines.first(s.line);
      for (Index i = 0; i < item.count; ++i) to[i] = from[i * set_.lines.row_stride()];
      continue;
    }
    if (s.above) *to++ = set_.parts.g_top()[set_.slot_at(item.line)];
    if (s.below && !s.one_row()) *to = set_.parts.g_bottom()[set_.slot_at(item.line)];
  }
}

/// Solve what arrived, with the numbers of this process among it, and answer.
template <typename T>
void CutInterface<T>::solve_here(bool speaks, const T* y) {
  constexpr T kNothing = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t i = 0; i < across_at_.size(); ++i) {
    unknowns_[across_at_[i]] = across_.in[across_.route.in[i].at];
  }
  for (std::size_t i = 0; i < up_at_.size(); ++i) {
    const Route::Item& item = up_.route.in[i];
    const T* from = up_.in.data() + item.at;
    if (set_.gathered(item.line)) {
      std::copy_n(from, item.count, gathered_.y() + up_at_[i]);
    } else {
      std::copy_n(from, item.count, unknowns_.data() + up_at_[i]);
    }
  }
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const Place& place = place_[static_cast<std::size_t>(c)];
    const PartSlot& s = set_.slot(c);
    if (place.top >= 0 && s.above) unknowns_[place.top] = speaks ? set_.parts.g_top()[set_.slot_at(c)] : kNothing;
    if (place.bottom >= 0 && s.below && !s.one_row()) {
      unknowns_[place.bottom] = speaks ? set_.parts.g_bottom()[set_.slot_at(c)] : kNothing;
    }
    for (Index i = 0; place.rows >= 0 && i < set_.lines.length(s.line); ++i) {
      gathered_.y()[place.rows + i] = speaks ? y[set_.lines.first(s.line) + i * set_.lines.row_stride()] : kNothing;
    }
  }
  systems_.solve(unknowns_.data());
  gathered_.solve();
  for (std::size_t i = 0; i < up_at_.size(); ++i) {
    const Route::Item& item = back_.route.out[i];
    T* to = back_.out.data() + item.at;
    for (Index k = 0; k < item.count; ++k) {
      to[k] = set_.gathered(item.line) ? gathered_.x()[up_at_[i] + k] : static_cast<T>(unknowns_[up_at_[i] + k]);
    }
  }
}

template <typename T>
void CutInterface<T>::take_unknowns() {
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const Place& place = place_[static_cast<std::size_t>(c)];
    if (place.top >= 0 && set_.slot(c).above)
      set_.parts.x_top()[set_.slot_at(c)] = static_cast<T>(unknowns_[place.top]);
    if (place.bottom >= 0 && set_.slot(c).below)
      set_.parts.x_bottom()[set_.slot_at(c)] = static_cast<T>(unknowns_[place.bottom]);
  }
  for (const Route::Item& item : back_.route.in) {
    if (set_.gathered(item.line)) continue;
    const T* from = back_.in.data() + item.at;
    const PartSlot& s = set_.slot(item.line);
    if (s.above) set_.parts.x_top()[set_.slot_at(item.line)] = *from++;
    if (s.below && !s.one_row()) set_.parts.x_bottom()[set_.slot_at(item.line)] = *from;
  }
}

template <typename T>
void CutInterface<T>::write_gathered(T* x) {
  const auto write_rows = [&](Index c, const T* from) {
    T* to = x + set_.lines.first(set_.cut[c].line);
    for (Index i = 0; i < set_.lines.length(set_.cut[c].line); ++i) to[i * set_.lines.row_stride()] = from[i];
  };
  for (const Route::Item& item : back_.route.in) {
    if (set_.gathered(item.line)) write_rows(item.line, back_.in.data() + item.at);
  }
  for (Index c = 0; c < set_.cut.count(); ++c) {
    const Index rows = place_[static_cast<std::size_t>(c)].rows;
    if (rows >= 0) write_rows(c, gathered_.x() + rows);
  }
}

template <typename T>
std::int64_t CutInterface<T>::bytes() const {
  return systems_.bytes() + unknowns_.bytes() + across_.bytes() + up_.bytes() + back_.bytes();
}

template class CutInterface<float>;
template class CutInterface<double>;

}  // namespace oclspkt
