// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oclspkt/bands.hpp"
#include "write_bands.hpp"

namespace oclspkt {

/// The bands that a solver solves: the given bands with some rows replaced. The overlay lists the replaced rows:
/// identity rows for fallback lines, and uncoupled rows next to cuts. A caller may keep writing into lent bands, so
/// they are copied before the first change. Each set-up begins with the caller's numbers.
template <typename T>
class SolvedBands {
 public:
  Bands<T>& now() { return copied_ ? copy_ : given_; }
  const Bands<T>& now() const { return copied_ ? copy_ : given_; }
  bool copied() const { return copied_; }

  /// The given bands, for writing all of them. Drops the overlay.
  Bands<T>& given() {
    take_anew();
    return given_;
  }
  /// The given bands, for a caller who may write into them as long as this object lives. Drops the overlay.
  Bands<T>& lend() {
    lent_ = true;
    return given();
  }
  /// The bands that the solver solves now, for changes. Copies lent bands first.
  Bands<T>& edit() {
    if (lent_ && !copied_) {
      copy_.reshape(given_.lines());
      write_bands(copy_, copy_of(given_.view()));
      copied_ = true;
    }
    return now();
  }
  /// Go back to the bands that the caller wrote. @return true if a changed copy was in use
  bool take_anew() {
    overlay_.clear();
    return std::exchange(copied_, false);
  }

  void overlay(Index at, T lower, T diag, T upper) {
    Bands<T>& bands = edit();  // if memory runs out, the overlay does not list the row
    overlay_.push_back({at, lower, diag, upper});
    swap(bands, overlay_.back());
  }
  /// Replace the rows of some lines by the identity, so that their solution is always finite.
  void blank(const std::vector<Index>& lines) {
    const LineSet& all = edit().lines();
    for (const Index line : lines) {
      overlay_.reserve(overlay_.size() + static_cast<std::size_t>(all.length(line)));
      for (Index i = 0; i < all.length(line); ++i) overlay(all.first(line) + i * all.row_stride(), 0, 1, 0);
    }
  }
  /// The number of rows in the overlay.
  std::size_t overlaid() const { return overlay_.size(); }
  /// Keep the first `kept` rows of the overlay, and restore the original rows for the rest of the overlay.
  void put_back(std::size_t kept) {
    swap_back(kept);
    overlay_.resize(kept);
  }
  /// Call f while only the first `kept` rows of the overlay are replaced.
  template <typename F>
  void without(std::size_t kept, const F& f) {
    struct Again {
      SolvedBands& bands;
      std::size_t kept;
      ~Again() {
        for (std::size_t i = kept; i < bands.overlay_.size(); ++i) swap(bands.now(), bands.overlay_[i]);
      }
    };
    swap_back(kept);
    const Again again{*this, kept};
    f();
  }

  std::int64_t bytes() const {
    return given_.bytes() + copy_.bytes() + static_cast<std::int64_t>(overlay_.capacity() * sizeof(Row));
  }

 private:
  /// A replaced row. While the bands hold the replacement, this object holds the original numbers, and vice versa.
  struct Row {
    Index at;
    T lower, diag, upper;
  };
  static void swap(Bands<T>& bands, Row& row) {
    std::swap(bands.lower()[row.at], row.lower);
    std::swap(bands.diag()[row.at], row.diag);
    std::swap(bands.upper()[row.at], row.upper);
  }
  /// Restore rows in reverse order, because the overlay may list a row twice.
  void swap_back(std::size_t kept) {
    for (std::size_t i = overlay_.size(); i > kept; --i) swap(now(), overlay_[i - 1]);
  }

  Bands<T> given_, copy_;
  std::vector<Row> overlay_;  ///< in the order of replacement
  bool lent_ = false, copied_ = false;
};

}  // namespace oclspkt
