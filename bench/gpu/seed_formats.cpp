// SPDX-License-Identifier: BSD-2-Clause
#include "seed_formats.hpp"

#include <CL/cl.h>

#include <algorithm>

#include "memory.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt::bench::gpu {
namespace {

constexpr Index kGroup = 4;
constexpr std::size_t kItems = 128;

constexpr const char* kText = R"(
#define JOIN(a, b) a##b
#define FOUR(type) JOIN(type, 4)
typedef FOUR(SCALAR) four_t;
__kernel void csr4(__global const four_t* values, __global const int4* columns, __global const int* begin,
                   __global const SCALAR* x, __global SCALAR* z, const int rows, const int width) {
  const int row = (int)get_global_id(0);
  if (row >= rows) return;
  four_t sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k) {
    const int4 c = columns[k];
    sum += values[k] * (four_t)(x[c.s0], x[c.s1], x[c.s2], x[c.s3]);
  }
  z[row] = (sum.s0 + sum.s1) + (sum.s2 + sum.s3);
}
__kernel void ell(__global const SCALAR* values, __global const int* columns, __global const int* begin,
                  __global const SCALAR* x, __global SCALAR* z, const int rows, const int width) {
  const int row = (int)get_global_id(0);
  if (row >= rows) return;
  SCALAR sum = 0;
  for (int k = 0; k < width; ++k) {
    const int c = columns[(size_t)k * rows + row];
    if (c >= 0) sum += values[(size_t)k * rows + row] * x[c];
  }
  z[row] = sum;
}
)";

/// Places of a format in their order.
template <typename T>
struct Places {
  std::vector<T> values;
  std::vector<std::int32_t> columns, begin{0};  ///< begin: of csr4, in groups
  Index width = 0;                              ///< of ell
};

template <typename T>
Places<T> in_groups(const HostMatrix& a, const std::vector<T>& values) {
  Places<T> places;
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
    const auto first = a.begin[row], end = a.begin[row + 1];
    for (auto k = first; k < end; ++k) {
      places.values.push_back(values[static_cast<std::size_t>(k)]);
      places.columns.push_back(a.column[static_cast<std::size_t>(k)]);
    }
    while (places.values.size() % kGroup != 0) {
      places.values.push_back(0);
      places.columns.push_back(a.column[static_cast<std::size_t>(end - 1)]);
    }
    places.begin.push_back(static_cast<std::int32_t>(places.values.size() / kGroup));
  }
  return places;
}

/// @param[out] rest  entries that rows have more, and their values
template <typename T>
Places<T> in_columns(const HostMatrix& a, const std::vector<T>& values, HostMatrix& rest, std::vector<T>& rest_values) {
  const auto rows = static_cast<std::size_t>(a.rows);
  std::vector<std::int32_t> lengths(rows);
  for (std::size_t row = 0; row < rows; ++row) lengths[row] = a.begin[row + 1] - a.begin[row];
  std::vector<std::int32_t> sorted = lengths;
  const auto most = sorted.begin() + static_cast<std::ptrdiff_t>(2 * (rows - 1) / 3);
  std::nth_element(sorted.begin(), most, sorted.end());
  Places<T> places;
  places.width = *most;
  const auto width = static_cast<std::size_t>(places.width);
  places.values.assign(width * rows, T(0));
  places.columns.assign(width * rows, -1);
  rest.rows = a.rows;
  rest.columns = a.columns;
  rest.begin.assign(1, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(lengths[row]); ++k) {
      const auto from = static_cast<std::size_t>(a.begin[row]) + k;
      if (k < width) {
        places.values[k * rows + row] = values[from];
        places.columns[k * rows + row] = a.column[from];
      } else {
        rest_values.push_back(values[from]);
        rest.column.push_back(a.column[from]);
      }
    }
    rest.begin.push_back(static_cast<std::int32_t>(rest.column.size()));
  }
  return places;
}

/// A kernel of kText over places of a format, by the queue of a space.
template <typename T>
class ByKernel final : public SeedProduct<T> {
 public:
  ByKernel(Space<T>& space, const char* name, const Places<T>& made, Index rows)
      : space_(space), queue_(static_cast<cl_command_queue>(space.queue().handle)), rows_(rows) {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    check(clGetCommandQueueInfo(queue_, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, nullptr),
          "clGetCommandQueueInfo");
    check(clGetCommandQueueInfo(queue_, CL_QUEUE_DEVICE, sizeof(cl_device_id), &device, nullptr),
          "clGetCommandQueueInfo");
    cl_int error = CL_SUCCESS;
    const char* text = kText;
    const cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
    check(error, "clCreateProgramWithSource");
    const char* options = sizeof(T) == sizeof(double) ? "-D SCALAR=double" : "-D SCALAR=float";
    check(clBuildProgram(program, 1, &device, options, nullptr, nullptr), "clBuildProgram");
    kernel_ = clCreateKernel(program, name, &error);
    clReleaseProgram(program);
    check(error, "clCreateKernel");
    take(0, context, made.values);
    take(1, context, made.columns);
    take(2, context, made.begin);
    const auto count = static_cast<cl_int>(rows), width = static_cast<cl_int>(made.width);
    check(clSetKernelArg(kernel_, 5, sizeof count, &count), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 6, sizeof width, &width), "clSetKernelArg");
    this->places = static_cast<std::int64_t>(made.values.size());
  }
  ~ByKernel() override { clReleaseKernel(kernel_); }
  ByKernel(const ByKernel&) = delete;
  ByKernel& operator=(const ByKernel&) = delete;

  void run(SpaceArray<T>& x, SpaceArray<T>& z) override {
    cl_mem vectors[] = {static_cast<cl_mem>(x.memory()), static_cast<cl_mem>(z.memory())};
    check(clSetKernelArg(kernel_, 3, sizeof(cl_mem), &vectors[0]), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 4, sizeof(cl_mem), &vectors[1]), "clSetKernelArg");
    const std::size_t items = kItems, all = (static_cast<std::size_t>(rows_) + items - 1) / items * items;
    check(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &all, &items, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    if (rest) space_.product(*rest, x, &z, z);
  }

  std::unique_ptr<SpaceMatrix<T>> rest;  ///< of hyb

 private:
  template <typename V>
  void take(cl_uint argument, cl_context context, const std::vector<V>& numbers) {
    const std::size_t bytes = std::max<std::size_t>(1, numbers.size()) * sizeof(V);
    buffers_.push_back(std::make_unique<Memory>(context, CL_MEM_READ_ONLY, bytes));
    const cl_mem memory = buffers_.back()->get();
    if (!numbers.empty()) {
      check(clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, bytes, numbers.data(), 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
    }
    check(clSetKernelArg(kernel_, argument, sizeof(cl_mem), &memory), "clSetKernelArg");
  }

  Space<T>& space_;
  cl_command_queue queue_;
  Index rows_;
  cl_kernel kernel_ = nullptr;
  std::vector<std::unique_ptr<Memory>> buffers_;
};

}  // namespace

template <typename T>
std::unique_ptr<SeedProduct<T>> make_seed_product(Space<T>& space, const std::string& format, const HostMatrix& matrix,
                                                  const std::vector<T>& values) {
  if (space.queue().kind != DeviceQueue::Kind::opencl) {
    throw InvalidInput("--formats " + format + " is by OpenCL: name an OpenCL device");
  }
  if (format == "csr4") {
    return std::make_unique<ByKernel<T>>(space, "csr4", in_groups(matrix, values), matrix.rows);
  }
  HostMatrix rest;
  std::vector<T> rest_values;
  const Places<T> places = in_columns(matrix, values, rest, rest_values);
  auto hyb = std::make_unique<ByKernel<T>>(space, "ell", places, matrix.rows);
  if (!rest_values.empty()) {
    hyb->rest = space.make_matrix(make_sparse_form(rest.pattern(), {SparseFormat::csr, space.slice_rows()}));
    hyb->rest->set_values(rest_values.data());
    hyb->places += static_cast<std::int64_t>(rest_values.size());
  }
  return hyb;
}

template std::unique_ptr<SeedProduct<float>> make_seed_product(Space<float>&, const std::string&, const HostMatrix&,
                                                               const std::vector<float>&);
template std::unique_ptr<SeedProduct<double>> make_seed_product(Space<double>&, const std::string&, const HostMatrix&,
                                                                const std::vector<double>&);

}  // namespace oclspkt::bench::gpu
