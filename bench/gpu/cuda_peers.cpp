// SPDX-License-Identifier: BSD-2-Clause
#include "cuda_peers.hpp"

#include <dlfcn.h>

#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include "blas.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt::bench::gpu {
namespace {

using Handle = void*;      // cublasHandle_t, cusparseHandle_t
using Stream = void*;      // cudaStream_t
using Descriptor = void*;  // cusparseSpMatDescr_t, cusparseDnVecDescr_t

template <typename F>
bool find(void* library, const std::string& name, F** function) {
  *function = reinterpret_cast<F*>(dlsym(library, name.c_str()));
  return *function != nullptr;
}

/// The first of some libraries that is there; null, and why, if none is.
void* open_library(std::initializer_list<const char*> names, std::string* why) {
  void* library = nullptr;
  for (const char* const name : names) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  }
  if (library == nullptr) *why = dlerror();
  return library;
}

/// Functions of 64-bit lengths (cuBLAS 12 and later) of one scalar.
template <typename T>
struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, Stream);
  int (*copy)(Handle, std::int64_t, const T*, std::int64_t, T*, std::int64_t);
  int (*scal)(Handle, std::int64_t, const T*, T*, std::int64_t);
  int (*axpy)(Handle, std::int64_t, const T*, const T*, std::int64_t, T*, std::int64_t);
  int (*dot)(Handle, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, T*);
  int (*nrm2)(Handle, std::int64_t, const T*, std::int64_t, T*);
  int (*asum)(Handle, std::int64_t, const T*, std::int64_t, T*);
  int (*amax)(Handle, std::int64_t, const T*, std::int64_t, std::int64_t*);
};

/// @throws DeviceError
void check_peer(int status, const std::string& call) {
  if (status != 0) throw DeviceError(call + " gave " + std::to_string(status));
}

template <typename T>
class Cublas final : public Blas<T> {
 public:
  Cublas(const Functions<T>& functions, const Space<T>& space) : f_(functions) {
    check_peer(f_.create(&handle_), "create of cuBLAS");
    check_peer(f_.set_stream(handle_, space.queue().handle), "setStream of cuBLAS");
  }
  ~Cublas() override { f_.destroy(handle_); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  const char* library() const override { return "cuBLAS"; }
  void copy(const SpaceArray<T>& x, SpaceArray<T>& y) override {
    check_peer(f_.copy(handle_, x.size(), at(x), 1, at(y), 1), "copy of cuBLAS");
  }
  void scal(T factor, SpaceArray<T>& x) override {
    check_peer(f_.scal(handle_, x.size(), &factor, at(x), 1), "scal of cuBLAS");
  }
  void axpy(T factor, const SpaceArray<T>& x, SpaceArray<T>& y) override {
    check_peer(f_.axpy(handle_, x.size(), &factor, at(x), 1, at(y), 1), "axpy of cuBLAS");
  }
  T dot(const SpaceArray<T>& x, const SpaceArray<T>& y) override {
    T value = 0;
    check_peer(f_.dot(handle_, x.size(), at(x), 1, at(y), 1, &value), "dot of cuBLAS");
    return value;
  }
  T nrm2(const SpaceArray<T>& x) override {
    T value = 0;
    check_peer(f_.nrm2(handle_, x.size(), at(x), 1, &value), "nrm2 of cuBLAS");
    return value;
  }
  T asum(const SpaceArray<T>& x) override {
    T value = 0;
    check_peer(f_.asum(handle_, x.size(), at(x), 1, &value), "asum of cuBLAS");
    return value;
  }
  SumValue<T> amax(const SpaceArray<T>& x) override {
    std::int64_t place = 0;  // counted from 1
    check_peer(f_.amax(handle_, x.size(), at(x), 1, &place), "amax of cuBLAS");
    return {T(0), place - 1};
  }

 private:
  static T* at(const SpaceArray<T>& x) { return static_cast<T*>(x.memory()); }
  Functions<T> f_;
  Handle handle_ = nullptr;
};

/// Functions of cuSPARSE; the last two came with later releases of 12.
struct SparseFunctions {
  using Call = int(Handle, int, const void*, Descriptor, Descriptor, const void*, Descriptor, int, int, void*);
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, Stream);
  int (*create_csr)(Descriptor*, std::int64_t, std::int64_t, std::int64_t, void*, void*, void*, int, int, int, int);
  int (*create_vector)(Descriptor*, std::int64_t, void*, int);
  int (*destroy_matrix)(Descriptor);
  int (*destroy_vector)(Descriptor);
  Call* buffer_size;  // the last argument: std::size_t*
  Call* multiply;
  Call* prepare;
  int (*create_sell)(Descriptor*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, void*, void*,
                     void*, int, int, int, int);
};

// Values of cuSPARSE's enumerations.
constexpr int kAsItIs = 0, kFromZero = 0, kIndices32 = 2, kCsr1 = 2, kCsr2 = 3, kSell1 = 5;

template <typename T>
class OpenCusparse final : public Cusparse<T> {
 public:
  OpenCusparse(const SparseFunctions& functions, Space<T>& space, const SparsePattern<std::int32_t>& pattern,
               const T* values, const SparseForm* sell, const SpaceArray<T>& x, SpaceArray<T>& z)
      : f_(functions), space_(space) {
    check_peer(f_.create(&handle_), "cusparseCreate");
    check_peer(f_.set_stream(handle_, space.queue().handle), "cusparseSetStream");
    check_peer(f_.create_vector(&x_, x.size(), x.memory(), kScalar), "cusparseCreateDnVec");
    check_peer(f_.create_vector(&z_, z.size(), z.memory(), kScalar), "cusparseCreateDnVec");
    const auto bytes_of = [](Index count, std::size_t word) { return static_cast<std::size_t>(count) * word; };
    void* const begin = bring(pattern.begin, bytes_of(pattern.rows + 1, sizeof(std::int32_t)));
    void* const column = bring(pattern.column, bytes_of(pattern.entries(), sizeof(std::int32_t)));
    void* const value = bring(values, bytes_of(pattern.entries(), sizeof(T)));
    for (const bool prepared : {false, true}) {
      for (const int algorithm : {kCsr1, kCsr2}) {
        if (prepared && f_.prepare == nullptr) continue;
        Descriptor matrix = nullptr;
        check_peer(f_.create_csr(&matrix, pattern.rows, pattern.columns, pattern.entries(), begin, column, value,
                                 kIndices32, kIndices32, kFromZero, kScalar),
                   "cusparseCreateCsr");
        const std::string name = algorithm == kCsr1 ? "CSR_ALG1" : "CSR_ALG2";
        add(name + (prepared ? ", preprocessed" : ""), matrix, algorithm, prepared);
      }
    }
    if (sell != nullptr && f_.create_sell != nullptr) add_sell(*sell, values);
  }
  ~OpenCusparse() override {
    space_.finish();
    for (const Way& way : ways_) f_.destroy_matrix(way.matrix);
    if (x_ != nullptr) f_.destroy_vector(x_);
    if (z_ != nullptr) f_.destroy_vector(z_);
    f_.destroy(handle_);
  }
  OpenCusparse(const OpenCusparse&) = delete;
  OpenCusparse& operator=(const OpenCusparse&) = delete;

  int algorithms() const override { return static_cast<int>(ways_.size()); }
  const std::string& name(int algorithm) const override { return ways_[static_cast<std::size_t>(algorithm)].name; }
  void run(int algorithm) override {
    const Way& way = ways_[static_cast<std::size_t>(algorithm)];
    call(f_.multiply, way, way.buffer, "cusparseSpMV");
  }

 private:
  static constexpr int kScalar = sizeof(T) == sizeof(double) ? 1 : 0;  // CUDA_R_64F, CUDA_R_32F
  struct Way {
    std::string name;
    Descriptor matrix;
    int algorithm;
    void* buffer;
  };

  void call(SparseFunctions::Call* function, const Way& way, void* last, const char* name) {
    const T one = 1, zero = 0;
    check_peer(function(handle_, kAsItIs, &one, way.matrix, x_, &zero, z_, kScalar, way.algorithm, last), name);
  }

  void add(const std::string& name, Descriptor matrix, int algorithm, bool prepared) {
    ways_.push_back({name, matrix, algorithm, nullptr});
    Way& way = ways_.back();
    std::size_t bytes = 0;
    call(f_.buffer_size, way, &bytes, "cusparseSpMV_bufferSize");
    way.buffer = make(bytes).memory();
    if (prepared) call(f_.prepare, way, way.buffer, "cusparseSpMV_preprocess");
  }

  void add_sell(const SparseForm& form, const T* values) {
    if (form.places > std::numeric_limits<std::int32_t>::max() || form.wide) return;
    std::vector<T> places(static_cast<std::size_t>(form.places));
    gather_values(form.format, *form.positions, values, 0, form.places, places.data());
    const std::vector<std::int32_t> begin(form.slice_begin.begin(), form.slice_begin.end());
    Descriptor matrix = nullptr;
    check_peer(
        f_.create_sell(&matrix, form.rows, form.columns, form.entries, form.places, form.slice,
                       bring(begin.data(), begin.size() * sizeof begin[0]),
                       bring(form.column.data(), static_cast<std::size_t>(form.column.bytes())),
                       bring(places.data(), places.size() * sizeof(T)), kIndices32, kIndices32, kFromZero, kScalar),
        "cusparseCreateSlicedEll");
    add("sliced ELL", matrix, kSell1, false);
  }

  /// Memory of the space, which has arrays of scalars only.
  SpaceArray<T>& make(std::size_t bytes) {
    memory_.push_back(space_.make(static_cast<Index>(bytes / sizeof(T)) + 1));
    return *memory_.back();
  }
  void* bring(const void* from, std::size_t bytes) {
    SpaceArray<T>& to = make(bytes);
    std::vector<T> words(static_cast<std::size_t>(to.size()));
    if (bytes > 0) std::memcpy(words.data(), from, bytes);
    space_.bring(words.data(), to);
    return to.memory();
  }

  SparseFunctions f_;
  Space<T>& space_;
  Handle handle_ = nullptr;
  Descriptor x_ = nullptr, z_ = nullptr;
  std::vector<std::unique_ptr<SpaceArray<T>>> memory_;
  std::vector<Way> ways_;
};

}  // namespace

template <typename T>
std::unique_ptr<Blas<T>> open_cublas(const Space<T>& space, std::string* why) {
  void* const library = open_library({"libcublas.so", "libcublas.so.13", "libcublas.so.12"}, why);
  if (library == nullptr) return nullptr;
  const std::string scalar = sizeof(T) == sizeof(double) ? "D" : "S";
  Functions<T> f{};
  const auto of = [&](const std::string& name, auto* function) {
    return find(library, "cublas" + name + "_v2_64", function);
  };
  const bool found = find(library, "cublasCreate_v2", &f.create) && find(library, "cublasDestroy_v2", &f.destroy) &&
                     find(library, "cublasSetStream_v2", &f.set_stream) && of(scalar + "copy", &f.copy) &&
                     of(scalar + "scal", &f.scal) && of(scalar + "axpy", &f.axpy) && of(scalar + "dot", &f.dot) &&
                     of(scalar + "nrm2", &f.nrm2) && of(scalar + "asum", &f.asum) &&
                     of("I" + std::string(sizeof(T) == sizeof(double) ? "d" : "s") + "amax", &f.amax);
  if (!found) {
    *why = "libcublas.so is older than 12: it has no lengths of 64 bits";
    return nullptr;
  }
  return std::make_unique<Cublas<T>>(f, space);
}

template <typename T>
std::unique_ptr<Cusparse<T>> Cusparse<T>::open(Space<T>& space, const SparsePattern<std::int32_t>& pattern,
                                               const T* values, const SparseForm* sell, const SpaceArray<T>& x,
                                               SpaceArray<T>& z, std::string* why) {
  void* const library = open_library({"libcusparse.so", "libcusparse.so.13", "libcusparse.so.12"}, why);
  if (library == nullptr) return nullptr;
  SparseFunctions f{};
  const bool found =
      find(library, "cusparseCreate", &f.create) && find(library, "cusparseDestroy", &f.destroy) &&
      find(library, "cusparseSetStream", &f.set_stream) && find(library, "cusparseCreateCsr", &f.create_csr) &&
      find(library, "cusparseCreateDnVec", &f.create_vector) &&
      find(library, "cusparseDestroySpMat", &f.destroy_matrix) &&
      find(library, "cusparseDestroyDnVec", &f.destroy_vector) &&
      find(library, "cusparseSpMV_bufferSize", &f.buffer_size) && find(library, "cusparseSpMV", &f.multiply);
  if (!found) {
    *why = "libcusparse.so is older than 12: it has no generic products";
    return nullptr;
  }
  find(library, "cusparseSpMV_preprocess", &f.prepare);
  find(library, "cusparseCreateSlicedEll", &f.create_sell);
  return std::make_unique<OpenCusparse<T>>(f, space, pattern, values, sell, x, z);
}

template std::unique_ptr<Blas<float>> open_cublas(const Space<float>&, std::string*);
template std::unique_ptr<Blas<double>> open_cublas(const Space<double>&, std::string*);
template class Cusparse<float>;
template class Cusparse<double>;

}  // namespace oclspkt::bench::gpu
