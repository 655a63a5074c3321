// SPDX-License-Identifier: BSD-2-Clause
// What tests of profiles share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "profile_store.hpp"
#include "surroundings.hpp"

namespace oclspkt {

using Json = nlohmann::json;
namespace fs = std::filesystem;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline const Measured kGood{1.25e-5, 3.1e-9, 40};

using test::Variable;

class Profiles : public testing::Test {
 protected:
  static std::string text(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void put_text(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  Json document() const { return Json::parse(text(file_)); }
  void put_document(const Json& document) const { put_text(document.dump()); }

  /// Writes figures of one key.
  void write(const std::string& key, const Measured& measured = kGood) const {
    ProfileStore store(file_);
    store.put(key, measured);
    store.write();
    ASSERT_EQ(store.why(), "");
  }
  std::optional<Measured> read(const std::string& key) const {
    ProfileStore store(file_);
    store.read();
    return store.find(key);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  /// A document with key "a" of this host, and the name of this host in it.
  Json good_document(std::string& host) const {
    write("a");
    const Json result = document();
    host = result["hosts"].begin().key();
    return result;
  }

  const test::FreshFolder fresh_;
  const std::string folder_ = fresh_.path();
  std::string file_ = folder_ + "/profile.json";
};

inline void expect_equal(const std::optional<Measured>& measured, const Measured& expected) {
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->latency, expected.latency);
  EXPECT_EQ(measured->seconds_per_row, expected.seconds_per_row);
  EXPECT_EQ(measured->applies, expected.applies);
}

inline void expect_one_line(const ProfileStore& store, const std::string& part) {
  EXPECT_NE(store.why().find(part), std::string::npos) << store.why();
  EXPECT_NE(store.why().find("; "), std::string::npos) << "no cure: " << store.why();
  EXPECT_EQ(store.why().find('\n'), std::string::npos) << store.why();
}

}  // namespace oclspkt
