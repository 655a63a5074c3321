// SPDX-License-Identifier: BSD-2-Clause
// Formats of sparse matrices hold the entries of their pattern, and are chosen by it.
#include <algorithm>
#include <bit>
#include <tuple>

#include "sparse_matrices.hpp"
#include "thrown.hpp"

namespace oclspkt::test {
namespace {

using Entry = std::tuple<Index, Index, Index>;  ///< row, column, place in the pattern's values

template <typename I>
std::vector<Entry> entries_of(const SparsePattern<I>& p) {
  std::vector<Entry> all;
  for (Index row = 0; row < p.rows; ++row) {
    for (I k = p.begin[row]; k < p.begin[row + 1]; ++k) all.emplace_back(row, p.column[k], k - p.begin[0]);
  }
  return all;
}

Index position(const SparseForm& form, Index place) { return form.positions ? (*form.positions)[place] : place; }

/// The entries of slices of one width or several.
void add_slices(const SparseForm& form, std::vector<Entry>& all) {
  const bool dia = form.format == SparseFormat::dia;
  const auto width = static_cast<Index>(form.diagonals.size());
  for (Index at = 0; at < (form.rows + form.slice - 1) / form.slice * form.slice; ++at) {
    const Index slice = at / form.slice;
    const Index begin = dia ? slice * form.slice * width : form.slice_begin.at(static_cast<std::size_t>(slice));
    const Index end = dia ? begin + form.slice * width : form.slice_begin.at(static_cast<std::size_t>(slice) + 1);
    for (Index place = begin + at % form.slice; place < end; place += form.slice) {
      const Index from = position(form, place);
      EXPECT_TRUE(dia || (from < 0) == (form.column[place] < 0));
      if (from < 0) continue;
      ASSERT_LT(at, form.rows);
      const Index row = dia || form.row_of.empty() ? at : form.row_of[at];
      const auto k = static_cast<std::size_t>((place - begin) / form.slice);
      all.emplace_back(row, dia ? row + form.diagonals[k] : form.column[place], from);
    }
  }
}

void add_blocks(const SparseForm& form, std::vector<Entry>& all) {
  Index segments = 0;
  for (std::size_t b = 0; b + 1 < form.blocks.size(); ++b) {
    const RowBlock block = form.blocks[b], next = form.blocks[b + 1];
    EXPECT_LE(next.entry - block.entry, form.block_entries);
    EXPECT_TRUE(block.segment < 0 || block.segment == segments++);
    const Index rows = block.segment >= 0 ? 1 : next.row - block.row;
    Index place = block.entry;
    for (Index row = block.row; row < block.row + rows; ++row) {
      const Index end = block.segment >= 0 ? next.entry : block.entry + form.row_end[static_cast<std::size_t>(row)];
      for (; place < end; ++place) all.emplace_back(row, form.column[place], position(form, place));
    }
    EXPECT_EQ(place, next.entry);
  }
  for (const LongRow& row : form.long_rows) {
    Index found = 0;
    for (const RowBlock& block : form.blocks) {
      found += block.segment >= row.first_segment && block.segment < row.end_segment && block.row == row.row;
    }
    EXPECT_EQ(found, row.end_segment - row.first_segment);
    segments -= found;
  }
  EXPECT_EQ(segments, 0);
}

std::vector<Entry> entries_of(const SparseForm& form) {
  std::vector<Entry> all;
  form.format == SparseFormat::csr ? add_blocks(form, all) : add_slices(form, all);
  return all;
}

std::vector<Entry> sorted(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// All formats that can hold it, both ways, with slices for lanes and for groups.
template <typename T, typename I>
void expect_same_entries(const Csr<T, I>& a, const std::string& what, bool dia) {
  SCOPED_TRACE(what);
  for (const SparseFormat wanted :
       {SparseFormat::automatic, SparseFormat::dia, SparseFormat::sell, SparseFormat::csr}) {
    if (wanted == SparseFormat::dia && !dia) continue;
    for (const Index slice : {Index{8}, kGroupSlice}) {
      SCOPED_TRACE(std::string(name(wanted)) + ", slices of " + std::to_string(slice));
      const SparseForm form = make_sparse_form(a.pattern(), {wanted, slice});
      EXPECT_EQ(sorted(entries_of(form)), sorted(entries_of(a.pattern())));
      std::vector<Entry> turned;
      for (const auto& [row, column, from] : entries_of(make_transposed_form(a.pattern(), {wanted, slice}))) {
        turned.emplace_back(column, row, from);
      }
      EXPECT_EQ(sorted(turned), sorted(entries_of(a.pattern())));
    }
  }
}

template <typename I>
void expect_all_same() {
  const auto random = [](Index i) { return i * 7919 % 23; };
  expect_same_entries(stencil<double, I>(7, 5, 1), "5-point", true);
  expect_same_entries(stencil<double, I>(11, 9, 7), "7-point", true);
  expect_same_entries(stencil<double, I>(33, 1, 1), "a slice and a row", true);
  expect_same_entries(scattered<double, I>(1000, 700, random), "scattered, with empty rows", false);
  expect_same_entries(scattered<double, I>(40, 9000, [](Index i) { return i == 13 ? 6000 : i % 3; }), "a long row",
                      false);
  expect_same_entries(scattered<double, I>(40, 9000, [](Index i) { return i == 13 || i == 14 || i == 39 ? 2049 : 2; }),
                      "long rows side by side and at the end", false);
  expect_same_entries(scattered<double, I>(5000, 1, [](Index i) { return i % 2; }), "n x 1", false);
  expect_same_entries(scattered<double, I>(1, 5000, [](Index) { return 3000; }), "1 x n", false);
  expect_same_entries(scattered<double, I>(3000, 10, [](Index i) { return i == 2999 ? 1 : 0; }), "one entry", true);
  expect_same_entries(scattered<double, I>(0, 10, random), "no rows", true);
  expect_same_entries(scattered<double, I>(10, 0, [](Index) { return 0; }), "no columns", true);
  expect_same_entries(scattered<double, I>(100, 10, [](Index) { return 0; }), "no entries", true);
}

TEST(SparseForm, HoldsTheEntriesOfItsPattern) { expect_all_same<std::int32_t>(); }
TEST(SparseForm, HoldsTheEntriesOfPatternsOf64Bits) { expect_all_same<std::int64_t>(); }

TEST(SparseForm, TakesPartsOfPatterns) {
  auto a = scattered<double>(300, 300, [](Index i) { return i % 5; });
  const Csr<double> whole = a;
  a.rows = 200;
  a.begin.erase(a.begin.begin(), a.begin.begin() + 100);
  expect_same_entries(a, "rows 100 to 299", false);
  EXPECT_EQ(entries_of(a.pattern()).size(), whole.column.size() - static_cast<std::size_t>(whole.begin[100]));
}

TEST(SparseForm, IsMadeTheSameByThreads) {
  const auto a = scattered<double>(200'000, 200'000, [](Index i) { return i * 7919 % 11; });
  for (const SparseFormat wanted : {SparseFormat::sell, SparseFormat::csr}) {
    const SparseForm form = make_transposed_form(a.pattern(), {wanted, 8});
    const SparseForm again = make_transposed_form(a.pattern(), {wanted, 8});
    EXPECT_EQ(entries_of(form), entries_of(again));
    EXPECT_EQ(entries_of(form).size(), a.column.size());
  }
  EXPECT_EQ(make_sparse_form(stencil<double>(500, 400, 1).pattern(), {}).diagonals,
            (std::vector<Index>{-500, -1, 0, 1, 500}));
}

SparseForm chosen(const Csr<double>& a) { return make_sparse_form(a.pattern(), {}); }

TEST(SparseForm, IsChosenByThePattern) {
  const SparseForm grid = chosen(stencil<double>(20, 20, 20));
  EXPECT_EQ(grid.format, SparseFormat::dia);
  EXPECT_EQ(grid.reason, "7 diagonals take 1.04 places an entry");
  const SparseForm even = chosen(scattered<double>(4096, 4096, [](Index) { return 9; }));
  EXPECT_EQ(even.format, SparseFormat::sell);
  EXPECT_EQ(even.reason, "rows of 9 to 9 entries take 1 places an entry in slices of 32");
  const auto fem = scattered<double>(4096, 4096, [](Index i) { return 27 + i * 7919 % 67; });
  const SparseForm uneven = chosen(fem);
  EXPECT_EQ(uneven.format, SparseFormat::sell);
  EXPECT_EQ(uneven.reason,
            "rows of 27 to 93 entries take 1.02 places an entry in slices of 32, sorted in windows of 1024");
  EXPECT_EQ(make_sparse_form(fem.pattern(), {SparseFormat::automatic, 8}).reason,
            "its diagonals are many or sparse; rows of 27 to 93 entries take 1.46 places an entry in slices of 8");
  EXPECT_EQ(make_sparse_form(fem.pattern(), {SparseFormat::sell, 8}).reason,
            "rows of 27 to 93 entries take 1 places an entry in slices of 8, sorted in windows of 1024");
  EXPECT_EQ(make_sparse_form(fem.pattern(), {SparseFormat::csr, 32}).block_entries, kBlockEntries);
  const SparseForm power = chosen(scattered<double>(2000, 5000, [](Index i) { return i == 7 ? 4000 : 3; }));
  EXPECT_EQ(power.format, SparseFormat::csr);
  EXPECT_EQ(power.block_entries, kBlockOfUnlikeRows);
  EXPECT_EQ(power.reason, "its diagonals are many or sparse; a row of 4000 entries is too long for one lane");
  // Sorted windows do not help where each has one row of its own length.
  const SparseForm steep = chosen(scattered<double>(64, 5000, [](Index i) { return i % 32 == 0 ? 120 : 1; }));
  EXPECT_EQ(steep.format, SparseFormat::csr);
  EXPECT_EQ(steep.reason,
            "its diagonals are many or sparse; rows of 1 to 120 entries take 12.8 places an entry in slices of 32, "
            "sorted in windows of 1024");
}

TEST(SparseForm, RefusesDiagonalsThatCannotHoldThePattern) {
  const FormRequest dia{SparseFormat::dia, kGroupSlice};
  Csr<double> twice = stencil<double>(64, 1, 1);
  twice.column[twice.column.size() - 2] = 63;
  EXPECT_EQ(thrown_text([&] { make_sparse_form(twice.pattern(), dia); }),
            "format dia cannot hold the matrix: a row has a column twice; let the format be auto, or name sell or csr");
  EXPECT_EQ(chosen(twice).format, SparseFormat::sell);
  const auto a = scattered<double>(10'000, 10'000, [](Index) { return 1; });
  EXPECT_EQ(
      thrown_text([&] { make_sparse_form(a.pattern(), dia); }),
      "format dia cannot hold the matrix: its diagonals are many or sparse; let the format be auto, or name sell or "
      "csr");
}

TEST(SparseForm, RefusesWhatIsNoPattern) {
  for (const std::int32_t column : {-1, 10}) {
    Csr<double> a = stencil<double>(10, 1, 1);
    a.column[5] = column;
    const std::string expected = "row 2 of the matrix names column " + std::to_string(column) + "; columns are 0 to 9";
    EXPECT_EQ(thrown_text([&] { make_sparse_form(a.pattern(), {}); }), expected);
    EXPECT_EQ(thrown_text([&] { make_transposed_form(a.pattern(), {}); }), expected);
  }
  Csr<double> a = stencil<double>(10, 1, 1);
  a.begin[4] = a.begin[3] - 1;
  EXPECT_EQ(thrown_text([&] { make_sparse_form(a.pattern(), {}); }), "row 3 of the matrix ends before it begins");
}

template <typename T>
void expect_values_gathered() {
  const auto bits = [](T value) { return std::bit_cast<std::remove_const_t<decltype(kNoEntry<T>)>>(value); };
  Csr<T> a = stencil<T>(200'000, 1, 1);
  constexpr Index kTaken = 500;
  a.values[kTaken] = std::bit_cast<T>(kNoEntry<T>);
  for (const SparseFormat format : {SparseFormat::dia, SparseFormat::sell}) {
    const SparseForm form = make_sparse_form(a.pattern(), {format, kGroupSlice});
    const Index first = 77, count = form.places - first;  // a part
    std::vector<T> places(static_cast<std::size_t>(count));
    gather_values(format, *form.positions, a.values.data(), first, count, places.data());
    Index found = 0;
    for (Index i = 0; i < count; ++i) {
      const Index from = (*form.positions)[first + i];
      const T value = places[static_cast<std::size_t>(i)];
      EXPECT_EQ(bits(value) == kNoEntry<T>, from < 0 && format == SparseFormat::dia);
      if (from == kTaken) {
        EXPECT_TRUE(std::isnan(value));
        ++found;
      } else if (from >= 0) {
        EXPECT_EQ(value, a.values[static_cast<std::size_t>(from)]);
      }
    }
    EXPECT_EQ(found, 1);
  }
}

TEST(SparseForm, TellsPlacesWithoutAnEntryFromNaN) {
  expect_values_gathered<float>();
  expect_values_gathered<double>();
}

}  // namespace
}  // namespace oclspkt::test
