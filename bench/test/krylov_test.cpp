// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-krylov, on a CPU where it has to be right: figures mean nothing there, but everything else is the same.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "oclspkt/error.hpp"
#include "program.hpp"
#include "sparse_cases.hpp"

namespace oclspkt::bench::gpu {
namespace {

using test::JsonFile;

constexpr const char* kQuick = " --device portable --allow-debug --repetitions 1 --size 1000 ";

/// As a user starts it.
test::Outcome run_krylov(const std::string& arguments) { return test::run_program("krylov " + arguments); }

/// A file that is gone at the end.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("oclspkt-bench-" + std::to_string(getpid()) + ".mtx")) {
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void expect_times(const nlohmann::json& record) {
  ASSERT_EQ(record["seconds"].size(), 1U) << record;
  EXPECT_GT(record["seconds"][0].get<double>(), 0) << record;
}

TEST(KrylovProgram, TimesEveryOperationOfBothScalars) {
  const JsonFile file;
  const auto run = run_krylov(file.path() + kQuick + "--rows 1000,1003 --matrices none --cg none");
  ASSERT_EQ(run.status, 0) << run.output;
  std::map<std::string, std::set<std::string>> seen, of_peer;
  const auto json = file.read();
  for (const auto& r : json["operations"]) {
    expect_times(r);
    EXPECT_GT(r["bytes_per_second"].get<double>(), 0) << r;
    auto& lists = r["library"] == "CLBlast" ? of_peer : seen;
    lists[r["precision"].get<std::string>() + " " + std::to_string(r["rows"].get<int>())].insert(r["operation"]);
  }
  ASSERT_EQ(seen.size(), 4U) << run.output;
  for (const auto& [what, operations] : seen) {
    EXPECT_EQ(operations,
              (std::set<std::string>{"set",      "copy",    "scal",    "axpy",  "aypx",   "waxpy",    "pointwise",
                                     "axpbypcz", "maxpy 8", "dot",     "norm2", "norm1",  "norm inf", "min",
                                     "mdot 8",   "norm2 8", "norm1 8", "min 8", "memset", "triad"}))
        << what;
  }
  const bool has_peer = run.output.find("no CLBlast: this program was built without it") == std::string::npos;
  EXPECT_EQ(of_peer.size(), has_peer ? 4U : 0U) << run.output;
  for (const auto& [what, operations] : of_peer) {
    EXPECT_EQ(operations, (std::set<std::string>{"copy", "scal", "axpy", "dot", "nrm2", "asum", "amax"})) << what;
  }
}

TEST(KrylovProgram, TimesProductsInEveryFormatThatSuits) {
  const TextFile matrix("%%MatrixMarket matrix coordinate pattern general\n3 2 2\n1 1\n3 2\n");
  const JsonFile file;
  const auto run = run_krylov(file.path() + kQuick + "--rows none --cg none --matrix " + matrix.path());
  ASSERT_EQ(run.status, 0) << run.output;
  std::map<std::string, std::set<std::string>> formats;
  const auto json = file.read();
  for (const auto& r : json["products"]) {
    expect_times(r);
    EXPECT_EQ(r["library"], "ours");
    const bool is_double = r["precision"] == "double";
    const double n = r["rows"], columns = r["matrix"] == "stencil5" || n > 3 ? n : 2, entries = r["entries"];
    EXPECT_EQ(r["compulsory_bytes"].get<double>(),
              is_double ? 12 * entries + 12 * n + 8 * columns : 8 * entries + 8 * n + 4 * columns);
    EXPECT_GE(r["own_bytes"].get<double>(), entries * (is_double ? 8 : 4)) << r;
    EXPECT_GE(r["places_an_entry"].get<double>(), 1) << r;
    EXPECT_GT(r["form_seconds"].get<double>() + r["up_seconds"].get<double>(), 0) << r;
    EXPECT_FALSE(r["reason"].get<std::string>().empty()) << r;
    formats[r["matrix"].get<std::string>() + (is_double ? "" : ", float")].insert(r["format"]);
  }
  const std::set<std::string> all{"dia", "sell", "csr"}, two{"sell", "csr"};
  for (const std::string scalar : {"", ", float"}) {
    EXPECT_EQ(formats["stencil5" + scalar], all) << run.output;
    EXPECT_EQ(formats["stencil7" + scalar], all) << run.output;
    EXPECT_EQ(formats["fem" + scalar], two) << run.output;
    EXPECT_EQ(formats["power" + scalar], two) << run.output;
  }
  EXPECT_EQ(formats.size(), 10U) << run.output;
}

TEST(KrylovProgram, TimesFormatsOfOthersAndChecksThem) {
  const TextFile matrix("%%MatrixMarket matrix coordinate pattern general\n3 5 6\n1 1\n1 2\n1 3\n1 4\n1 5\n3 2\n");
  const JsonFile file;
  const auto run = run_krylov(file.path() + kQuick +
                              "--rows none --cg none --formats csr4,hyb --matrices fem --matrix " + matrix.path());
  ASSERT_EQ(run.status, 0) << run.output;
  std::map<std::string, double> places;
  const auto json = file.read();
  for (const auto& r : json["products"]) {
    if (r["library"] != "other") continue;
    expect_times(r);
    const std::string rows = r["rows"] == 3 ? "3 " : "";
    places[r["precision"].get<std::string>() + " " + rows + r["format"].get<std::string>()] = r["places_an_entry"];
  }
  EXPECT_EQ(places.size(), 8U) << run.output;
  EXPECT_NEAR(places["double 3 csr4"], 12. / 6, 1e-12);          // rows of 8, 0 and 4
  EXPECT_NEAR(places["double 3 hyb"], (3. * 1 + 4) / 6, 1e-12);  // one column of 3, and 4 that are left
  EXPECT_GE(places["float csr4"], 1);
}

TEST(KrylovProgram, CountsThreeWaitsInAnIterationOfCgAndNothingThatGoesUp) {
  const JsonFile file;
  const auto run = run_krylov(file.path() + kQuick + "--rows none --matrices none --cg stencil5:900,stencil7:1e6");
  ASSERT_EQ(run.status, 0) << run.output;
  std::set<std::string> systems;
  const auto json = file.read();
  for (const auto& r : json["cg"]) {
    expect_times(r);
    EXPECT_EQ(r["waits"].get<double>(), 3) << r;
    EXPECT_EQ(r["launches"].get<double>(), 8) << r;
    EXPECT_EQ(r["bytes_up"].get<double>(), 0) << r;
    EXPECT_EQ(r["format"], "dia");
    systems.insert(r["precision"].get<std::string>() + " " + r["matrix"].get<std::string>() + " " +
                   std::to_string(r["rows"].get<int>()));
  }
  EXPECT_EQ(systems, (std::set<std::string>{"float stencil5 900", "float stencil7 1000", "double stencil5 900",
                                            "double stencil7 1000"}));
}

TEST(KrylovProgram, SaysWhatItWants) {
  const struct {
    const char *arguments, *message;
    int status;
  } cases[] = {{"--help", "--matrix FILE", 0},
               {"", "name one file", 2},
               {"x.json --matrices stencil9", "--matrices takes words of: stencil5, stencil7, fem, power; not", 2},
               {"x.json --rows 0", "--rows takes numbers from 1", 2},
               {"x.json --cg fem:100", "--cg takes stencil5:ROWS and stencil7:ROWS", 2},
               {"x.json --scalars half", "--scalars takes words of: float, double", 2},
               {"/dev/null --device no-such-card --allow-debug", "no device matches 'no-such-card'", 2},
               {"/dev/null --device host --allow-debug", "name a device of OpenCL, or cuda", 2},
               {"no-such-folder/x.json --allow-debug", "folder that exists", 2}};
  for (const auto& c : cases) {
    const auto run = run_krylov(c.arguments);
    EXPECT_EQ(run.status, c.status) << c.arguments << "\n" << run.output;
    EXPECT_NE(run.output.find(c.message), std::string::npos) << c.arguments << "\n" << run.output;
  }
}

TEST(KrylovMatrices, AreWhatTheirNamesSay) {
  const HostMatrix square = make_sparse_case("stencil5", 10'000), cube = make_sparse_case("stencil7", 1000);
  EXPECT_EQ(square.rows, 10'000);
  EXPECT_EQ(square.entries(), 5 * 10'000 - 4 * 100);
  EXPECT_EQ(cube.rows, 1000);
  EXPECT_EQ(cube.entries(), 7 * 1000 - 6 * 100);
  const auto inner = multiply(cube, cube.values, std::vector<double>(1000, 1.));
  EXPECT_EQ(inner.sums[555], 0);
  EXPECT_EQ(inner.magnitudes[555], 12);
  EXPECT_EQ(inner.sums[0], 3);
  const HostMatrix fem = make_sparse_case("fem", 1500);
  EXPECT_EQ(fem.rows, 3 * 8 * 8 * 8);
  std::set<int> lengths;
  for (std::size_t row = 0; row < static_cast<std::size_t>(fem.rows); ++row) {
    lengths.insert(fem.begin[row + 1] - fem.begin[row]);
    const auto first = fem.column.begin() + fem.begin[row], end = fem.column.begin() + fem.begin[row + 1];
    EXPECT_EQ(std::set<int>(first, end).size(), static_cast<std::size_t>(end - first)) << "row " << row;
  }
  EXPECT_EQ(*lengths.begin(), 27);
  EXPECT_EQ(*lengths.rbegin(), 93);
  const HostMatrix power = make_sparse_case("power", 20'000);
  int longest = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(power.rows); ++row) {
    longest = std::max(longest, power.begin[row + 1] - power.begin[row]);
  }
  EXPECT_EQ(longest, 1000);
}

TEST(KrylovMatrices, AreReadFromMatrixMarketFiles) {
  const TextFile general(
      "%%MatrixMarket matrix coordinate real general\n% a remark\n\n2 3 3\n2 3 -1.5e0\n1 1 +2\n2 1 4\n");
  const HostMatrix a = read_matrix_market(general.path());
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.columns, 3);
  EXPECT_EQ(a.begin, (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(a.column, (std::vector<std::int32_t>{0, 0, 2}));
  EXPECT_EQ(a.values, (std::vector<double>{2, 4, -1.5}));
}

TEST(KrylovMatrices, OfSymmetricFilesHaveBothTriangles) {
  const TextFile symmetric("%%MatrixMarket Matrix Coordinate Pattern Symmetric\n2 2 2\n1 1\n2 1\n");
  const HostMatrix a = read_matrix_market(symmetric.path());
  EXPECT_EQ(a.begin, (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(a.column, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(a.values, (std::vector<double>{1, 1, 1}));
}

TEST(KrylovMatrices, OfBadFilesAreRefusedByFileAndLine) {
  const struct {
    const char *text, *message;
  } cases[] = {{"", "line 0: the file ends"},
               {"1 1 1\n", "line 1: a Matrix Market file begins with"},
               {"%%MatrixMarket matrix array real general\n", "only coordinate files"},
               {"%%MatrixMarket matrix coordinate complex general\n", "its values are 'complex'"},
               {"%%MatrixMarket matrix coordinate real skew-symmetric\n", "the matrix is 'skew-symmetric'"},
               {"%%MatrixMarket matrix coordinate real general\nx\n", "line 2: three sizes belong here"},
               {"%%MatrixMarket matrix coordinate real general\n0 1 0\n", "at least one row"},
               {"%%MatrixMarket matrix coordinate real general\n3000000000 1 0\n", "2^31"},
               {"%%MatrixMarket matrix coordinate real symmetric\n2 1 0\n", "as many rows as columns"},
               {"%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n", "ends after 1 of 2 entries"},
               {"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 1\n",
                "line 3: entry (1, 2) is not in a matrix of 1 x 1"},
               {"%%MatrixMarket matrix coordinate real general\n1 1 1\n0 1 1\n", "entry (0, 1) is not"},
               {"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1\n", "a row, a column and a value"},
               {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1\n", "a row and a column belong"},
               {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "above the diagonal"}};
  for (const auto& c : cases) {
    const TextFile file(c.text);
    try {
      read_matrix_market(file.path());
      ADD_FAILURE() << c.text;
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(read_matrix_market("no-such-file.mtx"), InvalidInput);
}

}  // namespace
}  // namespace oclspkt::bench::gpu
