// SPDX-License-Identifier: BSD-2-Clause
#include "fpga_board.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fpga_times.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt::bench {
namespace {

std::string board_file(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path().parent_path() / "boards" / (name + ".json")).string();
}

/// The file of the paper's board with something changed.
class ChangedBoard {
 public:
  explicit ChangedBoard(const std::function<void(nlohmann::json&)>& change)
      : path_(std::filesystem::temp_directory_path() / "oclspkt-board-test.json") {
    std::ifstream stream(board_file("a10pl4"));
    nlohmann::json document = nlohmann::json::parse(stream);
    change(document);
    std::ofstream(path_) << document;
  }
  ~ChangedBoard() { std::filesystem::remove(path_); }
  std::string why_refused() const {
    try {
      read_board(path_.string());
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  }

 private:
  std::filesystem::path path_;
};

TEST(FpgaBoards, OfThePaperIsTheOneThatTheLibraryKnows) {
  const DescribedBoard board = read_board(board_file("a10pl4"));
  for (const FpgaFigure& figure : fpga_figures()) {
    EXPECT_NEAR(board.figures.*figure.member / (FpgaBoard().*figure.member), 1, 1e-7) << figure.name;
  }
}

TEST(FpgaBoards, AreAllPrintedWithWhatLimits) {
  for (const char* name : {"a10pl4", "stratix10mx", "u280"}) {
    std::ostringstream out;
    const nlohmann::ordered_json results = print_fpga_times(read_board(board_file(name)), 256'000'000, out);
    EXPECT_EQ(out.str().find("nan"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("(derived)"), std::string::npos);
    for (const auto& time : results.at("times")) {
      EXPECT_GE(time.at("solve time"), time.at("kernel time"));
      const std::string limit = time.at("kernel limit");
      EXPECT_EQ(time.at(limit), time.at("kernel time")) << time;
    }
  }
}

TEST(FpgaBoards, PrintTheFiguresOfThePaper) {
  std::ostringstream out;
  print_fpga_times(read_board(board_file("a10pl4")), 256'000'000, out);
  for (const char* text :
       {"| spktrunc | general | 5 |", "| 3 | 200.0 | 40.0 | - | memory | 166.7 | memory |", "| 280 | bus in |",
        "calibrated on the 200 ms", "takes 333.3 ms, 1.67 times", "25.6 s at 200 MHz, 21.3 s at 240 MHz",
        "| 163 | 197 | 99 | 160 |", "| 409.5 | 27.0 % |", "| 240.0 | 15.8 % |"}) {
    EXPECT_NE(out.str().find(text), std::string::npos) << text << " is not in\n" << out.str();
  }
}

TEST(FpgaBoards, NameTheKeyThatIsWrong) {
  const auto refused = [](const std::function<void(nlohmann::json&)>& change) {
    return ChangedBoard(change).why_refused();
  };
  const std::string unknown = refused([](nlohmann::json& d) { d["figures"]["clock"] = 1; });
  for (const char* text : {"'clock'", "clock_hz", "bus_in_bytes_per_second", "oclspkt-board-test.json"}) {
    EXPECT_NE(unknown.find(text), std::string::npos) << unknown;
  }
  EXPECT_NE(refused([](nlohmann::json& d) { d["colour"] = 1; }).find("'colour'"), std::string::npos);
  EXPECT_NE(refused([](nlohmann::json& d) { d["derived"] = {"clock"}; }).find("'clock'"), std::string::npos);
  EXPECT_NE(refused([](nlohmann::json& d) { d["figures"].erase("banks"); }).find("'banks'"), std::string::npos);
  EXPECT_NE(refused([](nlohmann::json& d) { d["figures"]["banks"] = "two"; }).find("'banks'"), std::string::npos);
  EXPECT_NE(refused([](nlohmann::json& d) { d["figures"]["clock_hz"] = -1; }).find("clock_hz"), std::string::npos);
  EXPECT_NE(refused([](nlohmann::json& d) { d["figures"]["clock_hz"] = nullptr; }).find("clock_hz"), std::string::npos);
  EXPECT_NE(refused([](nlohmann::json& d) { d = nlohmann::json::array(); }), "");
  EXPECT_EQ(refused([](nlohmann::json&) {}), "");
  EXPECT_THROW(read_board(board_file("nowhere")), InvalidInput);
}

}  // namespace
}  // namespace oclspkt::bench
