// SPDX-License-Identifier: BSD-2-Clause
#include <CL/cl.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "blas.hpp"
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

/// The library's own operations that BLAS has, too.
template <typename T>
class OwnBlas final : public Blas<T> {
 public:
  explicit OwnBlas(Space<T>& space) : space_(space) {}
  const char* library() const override { return "ours"; }
  void copy(const SpaceArray<T>& x, SpaceArray<T>& y) override { space_.copy(x, y); }
  void scal(T factor, SpaceArray<T>& x) override { space_.combine(x, factor, {}); }
  void axpy(T factor, const SpaceArray<T>& x, SpaceArray<T>& y) override {
    const Term<T> term{factor, &x};
    space_.combine(y, T(1), {&term, 1});
  }
  T dot(const SpaceArray<T>& x, const SpaceArray<T>& y) override { return sum(SumKind::dot, x, &y).value; }
  T nrm2(const SpaceArray<T>& x) override { return sum(SumKind::norm2, x).value; }
  T asum(const SpaceArray<T>& x) override { return sum(SumKind::norm1, x).value; }
  SumValue<T> amax(const SpaceArray<T>& x) override { return sum(SumKind::largest_magnitude, x); }
  SumValue<T> sum(SumKind kind, const SpaceArray<T>& x, const SpaceArray<T>* y = nullptr) {
    const SumOf<T> wanted{kind, &x, y};
    SumValue<T> value;
    space_.sums({&wanted, 1}, {&value, 1});
    return value;
  }

 private:
  Space<T>& space_;
};

template <typename T>
class Vectors {
 public:
  static constexpr int kMany = 8;
  Vectors(std::shared_ptr<Space<T>> space, Index n) : space_(std::move(space)), own_(*space_) {
    for (int k = 0; k < kMany; ++k) {
      arrays_.push_back(space_->make(n));
      space_->fill(*arrays_.back(), T(1) / static_cast<T>(k + 2));
      terms_.push_back({T(1e-3), arrays_.back().get()});
    }
    y_ = space_->make(n);
    z_ = space_->make(n);
    space_->fill(*y_, T(0.5));
    for (const auto& x : arrays_) dots_.push_back({SumKind::dot, x.get(), y_.get()});
    for (const SumKind kind : {SumKind::norm2, SumKind::norm1, SumKind::least}) {
      for (const auto& x : arrays_) many_[kind].push_back({kind, x.get()});
    }
    values_.resize(dots_.size());
    check_answers(own_);
  }

  Space<T>& space() { return *space_; }
  SpaceArray<T>& x() { return *arrays_.front(); }
  SpaceArray<T>& y() { return *y_; }
  SpaceArray<T>& z() { return *z_; }

  /// In float, factors of 1 + 1e-7 and the like would soon be Inf: all keep their vectors where they are.
  std::vector<Operation> operations() {
    using Terms = std::span<const Term<T>>;
    std::vector<Operation> all = blas(own_, {"copy", "scal", "axpy", "dot", "norm2", "norm1", "norm inf"});
    all.insert(all.begin(), {"set", "ours", 1, 0, Mix::write, false, [&] { space_->fill(z(), T(0.25)); }});
    const Operation others[] = {
        {"aypx", "ours", 3, 2, Mix::triad, false, [&] { space_->combine(z(), T(0.5), Terms(terms_).first(1)); }},
        {"waxpy", "ours", 3, 3, Mix::triad, false, [&] { space_->combine(z(), T(0), Terms(terms_).first(2)); }},
        {"pointwise", "ours", 3, 1, Mix::triad, false,
         [&] { space_->pointwise(Pointwise::multiply, z(), x(), &y(), T(0)); }},
        {"axpbypcz", "ours", 4, 5, Mix::other, false, [&] { space_->combine(z(), T(0.5), Terms(terms_).first(2)); }},
        {"maxpy 8", "ours", 10, 16, Mix::other, false, [&] { space_->combine(z(), T(1), Terms(terms_)); }},
        {"min", "ours", 1, 1, Mix::read, true, [&] { own_.sum(SumKind::least, x()); }},
        {"mdot 8", "ours", 9, 16, Mix::read, true, [&] { space_->sums(dots_, values_); }},
        {"norm2 8", "ours", 8, 16, Mix::read, true, [&] { space_->sums(many_[SumKind::norm2], values_); }},
        {"norm1 8", "ours", 8, 16, Mix::read, true, [&] { space_->sums(many_[SumKind::norm1], values_); }},
        {"min 8", "ours", 8, 8, Mix::read, true, [&] { space_->sums(many_[SumKind::least], values_); }},
    };
    all.insert(all.end(), std::begin(others), std::end(others));
    return all;
  }

  /// What BLAS-1 has, by one library.
  /// @param names  of copy, scal, axpy, dot, nrm2, asum and amax
  std::vector<Operation> blas(Blas<T>& by, const std::array<const char*, 7>& names = kBlasNames) {
    const char* const library = by.library();
    return {{names[0], library, 2, 0, Mix::copy, false, [&] { by.copy(y(), z()); }},
            {names[1], library, 2, 1, Mix::copy, false, [&] { by.scal(T(-1), z()); }},
            {names[2], library, 3, 2, Mix::triad, false, [&] { by.axpy(T(1e-3), x(), z()); }},
            {names[3], library, 2, 2, Mix::read, true, [&] { by.dot(x(), y()); }},
            {names[4], library, 1, 2, Mix::read, true, [&] { by.nrm2(x()); }},
            {names[5], library, 1, 2, Mix::read, true, [&] { by.asum(x()); }},
            {names[6], library, 1, 1, Mix::read, true, [&] { by.amax(x()); }}};
  }

  /// All numbers are sums of few powers of 2, so that no order of additions matters.
  /// @throws Breakdown if a library is wrong
  void check_answers(Blas<T>& by) {
    const Index last = z().size() - 1;
    by.copy(y(), z());
    by.scal(T(-1), z());
    by.axpy(T(0.5), x(), z());  // -1/4
    const double n = static_cast<double>(z().size());
    const double few = 1e3 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const auto expect = [&](const char* what, double value, double right) {
      if (std::abs(value / right - 1) < few) return;
      throw Breakdown(std::string(what) + " of " + std::to_string(last + 1) + " places by " + by.library() + " is " +
                      std::to_string(value) + ", not " + std::to_string(right));
    };
    expect("dot", static_cast<double>(by.dot(x(), z())), -n / 8);
    expect("norm 2", static_cast<double>(by.nrm2(z())), std::sqrt(n) / 4);
    expect("norm 1", static_cast<double>(by.asum(z())), n / 4);
    space_->put(Merge::insert, y(), {0, 1}, z(), {last, 1}, 1);
    const SumValue<T> greatest = by.amax(z());
    if (greatest.place < 0) {
      expect("greatest magnitude", static_cast<double>(greatest.value), 0.5);
    } else {
      expect("place (from 1) of the greatest magnitude", static_cast<double>(greatest.place + 1), n);
    }
    space_->fill(z(), T(0.25));
  }

 private:
  static constexpr std::array<const char*, 7> kBlasNames{"copy", "scal", "axpy", "dot", "nrm2", "asum", "amax"};
  std::shared_ptr<Space<T>> space_;
  OwnBlas<T> own_;
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

/// The BLAS of others that the run-time of a space has. One that fails is left out, with a word why.
template <typename T>
std::unique_ptr<Blas<T>> open_peer(Vectors<T>& v) {
  const bool by_cuda = v.space().queue().kind == DeviceQueue::Kind::cuda;
  std::string why;
  try {
    std::unique_ptr<Blas<T>> peer = by_cuda ? open_cublas(v.space(), &why) : open_clblast(v.space(), &why);
    if (peer) v.check_answers(*peer);
    if (peer) return peer;
  } catch (const std::exception& error) {
    why = error.what();
  }
  std::printf("no %s: %s\n", by_cuda ? "cuBLAS" : "CLBlast", why.c_str());
  return nullptr;
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
    const std::unique_ptr<Blas<T>> peer = open_peer(vectors);
    if (peer) {
      for (Operation& of : vectors.blas(*peer)) operations.push_back(std::move(of));
    }
    measure_vectors(vectors, operations, run);
  }
}

template void measure_operations<float>(KrylovRun&);
template void measure_operations<double>(KrylovRun&);

}  // namespace oclspkt::bench::gpu
