// SPDX-License-Identifier: BSD-2-Clause
// CG with Jacobi, as PETSc's KSPCG calls its operations: three numbers an iteration, none of them spared.
#include <cmath>
#include <cstdio>
#include <numeric>

#include "draw.hpp"
#include "krylov.hpp"
#include "oclspkt/error.hpp"
#include "settings.hpp"
#include "sparse_cases.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// CG on a device. With a space's vectors there is nothing of PETSc between the calls.
template <typename T>
class DeviceCg {
 public:
  DeviceCg(Space<T>& space, const SpaceMatrix<T>& a, const std::vector<T>& b, T diagonal) : space_(space), a_(a) {
    const auto n = static_cast<Index>(b.size());
    for (Array* array : {&b_, &x_, &r_, &z_, &p_, &w_, &inverse_}) *array = space.make(n);
    space.bring(b.data(), *b_);
    space.fill(*inverse_, T(1) / diagonal);
  }

  /// Begin with x = 0.
  void start() {
    space_.fill(*x_, T(0));
    space_.copy(*b_, *r_);
    space_.fill(*p_, T(0));
    space_.pointwise(Pointwise::multiply, *z_, *r_, inverse_.get(), T(0));
    norm_ = sum(SumKind::norm2, *z_);
    beta_ = sum(SumKind::dot, *z_, r_.get());
    factor_ = 0;
  }

  void iterate() {
    const Term<T> z{T(1), z_.get()};
    space_.combine(*p_, factor_, {&z, 1});
    space_.product(a_, *p_, nullptr, *w_);
    const T alpha = beta_ / sum(SumKind::dot, *p_, w_.get());
    const Term<T> p{alpha, p_.get()}, w{-alpha, w_.get()};
    space_.combine(*x_, T(1), {&p, 1});
    space_.combine(*r_, T(1), {&w, 1});
    space_.pointwise(Pointwise::multiply, *z_, *r_, inverse_.get(), T(0));
    norm_ = sum(SumKind::norm2, *z_);
    const T before = beta_;
    beta_ = sum(SumKind::dot, *z_, r_.get());
    factor_ = beta_ / before;
  }

  /// Of the preconditioned residual.
  double norm() const { return static_cast<double>(norm_); }

 private:
  using Array = std::unique_ptr<SpaceArray<T>>;
  T sum(SumKind kind, const SpaceArray<T>& x, const SpaceArray<T>* y = nullptr) {
    const SumOf<T> wanted{kind, &x, y};
    SumValue<T> value;
    space_.sums({&wanted, 1}, {&value, 1});
    return value.value;
  }

  Space<T>& space_;
  const SpaceMatrix<T>& a_;
  Array b_, x_, r_, z_, p_, w_, inverse_;
  T norm_ = 0, beta_ = 0, factor_ = 0;
};

/// The norm of the preconditioned residual after some iterations on the host.
double host_norm(const HostMatrix& a, std::vector<double> r, double diagonal, int iterations) {
  std::vector<double> p(r.size(), 0);
  const auto squares = [&] { return std::inner_product(r.begin(), r.end(), r.begin(), 0.) / diagonal; };
  double beta = squares(), factor = 0;
  for (int i = 0; i < iterations; ++i) {
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = factor * p[k] + r[k] / diagonal;
    const std::vector<double> w = multiply(a, a.values, p).sums;
    const double alpha = beta / std::inner_product(p.begin(), p.end(), w.begin(), 0.);
    for (std::size_t k = 0; k < r.size(); ++k) r[k] -= alpha * w[k];
    factor = squares() / beta;
    beta *= factor;
  }
  return std::sqrt(beta / diagonal);
}

/// @throws Breakdown if the device's CG goes another way than the host's
template <typename T>
void check_cg(DeviceCg<T>& cg, const HostMatrix& a, const std::vector<T>& b, double diagonal) {
  constexpr int kIterations = 5;
  constexpr double kUnits = 1e4;
  cg.start();
  for (int i = 0; i < kIterations; ++i) cg.iterate();
  const double right = host_norm(a, std::vector<double>(b.begin(), b.end()), diagonal, kIterations);
  if (!(std::abs(cg.norm() / right - 1) <= kUnits * static_cast<double>(std::numeric_limits<T>::epsilon()))) {
    throw Breakdown("CG on " + a.name + " has a residual of " + std::to_string(cg.norm()) + " for " +
                    std::to_string(right));
  }
}

/// Words an iteration moves beside the product: aypx, dot, two axpy, pointwise, norm, dot.
constexpr double kVectorWords = 3 + 2 + 3 + 3 + 3 + 1 + 2;

/// Rounds of iterations from x = 0. @return counts of all timed iterations, which are as many as `iterations` says
template <typename T>
SpaceCounts time_rounds(Space<T>& space, DeviceCg<T>& cg, int rounds, int a_round, std::vector<double>& seconds) {
  SpaceCounts counts;
  for (int round = -1; round < rounds; ++round) {
    cg.start();
    const SpaceCounts before = space.counts();
    SpaceCounts after;
    const double spent = seconds_of([&] {
      for (int i = 0; i < a_round; ++i) cg.iterate();
      after = space.counts();
      space.finish();
    });
    if (round < 0) continue;
    seconds.push_back(spent / a_round);
    counts.bytes_up += after.bytes_up - before.bytes_up;
    counts.bytes_down += after.bytes_down - before.bytes_down;
    counts.launches += after.launches - before.launches;
    counts.waits += after.waits - before.waits;
  }
  return counts;
}

template <typename T>
void measure_system(const HostMatrix& a, int dimensions, KrylovRun& run) {
  constexpr int kMostIterations = 50;  // before it has converged
  const std::shared_ptr<Space<T>> space = space_of<T>(run);
  const SparseForm form = make_sparse_form(a.pattern(), FormRequest{SparseFormat::automatic, space->slice_rows()});
  const std::unique_ptr<SpaceMatrix<T>> matrix = space->make_matrix(form);
  matrix->set_values(std::vector<T>(a.values.begin(), a.values.end()).data());
  std::vector<T> b(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(uniform(1, kUpper, static_cast<std::int64_t>(i)));
  const double diagonal = 2. * dimensions;
  DeviceCg<T> cg(*space, *matrix, b, static_cast<T>(diagonal));
  check_cg(cg, a, b, diagonal);
  const double bytes = kVectorWords * static_cast<double>(a.rows) * sizeof(T) + static_cast<double>(matrix->bytes()) +
                       2. * static_cast<double>(a.rows) * sizeof(T);
  const int a_round = std::min(kMostIterations, calls_of(bytes, true));
  std::vector<double> seconds;
  const SpaceCounts counts = time_rounds(*space, cg, run.settings.repetitions, a_round, seconds);
  const double iterations = static_cast<double>(a_round) * run.settings.repetitions;
  const auto each = [&](std::int64_t count) { return static_cast<double>(count) / iterations; };
  std::printf(
      "%-6s %-6s CG, Jacobi, %s of %lld rows (%s): %.2f us an iteration, %g launches, %g waits, %g bytes down\n",
      run_time_of(*space), kPrecision<T>, a.name.c_str(), static_cast<long long>(a.rows), name(form.format),
      1e6 * median(seconds), each(counts.launches), each(counts.waits), each(counts.bytes_down));
  std::fflush(stdout);
  run.document["cg"].push_back({{"matrix", a.name},
                                {"format", name(form.format)},
                                {"library", "ours"},
                                {"run_time", run_time_of(*space)},
                                {"precision", kPrecision<T>},
                                {"rows", a.rows},
                                {"iterations", a_round},
                                {"seconds", seconds},
                                {"bytes", bytes},
                                {"launches", each(counts.launches)},
                                {"waits", each(counts.waits)},
                                {"bytes_up", each(counts.bytes_up)},
                                {"bytes_down", each(counts.bytes_down)}});
  if (!run.joules) return;
  const auto [joules, source] = run.joules([&] {
    cg.start();
    for (int i = 0; i < a_round; ++i) cg.iterate();
  });
  run.document["cg"].back()["joules"] = joules / a_round;
  run.document["cg"].back()["energy"] = source;
}

}  // namespace

template <typename T>
void measure_cg(KrylovRun& run) {
  for (const std::string& system : run.settings.cg) {
    const int dimensions = system.starts_with("stencil5") ? 2 : 3;
    const Index rows = parse_row_list(system.substr(system.find(':') + 1), "cg").at(0);
    measure_system<T>(make_stencil(dimensions, std::min(rows, run.settings.size)), dimensions, run);
  }
}

template void measure_cg<float>(KrylovRun&);
template void measure_cg<double>(KrylovRun&);

}  // namespace oclspkt::bench::gpu
