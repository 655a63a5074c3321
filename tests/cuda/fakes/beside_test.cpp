// SPDX-License-Identifier: BSD-2-Clause
// A fake card that OpenCL sees as well: vectors of CUDA's are copied on the card where CUDA has no kernels.
#include "beside_of.hpp"
#include "cut_case.hpp"
#include "process.hpp"

namespace oclspkt::test {
namespace {

SCALAR_TEST(BesideOf, VectorsAreCopiedOnTheCardAndNowhereElse) {
  const std::vector<T> y = random_vector<T>(kRows);
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(kRows);
  Solver<T> solver = this->ready(on_cards("gpu"), stream.queue());
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  EXPECT_EQ(solver.report().device.name, "Fake card 0");
  EXPECT_EQ(solver.report().device.platform, "NVIDIA CUDA of the fake");
  EXPECT_TRUE(solver.report().device.vectors.starts_with(kCopied)) << solver.report().device.vectors;
  expect_in(solver.report().device.vectors, "CUDA's run-time compiler is not there");
  EXPECT_TRUE(solver.report().degraded.empty()) << all_of(solver.report().degraded);
  const std::vector<T> expected = this->applied(solver, y);
  for (const bool deferred : {false, true}) {
    fake::restart();
    opencl::restart();
    fake::defer(deferred);
    for (int again = 0; again < 3; ++again) enqueue(solver, stream.queue(), from, to);
    EXPECT_EQ(fake::calls("cuMemcpyDtoDAsync_v2"), 6);
    EXPECT_EQ(fake::calls("cuStreamSynchronize"), 3);
    EXPECT_EQ(opencl::acquisitions(), 3);
    for (const char* call : {"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoH_v2", "cuMemAlloc_v2",
                             "cuMemCreate", "cuMemMap", "cuEventCreate", "cuCtxSynchronize"}) {
      EXPECT_EQ(fake::calls(call), 0) << call;
    }
    cuStreamSynchronize(stream.get());
    EXPECT_EQ(to.values(), expected);
    fake::defer(false);
  }
  EXPECT_EQ(this->applied(solver, y), expected);
  // The default stream has no handle.
  const CardVector<T> other(kRows);
  enqueue(solver, {DeviceQueue::Kind::cuda, nullptr}, from, other);
  EXPECT_EQ(other.values(), expected);
}

SCALAR_TEST(BesideOf, StreamsDoNotOverwriteWhatOthersStillCopy) {
  const std::vector<T> y[] = {random_vector<T>(kRows, 1), random_vector<T>(kRows, 2)};
  const InContext context(0);
  const Stream first, second;
  const CardVector<T> y_first(y[0]), y_second(y[1]), x_first(kRows), x_second(kRows);
  Solver<T> solver = this->ready(on_cards("gpu"), first.queue());
  const std::vector<T> expected[] = {this->applied(solver, y[0]), this->applied(solver, y[1])};
  fake::defer(true);
  {
    Solver<T> gone = this->ready(on_cards("gpu"), first.queue());
    enqueue(gone, first.queue(), y_first, x_second);
  }
  EXPECT_EQ(x_second.values(), expected[0]) << "memory ended before its last copy";
  enqueue(solver, first.queue(), y_first, x_first);
  enqueue(solver, second.queue(), y_second, x_second);
  cuStreamSynchronize(second.get());
  cuStreamSynchronize(first.get());
  EXPECT_EQ(x_first.values(), expected[0]);
  EXPECT_EQ(x_second.values(), expected[1]);
}

SCALAR_TEST(BesideOf, ColumnsAndTheTransposeAreSolvedToo) {
  constexpr Index kStride = kRows + 24, kColumns = 3;
  const std::vector<T> y = random_vector<T>(kStride * kColumns);
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(std::vector<T>(y.size(), T(-7)));
  Solver<T> solver = this->ready(on_cards("gpu"), stream.queue());
  std::vector<T> expected(y.size(), T(-7));
  solver.apply(y.data(), kStride, expected.data(), kStride, kColumns);
  solver.enqueue(stream.queue(), from.get(), kStride, to.get(), kStride, kColumns);
  EXPECT_EQ(to.values(), expected);
  solver.apply_transpose(y.data(), expected.data());
  ASSERT_TRUE(solver.takes_transpose(stream.queue()));
  solver.enqueue_transpose(stream.queue(), from.get(), to.get());
  EXPECT_EQ(to.values(), expected);
}

/// What stands between lines is the caller's.
SCALAR_TEST(BesideOf, RowsOfNoLineStay) {
  const LineSet lines = LineSet::strided(200, 24, 16, 1);
  const Bands<T> bands = random_dominant<T>(lines, 3);
  const std::vector<T> y = random_vector<T>(lines.extent());
  const InContext context(0);
  const Stream stream;
  const CardVector<T> from(y), to(std::vector<T>(y.size(), T(-7)));
  Options options = on_cards("gpu");
  options.method = MethodChoice::automatic;
  Solver<T> solver(options);
  this->set_up(solver, bands, {.queue = stream.queue()});
  ASSERT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  std::vector<T> expected(y.size(), T(-7));
  solver.apply(y.data(), expected.data());
  solver.enqueue(stream.queue(), from.get(), 0, to.get(), 0, 1);
  EXPECT_EQ(to.values(), expected);
}

SCALAR_TEST(BesideOf, LinesThatAreCutAskForTheirBordersOnTheCard) {
  const CutCase all = CutCase::equal(1, {kRows, kRows});
  const Bands<T> bands = random_dominant<T>(all.all(), 3);
  const std::vector<T> y = random_vector<T>(2 * kRows);
  std::vector<T> x(y.size());
  const auto thrown = run_processes(2, [&](int rank, const std::shared_ptr<ThreadExchange>& exchange) {
    const InContext context(0);
    const Stream stream;
    const Share share(all, rank);
    const Index first = rank * kRows;
    CutSolver<T> solver(on_cards("gpu"));
    fill_share(share, bands.view(), solver.bands(share.lines, share.cuts, exchange));
    Known known;
    known.queue = stream.queue();
    solver.set_up(known);
    EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
    const CardVector<T> from(std::vector<T>(y.begin() + first, y.begin() + first + kRows)), to(kRows);
    for (int again = 0; again < 2; ++again) {
      enqueue(solver, stream.queue(), from, to);
      cuStreamSynchronize(stream.get());
      const std::vector<T> own = to.values();
      std::copy(own.begin(), own.end(), x.begin() + first);
    }
    expect_in(solver.report().device.vectors, kCopied);
  });
  for (const auto& error : thrown) EXPECT_EQ(error, nullptr) << text_of(error);
  EXPECT_LE(componentwise_backward_error(bands.lines(), bands.view(), x.data(), y.data()), 100 * this->eps);
}

SCALAR_TEST(BesideOf, VectorsThatDoNotFitAreRefusedByNameAndCure) {
  const InContext context(0);
  const Stream stream;
  const CardVector<T> y(kRows), x(kRows);
  Solver<T> solver = this->ready(on_cards("gpu"), stream.queue());
  expect_unfit_refused(solver, stream.queue(), y, x);
  {
    const InContext other(1);
    const Stream of_other;
    EXPECT_FALSE(solver.takes(of_other.queue()));
    expect_refusal([&] { enqueue(solver, of_other.queue(), y, x); }, "the queue is of another device than Fake card 0");
    Solver<T> of_another = this->ready(on_cards("gpu"), of_other.queue());
    EXPECT_FALSE(of_another.takes(of_other.queue()));
    expect_in(of_another.report().device.vectors,
              "by OpenCL: no other run-time sees the card of the vectors, pci:0001");
  }
  enqueue(solver, stream.queue(), y, x);
}

TEST_F(Beside, ReleasedDevicesTakeNoVectors) {
  const InContext context(0);
  const Stream stream;
  const CardVector<double> y(std::vector<double>(kRows, 1.0)), x(kRows);
  Solver<double> solver = ready(on_cards("gpu"), stream.queue());
  enqueue(solver, stream.queue(), y, x);
  release_devices();
  EXPECT_EQ(fake::alive().shared, 0);
  EXPECT_EQ(opencl::imported(), 0);
  EXPECT_FALSE(solver.takes(stream.queue()));
  EXPECT_THROW(enqueue(solver, stream.queue(), y, x), DeviceError);
  set_up(solver, stream.queue());
  EXPECT_TRUE(solver.takes(stream.queue())) << solver.report().device.vectors;
  enqueue(solver, stream.queue(), y, x);
  EXPECT_EQ(x.values(), applied(solver, y.values()));
}

TEST_F(Beside, AChildCallsNothingOfBothDrivers) {
  const InContext context(0);
  const Stream stream;
  auto solver = std::make_unique<Solver<double>>(on_cards("gpu", OnDeviceFailure::quiet));
  set_up(*solver, stream.queue());
  ASSERT_TRUE(solver->takes(stream.queue()));
  const auto calls_nothing = [&] {
    fake::restart();
    const bool takes = solver->takes(stream.queue());
    applied(*solver, std::vector<double>(kRows, 1.0));
    solver.reset();
    release_devices();
    return !takes && calls_of(fake::functions()) == 0 &&
           calls_of({"cuMemUnmap", "cuMemRelease", "cuMemAddressFree"}) == 0;
  };
  EXPECT_EQ(status_of_child(calls_nothing), 0);
}

/// In a process of its own, whose end it lives to see: exit handlers of the driver are through before ours.
TEST(BesideAtTheEnd, SolversMayLive) {
  static Solver<double> solver(on_cards("gpu"));
  const InContext context(0);
  const DeviceQueue queue{DeviceQueue::Kind::cuda, nullptr};
  set_up(solver, random_dominant<double>(LineSet::one(kRows), 3), {.queue = queue});
  EXPECT_TRUE(solver.takes(queue)) << solver.report().device.vectors;
}

}  // namespace
}  // namespace oclspkt::test
