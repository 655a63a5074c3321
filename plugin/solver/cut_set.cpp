// SPDX-License-Identifier: BSD-2-Clause
// At set-up, processes exchange facts about parts of cut lines, and the root of each line makes the decisions.
#include "cut_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "rounding.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

void require(bool holds, const std::string& text) {
  if (!holds) throw InvalidInput("cuts: " + text);
}

void check_chain(const std::vector<int>& chain, int rank, int size) {
  std::vector<int> sorted = chain;
  std::sort(sorted.begin(), sorted.end());
  require(!sorted.empty() && sorted.front() >= 0 && sorted.back() < size,
          sorted.empty()
              ? std::string("a chain is empty: list the processes that hold the line")
              : "a chain lists processes " + std::to_string(sorted.front()) + " to " + std::to_string(sorted.back()) +
                    ": processes are numbered 0 to " + std::to_string(size - 1));
  require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
          "a chain of " + std::to_string(sorted.size()) + " processes lists one twice: list each once");
  require(std::binary_search(sorted.begin(), sorted.end(), rank),
          "a chain given to process " + std::to_string(rank) + " does not list it: list it, or leave the chain out");
}

void check_sizes(const LineSet& lines, const Cuts& cuts) {
  const auto count = static_cast<std::size_t>(lines.count());
  require(cuts.chain_of.empty() || cuts.chain_of.size() == count,
          "chain_of holds " + std::to_string(cuts.chain_of.size()) + " numbers, the line count is " +
              std::to_string(count) + ": give one for each line");
  require(cuts.number.empty() || cuts.number.size() == count, "number holds " + std::to_string(cuts.number.size()) +
                                                                  " numbers, the line count is " +
                                                                  std::to_string(count) + ": give one for each line");
  for (const int chain : cuts.chain_of) {
    require(chain >= 0 && chain < static_cast<int>(cuts.chains.size()),
            "chain_of names chain " + std::to_string(chain) + ", the number of chains is " +
                std::to_string(cuts.chains.size()) + ": count them from 0");
  }
  for (const Index number : cuts.number)
    require(number >= 0, "a line has the number " + std::to_string(number) + ": count lines from 0");
}

/// Give each item its place in the messages. Each process gets one message; messages lie end to end in rank order.
void lay_out(const CutLines& cut, std::vector<Route::Item>& items, std::vector<Exchange::Leg>& legs, Index& count) {
  const auto process = [&](const Route::Item& item) {
    return static_cast<std::size_t>(cut.chain(item.line)[static_cast<std::size_t>(item.place)]);
  };
  std::size_t processes = 0;
  for (const Route::Item& item : items) processes = std::max(processes, process(item) + 1);
  // Counting sort, because there may be millions of items for a few processes.
  std::vector<Index> next(processes, 0), scalars(processes, 0);
  for (const Route::Item& item : items) {
    ++next[process(item)];
    scalars[process(item)] += item.count;
  }
  Index place = 0;
  for (std::size_t p = 0; p < processes; ++p) {
    place += std::exchange(next[p], place);
    if (scalars[p] > 0) legs.push_back({static_cast<int>(p), scalars[p]});
  }
  std::vector<Route::Item> sorted(items.size());
  for (const Route::Item& item : items) sorted[static_cast<std::size_t>(next[process(item)]++)] = item;
  items = std::move(sorted);
  count = 0;
  for (Route::Item& item : items) {
    item.at = count;
    count += item.count;
  }
}

void add(std::vector<Route::Item>& items, Index line, int place, Index count) {
  if (count > 0) items.push_back({line, place, count, 0});
}

void lay_out(const CutLines& cut, Route& route) {
  lay_out(cut, route.out, route.out_legs, route.out_count);
  lay_out(cut, route.in, route.in_legs, route.in_count);
}

/// Least pivot of a reduced system, in eps; each equation adds 1 eps. A smaller pivot may be mere rounding, and the
/// line singular. For comparison, Poisson's matrix has pivots of 2 / rows.
constexpr double kSmallPivot = 4;

template <typename T>
bool is_one_row(const std::vector<PartFacts<T>>& parts, std::size_t place) {
  return place > 0 && place + 1 < parts.size() && parts[place].rows == 1;
}

template <typename T>
Gathering judge_line(const std::vector<PartFacts<T>>& parts) {
  Gathering why = Gathering::none;
  bool zero_sums = true;
  Survey all{.smallest_row = std::numeric_limits<double>::infinity()};
  for (const PartFacts<T>& part : parts) {
    why = std::max(why, part.why);
    all.smallest_row = std::min(all.smallest_row, part.smallest_row);
    all.largest_row = std::max(all.largest_row, part.largest_row);
    zero_sums = zero_sums && part.zero_sums;
    if (!(part.rounding <= kRoundingLimit)) why = std::max(why, Gathering::large_spike);
  }
  if (!in_range<T>(all)) why = std::max(why, Gathering::extreme);
  if (zero_sums) why = Gathering::zero_sums;
  if (why != Gathering::none) return why;
  const std::vector<PivotedRow<Doubled<T>>> rows = reduced_rows(parts);
  const double pivot = smallest_pivot(rows);
  const double small = (kSmallPivot + static_cast<double>(rows.size())) * static_cast<double>(kEpsOf<T>);
  return pivot >= small ? Gathering::none : Gathering::small_pivot;
}

/// Number of characters of an error text that other processes receive.
constexpr std::size_t kMostText = 500;

/// The kind of an exception, as sent to other processes.
enum class Kind { breakdown, invalid, not_finite };

std::string text_of(const std::exception_ptr& exception, Kind& kind) {
  kind = Kind::breakdown;
  try {
    std::rethrow_exception(exception);
  } catch (const InvalidInput& error) {
    kind = Kind::invalid;
    return error.what();
  } catch (const NotFinite& error) {
    kind = Kind::not_finite;
    return error.what();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace

CutLines find_cut_lines(const LineSet& lines, const Cuts& cuts, int rank, int size) {
  CutLines cut;
  check_sizes(lines, cuts);
  if (cuts.chains.empty()) return cut;
  for (const std::vector<int>& chain : cuts.chains) check_chain(chain, rank, size);
  cut.chains = cuts.chains;
  std::sort(cut.chains.begin(), cut.chains.end());
  cut.chains.erase(std::unique(cut.chains.begin(), cut.chains.end()), cut.chains.end());
  std::vector<int> sorted_of(cuts.chains.size());
  for (std::size_t i = 0; i < sorted_of.size(); ++i) {
    const auto at = std::lower_bound(cut.chains.begin(), cut.chains.end(), cuts.chains[i]);
    sorted_of[i] = static_cast<int>(at - cut.chains.begin());
  }
  std::vector<Index> seen(cut.chains.size());  // number of lines of each chain so far
  for (Index l = 0; l < lines.count(); ++l) {
    const auto at = static_cast<std::size_t>(l);
    const int chain_index = sorted_of[cuts.chain_of.empty() ? 0 : static_cast<std::size_t>(cuts.chain_of[at])];
    const auto chain_at = static_cast<std::size_t>(chain_index);
    const std::vector<int>& chain = cut.chains[chain_at];
    if (chain.size() == 1) continue;
    require(lines.length(l) > 0, "line " + std::to_string(l) + " is cut and has no row on process " +
                                     std::to_string(rank) + ": leave this process out of its chain");
    const Index number = cuts.number.empty() ? seen[chain_at]++ : cuts.number[at];
    const auto place = std::find(chain.begin(), chain.end(), rank) - chain.begin();
    cut.lines.push_back(
        {l, number, chain_index, static_cast<int>(place), static_cast<int>(number % static_cast<Index>(chain.size()))});
  }
  const auto before = [](const CutLine& a, const CutLine& b) {
    return a.chain != b.chain ? a.chain < b.chain : a.number < b.number;
  };
  if (!std::is_sorted(cut.lines.begin(), cut.lines.end(), before)) {
    std::stable_sort(cut.lines.begin(), cut.lines.end(), before);
  }
  return cut;
}

Route route_to_roots(const CutLines& cut, const CountOf& count) {
  Route route;
  for (Index c = 0; c < cut.count(); ++c) {
    if (!cut.rooted(c)) {
      add(route.out, c, cut[c].root, count(c, cut[c].place));
      continue;
    }
    for (int place = 0; place < cut.parts(c); ++place) {
      if (place != cut[c].place) add(route.in, c, place, count(c, place));
    }
  }
  lay_out(cut, route);
  return route;
}

Route route_across(const CutLines& cut, const CountOf& count) {
  Route route;
  for (Index c = 0; c < cut.count(); ++c) {
    const int here = cut[c].place;
    for (const int there : {here - 1, here + 1}) {
      if (there < 0 || there >= cut.parts(c)) continue;
      add(route.out, c, there, count(c, here));
      add(route.in, c, there, count(c, there));
    }
  }
  lay_out(cut, route);
  return route;
}

void Accord::agree(std::vector<double>& values) {
  const int size = exchange_.size();
  values.push_back(own_ ? size - exchange_.rank() : 0);  // the first process that failed gives the largest value
  exchange_.largest(values);
  const double failed = values.back();
  values.pop_back();
  if (failed > 0) tell(size - static_cast<int>(failed));
}

/// Throw on all processes. The text travels as numbers, because Exchange::largest() takes only numbers.
void Accord::tell(int process) {
  std::vector<double> text(kMostText + 1, 0);
  Kind kind = Kind::breakdown;
  if (process == exchange_.rank()) {
    const std::string own = text_of(own_, kind);
    text[0] = static_cast<double>(kind);
    for (std::size_t i = 0; i < std::min(own.size(), kMostText); ++i) text[i + 1] = static_cast<unsigned char>(own[i]);
  }
  exchange_.largest(text);
  if (own_) std::rethrow_exception(own_);
  std::string told = "process " + std::to_string(process) + ": ";
  for (std::size_t i = 1; i < text.size() && text[i] > 0; ++i) told.push_back(static_cast<char>(text[i]));
  kind = static_cast<Kind>(static_cast<int>(text[0]));
  if (kind == Kind::invalid) throw InvalidInput(told);
  if (kind == Kind::not_finite) throw NotFinite(told);
  throw Breakdown(told);
}

const char* text(Gathering why) {
  constexpr const char* kTexts[] = {"",
                                    "its inner rows are singular on a process",
                                    "every method is rejected for its inner rows on a process",
                                    "the equations between its parts are nearly singular",
                                    "solving its parts amplifies rounding errors",
                                    "its rows are too large, too small or too different in size",
                                    "the trial solve of its parts failed",
                                    "method pivot was asked for",
                                    "its rows sum to 0, so that it is singular"};
  return kTexts[static_cast<int>(why)];
}

template <typename T>
bool has_one_row(const std::vector<PartFacts<T>>& parts) {
  for (std::size_t place = 0; place < parts.size(); ++place) {
    if (is_one_row(parts, place)) return true;
  }
  return false;
}

template <typename T>
std::vector<PivotedRow<Doubled<T>>> reduced_rows(const std::vector<PartFacts<T>>& parts) {
  std::vector<PivotedRow<Doubled<T>>> rows;
  for (std::size_t place = 0; place < parts.size(); ++place) {
    const ReducedPart<T>& r = parts[place].reduced;
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

template <typename T>
double truncation_bound(const std::vector<PartFacts<T>>& parts) {
  double bound = 0;
  bool known = true;
  for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
    const ReducedPart<T>&a = parts[k].reduced, &b = parts[k + 1].reduced;
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
  for (const PartFacts<T>& part : facts[static_cast<std::size_t>(c)]) sum += part.rows;
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
  for (CutLine& line : cut.lines) line.slot = parts.slot_of(line.line);
  why.assign(cut.lines.size(), Gathering::none);
}

template <typename T>
void CutSet<T>::tell_roots(const std::vector<PartFacts<T>>& own) {
  Wire<PartFacts<T>> wire;
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
    for (const PartFacts<T>& part : line_facts) {
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
  Wire<LineVerdict<T>> wire;
  wire.open(*exchange, route_to_roots(cut, [](Index, int) { return 1; }).back());
  const auto verdict = [&](Index c, int place) {
    const auto at = static_cast<std::size_t>(c), here = static_cast<std::size_t>(place);
    const std::vector<PartFacts<T>>& parts_of = facts[at];
    LineVerdict<T> v{why[at], has_one_row(parts_of), {}, {}};
    if (here > 0) v.above_part = parts_of[here - 1].reduced;
    if (here + 1 < parts_of.size()) v.below_part = parts_of[here + 1].reduced;
    return v;
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

#define OCLSPKT_INSTANTIATE(T)                                                                 \
  template std::vector<PivotedRow<Doubled<T>>> reduced_rows(const std::vector<PartFacts<T>>&); \
  template struct CutSet<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
