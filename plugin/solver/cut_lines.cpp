// SPDX-License-Identifier: BSD-2-Clause
#include "cut_lines.hpp"

#include <algorithm>
#include <string>
#include <utility>

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

/// Lay the messages end to end, one for each process, in the order of the processes.
void lay_out(const CutLines& cut, std::vector<Route::Item>& items, std::vector<Exchange::Leg>& legs, Index& count) {
  const auto process = [&](const Route::Item& item) {
    return static_cast<std::size_t>(cut.chain(item.line)[static_cast<std::size_t>(item.place)]);
  };
  std::size_t processes = 0;
  for (const Route::Item& item : items) processes = std::max(processes, process(item) + 1);
  // A counting sort: there may be millions of items, and they go to a few processes.
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
  std::vector<Index> seen(cut.chains.size());  // lines of each chain so far
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

}  // namespace oclspkt
