// SPDX-License-Identifier: BSD-2-Clause
#include "system.hpp"

#include <algorithm>
#include <utility>

#include "narrow.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {

template <typename T>
Bands<T>& System<T>::write(const LineSet& lines) {
  fallback_.forget();
  filled_.reset();
  narrowed_ = 0;
  LineSet wanted = lines;
  lines_ = {};  // as the bands are, should memory run out
  bands_.reshape(wanted);
  lines_ = std::move(wanted);
  return bands_;
}

template <typename T>
void System<T>::swap(const LineSet& lines, Bands<T>& filled, const std::optional<Survey>& survey) {
  std::swap(write(lines), filled);
  bands_.relabel(lines);
  filled_ = survey;
}

template <typename T>
void System<T>::close() {
  bands_.relabel(lines_);
  const std::optional<Survey> filled = std::exchange(filled_, std::nullopt);
  if (!filled) bands_.close_lines();
  const bool rounded = narrows<T>(options_);
  // Bands of an earlier set-up are rounded already.
  if (rounded) narrowed_ = std::max(narrowed_, narrow_bands(bands_));
  const Survey rows = filled && !rounded ? *filled : survey_rows(bands_.lines(), bands_.view());
  const bool may_be_many = lines_.count() == 1 && lines_.contiguous() && rows.uncoupled_above > 1;
  if (may_be_many) bands_.relabel(uncoupled_lines(lines_, bands_.view()));
  look(rows);
}

template <typename T>
void System<T>::leave_to_host(const Rejection& rejection) {
  fallback_.add(rejection);
  look();
}

template <typename T>
void System<T>::put_back() {
  if (fallback_.put_back()) look();
}

/// Survey the bands as they are now. @param rows what survey_rows() found already
template <typename T>
void System<T>::look(const std::optional<Survey>& rows) {
  const LineSet& lines = bands_.lines();
  survey_ = rows ? *rows : survey_rows(lines, bands_.view());
  survey_.shared = survey_.finite && is_shared(lines, bands_.view());
  survey_.symmetric = survey_.finite && symmetry_matters<T>(options_) && is_symmetric(lines, bands_.view());
}

template <typename T>
std::vector<Index> System<T>::pinned_lines() const {
  std::vector<Index> pinned = fallback_.pinned();
  if (!(bands_.lines() == lines_) && !pinned.empty()) return {0};  // pieces of one line
  return pinned;
}

template <typename T>
void System<T>::copy_bands(Bands<T>& out) {
  out.reshape(lines_);
  fallback_.with_whole_bands([&] { out.copy_from(bands_.view()); });
}

template class System<float>;
template class System<double>;

}  // namespace oclspkt
