// SPDX-License-Identifier: BSD-2-Clause
#include "gtsv2.hpp"

#include <dlfcn.h>

#include "driver.hpp"
#include "oclspkt/error.hpp"
#include "text.hpp"

namespace oclspkt::bench::paper {
namespace {

using Handle = void*;  // cusparseHandle_t

/// Functions of cuSPARSE.
template <typename T>
struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*buffer_size)(Handle, int, int, const T*, const T*, const T*, const T*, int, std::size_t*);
  int (*solve)(Handle, int, int, const T*, const T*, const T*, T*, int, void*);
};

void check_call(int status, const char* call) {
  if (status != 0) throw DeviceError(std::string(call) + " gave " + std::to_string(status));
}

/// The primary context of a card, current while one lives.
class Context {
 public:
  /// @param place  of the card, as DeviceInfo::physical; the first card where there is none
  Context(const cuda::Driver& driver, const std::string& place) : d_(driver) {
    cuda::CUdevice card = 0;
    cuda::CUcontext context = nullptr;
    int cards = 0;
    check_call(d_.device_count(&cards), "cuDeviceGetCount");
    check_call(d_.device_get(&card, 0), "cuDeviceGet");
    for (int i = 1; i < cards && place_of(card) != place; ++i) {
      cuda::CUdevice other = 0;
      check_call(d_.device_get(&other, i), "cuDeviceGet");
      if (place_of(other) == place) card = other;
    }
    check_call(d_.primary_retain(&context, card), "cuDevicePrimaryCtxRetain");
    check_call(d_.context_push(context), "cuCtxPushCurrent");
  }
  ~Context() {
    cuda::CUcontext context = nullptr;
    d_.context_pop(&context);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  std::string place_of(cuda::CUdevice card) const {
    int domain = 0, bus = 0, device = 0;
    d_.device_attribute(&domain, cuda::kPciDomain, card);
    d_.device_attribute(&bus, cuda::kPciBus, card);
    d_.device_attribute(&device, cuda::kPciDevice, card);
    return text("pci:%04x:%02x:%02x.0", domain, bus, device);
  }
  const cuda::Driver& d_;
};

class Memory {
 public:
  Memory(const cuda::Driver& driver, std::size_t bytes) : d_(driver) {
    check_call(d_.memory_alloc(&at_, bytes), ("cuMemAlloc of " + std::to_string(bytes) + " bytes").c_str());
  }
  ~Memory() { d_.memory_free(at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  cuda::CUdeviceptr at() const { return at_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(at_);
  }

 private:
  const cuda::Driver& d_;
  cuda::CUdeviceptr at_ = 0;
};

template <typename T>
class Library {
 public:
  explicit Library(const Functions<T>& functions) : f_(functions) { check_call(f_.create(&handle_), "cusparseCreate"); }
  ~Library() { f_.destroy(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Handle get() const { return handle_; }

  /// Bytes of the buffer for n rows.
  /// @throws DeviceError where they are no multiple of what a 16th of the rows needs: their product has 32 bits in it
  std::size_t buffer_bytes(int n, const T* lower, const T* diag, const T* upper, const T* x) const {
    constexpr int kPart = 16, kMany = 1 << 20;
    const auto of = [&](int rows) {
      std::size_t bytes = 0;
      check_call(f_.buffer_size(handle_, rows, 1, lower, diag, upper, x, rows, &bytes), "cusparse gtsv2 bufferSizeExt");
      return bytes;
    };
    const std::size_t bytes = of(n), part = n < kMany ? 0 : of(n / kPart);
    const double ratio = part == 0 ? kPart : static_cast<double>(bytes) / static_cast<double>(part);
    if (ratio < kPart / 2 || ratio > kPart * 2) {
      throw DeviceError("cuSPARSE asks for a buffer of " + std::to_string(bytes) + " bytes for " + std::to_string(n) +
                        " rows, and of " + std::to_string(part) + " for a 16th of them: its sizes overflow");
    }
    return bytes;
  }

 private:
  Functions<T> f_;
  Handle handle_ = nullptr;
};

template <typename T>
class OpenGtsv2 final : public Gtsv2<T> {
 public:
  OpenGtsv2(const Functions<T>& functions, const cuda::Driver& driver, const std::string& place,
            const Problem<T>& problem)
      : f_(functions),
        d_(driver),
        context_(driver, place),
        library_(functions),
        n_(static_cast<int>(problem.n())),
        bytes_(static_cast<std::size_t>(problem.n()) * sizeof(T)),
        lower_(driver, bytes_),
        diag_(driver, bytes_),
        upper_(driver, bytes_),
        y_(driver, bytes_),
        x_(driver, bytes_) {
    const BandsView<T> bands = problem.bands.view();
    const auto put = [&](const Memory& to, const T* from) {
      check_call(d_.copy_up(to.at(), from, bytes_, nullptr), "cuMemcpyHtoD");
    };
    put(lower_, bands.lower);
    put(diag_, bands.diag);
    put(upper_, bands.upper);
    put(y_, problem.y.data());
    const std::size_t size = library_.buffer_bytes(n_, lower_.as<T>(), diag_.as<T>(), upper_.as<T>(), x_.as<T>());
    buffer_ = std::make_unique<Memory>(d_, size + 1);
    check_call(d_.event_create(&begin_, cuda::kEventDefault), "cuEventCreate");
    check_call(d_.event_create(&end_, cuda::kEventDefault), "cuEventCreate");
  }
  ~OpenGtsv2() override {
    d_.event_destroy(begin_);
    d_.event_destroy(end_);
  }
  OpenGtsv2(const OpenGtsv2&) = delete;
  OpenGtsv2& operator=(const OpenGtsv2&) = delete;

  double run() override {
    check_call(d_.copy_on_device(x_.at(), y_.at(), bytes_, nullptr), "cuMemcpyDtoD");
    check_call(d_.event_record(begin_, nullptr), "cuEventRecord");
    check_call(f_.solve(library_.get(), n_, 1, lower_.as<T>(), diag_.as<T>(), upper_.as<T>(), x_.as<T>(), n_,
                        buffer_->as<void>()),
               "cusparse gtsv2");
    check_call(d_.event_record(end_, nullptr), "cuEventRecord");
    check_call(d_.event_synchronize(end_), "cusparse gtsv2");
    float milliseconds = 0;
    check_call(d_.event_elapsed(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }
  void read(T* x) override { check_call(d_.copy_down_now(x, x_.at(), bytes_), "cuMemcpyDtoH"); }

 private:
  Functions<T> f_;
  const cuda::Driver& d_;
  Context context_;
  Library<T> library_;
  int n_;
  std::size_t bytes_;
  Memory lower_, diag_, upper_, y_, x_;
  std::unique_ptr<Memory> buffer_;
  cuda::CUevent begin_ = nullptr, end_ = nullptr;
};

}  // namespace

template <typename T>
std::unique_ptr<Gtsv2<T>> Gtsv2<T>::open(const Problem<T>& problem, bool pivoting, const std::string& place,
                                         std::string* why) {
  const cuda::Driver* const driver = cuda::driver(why);
  if (driver == nullptr) return nullptr;
  void* library = nullptr;
  for (const char* name : {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  }
  if (library == nullptr) {
    *why = dlerror();
    return nullptr;
  }
  const auto find = [&](const std::string& name, auto*& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name.c_str()));
    return function != nullptr;
  };
  const std::string routine =
      std::string("cusparse") + (sizeof(T) == 4 ? "S" : "D") + (pivoting ? "gtsv2" : "gtsv2_nopivot");
  Functions<T> f;
  if (!find("cusparseCreate", f.create) || !find("cusparseDestroy", f.destroy) ||
      !find(routine + "_bufferSizeExt", f.buffer_size) || !find(routine, f.solve)) {
    *why = "this cuSPARSE has no " + routine;
    return nullptr;
  }
  return std::make_unique<OpenGtsv2<T>>(f, *driver, place, problem);
}

template class Gtsv2<float>;
template class Gtsv2<double>;

}  // namespace oclspkt::bench::paper
