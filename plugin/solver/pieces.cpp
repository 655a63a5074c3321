// SPDX-License-Identifier: BSD-2-Clause
#include "pieces.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace oclspkt {
namespace {

/// A cut moves to the end of a line if it is at most 1 / kNearShare of all rows away.
constexpr Index kNearShare = 64;
/// A cut also moves if a part of the line would have fewer rows than this.
constexpr Index kLeastPart = 64;

/// A piece as a range of units: rows of lines end to end, or blocks, or rows of lines in one block.
struct Run {
  std::size_t owner;
  Index begin, end;
};

/// Divide `units` of equal size in proportion to `rows`; `near` moves a cut to a better place.
template <typename Near>
std::vector<Run> cut_units(Index units, std::span<const Index> rows, const Near& near) {
  const Index all = std::accumulate(rows.begin(), rows.end(), Index(0));
  Index before = 0, at = 0;
  std::vector<Run> runs;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    before += rows[k];
    const double share = static_cast<double>(before) / static_cast<double>(all);
    const auto wanted = static_cast<Index>(std::llround(share * static_cast<double>(units)));
    const Index end = before == all ? units : std::clamp(near(wanted), at, units);
    if (end > at) runs.push_back({k, at, end});
    at = end;
  }
  return runs;
}

/// The end of a line near a row; the row itself if none is near.
Index near_line_end(const LineSet& lines, Index row) {
  if (row <= 0 || row >= lines.rows()) return std::clamp<Index>(row, 0, lines.rows());
  const Index line = lines.line_of(row), begin = lines.first(line), end = begin + lines.length(line);
  const Index nearest = row - begin <= end - row ? begin : end;
  const Index distance = std::abs(nearest - row);
  return distance <= lines.rows() / kNearShare || distance < kLeastPart ? nearest : row;
}

/// Indices of the runs that hold units of [begin, end).
std::vector<int> holders(const std::vector<Run>& runs, Index begin, Index end) {
  std::vector<int> chain;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].begin < end && runs[r].end > begin) chain.push_back(static_cast<int>(r));
  }
  return chain;
}

/// Lines end to end with the given starts, as the simplest kind of LineSet that fits.
LineSet lines_of(const std::vector<Index>& starts) {
  const Index length = starts[1];
  const auto differs = [&](Index a, Index b) { return b - a != length; };
  const bool equal = std::adjacent_find(starts.begin(), starts.end(), differs) == starts.end();
  return equal ? LineSet::equal(std::ssize(starts) - 1, length) : LineSet::unequal(starts);
}

/// The piece of run r, for lines end to end.
Piece piece_of_rows(const LineSet& lines, const std::vector<Run>& runs, std::size_t r) {
  const Run& run = runs[r];
  Piece piece{.first = run.begin, .first_line = lines.line_of(run.begin), .owner = run.owner, .lines = {}, .cuts = {}};
  piece.cuts.chains = {{static_cast<int>(r)}};
  std::vector<Index> starts{0};
  for (Index line = piece.first_line; line < lines.count() && lines.first(line) < run.end; ++line) {
    const Index begin = lines.first(line), end = begin + lines.length(line);
    if (end <= run.begin) continue;  // an empty line
    const bool cut = begin < run.begin || end > run.end;
    if (cut) piece.cuts.chains.push_back(holders(runs, begin, end));
    piece.cuts.chain_of.push_back(cut ? static_cast<int>(piece.cuts.chains.size()) - 1 : 0);
    piece.cuts.number.push_back(line);
    starts.push_back(std::min(end, run.end) - run.begin);
  }
  if (piece.cuts.chains.size() == 1) piece.cuts = {};
  piece.lines = lines_of(starts);
  return piece;
}

}  // namespace

std::vector<Piece> cut_into_pieces(const LineSet& lines, std::span<const Index> rows) {
  std::vector<Piece> pieces;
  if (lines.rows() == 0) return pieces;
  if (lines.contiguous()) {
    const std::vector<Run> runs = cut_units(lines.rows(), rows, [&](Index row) { return near_line_end(lines, row); });
    for (std::size_t r = 0; r < runs.size(); ++r) pieces.push_back(piece_of_rows(lines, runs, r));
    return pieces;
  }
  const bool one = lines.blocks() == 1;
  const Index units = one ? lines.length(0) : lines.blocks(), stride = one ? lines.row_stride() : lines.block_stride();
  const std::vector<Run> runs = cut_units(units, rows, [](Index unit) { return unit; });
  Cuts cuts;  // of one block: equal for all of its lines
  if (one && runs.size() > 1) cuts.chains = {holders(runs, 0, units)};
  for (const auto& [owner, begin, end] : runs) {
    const Index length = one ? end - begin : lines.length(0), blocks = one ? 1 : end - begin;
    pieces.push_back({begin * stride, one ? 0 : begin * lines.block_lines(), owner,
                      LineSet::strided(length, lines.row_stride(), lines.block_lines(), 1, blocks, stride), cuts});
  }
  return pieces;
}

}  // namespace oclspkt
