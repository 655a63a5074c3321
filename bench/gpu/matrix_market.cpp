// SPDX-License-Identifier: BSD-2-Clause
// @source National Institute of Standards and Technology, "Matrix Market Exchange Formats", Boisvert, Pozo, Remington
// 1996
#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>

#include "oclspkt/error.hpp"
#include "sparse_cases.hpp"

namespace oclspkt::bench::gpu {
namespace {

struct Entry {
  std::int32_t row, column;
  double value;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path) {
    if (!file_) throw InvalidInput("--matrix " + path + " cannot be read: name a Matrix Market file");
  }

  HostMatrix read() {
    read_kind();
    do {
      next();
    } while (line_.empty() || line_[0] == '%');
    read_sizes();
    for (Index k = 0; k < listed_; ++k) {
      next();
      read_entry();
    }
    return sorted();
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw InvalidInput(path_ + ", line " + std::to_string(number_) + ": " + why);
  }

  void next() {
    if (!std::getline(file_, line_)) {
      refuse("the file ends after " + std::to_string(entries_read_) + " of " + std::to_string(listed_) +
             " entries: was it copied whole?");
    }
    ++number_;
  }

  void read_kind() {
    next();
    std::transform(line_.begin(), line_.end(), line_.begin(), [](unsigned char c) { return std::tolower(c); });
    std::istringstream words(line_);
    std::string banner, object, layout, field, symmetry;
    words >> banner >> object >> layout >> field >> symmetry;
    if (banner != "%%matrixmarket" || object != "matrix")
      refuse("a Matrix Market file begins with %%MatrixMarket matrix");
    if (layout != "coordinate") refuse("the matrix is '" + layout + "': only coordinate files are read");
    pattern_ = field == "pattern";
    if (!pattern_ && field != "real" && field != "integer") {
      refuse("its values are '" + field + "': only real, integer and pattern are read");
    }
    symmetric_ = symmetry == "symmetric";
    if (!symmetric_ && symmetry != "general") {
      refuse("the matrix is '" + symmetry + "': only general and symmetric ones are read");
    }
  }

  /// The number that comes next on the line.
  template <typename N>
  bool take(const char*& at, N* number) const {
    const char* const end = line_.data() + line_.size();
    while (at < end && (*at == ' ' || *at == '\t' || *at == '+')) ++at;
    const auto [stopped, error] = std::from_chars(at, end, *number);
    at = stopped;
    return error == std::errc();
  }

  void read_sizes() {
    constexpr Index kMost = std::numeric_limits<std::int32_t>::max();
    const char* at = line_.data();
    if (!take(at, &rows_) || !take(at, &columns_) || !take(at, &listed_))
      refuse("three sizes belong here: rows, columns, entries");
    if (rows_ < 1 || columns_ < 1 || listed_ < 0) refuse("a matrix has at least one row and one column");
    if (rows_ > kMost || columns_ > kMost || listed_ > kMost / (symmetric_ ? 2 : 1)) {
      refuse("sizes of 2^31 and more do not go into the 32 bits of the peers");
    }
    if (symmetric_ && rows_ != columns_) refuse("a symmetric matrix has as many rows as columns");
  }

  void read_entry() {
    const char* at = line_.data();
    Index row = 0, column = 0;
    double value = 1;
    if (!take(at, &row) || !take(at, &column) || (!pattern_ && !take(at, &value))) {
      refuse(pattern_ ? "a row and a column belong here" : "a row, a column and a value belong here");
    }
    if (row < 1 || row > rows_ || column < 1 || column > columns_) {
      refuse("entry (" + std::to_string(row) + ", " + std::to_string(column) + ") is not in a matrix of " +
             std::to_string(rows_) + " x " + std::to_string(columns_));
    }
    if (symmetric_ && column > row)
      refuse("symmetric files list no entries above the diagonal: is the matrix general?");
    entries_.push_back({static_cast<std::int32_t>(row - 1), static_cast<std::int32_t>(column - 1), value});
    ++entries_read_;
    if (symmetric_ && row != column) {
      entries_.push_back({static_cast<std::int32_t>(column - 1), static_cast<std::int32_t>(row - 1), value});
    }
  }

  HostMatrix sorted() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; });
    HostMatrix a{path_.substr(path_.find_last_of('/') + 1),
                 rows_,
                 columns_,
                 std::vector<std::int32_t>(static_cast<std::size_t>(rows_) + 1),
                 {},
                 {}};
    for (const Entry& entry : entries_) {
      ++a.begin[static_cast<std::size_t>(entry.row) + 1];
      a.column.push_back(entry.column);
      a.values.push_back(entry.value);
    }
    for (std::size_t row = 1; row < a.begin.size(); ++row) a.begin[row] += a.begin[row - 1];
    return a;
  }

  std::string path_, line_;
  std::ifstream file_;
  Index number_ = 0, rows_ = 0, columns_ = 0, listed_ = 0, entries_read_ = 0;
  bool pattern_ = false, symmetric_ = false;
  std::vector<Entry> entries_;
};

}  // namespace

HostMatrix read_matrix_market(const std::string& path) { return Reader(path).read(); }

}  // namespace oclspkt::bench::gpu
