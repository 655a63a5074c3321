// SPDX-License-Identifier: BSD-2-Clause
// The facts about parts that processes exchange at set-up, and the decisions that follow from them.
#include "cut_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rounding.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

/// A pivot of the equations between parts below this many eps, plus one for each equation, may be mere rounding: the
/// line may be singular. Poisson's matrix has pivots of 2 / rows there.
constexpr double kSmallPivot = 4;

bool is_one_row(const std::vector<PartFacts>& parts, std::size_t place) {
  return place > 0 && place + 1 < parts.size() && parts[place].rows == 1;
}

LineVerdict verdict_for(const std::vector<PartFacts>& parts, Gathering why, std::size_t place) {
  LineVerdict v{why, has_one_row(parts), {}, {}};
  if (place > 0) v.above_part = parts[place - 1].reduced;
  if (place + 1 < parts.size()) v.below_part = parts[place + 1].reduced;
  return v;
}

template <typename T>
Gathering judge_line(const std::vector<PartFacts>& parts) {
  Gathering why = Gathering::none;
  bool zero_sums = true;
  Survey all{.smallest_row = std::numeric_limits<double>::infinity()};
  for (const PartFacts& part : parts) {
    why = std::max(why, part.why);
    all.smallest_row = std::min(all.smallest_row, part.smallest_row);
    all.largest_row = std::max(all.largest_row, part.largest_row);
    zero_sums = zero_sums && part.zero_sums;
    if (!(part.rounding <= kRoundingLimit)) why = std::max(why, Gathering::large_spike);
  }
  if (!in_range<T>(all)) why = std::max(why, Gathering::extreme);
  if (zero_sums) why = Gathering::zero_sums;
  if (why != Gathering::none) return why;
  const std::vector<PivotedRow<double>> rows = reduced_rows(parts);
  const double pivot = smallest_pivot(rows);
  const double small =
      (kSmallPivot + static_cast<double>(rows.size())) * static_cast<double>(std::numeric_limits<T>::epsilon());
  return pivot >= small ? Gathering::none : Gathering::small_pivot;
}

}  // namespace

const char* text(Gathering why) {
  switch (why) {
    case Gathering::none:
      return "";
    case Gathering::singular_part:
      return "its inner rows are singular on a process";
    case Gathering::refused_part:
      return "every method is rejected for its inner rows on a process";
    case Gathering::small_pivot:
      return "the equations between its parts are nearly singular";
    case Gathering::large_spike:
      return "solving its parts amplifies rounding errors";
    case Gathering::extreme:
      return "its rows are too large, too small or too different in size";
    case Gathering::trial:
      return "the trial solve of its parts failed";
    case Gathering::asked:
      return "method pivot was asked for";
    case Gathering::zero_sums:
      return "its rows sum to 0, so that it is singular";
  }
  return "";
}

bool has_one_row(const std::vector<PartFacts>& parts) {
  for (std::size_t place = 0; place < parts.size(); ++place) {
    if (is_one_row(parts, place)) return true;
  }
  return false;
}

std::vector<PivotedRow<double>> reduced_rows(const std::vector<PartFacts>& parts) {
  std::vector<PivotedRow<double>> rows;
  for (std::size_t place = 0; place < parts.size(); ++place) {
    const ReducedPart& r = parts[place].reduced;
    const bool first = place == 0, last = place + 1 == parts.size();
    if (is_one_row(parts, place)) {
      rows.push_back({r.above, r.tt, r.below, r.top_made_of});
      continue;
    }
    if (!first) rows.push_back({r.above, r.tt, r.tb, r.top_made_of});
    if (!last) rows.push_back({r.bt, r.bb, r.below, r.bottom_made_of});
  }
  return rows;
}

double truncation_bound(const std::vector<PartFacts>& parts) {
  double bound = 0;
  bool known = true;
  for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
    const ReducedPart &a = parts[k].reduced, &b = parts[k + 1].reduced;
    const double det = std::abs(a.bb * b.tt - a.below * b.above);
    const double bottom = (std::abs(b.tt * a.bt) + std::abs(a.below * b.tb)) / det;
    const double top = (std::abs(b.above * a.bt) + std::abs(a.bb * b.tb)) / det;
    const double spread = std::max({1.0, parts[k].spike_size, parts[k + 1].spike_size});
    const double above = parts[k].units_range, below = parts[k + 1].units_range, range = std::max(above, below);
    const double in_units = (std::abs(b.tt * a.bt) * above + std::abs(a.bb * b.tb) * below) / det * range;
    const double here = std::max({bottom, top, in_units}) * spread;
    known = known && std::isfinite(bottom) && std::isfinite(top) && std::isfinite(in_units) && std::isfinite(spread);
    bound = std::max(bound, here);
  }
  return known ? bound : std::numeric_limits<double>::quiet_NaN();
}

template <typename T>
bool CutSet<T>::any_gathered() const {
  return std::any_of(why.begin(), why.end(), [](Gathering g) { return g != Gathering::none; });
}

template <typename T>
std::vector<Index> CutSet<T>::cut_of_lines() const {
  std::vector<Index> of(static_cast<std::size_t>(lines.count()), -1);
  for (Index c = 0; c < cut.count(); ++c) of[static_cast<std::size_t>(cut[c].line)] = c;
  return of;
}

template <typename T>
Index CutSet<T>::rows(Index c, int place) const {
  if (place == cut[c].place) return lines.length(cut[c].line);
  return facts[static_cast<std::size_t>(c)][static_cast<std::size_t>(place)].rows;
}

template <typename T>
Index CutSet<T>::rows(Index c) const {
  Index sum = 0;
  for (const PartFacts& part : facts[static_cast<std::size_t>(c)]) sum += part.rows;
  return sum;
}

template <typename T>
void CutSet<T>::divide() {
  std::vector<char> above(static_cast<std::size_t>(lines.count()), 0), below = above;
  for (Index c = 0; c < cut.count(); ++c) {
    above[static_cast<std::size_t>(cut[c].line)] = cut.above(c);
    below[static_cast<std::size_t>(cut[c].line)] = cut.below(c);
  }
  parts.reset(lines, above, below);
  slots.clear();
  for (const CutLine& line : cut.lines) slots.push_back(parts.slot_of(line.line));
  why.assign(cut.lines.size(), Gathering::none);
}

template <typename T>
void CutSet<T>::tell_roots(const std::vector<PartFacts>& own) {
  Wire<PartFacts> wire;
  wire.open(*exchange, route_to_roots(cut, [](Index, int) { return 1; }));
  for (const Route::Item& item : wire.route.out) wire.out[item.at] = own[static_cast<std::size_t>(item.line)];
  wire.talk();
  facts.assign(cut.lines.size(), {});
  for (Index c = 0; c < cut.count(); ++c) {
    if (!cut.rooted(c)) continue;
    auto& line_facts = facts[static_cast<std::size_t>(c)];
    line_facts.resize(cut.chain(c).size());
    line_facts[static_cast<std::size_t>(cut[c].place)] = own[static_cast<std::size_t>(c)];
  }
  for (const Route::Item& item : wire.route.in) {
    facts[static_cast<std::size_t>(item.line)][static_cast<std::size_t>(item.place)] = wire.in[item.at];
  }
}

template <typename T>
RootedLines CutSet<T>::judge_rooted() {
  RootedLines all;
  for (Index c = 0; c < cut.count(); ++c) {
    if (!cut.rooted(c)) continue;
    const auto& line_facts = facts[static_cast<std::size_t>(c)];
    Gathering& verdict = why[static_cast<std::size_t>(c)];
    verdict = judge_line<T>(line_facts);
    for (const PartFacts& part : line_facts) {
      if (verdict == Gathering::none) all.rounding = std::max(all.rounding, part.rounding);
    }
    for (std::size_t k = 0; k + 1 < line_facts.size(); ++k) {
      all.symmetric = all.symmetric && line_facts[k].reduced.below == line_facts[k + 1].reduced.above;
    }
    if (verdict != Gathering::none || has_one_row(line_facts)) continue;
    all.bound = larger(all.bound, truncation_bound(line_facts));
  }
  return all;
}

template <typename T>
void CutSet<T>::tell_parts() {
  Wire<LineVerdict> wire;
  wire.open(*exchange, route_to_roots(cut, [](Index, int) { return 1; }).back());
  const auto verdict = [&](Index c, int place) {
    const auto at = static_cast<std::size_t>(c);
    return verdict_for(facts[at], why[at], static_cast<std::size_t>(place));
  };
  for (const Route::Item& item : wire.route.out) wire.out[item.at] = verdict(item.line, item.place);
  wire.talk();
  verdicts.assign(cut.lines.size(), {});
  for (const Route::Item& item : wire.route.in) verdicts[static_cast<std::size_t>(item.line)] = wire.in[item.at];
  for (Index c = 0; c < cut.count(); ++c) {
    if (cut.rooted(c)) verdicts[static_cast<std::size_t>(c)] = verdict(c, cut[c].place);
    why[static_cast<std::size_t>(c)] = verdicts[static_cast<std::size_t>(c)].why;
  }
}

template <typename T>
Beyond<T> CutSet<T>::look_across(Wire<T>& across, const T* top, const T* bottom) const {
  for (const Route::Item& item : across.route.out) {
    const PartSlot& s = slot(item.line);
    across.out[item.at] = item.place < cut[item.line].place ? top[s.top] : bottom[s.bottom];
  }
  across.talk();
  Beyond<T> beyond{std::vector<T>(cut.lines.size()), std::vector<T>(cut.lines.size())};
  for (const Route::Item& item : across.route.in) {
    const bool above = item.place < cut[item.line].place;
    (above ? beyond.above : beyond.below)[static_cast<std::size_t>(item.line)] = across.in[item.at];
  }
  return beyond;
}

template struct CutSet<float>;
template struct CutSet<double>;

}  // namespace oclspkt
