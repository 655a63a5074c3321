// SPDX-License-Identifier: BSD-2-Clause
#include "mkl_peers.hpp"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

#include "clock.hpp"
#include "parallel.hpp"

namespace oclspkt::bench {
namespace {

/// libmkl_rt, or what mkl_tridiagonal.sh makes of MKL, opened at first use and kept; its functions run on the thread
/// that calls them.
class Mkl {
 public:
  static const Mkl& get() {
    static const Mkl mkl;
    return mkl;
  }
  void* symbol(const char* name) const { return library_ == nullptr ? nullptr : dlsym(library_, name); }

 private:
  Mkl() {
    if (const char* named = std::getenv(kMklVariable)) {
      open(named);
    } else {
      for (const char* name : {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl-tridiagonal.so"}) open(name);
    }
    // Otherwise MKL looks for Intel's OpenMP, which would run beside GNU's.
    constexpr int kLp64 = 0, kSequential = 1;
    choose("MKL_Set_Interface_Layer", kLp64);
    choose("MKL_Set_Threading_Layer", kSequential);
  }
  void open(const char* name) {
    if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  void choose(const char* function, int layer) {
    if (const auto set = reinterpret_cast<int (*)(int)>(symbol(function))) set(layer);
  }

  void* library_ = nullptr;
};

template <typename T>
struct Functions {
  void (*dtsvb)(const int* n, const int* columns, T* lower, T* diag, T* upper, T* b, const int* stride, int* info);
  void (*dttrfb)(const int* n, T* lower, T* diag, T* upper, int* info);
  void (*dttrsb)(const char* transpose, const int* n, const int* columns, const T* lower, const T* diag, const T* upper,
                 T* b, const int* stride, int* info);

  Functions() {
    load(dtsvb, "dtsvb_");
    load(dttrfb, "dttrfb_");
    load(dttrsb, "dttrsb_");
  }
  bool complete() const { return dtsvb != nullptr && dttrfb != nullptr && dttrsb != nullptr; }

 private:
  template <typename F>
  static void load(F& function, const std::string& name) {
    function = reinterpret_cast<F>(Mkl::get().symbol(((sizeof(T) == 8 ? "d" : "s") + name).c_str()));
  }
};

template <typename T>
Peer<T> without_mkl() {
  Peer<T> peer;
  peer.absent =
      std::string("MKL is not there: ./run.sh bench installs it, or let ") + kMklVariable + " name libmkl_rt.so";
  return peer;
}

/// One half of the rows with its halo, and where the rows that it answers for begin.
template <typename T>
struct Half {
  Index first, last;            ///< rows that it solves
  Index kept_first, kept_last;  ///< rows that it answers for
  AlignedArray<T> lower, diag, upper, x;

  void load(const Problem<T>& p) {
    const BandsView<T> bands = p.bands.view();
    std::copy(bands.lower + first + 1, bands.lower + last, lower.data());
    std::copy(bands.diag + first, bands.diag + last, diag.data());
    std::copy(bands.upper + first, bands.upper + last - 1, upper.data());
    std::copy(p.y.data() + first, p.y.data() + last, x.data());
  }
  void solve(const Functions<T>& mkl) {
    const int n = static_cast<int>(last - first), one = 1;
    int info = 0;
    mkl.dtsvb(&n, &one, lower.data(), diag.data(), upper.data(), x.data(), &n, &info);
  }
  void store(Problem<T>& p) const {
    std::copy(x.data() + (kept_first - first), x.data() + (kept_last - first), p.x.data() + kept_first);
  }
};

template <typename T>
struct Halves {
  Halves(Index n, Index halo)
      : half{{0, n / 2 + halo, 0, n / 2, {}, {}, {}, {}}, {n / 2 - halo, n, n / 2, n, {}, {}, {}, {}}} {
    for (Half<T>& h : half) {
      for (AlignedArray<T>* array : {&h.lower, &h.diag, &h.upper, &h.x}) array->resize(h.last - h.first);
    }
  }
  /// f(half), each on a thread of its own, the same one every time.
  template <typename F>
  void on_two_threads(const F& f) {
#pragma omp parallel num_threads(2)
    {
      for (int i = omp_get_thread_num(); i < 2; i += omp_get_num_threads()) f(half[i]);
    }
  }
  Half<T> half[2];
};

}  // namespace

template <typename T>
Index rounding_halo(const Problem<T>& p) {
  const BandsView<T> bands = p.bands.view();
  double dominance = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < p.n(); ++i) {
    const double off = std::abs(double(bands.lower[i])) + std::abs(double(bands.upper[i]));
    dominance = std::min(dominance, std::abs(double(bands.diag[i])) / off);
  }
  if (!(dominance > 1)) return 0;
  const double rows = std::log(8 / double(std::numeric_limits<T>::epsilon())) / std::log(dominance);
  return static_cast<Index>(std::min(std::max(1.0, std::ceil(rows)), double(p.n())));
}

template <typename T>
Peer<T> make_dtsvb(Problem<T>& p) {
  const int n = narrow_rows(p.n());
  const Functions<T> mkl;
  if (!mkl.complete()) return without_mkl<T>();
  for (AlignedArray<T>& band : p.scratch) band.resize(p.n());
  Peer<T> peer;
  peer.run = [&p, n, mkl](int repeats) {
    T *lower = p.scratch[0].data(), *diag = p.scratch[1].data(), *upper = p.scratch[2].data(), *x = p.x.data();
    const auto prepare = [&] {
      copy_bands(p, lower, diag, upper);
      copy(p.y.data(), p.n(), x);
    };
    const int one = 1;
    int info = 0;
    return seconds_of(repeats, prepare, [&] { mkl.dtsvb(&n, &one, lower, diag, upper, x, &n, &info); });
  };
  return peer;
}

template <typename T>
Peer<T> make_dttrsb(Problem<T>& p) {
  const int n = narrow_rows(p.n());
  const Functions<T> mkl;
  if (!mkl.complete()) return without_mkl<T>();
  auto f = std::make_shared<Bands<T>>(p.lines);
  copy_bands(p, f->lower(), f->diag(), f->upper());
  Peer<T> peer;
  int info = 0;
  peer.setup_seconds = seconds_of([&] { mkl.dttrfb(&n, f->lower(), f->diag(), f->upper(), &info); });
  if (info != 0) peer.absent = "MKL refuses to factor the matrix";
  peer.run = [&p, n, mkl, f](int repeats) {
    const int one = 1;
    int failed = 0;
    return seconds_of(
        repeats, [&] { copy(p.y.data(), p.n(), p.x.data()); },
        [&] { mkl.dttrsb("N", &n, &one, f->lower(), f->diag(), f->upper(), p.x.data(), &n, &failed); });
  };
  return peer;
}

template <typename T>
Peer<T> make_dtsvb_halves(Problem<T>& p) {
  narrow_rows(p.n());
  const Functions<T> mkl;
  if (!mkl.complete()) return without_mkl<T>();
  const Index halo = rounding_halo(p);
  Peer<T> peer;
  if (halo == 0 || 4 * halo > p.n()) {
    peer.absent = halo == 0 ? "the rows are not strictly dominant" : "too few rows for two halves with their halos";
    return peer;
  }
  auto halves = std::make_shared<Halves<T>>(p.n(), halo);
  peer.run = [&p, mkl, halves](int repeats) {
    const double seconds = seconds_of(
        repeats, [&] { halves->on_two_threads([&](Half<T>& half) { half.load(p); }); },
        [&] { halves->on_two_threads([&](Half<T>& half) { half.solve(mkl); }); });
    for (const Half<T>& half : halves->half) half.store(p);
    return seconds;
  };
  return peer;
}

#define OCLSPKT_INSTANTIATE(T)                     \
  template Index rounding_halo(const Problem<T>&); \
  template Peer<T> make_dtsvb(Problem<T>&);        \
  template Peer<T> make_dttrsb(Problem<T>&);       \
  template Peer<T> make_dtsvb_halves(Problem<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt::bench
