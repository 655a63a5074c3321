// SPDX-License-Identifier: BSD-2-Clause
// In every apply, processes exchange messages and solve the interface systems of cuts. If a line cannot be solved in
// parts, its root solves the whole line.
#include "cut_interface.hpp"

#include <algorithm>
#include <utility>

#include "rounding.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

/// Number of bands in a message about a part: lower, diag, upper.
constexpr Index kBands = 3;

/// Copy the bands of a line, one after the other.
template <typename T>
void copy_line(const LineSet& lines, const BandsView<T>& from, Index line, T* to) {
  for (const T* band : {from.lower, from.diag, from.upper}) {
    for (Index i = 0; i < lines.length(line); ++i) *to++ = band[lines.first(line) + i * lines.row_stride()];
  }
}

}  // namespace

template <typename T>
void GatheredLines<T>::clear() {
  solver_.reset();
  lines_.clear();
  pinned_ = 0;
  y_.resize(0);
  x_.resize(0);
}

template <typename T>
void GatheredLines<T>::gather(Accord& accord, const Bands<T>& whole, const Options& options, bool may_pin) {
  lines_.clear();
  pinned_ = 0;
  accord.attempt([&] {
    for (Index c = 0; c < set_.cut.count(); ++c) {
      if (!set_.cut.rooted(c) || !set_.gathered(c)) continue;
      lines_.push_back(c);
      const Index rows = set_.rows(c), limit = options.gather_limit;
      if (limit < 0 || rows <= limit) continue;
      throw Breakdown("line " + std::to_string(set_.cut[c].number) + " of " + std::to_string(rows) +
                      " rows cannot be solved in parts (" + text(set_.why[static_cast<std::size_t>(c)]) +
                      "), and gather_limit lets one process solve lines of at most " + std::to_string(limit) +
                      " rows: raise it (-1: any length)");
    }
  });
  accord.agree();
  Wire<T> wire;
  accord.attempt([&] {
    wire.open(*set_.exchange, route_to_roots(set_.cut, [&](Index c, int place) -> Index {
      if (!set_.gathered(c)) return 0;
      return kBands * set_.rows(c, place);
    }));
    for (const Route::Item& item : wire.route.out) {
      copy_line(set_.lines, whole.view(), set_.cut[item.line].line, wire.out.data() + item.at);
    }
  });
  accord.agree();
  wire.talk();
  accord.attempt([&] {
    fill(wire, whole);
    factor(options, may_pin);
  });
  accord.agree();
}

/// Assemble the gathered lines from their parts, end to end.
template <typename T>
void GatheredLines<T>::fill(const Wire<T>& wire, const Bands<T>& whole) {
  std::vector<Index> starts{0}, start_of(set_.cut.lines.size(), -1);
  for (const Index c : lines_) {
    start_of[static_cast<std::size_t>(c)] = starts.back();
    starts.push_back(starts.back() + set_.rows(c));
  }
  if (!solver_) solver_.emplace(Options());
  y_.resize(starts.back());
  x_.resize(starts.back());
  const LineSet lines = LineSet::unequal(starts);
  Bands<T>& bands = solver_->expect(lines).write(lines);
  const auto take = [&](Index c, int place, const T* part) {
    const Index rows = set_.rows(c, place);
    Index at = start_of[static_cast<std::size_t>(c)];
    for (int above = 0; above < place; ++above) at += set_.rows(c, above);
    for (T* const to : {bands.lower(), bands.diag(), bands.upper()})
      std::copy_n(std::exchange(part, part + rows), rows, to + at);
  };
  for (const Route::Item& item : wire.route.in) take(item.line, item.place, wire.in.data() + item.at);
  std::vector<T> own;
  for (const Index c : lines_) {
    own.resize(static_cast<std::size_t>(kBands * set_.rows(c, set_.cut[c].place)));
    copy_line(set_.lines, whole.view(), set_.cut[c].line, own.data());
    take(c, set_.cut[c].place, own.data());
  }
}

/// The name of a gathered line in messages, such as "line 7 of 30 rows, cut among 3 processes".
template <typename T>
std::string GatheredLines<T>::name(std::size_t g) const {
  const Index c = lines_[g];
  return "line " + std::to_string(set_.cut[c].number) + " of " + std::to_string(set_.rows(c)) + " rows, cut among " +
         std::to_string(set_.cut.parts(c)) + " processes";
}

/// Report the first gathered line that cannot be solved whole.
/// @throws Breakdown naming the line
template <typename T>
void GatheredLines<T>::refuse(const Options& options, const Breakdown& error) {
  const LineSet lines = solver_->system().lines();
  const BandsView<T> all = solver_->expect(lines).edit(lines).view();
  for (std::size_t g = 0; g < lines_.size(); ++g) {
    const Index first = lines.first(static_cast<Index>(g)), rows = lines.length(static_cast<Index>(g));
    Solver<T> alone(options);
    try {
      alone.set_up(LineSet::one(rows), all.lower + first, all.diag + first, all.upper + first);
    } catch (const Breakdown& own) {
      throw Breakdown(name(g) + ", cannot be solved: " + own.what());
    }
  }
  throw error;
}

/// Factor the gathered lines. @throws Breakdown naming the first line that is singular, unless it may be pinned
template <typename T>
void GatheredLines<T>::factor(const Options& options, bool may_pin) {
  if (lines_.empty()) return;
  Options own;
  own.devices = "host";
  if (options.method == MethodChoice::pivot) own.method = MethodChoice::pivot;
  own.singular = Singular::pin;
  if (!named(options.method)) own.above_bound = options.above_bound;
  try {
    solver_->set_up(own, {});
  } catch (const Breakdown& error) {
    refuse(own, error);
  }
  const std::vector<Index> pinned = solver_->system().pinned_lines();
  pinned_ = static_cast<Index>(pinned.size());
  if (pinned.empty() || may_pin) return;
  throw Breakdown(name(static_cast<std::size_t>(pinned.front())) + ", is singular; " + kPinCure);
}

template <typename T>
void GatheredLines<T>::solve() {
  failure_ = nullptr;
  if (y_.size() == 0) return;
  try {
    solver_->apply(y_.data(), x_.data());
  } catch (const Breakdown&) {  // x has an answer, but method auto must not return it
    failure_ = std::current_exception();
  } catch (...) {
    failure_ = std::current_exception();
    std::fill_n(x_.data(), x_.size(), T(std::numeric_limits<Real<T>>::quiet_NaN()));
  }
}

template <typename T>
void GatheredLines<T>::tell(CutReport& report) const {
  if (y_.size() == 0) return;
  report.rounding = larger(report.rounding, solver_->report().rounding);
  if (report.above_bound.empty()) report.above_bound = solver_->report().above_bound;
}

/// The number of scalars that the part at `place` sends to its root in an apply.
template <typename T>
Index CutInterface<T>::told(Index c, int place) const {
  if (set_.solved_at_cuts(c)) return 0;
  if (set_.gathered(c)) return set_.rows(c, place);
  if (place == set_.cut[c].place) return set_.slot(c).unknowns();
  return place == 0 || place + 1 == set_.cut.parts(c) || set_.rows(c, place) == 1 ? 1 : 2;
}

template <typename T>
void CutInterface<T>::wire() {
  systems_.clear();
  pairs_.clear();
  for (Moves* moves : {&to_cuts_, &to_roots_, &own_, &told_, &got_}) moves->clear();
  for (Moves* rows : {&sent_, &kept_}) rows->clear(set_.lines.row_stride());
  wire_cuts();
  wire_roots();
  systems_.make_room();
  unknowns_.resize(systems_.size());
}

/// Set up the channels and moves for truncated lines. The processes beside a cut solve its 2x2 system.
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
    const ReducedPart<T> here = set_.parts.reduced(set_.slot_at(c));
    const ReducedPart<T>&above = set_.verdicts[at].above_part, &below = set_.verdicts[at].below_part;
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

/// Add moves of this process's part of line c to the places from `to` on. `rows` moves all rows of gathered lines;
/// `numbers` moves the values next to the cuts of other lines.
template <typename T>
void CutInterface<T>::add_part(Index c, Index to, Moves& numbers, Moves& rows) const {
  const PartSlot& s = set_.slot(c);
  if (set_.gathered(c)) return rows.add(set_.lines.first(s.line), to, set_.lines.length(s.line));
  if (s.above) numbers.add(set_.top_of(c), to++);
  if (s.below && !s.one_row()) numbers.add(set_.bottom_of(c), to);
}

/// Set up the channels and moves for other cut lines. The root solves a line's reduced system, or a gathered line.
template <typename T>
void CutInterface<T>::wire_roots() {
  up_.open(*set_.exchange, route_to_roots(set_.cut, [&](Index c, int place) { return told(c, place); }));
  back_.open(*set_.exchange, up_.route.back());
  for (const Route::Item& item : up_.route.out) add_part(item.line, item.at, to_roots_, sent_);
  // Place of the first value of each part, in unknowns_ or, for gathered lines, in gathered_.y().
  std::vector<Index> part_at, line_at(set_.cut.lines.size(), 0);
  Index gathered_rows = 0;
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.cut.rooted(c) || set_.solved_at_cuts(c)) continue;
    line_at[static_cast<std::size_t>(c)] = static_cast<Index>(part_at.size());
    Index next = set_.gathered(c) ? gathered_rows : systems_.size();
    for (int place = 0; place < set_.cut.parts(c); ++place) {
      if (place == set_.cut[c].place) add_part(c, next, own_, kept_);
      part_at.push_back(next);
      next += told(c, place);
    }
    if (set_.gathered(c)) {
      gathered_rows = next;
    } else {
      systems_.add(reduced_rows(set_.facts[static_cast<std::size_t>(c)]));
    }
  }
  for (const Route::Item& item : up_.route.in) {
    const Index to = part_at[static_cast<std::size_t>(line_at[static_cast<std::size_t>(item.line)] + item.place)];
    (set_.gathered(item.line) ? got_ : told_).add(item.at, to, item.count);
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
  sent_.run_back(back_.in.data(), x);
  kept_.run_back(gathered_.x(), x);
  return finite;
}

template <typename T>
void CutInterface<T>::exchange(const T* y) {
  const T* const g = set_.parts.g();
  to_cuts_.run(g, across_.out.data());
  to_roots_.run(g, up_.out.data());
  sent_.run(y, up_.out.data());
  across_.start();
  up_.start();
  across_.finish();
  pairs_.solve(g, across_.in.data(), set_.parts.unknowns());
  up_.finish();
  own_.run(g, unknowns_.data());
  told_.run(up_.in.data(), unknowns_.data());
  got_.run(up_.in.data(), gathered_.y());
  kept_.run(y, gathered_.y());
  systems_.solve(unknowns_.data());
  gathered_.solve();
  told_.run_back(unknowns_.data(), back_.out.data());
  got_.run_back(gathered_.x(), back_.out.data());
  back_.start();
  own_.run_back(unknowns_.data(), set_.parts.unknowns());
  back_.finish();
  to_roots_.run_back(back_.in.data(), set_.parts.unknowns());
}

template <typename T>
std::int64_t CutInterface<T>::bytes() const {
  std::int64_t sum = systems_.bytes() + pairs_.bytes() + unknowns_.bytes();
  for (const Moves* moves : {&to_cuts_, &to_roots_, &own_, &told_, &sent_, &kept_, &got_}) sum += moves->bytes();
  return sum + across_.bytes() + up_.bytes() + back_.bytes();
}

#define OCLSPKT_INSTANTIATE(T)     \
  template class GatheredLines<T>; \
  template class CutInterface<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
