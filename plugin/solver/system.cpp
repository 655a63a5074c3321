// SPDX-License-Identifier: BSD-2-Clause
#include "system.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "narrow.hpp"
#include "schemes/proposal.hpp"

namespace oclspkt {

template <typename T>
Bands<T>& System<T>::write(const LineSet& lines) {
  fallback_.forget();
  filled_.reset();
  narrowed_ = 0;
  rounded_ = scaled_ = false;
  LineSet wanted = lines;
  lines_ = {};  // stays empty if reshape() runs out of memory
  bands_.given().reshape(wanted);
  lines_ = std::move(wanted);
  return bands_.given();
}

template <typename T>
Bands<T>& System<T>::lend(const LineSet& lines) {
  write(lines);
  return bands_.lend();
}

template <typename T>
Bands<T>& System<T>::edit(const LineSet& lines) {
  put_back();
  filled_.reset();
  lines_ = lines;
  bands_.edit().relabel(lines);
  return bands_.now();
}

template <typename T>
void System<T>::give_back() {
  scaled_ = false;
  fallback_.forget();
  bands_.put_back(0);
  if (bands_.take_anew()) narrowed_ = 0;
}

template <typename T>
void System<T>::check_precision(const Options& options) const {
  if (!rounded_ || narrows<T>(options)) return;
  throw InvalidInput("precision narrow rounded the bands at an earlier set-up: give them again for precision same");
}

template <typename T>
void System<T>::fill(const LineSet& lines, const BandsFill<T>& fill) {
  const auto start = std::chrono::steady_clock::now();
  filled_ = survey_while(write(lines), fill);
  fill_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
void System<T>::swap(const LineSet& lines, Bands<T>& filled, const std::optional<Survey>& survey, bool& rounded) {
  const bool had_rounded = rounded_;
  Bands<T>& own = write(lines);
  rounded_ = std::exchange(rounded, had_rounded);
  std::swap(own, filled);
  own.relabel(lines);
  filled_ = survey;
}

template <typename T>
void System<T>::close() {
  const bool rounded = narrows<T>(options_);
  Bands<T>& own = rounded ? bands_.edit() : bands_.now();
  own.relabel(lines_);
  const std::optional<Survey> filled = std::exchange(filled_, std::nullopt);
  if (!filled) own.close_lines();
  if (rounded) {
    if constexpr (!kIsComplex<T>) narrowed_ = std::max(narrowed_, narrow_bands(own));  // rounded bands change no more
    note_rounded();
  }
  const Survey rows = filled && !rounded ? *filled : survey_rows(own.lines(), own.view());
  const bool may_be_many = lines_.count() == 1 && lines_.contiguous() && rows.uncoupled_above > 1;
  if (may_be_many) own.relabel(uncoupled_lines(lines_, own.view()));
  scaled_ = units_known_ = false;
  look(rows);
}

template <typename T>
void System<T>::leave_to_host(const Rejection& rejection) {
  fallback_.add(rejection);
  units_known_ = false;
  if (std::exchange(scaled_, false)) {
    seek_units();
    if (found_.runs > 0) scale();
  }
  look();
}

template <typename T>
void System<T>::put_back() {
  const bool scaled = std::exchange(scaled_, false), held = fallback_.put_back();
  if (held) units_known_ = false;
  if (held || scaled) look();
}

template <typename T>
bool System<T>::has_units() {
  if (!units_known_) {
    found_ = {};
    units_known_ = true;
    if (survey_.dominance < 1 && in_range<T>(survey_) && !narrows<T>(options_)) seek_units();
  }
  return found_.runs > 0;
}

/// Find units for the present bands. Complex numbers keep theirs.
template <typename T>
void System<T>::seek_units() {
  if constexpr (!kIsComplex<T>) found_ = find_units(bands_.now().lines(), bands_.now().view(), units_);
  units_known_ = true;
}

template <typename T>
void System<T>::take_units() {
  if (!has_units()) return;
  scale();
  look();
  if (in_range<T>(survey_)) return;
  found_ = {};
  scaled_ = false;
  look();
}

template <typename T>
void System<T>::scale() {
  scaled_ = false;  // stays false if scale_columns() runs out of memory
  if constexpr (!kIsComplex<T>) {
    scale_columns(bands_.now(), units_.data(), in_units_);
    scaled_ = true;
  }
}

/// Survey the present bands. @param rows  the result of survey_rows(), if the caller has it
template <typename T>
void System<T>::look(const std::optional<Survey>& rows) {
  const LineSet& lines = bands().lines();
  const BandsView<T> view = bands().view();
  if constexpr (kIsComplex<T>) take_moduli();
  survey_ = rows ? *rows : survey_rows(lines, view);
  survey_.shared = survey_.finite && is_shared(lines, view);
  survey_.symmetric = survey_.finite && symmetry_matters<T>(options_) && is_symmetric(lines, view);
}

/// Write judged() of complex bands.
template <typename T>
void System<T>::take_moduli() {
  if constexpr (kIsComplex<T>) {
    const BandsView<T> from = bands().view();
    moduli_.reshape(bands().lines());
    write_bands(moduli_, BandsFill<Real<T>>([=](const BandsPart<Real<T>>& to, Index first, Index end) {
                  for (Index i = first; i < end; ++i) {
                    to.lower[i - first] = -modulus(from.lower[i]);
                    to.diag[i - first] = modulus(from.diag[i]);
                    to.upper[i - first] = -modulus(from.upper[i]);
                  }
                }));
  }
}

template <typename T>
std::vector<Index> System<T>::pinned_lines() const {
  std::vector<Index> pinned = fallback_.pinned();
  if (!(bands().lines() == lines_) && !pinned.empty()) return {0};  // bands() has cut the only line
  return pinned;
}

template <typename T>
void System<T>::copy_bands(Bands<T>& out) {
  out.reshape(lines_);
  bands_.without(0, [&] { out.copy_from(bands_.now().view()); });
}

#define OCLSPKT_INSTANTIATE(T) template class System<T>;
OCLSPKT_SCALARS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
