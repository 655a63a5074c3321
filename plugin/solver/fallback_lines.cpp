// SPDX-License-Identifier: BSD-2-Clause
#include "fallback_lines.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "schemes/proposal.hpp"
#include "survey.hpp"

namespace oclspkt {
namespace {

/// The largest share of rows that the host pivots separately; above that, it pivots in all lines.
constexpr double kPivotShare = 0.25;
/// The share of a sample that has to be refused, so that the share of the whole set surely exceeds kPivotShare.
constexpr double kManyOfSample = 0.4;

std::string place_of(const LineSet& lines, Index line) {
  std::string text = "line " + std::to_string(line) + " of " + std::to_string(lines.count());
  if (!lines.contiguous() || lines.length(line) == 0) return text;
  const Index first = lines.first(line), last = first + lines.length(line) - 1;
  return text + " (rows " + std::to_string(first) + "-" + std::to_string(last) + ")";
}

}  // namespace

template <typename T>
bool FallbackLines<T>::contains(Index line) const {
  return std::binary_search(lines_.begin(), lines_.end(), line);
}

template <typename T>
bool FallbackLines<T>::may_add(const std::vector<Index>& more, Method method, bool by_host) const {
  const LineSet& all = bands_.now().lines();
  if (more.size() + lines_.size() >= static_cast<std::size_t>(all.count())) return false;
  const double most = method == Method::truncated_halo ? kFallbackShare : by_host ? kPivotShare : 1;
  Index rows = 0;
  for (const Index line : more) rows += all.length(line);
  for (const Index line : lines_) rows += all.length(line);
  return static_cast<double>(rows) <= most * static_cast<double>(all.rows());
}

template <typename T>
void FallbackLines<T>::blank(const std::vector<Index>& lines) {
  for (const Index line : lines) bands_.now().blank_line(line);
}

template <typename T>
void FallbackLines<T>::add(const Rejection& rejection) {
  if (lines_.empty()) why_ = rejection.why;
  groups_.emplace_back(Method::exact_factored, bands_.edit(), rejection.lines, false,
                       rejection.why);  // keeps their bands
  lines_.insert(lines_.end(), rejection.lines.begin(), rejection.lines.end());
  std::sort(lines_.begin(), lines_.end());
  blank(rejection.lines);
}

template <typename T>
bool FallbackLines<T>::put_back() {
  if (lines_.empty() && groups_.empty()) return false;
  for (const LineGroup<T>& group : groups_) group.put_back(bands_.now());
  forget();
  return true;
}

template <typename T>
void FallbackLines<T>::forget() {
  groups_.clear();
  lines_.clear();
}

/// Make a group, from the whole bands, of those `members` for which the method holds. @return the others
template <typename T>
std::vector<Index> FallbackLines<T>::add_group(Method method, std::vector<Index> members, bool pinned,
                                               std::string& why) {
  std::vector<Index> refused;
  while (!members.empty()) {
    LineGroup<T> group(method, bands_.now(), members, pinned, why);
    const Rejection rejection = group.set_up();
    if (!rejection) {
      groups_.push_back(std::move(group));
      break;
    }
    why = rejection.why;
    std::vector<Index> kept;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool bad = rejection.lines.empty() ||
                       std::binary_search(rejection.lines.begin(), rejection.lines.end(), static_cast<Index>(i));
      (bad ? refused : kept).push_back(members[i]);
    }
    members = std::move(kept);
  }
  std::sort(refused.begin(), refused.end());
  return refused;
}

template <typename T>
void FallbackLines<T>::make_solvers(const char* pin_why, Report& report) {
  if (lines_.empty()) return;
  std::vector<Index> left;
  std::string why = why_;
  with_whole_bands([&] {
    const std::vector<LineGroup<T>> keepers = std::move(groups_);
    groups_.clear();
    try {
      left = add_group(Method::exact_factored, lines_, false, why);
      left = add_group(Method::pivot, std::move(left), false, why);
      if (pin_why != nullptr && !left.empty()) {
        left = add_group(Method::pivot, std::move(left), true, why);
        report.pin_why = pin_why;
      }
    } catch (...) {
      forget();  // the bands are whole
      throw;
    }
    if (!left.empty()) forget();
  });
  if (!left.empty()) {
    const Bands<T>& bands = bands_.now();
    why = zero_row_text(bands.lines(), bands.view(), left.front(), left.front() + 1).value_or(why);
    throw Breakdown(place_of(bands.lines(), left.front()) + " cannot be solved (" + why + ")" +
                    (pin_why != nullptr ? "" : std::string("; ") + kPinCure));
  }
  for (const LineGroup<T>& group : groups_) report.groups.push_back(group.report());
}

template <typename T>
void FallbackLines<T>::solve(const T* y, Index y_stride, T* x, Index x_stride, Index columns) {
  for (LineGroup<T>& group : groups_) {
    for (Index k = 0; k < columns; ++k) group.solve(bands_.now().lines(), y + k * y_stride, x + k * x_stride);
  }
}

template <typename T>
double FallbackLines<T>::take_errors() {
  double largest = 0;
  for (LineGroup<T>& group : groups_) largest = std::max(largest, group.take_errors());
  return largest;
}

template <typename T>
std::vector<Index> FallbackLines<T>::pinned() const {
  std::vector<Index> pinned;
  for (const LineGroup<T>& group : groups_) {
    if (group.pinned()) pinned.insert(pinned.end(), group.members().begin(), group.members().end());
  }
  std::sort(pinned.begin(), pinned.end());
  return pinned;
}

template <typename T>
std::int64_t FallbackLines<T>::bytes() const {
  std::int64_t sum = 0;
  for (const LineGroup<T>& group : groups_) sum += group.bytes();
  return sum;
}

template <typename T>
std::optional<Rejection> lines_out_of_range(const Options& options, const Survey& survey, const Bands<T>& bands) {
  const bool as_it_is = named(options.method) && options.method != MethodChoice::exact;
  if (in_range<T>(survey) || as_it_is) return std::nullopt;
  char text[96];
  std::snprintf(text, sizeof text, "rows between %.1e and %.1e are scaled by powers of two", survey.smallest_row,
                survey.largest_row);
  std::vector<Index> lines = extreme_lines(bands.lines(), bands.view());
  if (lines.empty()) return std::nullopt;  // rows differ only between lines, which do not couple
  return Rejection{text, std::move(lines)};
}

template <typename T>
Rejection refused_by_sample(const Bands<T>& bands) {
  constexpr Index kMany = 512, kSample = 16;
  const Index count = bands.lines().count();
  if (count < kMany) return {};
  std::vector<Index> sample;
  for (Index k = 0; k < kSample; ++k) sample.push_back(k * count / kSample + k);  // no period of 2^k
  Rejection rejection = LineGroup<T>(Method::exact_factored, bands, std::move(sample), false, {}).set_up();
  if (static_cast<double>(rejection.lines.size()) <= kManyOfSample * kSample) return {};
  rejection.lines.clear();  // all lines are to be pivoted
  return rejection;
}

template Rejection refused_by_sample(const Bands<float>&);
template Rejection refused_by_sample(const Bands<double>&);
template class FallbackLines<float>;
template class FallbackLines<double>;
template std::optional<Rejection> lines_out_of_range(const Options&, const Survey&, const Bands<float>&);
template std::optional<Rejection> lines_out_of_range(const Options&, const Survey&, const Bands<double>&);

}  // namespace oclspkt
