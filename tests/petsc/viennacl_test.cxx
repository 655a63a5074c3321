// SPDX-License-Identifier: BSD-2-Clause
// Vectors that ViennaCL keeps in buffers of OpenCL: solved where they lie, and no copy of one, which the functions of
// OpenCL count that this program puts in front of all others.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>

#include "grid_problem.hxx"

namespace {

/// Bytes of the smallest vector here, and more than any scalar that ViennaCL reads back.
constexpr std::size_t kVector = 8000;
std::atomic<int> transfers{0}, moves{0};  ///< between host and device, and within the device

void count(std::atomic<int>& copies, std::size_t bytes) { copies += bytes >= kVector; }

template <typename F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define PASS_ON(f, copies)                               \
  (count(copies, size), [] {                             \
    static const auto passed_on = next<decltype(f)>(#f); \
    return passed_on;                                    \
  }())

extern "C" {
#pragma GCC visibility push(default)
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                           std::size_t size, void* to, cl_uint n, const cl_event* wait, cl_event* event) {
  return PASS_ON(clEnqueueReadBuffer, transfers)(queue, buffer, blocking, offset, size, to, n, wait, event);
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                            std::size_t size, const void* from, cl_uint n, const cl_event* wait, cl_event* event) {
  return PASS_ON(clEnqueueWriteBuffer, transfers)(queue, buffer, blocking, offset, size, from, n, wait, event);
}
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                           std::size_t to_offset, std::size_t size, cl_uint n, const cl_event* wait, cl_event* event) {
  return PASS_ON(clEnqueueCopyBuffer, moves)(queue, from, to, from_offset, to_offset, size, n, wait, event);
}
void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                         std::size_t offset, std::size_t size, cl_uint n, const cl_event* wait, cl_event* event,
                         cl_int* code) {
  return PASS_ON(clEnqueueMapBuffer, transfers)(queue, buffer, blocking, flags, offset, size, n, wait, event, code);
}
#pragma GCC visibility pop
}  // extern "C"

namespace oclspkt::test {
namespace {

constexpr char kNoCopy[] = "vectors: on the device, no copy";

/// Copies of vectors since it was made.
class Copies {
 public:
  int of_host() const { return transfers - transfers_; }
  int all() const { return of_host() + moves - moves_; }

 private:
  const int transfers_ = transfers, moves_ = moves;
};

/// A matrix of ViennaCL's type. MatConvert() leaves that type's product in the matrix that it copies (PETSc 3.24).
Mat viennacl_matrix(const Rows& rows) {
  const auto n = static_cast<PetscInt>(rows.size());
  Mat matrix = nullptr;
  MatCreate(PETSC_COMM_SELF, &matrix);
  MatSetSizes(matrix, n, n, n, n);
  MatSetType(matrix, MATAIJVIENNACL);
  MatSeqAIJSetPreallocation(matrix, 3, nullptr);
  for (PetscInt i = 0; i < n; ++i) {
    for (const auto& [column, value] : rows[static_cast<std::size_t>(i)]) {
      MatSetValue(matrix, i, column, value, INSERT_VALUES);
    }
  }
  assemble(matrix);
  return matrix;
}

class ViennaCL : public testing::Test {
 protected:
  void SetUp() override {
    VecCreateSeq(PETSC_COMM_SELF, kRows, &host_right_);
    VecDuplicate(host_right_, &host_solution_);
    VecCreate(PETSC_COMM_SELF, &right_);
    VecSetSizes(right_, kRows, kRows);
    VecSetType(right_, VECVIENNACL);
    VecDuplicate(right_, &solution_);
    const Vector values(kRows);
    VecCopy(values, host_right_);
    VecCopy(values, right_);
    VecDuplicate(right_, &other_);
    VecCopy(values, other_);
  }

  /// References to the buffer of a vector but for the one that this call takes.
  static cl_uint references(Vec vector) {
    PETSC_UINTPTR_T handle = 0;
    cl_uint count = 0;
    VecViennaCLGetCLMemRead(vector, &handle);
    const auto memory = reinterpret_cast<cl_mem>(handle);
    clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr);
    clReleaseMemObject(memory);
    return count - 1;
  }
  cl_uint queue_references() const {
    PETSC_UINTPTR_T handle = 0;
    cl_uint count = 0;
    VecViennaCLGetCLQueue(right_, &handle);
    const auto queue = reinterpret_cast<cl_command_queue>(handle);
    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, nullptr);
    clReleaseCommandQueue(queue);
    return count - 1;
  }

  static constexpr PetscInt kRows = 20'011;
  HeldVec host_right_, host_solution_, right_, solution_, other_;
};

TEST_F(ViennaCL, SolvesWhereVectorsLieWithoutACopy) {
  const Matrix A(tridiagonal(kRows, -1, 4, -2));
  HeldMat on_device = viennacl_matrix(tridiagonal(kRows, -1, 4, -2));
  for (Mat matrix : {static_cast<Mat>(on_device), static_cast<Mat>(A)}) {
    const Preconditioner pc(matrix, "auto"), host(A);
    for (const auto apply : {PCApply, PCApplyTranspose}) {
      OK(apply(pc, right_, solution_));  // brings the right-hand side, and has the solver set up for these vectors
      const Copies since;
      for (int again = 0; again < 3; ++again) {
        OK(apply(pc, right_, solution_));
        OK(apply(pc, solution_, other_));
        OK(VecAXPY(other_, 0.5, right_));
      }
      EXPECT_EQ(since.all(), 0);
      OK(apply(host, host_right_, host_solution_));
      EXPECT_LE(distance(host_solution_, solution_), 1e-14);
    }
    const std::string text = pc.view(PETSC_VIEWER_ASCII_INFO_DETAIL);
    expect_in(text, {kNoCopy, "Portable Computing Language"});
  }
}

TEST_F(ViennaCL, GivesBackWhatItTakesOfVectorsAndQueues) {
  const Matrix A(tridiagonal(kRows, -1, 4, -2));
  cl_uint queue = 0;
  {
    const Preconditioner pc(A, "auto");
    OK(PCApply(pc, right_, solution_));
    const cl_uint y = references(right_), x = references(solution_);
    queue = queue_references();
    for (int again = 0; again < 3; ++again) {
      OK(PCSetUp(pc));
      OK(PCApply(pc, right_, solution_));
      OK(PCApplyTranspose(pc, right_, other_));
      OK(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(static_cast<Mat>(A))));
    }
    EXPECT_EQ(references(right_), y);
    EXPECT_EQ(references(solution_), x);
    EXPECT_LE(queue_references(), queue + 4) << "one of each solver's, of a direction and of its transpose";
  }
  EXPECT_LE(queue_references(), queue);
}

TEST_F(ViennaCL, SolvesInAKrylovMethodWithoutACopy) {
  const Matrix A(tridiagonal(kRows, -1, 2.5, -1));
  HeldMat on_device = viennacl_matrix(tridiagonal(kRows, -1, 2.5, -1));
  const OptionSet options("-ksp_type cg -ksp_rtol 1e-12 -pc_oclspkt_devices auto -ksp_norm_type unpreconditioned");
  const HeldKSP ksp = make_ksp(on_device, PCOCLSPKT);
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, right_, solution_));
  const Copies since;
  OK(KSPSolve(ksp, right_, solution_));
  EXPECT_EQ(since.of_host(), 0);
  EXPECT_GT(converged_reason(ksp), 0);
  OK(VecSet(host_solution_, 0));
  OK(VecAXPY(host_solution_, 1, solution_));  // VecCopy() to a vector of the host ends in ViennaCL's memory
  EXPECT_LE(residual(A, host_right_, host_solution_), 1e-11);
  const std::string text = view_text(reinterpret_cast<PetscObject>(pc_of(ksp)));
  EXPECT_TRUE(contains(text, kNoCopy)) << text;
}

TEST_F(ViennaCL, BoundToTheHostIsSolvedFromTheHost) {
  const Matrix A(tridiagonal(kRows, -1, 4, -2));
  const Preconditioner pc(A, "auto"), host(A);
  OK(VecBindToCPU(right_, PETSC_TRUE));
  OK(VecBindToCPU(solution_, PETSC_TRUE));
  OK(PCApply(pc, right_, solution_));
  OK(PCApply(host, host_right_, host_solution_));
  EXPECT_LE(distance(host_solution_, solution_), 1e-14);
  EXPECT_FALSE(contains(pc.view(), kNoCopy));
  OK(VecBindToCPU(right_, PETSC_FALSE));
  OK(VecBindToCPU(solution_, PETSC_FALSE));
  OK(PCApply(pc, right_, host_solution_));  // one of each
  EXPECT_LE(distance(host_solution_, solution_), 1e-14);
}

TEST_F(ViennaCL, LogsWhatAppliesMoveWhereVectorsAreOfTheHost) {
  const Matrix A(tridiagonal(kRows, -1, 4, -2));
  const OptionSet options("-t_pc_oclspkt_transfer copy");
  const Preconditioner pc(A, "portable");
  OK(PCSetFromOptions(pc));
  OK(PCApply(pc, host_right_, host_solution_));
  OK(PCApplyTranspose(pc, host_right_, host_solution_));
  const double up = petsc_ctog_sz, down = petsc_gtoc_sz, bytes = kRows * sizeof(PetscScalar);
  for (int solves = 1; solves <= 2; ++solves) {
    OK(solves == 1 ? PCApply(pc, host_right_, host_solution_) : PCApplyTranspose(pc, host_right_, host_solution_));
    EXPECT_EQ(petsc_ctog_sz - up, solves * bytes);
    EXPECT_EQ(petsc_gtoc_sz - down, solves * bytes);
  }
  OK(PCApply(pc, right_, solution_));
  const double before = petsc_ctog_sz;
  OK(PCApply(pc, right_, solution_));
  EXPECT_EQ(petsc_ctog_sz, before) << "vectors that lie on the device";
}

TEST_F(ViennaCL, OfADeviceThatTheOptionsDoNotNameIsCopied) {
  const Matrix A(tridiagonal(kRows, -1, 4, -2));
  const Preconditioner pc(A, "host"), host(A);
  OK(PCApply(pc, right_, solution_));
  OK(PCApply(host, host_right_, host_solution_));
  EXPECT_LE(distance(host_solution_, solution_), 1e-14);
  const std::string text = pc.view();
  EXPECT_TRUE(contains(text, "vectors: copied: the devices 'host' do not include")) << text;
}

TEST(ViennaCLGrids, AreSolvedAlongEachAxisWithoutACopy) {
  const Shape shape{3, {31, 23, 17}, 1};
  const GridProblem on_host(PETSC_COMM_SELF, shape),
      on_device(PETSC_COMM_SELF, shape, 1.05, VECVIENNACL, MATAIJVIENNACL);
  PetscBool is_viennacl = PETSC_FALSE;
  OK(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(on_device.right()), VECSEQVIENNACL, &is_viennacl));
  ASSERT_TRUE(is_viennacl);
  HeldVec expected = duplicate(on_host.right()), solution = duplicate(on_device.right());
  for (const char* lines : {"x", "y", "z", "x,y,z"}) {
    for (const char* combine : {"additive", "factored", "multiplicative", "symmetric"}) {
      SCOPED_TRACE(std::string(lines) + " " + combine);
      const OptionSet options(std::string("-t_pc_oclspkt_lines ") + lines + " -t_pc_oclspkt_combine " + combine);
      const Preconditioner pc(on_device.matrix(), "auto"), host(on_host.matrix());
      OK(PCSetDM(pc, on_device.dm()));
      OK(PCSetDM(host, on_host.dm()));
      OK(PCSetFromOptions(pc));
      OK(PCSetFromOptions(host));
      for (const bool transpose : {false, true}) {
        const auto apply = transpose ? PCApplyTranspose : PCApply;
        OK(apply(host, on_host.right(), expected));
        OK(apply(pc, on_device.right(), solution));
        const Copies since;
        OK(apply(pc, on_device.right(), solution));
        // PETSc multiplies by the transpose of such a matrix on the host.
        const bool of_petsc = transpose && std::string(lines) == "x,y,z" && std::string(combine) == "multiplicative";
        if (!of_petsc) {
          EXPECT_EQ(since.of_host(), 0) << "transpose " << transpose;
        }
        EXPECT_LE(distance(expected, solution), 1e-13);
      }
      const std::string text = pc.view();
      EXPECT_TRUE(contains(text, kNoCopy)) << text;
      EXPECT_FALSE(contains(text, "vectors: copied")) << text;
    }
  }
}

TEST(ViennaCLGrids, OfSuchAMatrixTakeVectorsOfTheHostWithProductsBetweenDirections) {
  const Shape shape{3, {31, 23, 17}, 1};
  const GridProblem on_host(PETSC_COMM_SELF, shape),
      on_device(PETSC_COMM_SELF, shape, 1.05, VECVIENNACL, MATAIJVIENNACL);
  const LinePreconditioner pc(on_device, "x,y,z", PC_OCLSPKT_COMBINE_MULTIPLICATIVE),
      host(on_host, "x,y,z", PC_OCLSPKT_COMBINE_MULTIPLICATIVE);
  OK(PCSetDM(pc, on_device.dm()));
  OK(PCSetDM(host, on_host.dm()));
  HeldVec solution = pc.apply(on_host.right()), expected = host.apply(on_host.right());
  EXPECT_LE(distance(expected, solution), 1e-13);
}

/// By the option -viennacl_backend openmp, in a run of its own.
TEST(ViennaCLOnTheHost, IsSolvedFromTheHost) {
  const Matrix A(tridiagonal(1000, -1, 4, -2));
  const Vector values(1000), expected(1000);
  HeldVec right, solution;
  OK(VecCreate(PETSC_COMM_SELF, &right));
  OK(VecSetSizes(right, 1000, 1000));
  OK(VecSetType(right, VECVIENNACL));
  OK(VecDuplicate(right, &solution));
  OK(VecCopy(values, right));
  const Preconditioner pc(A, "auto"), host(A);
  OK(PCApply(pc, right, solution));
  OK(PCApply(host, values, expected));
  EXPECT_LE(distance(expected, solution), 1e-14);
  EXPECT_FALSE(contains(pc.view(), "vectors: "));
}

}  // namespace
}  // namespace oclspkt::test
