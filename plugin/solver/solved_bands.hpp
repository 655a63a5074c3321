// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "oclspkt/bands.hpp"
#include "write_bands.hpp"

namespace oclspkt {

/// The bands that a solver solves. It changes some of them: lines that the host solves become identity rows, rows next
/// to cuts are uncoupled, numbers are rounded. Bands that were lent belong to the caller, who may keep the reference:
/// they are copied before the first change, and a set-up begins with what the caller wrote.
template <typename T>
class SolvedBands {
 public:
  Bands<T>& now() { return copied_ ? copy_ : given_; }
  const Bands<T>& now() const { return copied_ ? copy_ : given_; }
  bool copied() const { return copied_; }

  /// The bands that are solved next, to be written whole.
  Bands<T>& given() {
    copied_ = false;
    return given_;
  }
  /// given() for a caller, who may write in them as long as this object lives.
  Bands<T>& lend() {
    lent_ = true;
    return given();
  }
  /// The bands that are solved now, to be changed.
  Bands<T>& edit() {
    if (lent_ && !copied_) {
      copy_.reshape(given_.lines());
      write_bands(copy_, copy_of(given_.view()));
      copied_ = true;
    }
    return now();
  }
  /// Go back to the bands that the caller wrote. @return true if a changed copy was solved until now
  bool take_anew() { return std::exchange(copied_, false); }

  std::int64_t bytes() const { return given_.bytes() + copy_.bytes(); }

 private:
  Bands<T> given_, copy_;
  bool lent_ = false, copied_ = false;
};

}  // namespace oclspkt
