// SPDX-License-Identifier: BSD-2-Clause
// Memory of vectors for kernels of the program: oclspkt_vec.h. What is not valid on the host is NaN.

#include "oclspkt/oclspkt_vec.h"
#include "opencl.hpp"
#include "types_support.hxx"

namespace oclspkt::test {
namespace {

constexpr const char* kKernels = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void count(__global double* x) { x[get_global_id(0)] = (double)get_global_id(0) + 1; }
__kernel void twice(__global const double* y, __global double* x) { x[get_global_id(0)] = 2 * y[get_global_id(0)]; }
__kernel void add(__global double* x) { x[get_global_id(0)] += 1; }
)";

/// Vectors `opencl` of all ranks, and kernels of a program.
class TypesMemory : public testing::Test {
 protected:
  void SetUp() override {
    cl_command_queue queue = nullptr;
    OK(VecOpenCLGetQueue(&queue));
    queue_ = cl::CommandQueue(queue, true);
    program_ = cl::Program(context(), std::string(kKernels), true);
    for (Vec* v : {&x_, &y_}) *v = make_vec(kRows, VECOPENCL);
  }
  cl::Context context() const { return queue_.getInfo<CL_QUEUE_CONTEXT>(); }
  template <typename... Memory>
  void enqueue(const char* name, Memory... memory) {
    cl::Kernel kernel(program_, name);
    cl_uint place = 0;
    (kernel.setArg(place++, cl::Buffer(memory, true)), ...);
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(kRows));
  }
  static PetscReal sum_of(Vec v) { return norm_of(v, NORM_1) / PetscGlobalSize; }

  static constexpr PetscInt kRows = 10;
  cl::CommandQueue queue_;
  cl::Program program_;
  HeldVec x_, y_;
  cl_mem memory_ = nullptr, other_ = nullptr;
};

TEST_F(TypesMemory, IsWrittenByKernelsOfTheProgram) {
  cl_command_queue queue;
  OK(VecSet(x_, 1));
  EXPECT_EQ(sum_of(x_), 10);
  OK(VecOpenCLGetMemWrite(x_, &memory_, &queue));
  EXPECT_EQ(queue, queue_());
  enqueue("count", memory_);
  OK(VecOpenCLRestoreMemWrite(x_, &memory_));
  EXPECT_EQ(memory_, nullptr);
  EXPECT_EQ(sum_of(x_), 55) << "the norm of before was kept";
  OK(VecScale(x_, 2));
  EXPECT_EQ(values_of(x_)[9], 20);
}

TEST_F(TypesMemory, IsReadWithValuesOfTheHost) {
  write_values(y_, std::vector<PetscScalar>(kRows, 7));
  cl_mem again;
  OK(VecOpenCLGetMemRead(y_, &memory_, nullptr));
  OK(VecOpenCLGetMemRead(y_, &again, nullptr));
  EXPECT_EQ(memory_, again);
  OK(VecOpenCLGetMemWrite(x_, &other_, nullptr));
  enqueue("twice", memory_, other_);
  OK(VecOpenCLRestoreMemWrite(x_, &other_));
  EXPECT_EQ(sum_of(y_), 70) << "PETSc reads a vector that the program reads";
  OK(VecOpenCLRestoreMemRead(y_, &memory_));
  OK(VecOpenCLRestoreMemRead(y_, &again));
  EXPECT_EQ(sum_of(x_), 140);
}

TEST_F(TypesMemory, IsChangedInPlace) {
  OK(VecSet(x_, 3));
  for (int round = 1; round < 3; ++round) {
    OK(VecOpenCLGetMemReadWrite(x_, &memory_, nullptr));
    enqueue("add", memory_);
    OK(VecOpenCLRestoreMemReadWrite(x_, &memory_));
    EXPECT_EQ(sum_of(x_), 10 * (3 + round));
  }
}

TEST_F(TypesMemory, CallsOutOfOrderAreErrors) {
  PetscScalar* values;
  const PetscScalar* read;
  OK(VecSet(x_, 1));
  const auto write = [&] { return VecOpenCLGetMemWrite(x_, &memory_, nullptr); };
  const auto change = [&] { return VecOpenCLGetMemReadWrite(x_, &memory_, nullptr); };
  const auto see = [&] { return VecOpenCLGetMemRead(x_, &memory_, nullptr); };
  const auto written = [&] { return VecOpenCLRestoreMemWrite(x_, &memory_); };
  EXPECT_ERROR(written(), PETSC_ERR_ORDER, "nobody got the memory");
  EXPECT_ERROR(VecOpenCLRestoreMemReadWrite(x_, &memory_), PETSC_ERR_ORDER, "nobody got the memory");
  EXPECT_ERROR(VecOpenCLRestoreMemRead(x_, &memory_), PETSC_ERR_ORDER, "nobody got the memory");
  OK(VecGetArray(x_, &values));
  for (const auto& get : {std::function<PetscErrorCode()>(write), {change}, {see}}) {
    EXPECT_ERROR(get(), PETSC_ERR_ORDER, "an array of the vector is out");
  }
  OK(VecRestoreArray(x_, &values));
  OK(VecOpenCLGetMemRead(x_, &memory_, nullptr));
  EXPECT_ERROR(write(), PETSC_ERR_ORDER, "the program has the memory of this vector already");
  OK(VecOpenCLRestoreMemRead(x_, &memory_));
  OK(VecOpenCLGetMemWrite(x_, &memory_, nullptr));
  enqueue("count", memory_);
  for (const auto& get : {std::function<PetscErrorCode()>(write), {change}, {see}}) {
    EXPECT_ERROR(get(), PETSC_ERR_ORDER, "the program has the memory of this vector already");
  }
  EXPECT_ERROR(VecGetArray(x_, &values), PETSC_ERR_ORDER, "call VecOpenCLRestoreMemWrite()");
  EXPECT_ERROR(VecGetArrayRead(x_, &read), PETSC_ERR_ORDER, "call VecOpenCLRestoreMemWrite()");
  OK(VecOpenCLRestoreMemWrite(x_, &memory_));
  EXPECT_ERROR(written(), PETSC_ERR_ORDER, "nobody got the memory");
  EXPECT_EQ(sum_of(x_), 55);
}

TEST_F(TypesMemory, VectorsOfTheHostHaveNone) {
  PetscScalar array[1] = {1};
  Vec host;
  OK(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 1, array, &host));
  EXPECT_ERROR(VecOpenCLGetMemRead(host, &memory_, nullptr), PETSC_ERR_ARG_WRONG, "make it with -vec_type opencl");
  EXPECT_ERROR(VecOpenCLRestoreMemWrite(host, &memory_), PETSC_ERR_ARG_WRONG, "make it with -vec_type opencl");
  OK(VecDestroy(&host));
  EXPECT_ERROR(VecOpenCLGetMemRead(host, &memory_, nullptr), PETSC_ERR_ARG_WRONG, "is not a vector");
}

TEST_F(TypesMemory, VectorsWithoutRowsHaveNone) {
  HeldVec none = make_vec(PetscGlobalRank == 0 ? 0 : 3, VECOPENCL);
  OK(VecSet(none, 1));
  memory_ = reinterpret_cast<cl_mem>(this);
  OK(VecOpenCLGetMemReadWrite(none, &memory_, nullptr));
  EXPECT_EQ(memory_ == nullptr, PetscGlobalRank == 0);
  OK(VecOpenCLRestoreMemReadWrite(none, &memory_));
}

TEST_F(TypesMemory, OfTheProgramBecomesAVector) {
  const std::vector<PetscScalar> ones(kRows, 1);
  std::vector<PetscScalar> found(kRows);
  const std::size_t bytes = kRows * sizeof(PetscScalar);
  const cl::Buffer memory(context(), CL_MEM_READ_WRITE, bytes);
  queue_.enqueueWriteBuffer(memory, CL_TRUE, 0, bytes, ones.data());
  Vec given, copy;
  PetscInt bs;
  OK(VecCreateOpenCLWithMem(PETSC_COMM_WORLD, 2, kRows, PETSC_DETERMINE, memory(), &given));
  EXPECT_EQ(sum_of(given), 10);
  OK(VecScale(given, 5));
  OK(VecOpenCLGetMemRead(given, &memory_, nullptr));
  EXPECT_EQ(memory_, memory());
  queue_.enqueueReadBuffer(memory, CL_TRUE, 0, bytes, found.data());
  EXPECT_EQ(found, std::vector<PetscScalar>(kRows, 5));
  OK(VecOpenCLRestoreMemRead(given, &memory_));
  OK(VecGetBlockSize(given, &bs));
  EXPECT_EQ(bs, 2);
  OK(VecDuplicate(given, &copy));
  OK(VecSet(copy, 9));
  EXPECT_EQ(sum_of(given), 50) << "a duplicate has memory of its own";
  OK(VecDestroy(&copy));
  OK(VecDestroy(&given));
  EXPECT_EQ(memory.getInfo<CL_MEM_REFERENCE_COUNT>(), 1) << "the vector did not give it back";
}

TEST_F(TypesMemory, OfTheProgramThatDoesNotFitIsAnError) {
  const cl::Context elsewhere(queue_.getInfo<CL_QUEUE_DEVICE>());
  const std::size_t bytes = kRows * sizeof(PetscScalar);
  const cl::Buffer small(context(), CL_MEM_READ_WRITE, bytes - 8), foreign(elsewhere, CL_MEM_READ_WRITE, bytes),
      constant(context(), CL_MEM_READ_ONLY, bytes);
  Vec none;
  for (const auto& [memory, text] :
       {std::pair{small(), "holds 72 bytes, 10 scalars need 80: make it larger"},
        {foreign(), "belongs to another context: make it in the context of the space's queue"},
        {constant(), "is CL_MEM_READ_ONLY"},
        {cl_mem{}, "is a null handle"}}) {
    EXPECT_ERROR(VecCreateOpenCLWithMem(PETSC_COMM_WORLD, 1, kRows, PETSC_DETERMINE, memory, &none),
                 PETSC_ERR_ARG_WRONG, text);
  }
}

}  // namespace
}  // namespace oclspkt::test
