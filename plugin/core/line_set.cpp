// SPDX-License-Identifier: BSD-2-Clause
#include "oclspkt/line_set.hpp"

#include <algorithm>

#include "oclspkt/error.hpp"

namespace oclspkt {
namespace {

/// a * b for sizes. @throws InvalidInput if the product does not fit into 64 bits
Index product(Index a, Index b) {
  Index r = 0;
  if (__builtin_mul_overflow(a, b, &r)) {
    throw InvalidInput("a line set of " + std::to_string(a) + " times " + std::to_string(b) +
                       " rows does not fit into 64 bits: give fewer lines or rows");
  }
  return r;
}

void require_not_negative(Index value, const char* what) {
  if (value < 0) {
    throw InvalidInput(std::string("a line set needs ") + what + " >= 0, not " + std::to_string(value));
  }
}

/// One direction of a strided set: `count` places `stride` apart.
struct Direction {
  Index count, stride;
};

}  // namespace

LineSet LineSet::one(Index n) {
  require_not_negative(n, "a number of rows");
  return equal(1, n);
}

LineSet LineSet::equal(Index count, Index length) {
  require_not_negative(count, "a number of lines");
  require_not_negative(length, "a number of rows");
  LineSet s;
  s.count_ = count;
  s.length_ = length;
  s.inner_count_ = count;
  s.inner_stride_ = length;
  s.rows_ = s.extent_ = product(count, length);
  return s;
}

LineSet LineSet::unequal(std::vector<Index> starts) {
  if (starts.empty() || starts.front() != 0 || !std::is_sorted(starts.begin(), starts.end())) {
    throw InvalidInput("starts of unequal lines must begin with 0 and must not decrease; " +
                       (starts.empty() ? std::string("none were given: give at least the 0")
                                       : std::to_string(starts.size()) + " starts from " +
                                             std::to_string(starts.front()) + " on were given: sort them"));
  }
  LineSet s;
  s.count_ = static_cast<Index>(starts.size()) - 1;
  s.rows_ = s.extent_ = starts.back();
  s.starts_ = std::move(starts);
  return s;
}

LineSet LineSet::strided(Index length, Index row_stride, Index inner_count, Index inner_stride, Index outer_count,
                         Index outer_stride) {
  require_not_negative(length, "a number of rows");
  require_not_negative(inner_count, "a number of lines");
  require_not_negative(outer_count, "a number of lines");
  Direction directions[] = {{length, row_stride}, {inner_count, inner_stride}, {outer_count, outer_stride}};
  LineSet s;
  s.count_ = product(inner_count, outer_count);
  s.rows_ = product(s.count_, length);
  s.length_ = length;
  s.row_stride_ = row_stride;
  s.inner_count_ = inner_count;
  s.inner_stride_ = inner_stride;
  s.outer_stride_ = outer_stride;
  if (s.rows_ == 0) return s;

  std::sort(std::begin(directions), std::end(directions),
            [](const Direction& a, const Direction& b) { return a.stride < b.stride; });
  Index reach = 1;  // places that the previous directions cover
  for (const Direction& d : directions) {
    if (d.count == 1) continue;
    if (d.stride < reach) {
      throw InvalidInput("rows of a strided line set fall on the same place: a stride of " + std::to_string(d.stride) +
                         " is smaller than the " + std::to_string(reach) +
                         " places it must step over: raise the stride");
    }
    if (__builtin_add_overflow(reach, product(d.count - 1, d.stride), &reach)) {
      throw InvalidInput("a strided line set reaches beyond 64 bits: " + std::to_string(d.count) + " places " +
                         std::to_string(d.stride) + " apart; lower the stride or the number of places");
    }
  }
  s.extent_ = reach;
  return s;
}

LineSet LineSet::grid_axis(int axis, Index nx, Index ny, Index nz) {
  switch (axis) {
    case 0:
      return equal(product(ny, nz), nx);
    case 1:
      return strided(ny, nx, nx, 1, nz, product(nx, ny));
    case 2:
      return strided(nz, product(nx, ny), product(nx, ny), 1);
    default:
      throw InvalidInput("a grid has the axes 0 (x), 1 (y) and 2 (z), not " + std::to_string(axis));
  }
}

Index LineSet::length(Index line) const {
  return starts_.empty() ? length_ : starts_[static_cast<std::size_t>(line) + 1] - first(line);
}

Index LineSet::first(Index line) const {
  if (!starts_.empty()) return starts_[static_cast<std::size_t>(line)];
  return line % inner_count_ * inner_stride_ + line / inner_count_ * outer_stride_;
}

Index LineSet::line_of(Index row) const {
  if (starts_.empty()) return length_ > 0 ? row / length_ : 0;
  return std::upper_bound(starts_.begin(), starts_.end(), row) - starts_.begin() - 1;
}

bool LineSet::contiguous() const {
  if (!starts_.empty() || rows_ == 0) return true;
  const Index outer_count = count_ / inner_count_;
  return (row_stride_ == 1 || length_ == 1) && (inner_stride_ == length_ || inner_count_ == 1) &&
         (outer_count == 1 || outer_stride_ == length_ * inner_count_);
}

bool LineSet::gapless() const {
  if (contiguous()) return true;
  return beside() && rows_ == extent_ && (blocks() == 1 || block_stride() == block_extent());
}

std::string LineSet::describe() const {
  std::string text = std::to_string(count_) + (count_ == 1 ? " line" : " lines");
  if (!starts_.empty()) return text + ", " + std::to_string(rows_) + " rows in all";
  text += " of " + std::to_string(length_) + (length_ == 1 ? " row" : " rows");
  if (!contiguous()) text += ", row stride " + std::to_string(row_stride_);
  return text;
}

}  // namespace oclspkt
