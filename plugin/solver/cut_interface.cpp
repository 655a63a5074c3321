// SPDX-License-Identifier: BSD-2-Clause
// How every apply solves the interface systems of cuts: the messages, and the small systems.
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

/// How many scalars the part at `place` sends to its root in an apply.
template <typename T>
Index CutInterface<T>::told(Index c, int place) const {
  if (set_.solved_at_cuts(c)) return 0;
  if (!set_.gathered(c)) return unknowns_of(c, place);
  return set_.rows(c, place);
}

template <typename T>
void CutInterface<T>::wire() {
  systems_.clear();
  pairs_.clear();
  for (Moves* moves : {&to_cuts_, &to_roots_, &own_, &told_}) moves->clear();
  for (std::vector<GatheredPart>* parts : {&sent_, &kept_, &got_}) parts->clear();
  wire_cuts();
  wire_rooted();
  wire_told();
  systems_.make_room();
  unknowns_.resize(systems_.size());
}

/// Wire truncated lines: a 2x2 system for each cut of a part, solved on both sides of the cut.
template <typename T>
void CutInterface<T>::wire_cuts() {
  across_.open(*set_.exchange, route_across(set_.cut, [&](Index c, int) { return set_.solved_at_cuts(c) ? 1 : 0; }));
  std::vector<Index> from_above(set_.cut.lines.size(), -1), from_below(set_.cut.lines.size(), -1);
  for (const Route::Item& item : across_.route.in) {
    const bool above = item.place < set_.cut[item.line].place;
    (above ? from_above : from_below)[static_cast<std::size_t>(item.line)] = item.at;
  }
  for (const Route::Item& item : across_.route.out) {
    const bool up = item.place < set_.cut[item.line].place;
    to_cuts_.add(up ? set_.top_of(item.line) : set_.bottom_of(item.line), item.at);
  }
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.solved_at_cuts(c)) continue;
    const auto at = static_cast<std::size_t>(c);
    const ReducedPart here = set_.parts.reduced(set_.slot_at(c));
    const ReducedPart &above = set_.verdicts[at].above_part, &below = set_.verdicts[at].below_part;
    if (set_.cut.above(c)) {
      pairs_.add({0, above.bb, above.below, above.bottom_made_of}, {here.above, here.tt, 0, here.top_made_of}, true,
                 set_.top_of(c), from_above[at]);
    }
    if (set_.cut.below(c)) {
      pairs_.add({0, here.bb, here.below, here.bottom_made_of}, {below.above, below.tt, 0, below.top_made_of}, false,
                 set_.bottom_of(c), from_below[at]);
    }
  }
}

/// Wire the other lines: the root of a line solves its reduced system, or all of its rows if it is gathered.
template <typename T>
void CutInterface<T>::wire_rooted() {
  up_.open(*set_.exchange, route_to_roots(set_.cut, [&](Index c, int place) { return told(c, place); }));
  back_.open(*set_.exchange, up_.route.back());
  std::vector<Index> part_at, line_at(set_.cut.lines.size(), 0);  // where the numbers of each part begin
  Index gathered_rows = 0;
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.cut.rooted(c) || set_.solved_at_cuts(c)) continue;
    line_at[static_cast<std::size_t>(c)] = static_cast<Index>(part_at.size());
    wire_line(c, part_at, gathered_rows);
  }
  for (const Route::Item& item : up_.route.in) {
    const Index to = part_at[static_cast<std::size_t>(line_at[static_cast<std::size_t>(item.line)] + item.place)];
    if (set_.gathered(item.line)) {
      got_.push_back({item.line, item.at, to, item.count});
    } else {
      for (Index k = 0; k < item.count; ++k) told_.add(item.at + k, to + k);
    }
  }
}

/// Place the parts of a line that is rooted here, and add the part of this process.
/// @param[in,out] part_at  where the numbers of each part begin, in unknowns_ or among the gathered rows
template <typename T>
void CutInterface<T>::wire_line(Index c, std::vector<Index>& part_at, Index& gathered_rows) {
  Index next = set_.gathered(c) ? gathered_rows : systems_.size(), own = 0;
  for (int place = 0; place < set_.cut.parts(c); ++place) {
    if (place == set_.cut[c].place) own = next;
    part_at.push_back(next);
    next += told(c, place);
  }
  if (set_.gathered(c)) {
    gathered_rows = next;
    kept_.push_back({c, 0, own, set_.rows(c, set_.cut[c].place)});
    return;
  }
  systems_.add(reduced_rows(set_.facts[static_cast<std::size_t>(c)]));
  const PartSlot& s = set_.slot(c);
  if (s.above) own_.add(set_.top_of(c), own++);
  if (s.below && !s.one_row()) own_.add(set_.bottom_of(c), own);
}

/// Wire the numbers that this process sends to the roots of its other lines.
template <typename T>
void CutInterface<T>::wire_told() {
  for (const Route::Item& item : up_.route.out) {
    const PartSlot& s = set_.slot(item.line);
    if (set_.gathered(item.line)) {
      sent_.push_back({item.line, item.at, 0, item.count});
      continue;
    }
    if (s.above) to_roots_.add(set_.top_of(item.line), item.at);
    if (s.below && !s.one_row()) to_roots_.add(set_.bottom_of(item.line), item.at + (s.above ? 1 : 0));
  }
}

template <typename T>
bool CutInterface<T>::solve(const T* y, T* x) {
  if (y) {
    set_.parts.right_hand_sides(y, x);
  } else {
    set_.parts.spoil_right_hand_sides();
  }
  exchange(y);
  if (!y) return true;
  const bool finite = set_.parts.correct(x);
  write_gathered(x);
  return finite;
}

/// Send the right-hand sides, solve, and receive the unknowns. @param y  null: no line here is gathered, or send NaN
template <typename T>
void CutInterface<T>::exchange(const T* y) {
  const T* const g = set_.parts.g();
  to_cuts_.run(g, across_.out.data());
  to_roots_.run(g, up_.out.data());
  send_gathered(y);
  across_.start();
  up_.start();
  across_.finish();
  pairs_.solve(g, across_.in.data(), set_.parts.unknowns());
  up_.finish();
  own_.run(g, unknowns_.data());
  told_.run(up_.in.data(), unknowns_.data());
  take_gathered(y);
  systems_.solve(unknowns_.data());
  gathered_.solve();
  told_.run_back(unknowns_.data(), back_.out.data());
  for (const GatheredPart& part : got_) std::copy_n(gathered_.x() + part.here, part.rows, back_.out.data() + part.at);
  back_.start();
  own_.run_back(unknowns_.data(), set_.parts.unknowns());
  back_.finish();
  to_roots_.run_back(back_.in.data(), set_.parts.unknowns());
}

/// Copy the rows of a part, or NaN if y is null.
template <typename T>
void CutInterface<T>::copy_rows(const GatheredPart& part, const T* y, T* to) const {
  const T* const from = y ? y + set_.lines.first(set_.slot(part.line).line) : nullptr;
  for (Index i = 0; i < part.rows; ++i) {
    to[i] = from ? from[i * set_.lines.row_stride()] : std::numeric_limits<T>::quiet_NaN();
  }
}

template <typename T>
void CutInterface<T>::send_gathered(const T* y) {
  for (const GatheredPart& part : sent_) copy_rows(part, y, up_.out.data() + part.at);
}

template <typename T>
void CutInterface<T>::take_gathered(const T* y) {
  for (const GatheredPart& part : got_) std::copy_n(up_.in.data() + part.at, part.rows, gathered_.y() + part.here);
  for (const GatheredPart& part : kept_) copy_rows(part, y, gathered_.y() + part.here);
}

template <typename T>
void CutInterface<T>::write_gathered(T* x) {
  const auto write_rows = [&](const GatheredPart& part, const T* from) {
    T* to = x + set_.lines.first(set_.cut[part.line].line);
    for (Index i = 0; i < part.rows; ++i) to[i * set_.lines.row_stride()] = from[i];
  };
  for (const GatheredPart& part : sent_) write_rows(part, back_.in.data() + part.at);
  for (const GatheredPart& part : kept_) write_rows(part, gathered_.x() + part.here);
}

template <typename T>
std::int64_t CutInterface<T>::bytes() const {
  std::int64_t sum = systems_.bytes() + pairs_.bytes() + unknowns_.bytes();
  for (const Moves* moves : {&to_cuts_, &to_roots_, &own_, &told_}) sum += moves->bytes();
  return sum + across_.bytes() + up_.bytes() + back_.bytes();
}

template class CutInterface<float>;
template class CutInterface<double>;

}  // namespace oclspkt
