// SPDX-License-Identifier: BSD-2-Clause
// What tests of profiles share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "profile_store.hpp"
#include "surroundings.hpp"

namespace oclspkt {

namespace fs = std::filesystem;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline const Measured kGood{3.1e-9, 40};

using test::Variable;

class Profiles : public testing::Test {
 protected:
  static std::string text(const std::string& file) { return test::contents_of(file); }
  void put_text(const std::string& text) const { test::write_file(file_, text); }
  /// Writes figures of one key.
  void write(const std::string& key, const Measured& measured = kGood) const {
    ProfileStore store(file_);
    store.put(key, measured);
    store.write();
    ASSERT_EQ(store.why(), "");
  }
  std::optional<Measured> read(const std::string& key) const { return ProfileStore(file_).find(key); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  /// A file with key "a" of this host: its first line, and the columns of the figure.
  std::vector<std::string> good_columns(std::string& first_line) const {
    write("a");
    std::ifstream stream(file_, std::ios::binary);
    std::getline(stream, first_line);
    std::vector<std::string> columns(5);
    for (std::string& column : columns) std::getline(stream, column, &column == &columns.back() ? '\n' : '\t');
    return columns;
  }
  static std::string line_of(const std::vector<std::string>& columns) {
    std::string line;
    for (const std::string& column : columns) line += (line.empty() ? "" : "\t") + column;
    return line + "\n";
  }
  std::ptrdiff_t lines() const {
    const std::string all = text(file_);
    return std::count(all.begin(), all.end(), '\n');
  }

  const test::FreshFolder fresh_;
  const std::string folder_ = fresh_.path();
  std::string file_ = folder_ + "/profile.txt";
};

inline void expect_equal(const std::optional<Measured>& measured, const Measured& expected) {
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->figure, expected.figure);
  EXPECT_EQ(measured->set_ups, expected.set_ups);
}

inline void expect_one_line(const ProfileStore& store, const std::string& part) {
  EXPECT_NE(store.why().find(part), std::string::npos) << store.why();
  EXPECT_NE(store.why().find("; "), std::string::npos) << "no cure: " << store.why();
  EXPECT_EQ(store.why().find('\n'), std::string::npos) << store.why();
}

}  // namespace oclspkt
