// SPDX-License-Identifier: BSD-2-Clause
#include "share_figures.hpp"

#include "profile_cases.hpp"

namespace oclspkt {
namespace {

/// Watts have a field of their own, and seconds are none.
TEST_F(Profiles, OfSharesKeepSecondsAndWattsApart) {
  ShareFigures figures;
  figures.open(file_);
  figures.put_watts("a|k|power", 250, 3);
  figures.put_seconds("a|k|alone", 2, 1e9, 3);
  figures.write();
  expect_equal(read("a|k|power"), {0, 0, 3, 250});
  expect_equal(read("a|k|alone"), {0, 2e-9, 3, 0});
}

/// One bad moment does not make a processor slow for good.
TEST_F(Profiles, OfSharesFollowAShorterTimeAtOnceAndALongerOneByTenths) {
  ShareFigures figures;
  figures.open("none");
  const auto put = [&](double seconds) {
    figures.put_seconds("a", seconds, 1, 20);
    return figures.find("a")->seconds_per_row;
  };
  EXPECT_EQ(put(1), 1);
  EXPECT_DOUBLE_EQ(put(3), 1.1);
  EXPECT_DOUBLE_EQ(put(3), 1.21);
  EXPECT_EQ(put(1.05), 1.05);
  EXPECT_EQ(put(0.5), 0.5);
  EXPECT_EQ(put(0), 0.5) << "no figure";
  figures.close();
  EXPECT_FALSE(figures.find("a"));
}

}  // namespace
}  // namespace oclspkt
