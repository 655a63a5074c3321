// SPDX-License-Identifier: BSD-2-Clause
#include <CL/cl.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "cuda_peers.hpp"
#include "krylov.hpp"
#include "memory.hpp"
#include "oclspkt/error.hpp"
#include "statistics.hpp"

namespace oclspkt::bench::gpu {
namespace {

/// One operation: words and flops a place, and whether it ends with numbers on the host.
struct Operation {
  std::string name, library;
  int words, flops;
  Mix mix;
  bool waits;
  std::function<void()> run;
};

template <typename T>
class Vectors {
 public:
  static constexpr int kMany = 8;
  Vectors(std::shared_ptr<Space<T>> space, Index n) : n_(n), space_(std::move(space)) {
    for (int k = 0; k < kMany; ++k) {
      arrays_.push_back(space_->make(n));
      space_->fill(*arrays_.back(), T(1) / static_cast<T>(k + 2));
      terms_.push_back({T(1e-3), arrays_.back().get()});
    }
    y_ = space_->make(n);
    z_ = space_->make(n);
    space_->fill(*y_, T(0.5));
    space_->fill(*z_, T(0.25));
    for (const auto& x : arrays_) dots_.push_back({SumKind::dot, x.get(), y_.get()});
    for (const SumKind kind : {SumKind::norm2, SumKind::norm1, SumKind::least}) {
      for (const auto& x : arrays_) many_[kind].push_back({kind, x.get()});
    }
    values_.resize(dots_.size());
    check_answers();
  }

  Space<T>& space() { return *space_; }
  SpaceArray<T>& x() { return *arrays_.front(); }
  SpaceArray<T>& y() { return *y_; }
  SpaceArray<T>& z() { return *z_; }

  T sum(SumKind kind) {
    const SumOf<T> wanted{kind, &x(), kind == SumKind::dot ? &y() : nullptr};
    SumValue<T> value;
    space_->sums({&wanted, 1}, {&value, 1});
    return value.value;
  }

  /// In float, factors of 1 + 1e-7 and the like would soon be Inf: all keep their vectors where they are.
  std::vector<Operation> operations() {
    using Terms = std::span<const Term<T>>;
    return {
        {"set", "ours", 1, 0, Mix::write, false, [&] { space_->fill(z(), T(0.25)); }},
        {"copy", "ours", 2, 0, Mix::copy, false, [&] { space_->copy(y(), z()); }},
        {"scal", "ours", 2, 1, Mix::copy, false, [&] { space_->combine(z(), T(-1), {}); }},
        {"axpy", "ours", 3, 2, Mix::triad, false, [&] { space_->combine(z(), T(1), Terms(terms_).first(1)); }},
        {"aypx", "ours", 3, 2, Mix::triad, false, [&] { space_->combine(z(), T(0.5), Terms(terms_).first(1)); }},
        {"waxpy", "ours", 3, 3, Mix::triad, false, [&] { space_->combine(z(), T(0), Terms(terms_).first(2)); }},
        {"pointwise", "ours", 3, 1, Mix::triad, false,
         [&] { space_->pointwise(Pointwise::multiply, z(), x(), &y(), T(0)); }},
        {"axpbypcz", "ours", 4, 5, Mix::other, false, [&] { space_->combine(z(), T(0.5), Terms(terms_).first(2)); }},
        {"maxpy 8", "ours", 10, 16, Mix::other, false, [&] { space_->combine(z(), T(1), Terms(terms_)); }},
        {"dot", "ours", 2, 2, Mix::read, true, [&] { sum(SumKind::dot); }},
        {"norm2", "ours", 1, 2, Mix::read, true, [&] { sum(SumKind::norm2); }},
        {"norm1", "ours", 1, 2, Mix::read, true, [&] { sum(SumKind::norm1); }},
        {"min", "ours", 1, 1, Mix::read, true, [&] { sum(SumKind::least); }},
        {"mdot 8", "ours", 9, 16, Mix::read, true, [&] { space_->sums(dots_, values_); }},
        {"norm2 8", "ours", 8, 16, Mix::read, true, [&] { space_->sums(many_[SumKind::norm2], values_); }},
        {"norm1 8", "ours", 8, 16, Mix::read, true, [&] { space_->sums(many_[SumKind::norm1], values_); }},
        {"min 8", "ours", 8, 8, Mix::read, true, [&] { space_->sums(many_[SumKind::least], values_); }},
    };
  }

 private:
  void check_answers() {
    const double n = static_cast<double>(n_), dot = static_cast<double>(sum(SumKind::dot)),
                 norm = static_cast<double>(sum(SumKind::norm2));
    const double few = 1e3 * static_cast<double>(std::numeric_limits<T>::epsilon());
    if (!(std::abs(dot / (n / 4) - 1) < few) || !(std::abs(norm / (std::sqrt(n) / 2) - 1) < few)) {
      throw Breakdown("sums of " + std::to_string(n_) + " places are wrong");
    }
  }

  Index n_;
  std::shared_ptr<Space<T>> space_;
  std::vector<std::unique_ptr<SpaceArray<T>>> arrays_;
  std::unique_ptr<SpaceArray<T>> y_, z_;
  std::vector<Term<T>> terms_;
  std::vector<SumOf<T>> dots_;
  std::map<SumKind, std::vector<SumOf<T>>> many_;  ///< of all arrays
  std::vector<SumValue<T>> values_;
};

/// Yardsticks by the run-time itself, on the same vectors and queue. Its copy is what Space::copy() is.
template <typename T>
std::vector<Operation> yardsticks(Vectors<T>& v, const std::shared_ptr<DeviceStream>& triad) {
  std::vector<Operation> all;
  if (v.space().queue().kind == DeviceQueue::Kind::opencl &&
      v.z().size() * static_cast<Index>(sizeof(T)) < (Index{1} << 31)) {
    all.push_back({"memset", "run-time", 1, 0, Mix::write, false, [&v] {
                     const T zero = 0;
                     check(clEnqueueFillBuffer(static_cast<cl_command_queue>(v.space().queue().handle),
                                               static_cast<cl_mem>(v.z().memory()), &zero, sizeof zero, 0,
                                               static_cast<std::size_t>(v.z().size()) * sizeof(T), 0, nullptr, nullptr),
                           "clEnqueueFillBuffer");
                   }});
  }
  all.push_back({"triad", "stream kernel", 3, 2, Mix::triad, true, [triad] { triad->run(); }});
  return all;
}

template <typename T>
std::vector<Operation> peers(Vectors<T>& v, Cublas<T>& cublas) {
  return {{"axpy", "cuBLAS", 3, 2, Mix::triad, false, [&] { cublas.axpy(T(1e-3), v.x(), v.z()); }},
          {"scal", "cuBLAS", 2, 1, Mix::copy, false, [&] { cublas.scal(T(-1), v.z()); }},
          {"dot", "cuBLAS", 2, 2, Mix::read, true, [&] { cublas.dot(v.x(), v.y()); }},
          {"nrm2", "cuBLAS", 1, 2, Mix::read, true, [&] { cublas.nrm2(v.x()); }}};
}

template <typename T>
void measure_vectors(Vectors<T>& v, const std::vector<Operation>& operations, KrylovRun& run) {
  const Index n = v.x().size();
  std::vector<Timed> timed;
  for (const Operation& of : operations) {
    timed.push_back({static_cast<double>(of.words) * static_cast<double>(n) * sizeof(T), of.waits, of.run});
  }
  const auto seconds = time_in_turn(v.space(), timed, run.settings.repetitions);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& of = operations[i];
    const double rate = timed[i].bytes / median(seconds[i]);
    if (of.mix == Mix::read) run.best_read = std::max(run.best_read, rate);
    std::printf("%-6s %-6s %11lld  %-9s %-13s %9.2f us %8.1f GB/s\n", run_time_of(v.space()), kPrecision<T>,
                static_cast<long long>(n), of.name.c_str(), of.library.c_str(), 1e6 * median(seconds[i]), 1e-9 * rate);
    run.document["operations"].push_back({{"operation", of.name},
                                          {"library", of.library},
                                          {"run_time", run_time_of(v.space())},
                                          {"precision", kPrecision<T>},
                                          {"rows", n},
                                          {"words", of.words},
                                          {"flops", of.flops},
                                          {"mix", kMixNames[static_cast<int>(of.mix)]},
                                          {"to_host", of.waits},
                                          {"seconds", seconds[i]},
                                          {"bytes_per_second", rate}});
  }
  std::fflush(stdout);
}

}  // namespace

template <typename T>
void measure_operations(KrylovRun& run) {
  for (const Index n : run.settings.rows) {
    Vectors<T> vectors(space_of<T>(run), n);
    std::vector<Operation> operations = vectors.operations();
    const std::shared_ptr<DeviceStream> triad = run.module.make_stream(run.device, n, 2, sizeof(T) == sizeof(double));
    for (Operation& of : yardsticks(vectors, triad)) operations.push_back(std::move(of));
    std::string why;
    std::unique_ptr<Cublas<T>> cublas;
    if (vectors.space().queue().kind == DeviceQueue::Kind::cuda) cublas = Cublas<T>::open(vectors.space(), &why);
    if (cublas) {
      for (Operation& of : peers(vectors, *cublas)) operations.push_back(std::move(of));
    } else if (!why.empty()) {
      std::printf("no cuBLAS: %s\n", why.c_str());
    }
    measure_vectors(vectors, operations, run);
  }
}

template void measure_operations<float>(KrylovRun&);
template void measure_operations<double>(KrylovRun&);

}  // namespace oclspkt::bench::gpu
