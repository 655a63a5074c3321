// SPDX-License-Identifier: BSD-2-Clause
// Lines that the method of the others does not hold for: taken out of the set, and solved apart on the host.
#include <algorithm>
#include <cstdio>

#include "solver_impl.hpp"

namespace oclspkt {
namespace {

std::string place_of(const LineSet& lines, Index line) {
  std::string text = "line " + std::to_string(line) + " of " + std::to_string(lines.count());
  if (!lines.contiguous() || lines.length(line) == 0) return text;
  const Index first = lines.first(line), last = first + lines.length(line) - 1;
  return text + " (rows " + std::to_string(first) + "-" + std::to_string(last) + ")";
}

}  // namespace

template <typename T>
bool Solver<T>::Impl::pins() const {
  if (options_.singular == Singular::automatic) return known_.constant_null_space && bands_.lines().count() == 1;
  return options_.singular == Singular::pin;
}

template <typename T>
bool Solver<T>::Impl::may_be_apart(const Rejection& rejection, Method method) const {
  if (rejection.lines.empty()) return false;
  const LineSet& lines = bands_.lines();
  // Nothing is behind `pivot` but to pin the lines that are singular.
  if (method == Method::pivot) return pins();
  if (named(options_.method)) return false;
  if (rejection.lines.size() + apart_.size() >= static_cast<std::size_t>(lines.count())) return false;
  if (method != Method::truncated_halo) return true;
  Index rows = 0;
  for (const Index line : rejection.lines) rows += lines.length(line);
  for (const Index line : apart_) rows += lines.length(line);
  return static_cast<double>(rows) <= kApartShare * static_cast<double>(lines.rows());
}

/// Give lines the bands of the identity: whatever the others' method makes of them is finite, and overwritten.
template <typename T>
void Solver<T>::Impl::blank(const std::vector<Index>& members) {
  for (const Index line : members) bands_.blank_line(line);
}

/// Take the lines of an rejection out of the set; settle_apart() solves them.
template <typename T>
void Solver<T>::Impl::take_out(const Rejection& rejection) {
  if (apart_.empty()) apart_why_ = rejection.why;
  groups_.emplace_back(Method::exact_factored, bands_, rejection.lines, false, rejection.why);  // keeps their bands
  apart_.insert(apart_.end(), rejection.lines.begin(), rejection.lines.end());
  std::sort(apart_.begin(), apart_.end());
  blank(rejection.lines);
  look();
}

/// Rows near the ends of the number range want a scale, which lines that are solved apart have: exactly. A user who
/// names one method gets it as it is, see examine_adopted().
template <typename T>
void Solver<T>::Impl::take_out_extremes() {
  const bool as_it_is = named(options_.method) && options_.method != MethodChoice::exact;
  if (in_range<T>(survey_) || as_it_is) return;
  char text[96];
  std::snprintf(text, sizeof text, "rows between %.1e and %.1e are scaled by powers of two", survey_.smallest_row,
                survey_.largest_row);
  std::vector<Index> lines = extreme_lines(bands_.lines(), bands_.view());
  if (lines.empty()) return;  // lines differ from each other, and do not meet
  take_out({text, std::move(lines)});
}

/// Undo take_out().
template <typename T>
void Solver<T>::Impl::put_back() {
  if (apart_.empty() && groups_.empty()) return;
  for (const LineGroup<T>& group : groups_) group.put_back(bands_);
  groups_.clear();
  apart_.clear();
  look();
}

/// Make a group of `members` out of the whole bands, for those that the method holds for. @return the others
template <typename T>
std::vector<Index> Solver<T>::Impl::add_group(Method method, std::vector<Index> members, bool pinned,
                                              std::string& why) {
  std::vector<Index> refused;
  while (!members.empty()) {
    LineGroup<T> group(method, bands_, members, pinned, why);
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

/// Solve the lines taken out by the first method on the host that holds for each.
template <typename T>
void Solver<T>::Impl::settle_apart() {
  if (apart_.empty()) return;
  std::vector<Index> left;
  std::string why = apart_why_;
  with_whole_bands([&] {
    const std::vector<LineGroup<T>> keepers = std::move(groups_);
    groups_.clear();
    const auto give_up = [this] {  // the bands are whole
      groups_.clear();
      apart_.clear();
    };
    try {
      left = add_group(Method::exact_factored, apart_, false, why);
      left = add_group(Method::pivot, std::move(left), false, why);
      if (pins() && !left.empty()) {
        left = add_group(Method::pivot, std::move(left), true, why);
        report_.pin_why =
            options_.singular == Singular::pin ? "asked for" : "one line, and the matrix has a constant null space";
      }
    } catch (...) {
      give_up();
      throw;
    }
    if (!left.empty()) give_up();
  });
  if (!left.empty()) {
    throw Breakdown(place_of(bands_.lines(), left.front()) + " cannot be solved (" + why + ")" +
                    (pins() ? "" : std::string("; ") + kPinCure));
  }
  for (const LineGroup<T>& group : groups_) report_.groups.push_back(group.report());
}

#define OCLSPKT_INSTANTIATE(T)                                                                            \
  template bool Solver<T>::Impl::pins() const;                                                            \
  template bool Solver<T>::Impl::may_be_apart(const Rejection&, Method) const;                            \
  template void Solver<T>::Impl::blank(const std::vector<Index>&);                                        \
  template void Solver<T>::Impl::take_out(const Rejection&);                                              \
  template void Solver<T>::Impl::take_out_extremes();                                                     \
  template void Solver<T>::Impl::put_back();                                                              \
  template std::vector<Index> Solver<T>::Impl::add_group(Method, std::vector<Index>, bool, std::string&); \
  template void Solver<T>::Impl::settle_apart();
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
