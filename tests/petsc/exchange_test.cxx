// SPDX-License-Identifier: BSD-2-Clause
#include "exchange.hxx"

#include <cstdint>
#include <numeric>

#include "backward_error.hpp"
#include "cut_case.hpp"
#include "matrix_algebra.hpp"
#include "scalar_test.hpp"

namespace oclspkt::test {
namespace {

using petsc::MpiExchange;

/// Rows of each process, as many as there are.
std::vector<Index> rows_of_processes(int size, Index most) {
  std::vector<Index> rows;
  for (int p = 0; p < size; ++p) rows.push_back(p % 2 == 0 ? most : 3);
  return rows;
}

/// Solve a CutCase on the processes of MPI_COMM_WORLD. @return all rows of x, on all of them
template <typename T>
std::vector<T> solve_over_mpi(const CutCase& c, const Bands<T>& bands, const std::vector<T>& y, const CutRun& run = {},
                              CutReport* report = nullptr) {
  const auto exchange = std::make_shared<MpiExchange>(MPI_COMM_WORLD);
  const Share share(c, exchange->rank());
  CutSolver<T> solver(run.options);
  fill_share(share, bands.view(), solver.bands({share.lines, share.cuts, exchange}));
  solver.set_up(run.known);
  const std::vector<T> own_y = share.part_of(y);
  std::vector<T> own_x(own_y.size()), x(y.size(), T(0));
  for (int i = 0; i < 3; ++i) {
    run.transpose ? solver.apply_transpose(own_y.data(), own_x.data()) : solver.apply(own_y.data(), own_x.data());
  }
  share.put(own_x, x);
  MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.size()), sizeof(T) == 8 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
  if (report) *report = solver.cut_report();
  return x;
}

template <typename T>
class ExchangeOverMpi : public ::testing::Test {
 protected:
  ExchangeOverMpi() { MPI_Comm_size(MPI_COMM_WORLD, &size_); }
  int size_ = 1;
};

SCALAR_TEST(ExchangeOverMpi, SolvesCutLinesOfEveryLayout) {
  for (const Layout layout : {Layout::end_to_end, Layout::strided_y, Layout::strided_z}) {
    for (const Index count : {1, 8}) {
      const CutCase c = CutCase::equal(count, rows_of_processes(this->size_, 200), layout);
      for (const double d : {1.0, 2.0}) {
        const Bands<T> bands = random_dominant<T>(c.all(), d);
        const std::vector<T> y = random_vector<T>(c.all().rows());
        CutReport report;
        EXPECT_LE(componentwise_error(bands, solve_over_mpi<T>(c, bands, y, {}, &report), y), 10) << "d " << d;
        EXPECT_EQ(report.gathered, 0) << report.gathered_why;
        EXPECT_EQ(report.longest_chain, this->size_ > 1 ? this->size_ : 0);
      }
    }
  }
}

SCALAR_TEST(ExchangeOverMpi, GathersWhatWantsPivots) {
  // Zero diagonals: the inner rows of the first and the last part are odd, and singular.
  const CutCase c = CutCase::equal(3, std::vector<Index>(static_cast<std::size_t>(this->size_), 52));
  const Bands<T> bands = constant<T>(c.all(), 1, 0, 1);
  const std::vector<T> y = random_vector<T>(c.all().rows());
  CutReport report;
  EXPECT_LE(componentwise_error(bands, solve_over_mpi<T>(c, bands, y, {}, &report), y), 10);
  EXPECT_EQ(report.gathered, this->size_ > 1 ? 3 : 0);
}

SCALAR_TEST(ExchangeOverMpi, SolvesTheTransposedSystem) {
  const CutCase c = CutCase::equal(2, rows_of_processes(this->size_, 40));
  const Bands<T> bands = random_dominant<T>(c.all(), 1.5);
  CutRun run;
  run.transpose = true;
  const std::vector<T> y = random_vector<T>(c.all().rows());
  // Dominant by columns: 100 eps is what the trial solve lets pass.
  EXPECT_LE(componentwise_error(transposed(bands), solve_over_mpi<T>(c, bands, y, run), y), 100);
}

TEST(MpiExchange, FailuresAreKnownToAll) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const CutCase c = CutCase::equal(1, rows_of_processes(size, 20));
  Bands<double> bands = constant<double>(c.all(), -1, 2, -1);
  bands.diag()[c.all().rows() - 1] = std::numeric_limits<double>::quiet_NaN();
  try {
    solve_over_mpi<double>(c, bands, random_vector<double>(c.all().rows()));
    ADD_FAILURE() << "NaN in the bands was taken";
  } catch (const Breakdown& error) {
    const bool own = rank == size - 1;
    EXPECT_EQ(std::string(error.what()).find("process " + std::to_string(size - 1) + ": ") == 0, !own) << error.what();
    EXPECT_NE(std::string(error.what()).find("NaN"), std::string::npos) << error.what();
  }
}

TEST(MpiExchange, TheLargestIsNaNIfThereIsOne) {
  MpiExchange exchange(MPI_COMM_WORLD);
  double values[] = {static_cast<double>(exchange.rank()), -static_cast<double>(exchange.rank()),
                     exchange.rank() == 0 ? std::numeric_limits<double>::quiet_NaN() : 7.0,
                     -std::numeric_limits<double>::infinity()};
  exchange.largest(values);
  EXPECT_EQ(values[0], exchange.size() - 1);
  EXPECT_EQ(values[1], 0);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], -std::numeric_limits<double>::infinity());
}

TEST(MpiExchange, ManyOfThemNeedNoCommunicatorsOfTheirOwn) {
  constexpr int kMany = 1000;
  MPI_Comm inner = MPI_COMM_NULL;
  PetscMPIInt tag = 0;
  ASSERT_EQ(PetscCommDuplicate(MPI_COMM_WORLD, &inner, &tag), 0);
  std::vector<std::unique_ptr<MpiExchange>> many;
  for (int i = 0; i < kMany; ++i) many.push_back(std::make_unique<MpiExchange>(MPI_COMM_WORLD));
  PetscMPIInt later = 0;
  ASSERT_EQ(PetscCommGetNewTag(inner, &later), 0);
  EXPECT_EQ(tag - later, kMany + 1) << "each has a tag of the communicator of all";
  // Messages of two exchanges between the same processes do not meet, whatever their order.
  const int next = (many[0]->rank() + 1) % many[0]->size(),
            last = (many[0]->rank() + many[0]->size() - 1) % many[0]->size();
  const auto first = many[0]->open({{next, 1}}, {{last, 1}}, 1), second = many[1]->open({{next, 1}}, {{last, 1}}, 1);
  char out[] = {1, 2}, in[] = {0, 0};
  first->start(&out[0], &in[0]);
  second->start(&out[1], &in[1]);
  second->finish();
  first->finish();
  EXPECT_EQ(in[0], 1);
  EXPECT_EQ(in[1], 2);
  many.clear();
  ASSERT_EQ(PetscCommDestroy(&inner), 0);
}

TEST(MpiExchange, AChannelMayBeUsedAgainWithOtherBuffers) {
  MpiExchange exchange(MPI_COMM_WORLD);
  const int next = (exchange.rank() + 1) % exchange.size();
  const int before = (exchange.rank() + exchange.size() - 1) % exchange.size();
  const auto channel = exchange.open({{next, 3}}, {{before, 3}}, sizeof(std::int32_t));
  std::vector<std::int32_t> out(3), in(3), other_in(3);
  for (int i = 0; i < 4; ++i) {
    std::iota(out.begin(), out.end(), 100 * exchange.rank() + i);
    std::vector<std::int32_t>& to = i % 2 == 0 ? in : other_in;
    channel->start(out.data(), to.data());
    channel->finish();
    EXPECT_EQ(to, (std::vector<std::int32_t>{100 * before + i, 100 * before + i + 1, 100 * before + i + 2}));
  }
}

}  // namespace
}  // namespace oclspkt::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  // Lives longer than MPI and PETSc: freed without calling them.
  const auto late = std::make_shared<oclspkt::petsc::MpiExchange>(MPI_COMM_WORLD);
  const auto channel = late->open({{late->rank(), 1}}, {{late->rank(), 1}}, 1);
  char out = 1, in = 0;
  channel->start(&out, &in);
  channel->finish();
  const int failed = RUN_ALL_TESTS();
  return PetscFinalize() != 0 || in != 1 ? 1 : failed;
}
