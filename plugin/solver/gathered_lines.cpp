// SPDX-License-Identifier: BSD-2-Clause
// Lines that cannot be solved in parts: their roots solve them whole.
#include "gathered_lines.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "rounding.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {
namespace {

/// How many bands a message has of each part.
constexpr Index kBands = 3;

/// Copy the bands of a line, one after the other.
template <typename T>
void copy_line(const LineSet& lines, const BandsView<T>& from, Index line, T* to) {
  for (const T* band : {from.lower, from.diag, from.upper}) {
    for (Index i = 0; i < lines.length(line); ++i) *to++ = band[lines.first(line) + i * lines.row_stride()];
  }
}

}  // namespace

/// @throws Breakdown for the first line rooted here that is longer than Options::gather_limit
template <typename T>
void GatheredLines<T>::check_limit(Index limit) const {
  if (limit < 0) return;
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.cut.rooted(c) || !set_.gathered(c)) continue;
    const Index rows = set_.rows(c);
    if (rows <= limit) continue;
    throw Breakdown("line " + std::to_string(set_.cut[c].number) + " of " + std::to_string(rows) +
                    " rows cannot be solved in parts (" + text(set_.why[static_cast<std::size_t>(c)]) +
                    "), and gather_limit lets one process solve lines of at most " + std::to_string(limit) +
                    " rows: raise it (-1: any length)");
  }
}

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
  accord.attempt([&] { check_limit(options.gather_limit); });
  accord.agree();
  Wire<T> wire;
  wire.open(*set_.exchange, route_to_roots(set_.cut, [&](Index c, int place) -> Index {
    if (!set_.gathered(c)) return 0;
    return kBands * set_.rows(c, place);
  }));
  for (const Route::Item& item : wire.route.out) {
    copy_line(set_.lines, whole.view(), set_.cut[item.line].line, wire.out.data() + item.at);
  }
  wire.talk();
  accord.attempt([&] {
    fill(wire, whole);
    factor(options, may_pin);
  });
  accord.agree();
}

/// Lay the gathered lines end to end, each from its parts.
template <typename T>
void GatheredLines<T>::fill(const Wire<T>& wire, const Bands<T>& whole) {
  std::vector<Index> starts{0}, start_of(set_.cut.lines.size(), -1);
  for (Index c = 0; c < set_.cut.count(); ++c) {
    if (!set_.cut.rooted(c) || !set_.gathered(c)) continue;
    lines_.push_back(c);
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

/// "line 7 of 30 rows, cut among 3 processes"
template <typename T>
std::string GatheredLines<T>::name(std::size_t g) const {
  const Index c = lines_[g];
  return "line " + std::to_string(set_.cut[c].number) + " of " + std::to_string(set_.rows(c)) + " rows, cut among " +
         std::to_string(set_.cut.parts(c)) + " processes";
}

/// Find the first gathered line that cannot be solved whole either.
/// @throws Breakdown naming it
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

/// @throws Breakdown naming the first line that is singular, unless it may be pinned
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
  } catch (const Breakdown&) {
    failure_ = std::current_exception();
  }
}

template <typename T>
void GatheredLines<T>::tell(CutReport& report) const {
  if (y_.size() == 0) return;
  report.rounding = larger(report.rounding, solver_->report().rounding);
  if (report.above_bound.empty()) report.above_bound = solver_->report().above_bound;
}

template class GatheredLines<float>;
template class GatheredLines<double>;

}  // namespace oclspkt
