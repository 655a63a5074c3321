// SPDX-License-Identifier: BSD-2-Clause
#include "blas.hpp"

#ifdef OCLSPKT_BENCH_CLBLAST
#include <clblast.h>

#include <optional>

#include "memory.hpp"
#endif

namespace oclspkt::bench::gpu {

#ifdef OCLSPKT_BENCH_CLBLAST
namespace {

template <typename T>
class Clblast final : public Blas<T> {
 public:
  explicit Clblast(const Space<T>& space) : queue_(static_cast<cl_command_queue>(space.queue().handle)) {
    cl_context context = nullptr;
    check(clGetCommandQueueInfo(queue_, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr), "clGetCommandQueueInfo");
    number_.emplace(context, cl_mem_flags{CL_MEM_READ_WRITE}, sizeof(double));
  }

  const char* library() const override { return "CLBlast"; }
  void copy(const SpaceArray<T>& x, SpaceArray<T>& y) override {
    check_call(clblast::Copy<T>(size(x), at(x), 0, 1, at(y), 0, 1, &queue_), "copy of CLBlast");
  }
  void scal(T factor, SpaceArray<T>& x) override {
    check_call(clblast::Scal<T>(size(x), factor, at(x), 0, 1, &queue_), "scal of CLBlast");
  }
  void axpy(T factor, const SpaceArray<T>& x, SpaceArray<T>& y) override {
    check_call(clblast::Axpy<T>(size(x), factor, at(x), 0, 1, at(y), 0, 1, &queue_), "axpy of CLBlast");
  }
  T dot(const SpaceArray<T>& x, const SpaceArray<T>& y) override {
    check_call(clblast::Dot<T>(size(x), number_->get(), 0, at(x), 0, 1, at(y), 0, 1, &queue_), "dot of CLBlast");
    return number<T>();
  }
  T nrm2(const SpaceArray<T>& x) override {
    check_call(clblast::Nrm2<T>(size(x), number_->get(), 0, at(x), 0, 1, &queue_), "nrm2 of CLBlast");
    return number<T>();
  }
  T asum(const SpaceArray<T>& x) override {
    check_call(clblast::Asum<T>(size(x), number_->get(), 0, at(x), 0, 1, &queue_), "asum of CLBlast");
    return number<T>();
  }
  SumValue<T> amax(const SpaceArray<T>& x) override {
    check_call(clblast::Amax<T>(size(x), number_->get(), 0, at(x), 0, 1, &queue_), "amax of CLBlast");
    return {T(0), static_cast<Index>(number<unsigned>())};
  }

 private:
  static std::size_t size(const SpaceArray<T>& x) { return static_cast<std::size_t>(x.size()); }
  static cl_mem at(const SpaceArray<T>& x) { return static_cast<cl_mem>(x.memory()); }
  static void check_call(clblast::StatusCode status, const char* call) { check(static_cast<cl_int>(status), call); }

  template <typename N>
  N number() const {
    N value{};
    check(clEnqueueReadBuffer(queue_, number_->get(), CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return value;
  }

  cl_command_queue queue_;
  std::optional<Memory> number_;  ///< what a sum of CLBlast is written to
};

}  // namespace
#endif

template <typename T>
std::unique_ptr<Blas<T>> open_clblast([[maybe_unused]] const Space<T>& space, [[maybe_unused]] std::string* why) {
#ifdef OCLSPKT_BENCH_CLBLAST
  return std::make_unique<Clblast<T>>(space);
#else
  *why = "this program was built without it";
  return nullptr;
#endif
}

template std::unique_ptr<Blas<float>> open_clblast(const Space<float>&, std::string*);
template std::unique_ptr<Blas<double>> open_clblast(const Space<double>&, std::string*);

}  // namespace oclspkt::bench::gpu
