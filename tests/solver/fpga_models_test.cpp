// SPDX-License-Identifier: BSD-2-Clause
// The kernels for FPGAs against what the model of boards takes them for (balance/fpga_operations): the same numbers,
// block for block, truncation included.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "every_device.hpp"
#include "fpga_operations.hpp"
#include "reference.hpp"
#include "solver_fixture.hpp"

namespace oclspkt {
namespace {

struct ModelledKernel {
  const char* scheme;
  FpgaKernel kernel;
  bool truncates;  ///< by more than rounding where blocks have 32 rows and d = 1.2
};
constexpr ModelledKernel kModelled[] = {{"fpga-spktrunc", FpgaKernel::spktrunc, true},
                                        {"fpga-spkboth", FpgaKernel::spkboth, false},
                                        {"fpga-spkjac", FpgaKernel::spkjac, false},
                                        {"fpga-tdma", FpgaKernel::tdma_stored, false},
                                        {"fpga-batch", FpgaKernel::tdma_batch, false}};
constexpr Index kBlockRows = 32;
constexpr double kDominance = 1.2;

template <typename T>
class FpgaKernels : public test::SolverFixture<T> {
 protected:
  /// A line in whole blocks, rows of the identity behind it, by the model.
  static std::vector<T> solve_by_model(FpgaKernel kernel, const Bands<T>& bands, const std::vector<T>& y, Index line) {
    const LineSet& lines = bands.lines();
    const Index first = lines.first(line), rows = lines.length(line);
    const std::size_t whole = static_cast<std::size_t>((rows + kBlockRows - 1) / kBlockRows * kBlockRows);
    const auto part = [&](const T* from, T behind) {
      std::vector<T> to(whole, behind);
      std::copy_n(from + first, rows, to.begin());
      return to;
    };
    FpgaRows<T> system{part(bands.view().lower, 0), part(bands.view().diag, 1), part(bands.view().upper, 0),
                       part(y.data(), 0)};
    system.lower.front() = system.upper[static_cast<std::size_t>(rows - 1)] = 0;
    std::vector<T> x = run_fpga_kernel(kernel, system, kBlockRows);
    x.resize(static_cast<std::size_t>(rows));
    return x;
  }
  static double largest(const std::vector<T>& x) {
    double worst = 0;
    for (const T value : x) worst = std::max(worst, std::abs(static_cast<double>(value)));
    return worst;
  }
  /// The largest difference in a block, by the largest number of a line.
  static double difference(const T* ours, const std::vector<T>& model, std::size_t first, double size) {
    double worst = 0;
    for (std::size_t i = first; i < std::min(model.size(), first + kBlockRows); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(ours[i]) - static_cast<double>(model[i])) / size);
    }
    return worst;
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FpgaKernels, Scalars);

TYPED_TEST(FpgaKernels, GiveTheNumbersOfTheirModelsBlockForBlock) {
  using T = TypeParam;
  test::with_every_device([&](Options options) {
    if (options.devices == "host") return;
    options.rtol = 0.01;  // truncation is to show
    for (const ModelledKernel& of : kModelled) {
      const LineSet lines =
          of.kernel == FpgaKernel::tdma_batch ? LineSet::equal(37, 301) : LineSet::one(70 * kBlockRows + 17);
      const Bands<T> bands = test::random_dominant<T>(lines, kDominance);
      const std::vector<T> y = test::random_vector<T>(lines.rows());
      options.variant = of.scheme;
      const bool whole = of.kernel == FpgaKernel::tdma_stored || of.kernel == FpgaKernel::tdma_batch;
      options.method = whole ? MethodChoice::exact_factored : MethodChoice::truncated_streamed;
      Solver<T> solver(options);
      this->set_up(solver, bands);
      EXPECT_NE(solver.report().shape.find("one work-item"), std::string::npos)
          << of.scheme << ": " << solver.report().why << "; " << solver.report().candidates.front().why;
      std::vector<T> x(y.size());
      solver.apply(y.data(), x.data());
      // Products and sums may be fused on the device: what rounding differs by grows with the condition.
      const double limit = 8 * (kDominance + 1) / (kDominance - 1) * this->eps;
      for (Index line = 0; line < lines.count(); ++line) {
        const std::vector<T> model = this->solve_by_model(of.kernel, bands, y, line);
        const double size = this->largest(model);
        for (std::size_t block = 0; block < model.size(); block += kBlockRows) {
          EXPECT_LE(this->difference(x.data() + lines.first(line), model, block, size), limit)
              << of.scheme << ", line " << line << ", rows from " << block << " on";
        }
      }
      if (!of.truncates) continue;
      Reference<T> exact;
      exact.factor(lines, bands.view());
      std::vector<T> right(y.size());
      exact.solve(y.data(), right.data());
      double error = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        error = std::max(error, std::abs(static_cast<double>(x[i]) - static_cast<double>(right[i])));
      }
      EXPECT_GT(error, limit * this->largest(right) / (sizeof(T) == sizeof(float) ? 64 : 1))
          << "nothing is truncated, so nothing of that was compared";
    }
  });
}

}  // namespace
}  // namespace oclspkt
