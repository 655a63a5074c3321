// SPDX-License-Identifier: BSD-2-Clause
// How a cut is settled by every apply: what goes where, and the small systems.
#include <algorithm>
#include <limits>

#include "cut_solver_impl.hpp"

namespace oclspkt {

template <typename T>
Index CutSolver<T>::Impl::unknowns_of(Index c, int place) const {
  if (place == cut_[c].place) return slot(c).unknowns();
  const auto& parts = facts_[static_cast<std::size_t>(c)];
  if (place == 0 || place + 1 == static_cast<int>(parts.size())) return 1;
  return parts[static_cast<std::size_t>(place)].rows == 1 ? 1 : 2;
}

/// Scalars that the part at `place` tells its root in an apply.
template <typename T>
Index CutSolver<T>::Impl::told(Index c, int place) const {
  if (settled_at_cuts(c)) return 0;
  if (!gathered(c)) return unknowns_of(c, place);
  return place == cut_[c].place ? lines_.length(cut_[c].line)
                                : facts_[static_cast<std::size_t>(c)][static_cast<std::size_t>(place)].rows;
}

/// Open the channels of an apply and factor what it solves here.
/// @pre facts_, verdict_, why_ and truncated_ are settled
template <typename T>
void CutSolver<T>::Impl::wire() {
  systems_.clear();
  place_.assign(cut_.lines.size(), {});
  wire_cuts();
  wire_rooted();
  unknowns_.resize(systems_.size());
  report_.sent = across_.route.out_count + up_.route.out_count + back_.route.out_count;
  report_.received = across_.route.in_count + up_.route.in_count + back_.route.in_count;
}

/// Truncated lines: a 2x2 system for each cut of a part, on both of its sides, with the same numbers and hence bits.
template <typename T>
void CutSolver<T>::Impl::wire_cuts() {
  across_.open(*exchange_, route_across(cut_, [&](Index c, int) { return settled_at_cuts(c) ? 1 : 0; }));
  std::vector<Index> from_above(cut_.lines.size(), -1), from_below(cut_.lines.size(), -1);
  for (Index c = 0; c < cut_.count(); ++c) {
    if (!settled_at_cuts(c)) continue;
    const auto at = static_cast<std::size_t>(c);
    const ReducedPart here = parts_.reduced(slot_at(c));
    const ReducedPart &above = verdict_[at].above_part, &below = verdict_[at].below_part;
    if (cut_.above(c)) {
      from_above[at] = systems_.size();
      place_[at].top = systems_.size() + 1;
      systems_.add({{0, above.bb, above.below, above.bottom_row}, {here.above, here.tt, 0, here.top_row}});
    }
    if (cut_.below(c)) {
      place_[at].bottom = systems_.size();
      from_below[at] = systems_.size() + 1;
      systems_.add({{0, here.bb, here.below, here.bottom_row}, {below.above, below.tt, 0, below.top_row}});
    }
  }
  across_at_.clear();
  for (const Route::Item& item : across_.route.in) {
    const auto at = static_cast<std::size_t>(item.line);
    across_at_.push_back(item.place < cut_[item.line].place ? from_above[at] : from_below[at]);
  }
}

/// The others: what is left of a whole line is solved by its root, gathered lines from all of their rows.
template <typename T>
void CutSolver<T>::Impl::wire_rooted() {
  up_.open(*exchange_, route_to_roots(cut_, [&](Index c, int place) { return told(c, place); }));
  back_.open(*exchange_, up_.route.back());
  std::vector<Index> part_at, line_at(cut_.lines.size(), 0);  // where the numbers of each part begin
  Index row = 0;
  for (Index c = 0; c < cut_.count(); ++c) {
    if (!cut_.rooted(c) || settled_at_cuts(c)) continue;
    const auto at = static_cast<std::size_t>(c);
    Index next = gathered(c) ? row : systems_.size();
    line_at[at] = static_cast<Index>(part_at.size());
    for (int place = 0; place < cut_.parts(c); ++place) {
      part_at.push_back(next);
      next += told(c, place);
    }
    const Index own = part_at[static_cast<std::size_t>(line_at[at] + cut_[c].place)];
    if (gathered(c)) {
      row = next;
      place_[at].rows = own;
    } else {
      systems_.add(reduced_rows(facts_[at]));
      place_[at].top = own;
      place_[at].bottom = own + (slot(c).above && !slot(c).one_row() ? 1 : 0);
    }
  }
  up_at_.clear();
  for (const Route::Item& item : up_.route.in) {
    up_at_.push_back(part_at[static_cast<std::size_t>(line_at[static_cast<std::size_t>(item.line)] + item.place)]);
  }
  gathered_y_.resize(row);
  gathered_x_.resize(row);
}

/// Settle the cuts: the right-hand sides go out, the unknowns come back.
/// @param y null if this process has nothing to say: NaN goes out, and x is not touched
template <typename T>
void CutSolver<T>::Impl::exchange(const T* y, T* x) {
  if (y) parts_.right_hand_sides(y, x);
  pack(y);
  across_.start();
  up_.start();
  across_.finish();
  up_.finish();
  solve_here(y);
  back_.start();
  back_.finish();
  if (y) unpack(x);
}

template <typename T>
void CutSolver<T>::Impl::pack(const T* y) {
  if (!y) {
    constexpr T kNothing = std::numeric_limits<T>::quiet_NaN();
    std::fill_n(across_.out.data(), across_.out.size(), kNothing);
    std::fill_n(up_.out.data(), up_.out.size(), kNothing);
    return;
  }
  for (const Route::Item& item : across_.route.out) {
    const bool up = item.place < cut_[item.line].place;
    across_.out[item.at] = (up ? parts_.g_top() : parts_.g_bottom())[slot_at(item.line)];
  }
  for (const Route::Item& item : up_.route.out) {
    T* to = up_.out.data() + item.at;
    const PartSlot& s = slot(item.line);
    if (gathered(item.line)) {
      const T* from = y + lines_.first(s.line);
      for (Index i = 0; i < item.count; ++i) to[i] = from[i * lines_.row_stride()];
      continue;
    }
    if (s.above) *to++ = parts_.g_top()[slot_at(item.line)];
    if (s.below && !s.one_row()) *to = parts_.g_bottom()[slot_at(item.line)];
  }
}

/// Solve what arrived, with the numbers of this process among it, and answer.
template <typename T>
void CutSolver<T>::Impl::solve_here(const T* y) {
  constexpr T kNothing = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t i = 0; i < across_at_.size(); ++i) {
    unknowns_[across_at_[i]] = across_.in[across_.route.in[i].at];
  }
  for (std::size_t i = 0; i < up_at_.size(); ++i) {
    const Route::Item& item = up_.route.in[i];
    const T* from = up_.in.data() + item.at;
    if (gathered(item.line)) {
      std::copy_n(from, item.count, gathered_y_.data() + up_at_[i]);
    } else {
      std::copy_n(from, item.count, unknowns_.data() + up_at_[i]);
    }
  }
  for (Index c = 0; c < cut_.count(); ++c) {
    const Place& place = place_[static_cast<std::size_t>(c)];
    const PartSlot& s = slot(c);
    if (place.top >= 0 && s.above) unknowns_[place.top] = y ? parts_.g_top()[slot_at(c)] : kNothing;
    if (place.bottom >= 0 && s.below && !s.one_row()) {
      unknowns_[place.bottom] = y ? parts_.g_bottom()[slot_at(c)] : kNothing;
    }
    for (Index i = 0; place.rows >= 0 && i < lines_.length(s.line); ++i) {
      gathered_y_[place.rows + i] = y ? y[lines_.first(s.line) + i * lines_.row_stride()] : kNothing;
    }
  }
  systems_.solve(unknowns_.data());
  if (gathered_y_.size() > 0) settled_.apply(gathered_y_.data(), gathered_x_.data());
  for (std::size_t i = 0; i < up_at_.size(); ++i) {
    const Route::Item& item = back_.route.out[i];
    T* to = back_.out.data() + item.at;
    for (Index k = 0; k < item.count; ++k) {
      to[k] = gathered(item.line) ? gathered_x_[up_at_[i] + k] : static_cast<T>(unknowns_[up_at_[i] + k]);
    }
  }
}

template <typename T>
void CutSolver<T>::Impl::unpack(T* x) {
  for (Index c = 0; c < cut_.count(); ++c) {
    const Place& place = place_[static_cast<std::size_t>(c)];
    if (place.top >= 0 && slot(c).above) parts_.x_top()[slot_at(c)] = static_cast<T>(unknowns_[place.top]);
    if (place.bottom >= 0 && slot(c).below) parts_.x_bottom()[slot_at(c)] = static_cast<T>(unknowns_[place.bottom]);
  }
  for (const Route::Item& item : back_.route.in) {
    if (gathered(item.line)) continue;
    const T* from = back_.in.data() + item.at;
    const PartSlot& s = slot(item.line);
    if (s.above) parts_.x_top()[slot_at(item.line)] = *from++;
    if (s.below && !s.one_row()) parts_.x_bottom()[slot_at(item.line)] = *from;
  }
  parts_.correct(x);
  const auto write_rows = [&](Index c, const T* from) {
    T* to = x + lines_.first(cut_[c].line);
    for (Index i = 0; i < lines_.length(cut_[c].line); ++i) to[i * lines_.row_stride()] = from[i];
  };
  for (const Route::Item& item : back_.route.in) {
    if (gathered(item.line)) write_rows(item.line, back_.in.data() + item.at);
  }
  for (Index c = 0; c < cut_.count(); ++c) {
    const Index rows = place_[static_cast<std::size_t>(c)].rows;
    if (rows >= 0) write_rows(c, gathered_x_.data() + rows);
  }
}

#define OCLSPKT_INSTANTIATE(T)                                      \
  template Index CutSolver<T>::Impl::unknowns_of(Index, int) const; \
  template Index CutSolver<T>::Impl::told(Index, int) const;        \
  template void CutSolver<T>::Impl::wire();                         \
  template void CutSolver<T>::Impl::wire_cuts();                    \
  template void CutSolver<T>::Impl::wire_rooted();                  \
  template void CutSolver<T>::Impl::exchange(const T*, T*);         \
  template void CutSolver<T>::Impl::pack(const T*);                 \
  template void CutSolver<T>::Impl::solve_here(const T*);           \
  template void CutSolver<T>::Impl::unpack(T*);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
