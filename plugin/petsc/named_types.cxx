// SPDX-License-Identifier: BSD-2-Clause
/* The types `opencl` and `aijopencl`: for some vectors and matrices of a program, where -oclspkt_types takes all. They
   are PETSc's own under another name, and what looks for types by their names does not know them; what would be wrong
   without a word gets PETSc's names here. */
#include <petsc/private/matimpl.h>

#include <cstring>
#include <map>
#include <string>

#include "boundary.hxx"
#include "mat_dress.hxx"

namespace oclspkt::petsc {
namespace {

using GetOrdering = PetscErrorCode (*)(Mat, MatOrderingType, IS*, IS*);

/// PETSc's operations of matrices of several ranks, or what -oclspkt_types makes of them, and PETSc's orderings.
struct OfPetsc {
  struct _MatOps mpi = {};
  std::map<std::string, GetOrdering> orderings;
};
OfPetsc& of_petsc() {
  static auto* const all = new OfPetsc;
  return *all;
}

bool is_named(PetscObject object, const char* name) {
  return object->type_name != nullptr && std::strcmp(object->type_name, name) == 0;
}

/// While this lives, an object has another type name: for functions of PETSc that know their own types by it.
class UnderName {
 public:
  UnderName(PetscObject object, const char* name) : object_(object), own_(object->type_name) {
    object->type_name = const_cast<char*>(name);
  }
  ~UnderName() { object_->type_name = own_; }
  UnderName(const UnderName&) = delete;
  UnderName& operator=(const UnderName&) = delete;

 private:
  PetscObject object_;
  char* own_;
};

PetscErrorCode CreateVec(Vec vector) {
  PetscFunctionBegin;
  PetscCall(RefuseHiddenVectors());
  PetscCall(CreateDressed(vector));
  PetscCall(PetscObjectChangeTypeName((PetscObject)vector, kVecName));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc makes and replaces the blocks of a matrix as it likes, and calls them `seqaij`: they are dressed when used.
PetscErrorCode DressBlocks(Mat matrix) {
  Mat diagonal, other;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(matrix, &diagonal, &other, nullptr));
  if (diagonal) PetscCall(DressMatrix(diagonal));
  if (other) PetscCall(DressMatrix(other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <auto slot, bool, typename... Vectors>
PetscErrorCode ProductOfBlocks(Mat matrix, Vectors... vectors) {
  PetscFunctionBegin;
  PetscCall(DressBlocks(matrix));
  PetscCall((*(of_petsc().mpi.*slot))(matrix, vectors...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc 3.18 looks for `mpiaij` and takes the ordering of the diagonal block; of any other type it takes one that is
/// no permutation of the ranks' rows.
PetscErrorCode Ordering(Mat matrix, MatOrderingType type, IS* rows, IS* columns) {
  PetscErrorCode code;

  PetscFunctionBegin;
  if (is_named((PetscObject)matrix, kMatMPIName)) {
    const UnderName name((PetscObject)matrix, MATMPIAIJ);
    code = MatGetOrdering(matrix, type, rows, columns);
  } else {
    code = (*of_petsc().orderings.at(type))(matrix, type, rows, columns);
  }
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReplaceOrderings() {
  GetOrdering found;
  const char** names;
  int count;

  PetscFunctionBegin;
  PetscCall(MatOrderingRegisterAll());
  PetscCall(PetscFunctionListFind(MatOrderingList, MATORDERINGNATURAL, &found));
  if (found == Ordering) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFunctionListGet(MatOrderingList, &names, &count));
  for (int k = 0; k < count && names[k] != nullptr; ++k) { /* some releases count the null behind the last, too */
    PetscCall(PetscFunctionListFind(MatOrderingList, names[k], &found));
    OclspktCall(nullptr, of_petsc().orderings[names[k]] = found);
    PetscCall(MatOrderingRegister(names[k], Ordering));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What conversions turn a matrix into: ours, or PETSc's.
PetscErrorCode Rename(Mat matrix, bool parallel, bool ours);

/// PETSc would make another matrix and set its values one by one: those of a transposed pattern are not there yet, and
/// what MatUpdateMPIAIJWithArray() reads of a matrix of MatCreateMPIAIJWithArrays() would be missing.
template <bool parallel, bool ours>
PetscErrorCode Convert(Mat from, MatType /*type*/, MatReuse reuse, Mat* to) {
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(from, *to, DIFFERENT_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(from, MAT_COPY_VALUES, to));
  PetscCall(Rename(*to, parallel, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Give a dressed matrix our name.
PetscErrorCode Name(Mat matrix, bool parallel) {
  const PetscObject object = (PetscObject)matrix;
  const auto to_ours = parallel ? Convert<true, true> : Convert<false, true>;
  const auto to_petscs = parallel ? Convert<true, false> : Convert<false, false>;

  PetscFunctionBegin;
  PetscCall(PetscObjectChangeTypeName(object, parallel ? kMatMPIName : kMatSeqName));
  PetscCall(MatSetVecType(matrix, kVecName));
  if (parallel) {
    of_petsc().mpi = *matrix->ops;
    OCLSPKT_PUT_PRODUCTS(matrix->ops, ProductOfBlocks);
  }
  PetscCall(PetscObjectComposeFunction(
      object, parallel ? "MatConvert_mpiaij_mpiaijopencl_C" : "MatConvert_seqaij_seqaijopencl_C", to_ours));
  PetscCall(PetscObjectComposeFunction(
      object, parallel ? "MatConvert_mpiaijopencl_mpiaij_C" : "MatConvert_seqaijopencl_seqaij_C", to_petscs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Our products stay: for PETSc's own vectors they call PETSc's. */
PetscErrorCode Rename(Mat matrix, bool parallel, bool ours) {
  PetscFunctionBegin;
  if (!ours) {
    PetscCall(PetscObjectChangeTypeName((PetscObject)matrix, parallel ? MATMPIAIJ : MATSEQAIJ));
    PetscCall(MatSetVecType(matrix, VECSTANDARD));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (parallel) {
    DressParallel(matrix);
  } else {
    PetscCall(DressMatrix(matrix));
  }
  PetscCall(Name(matrix, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateMatSeq(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(CreateDressed(matrix, false));
  PetscCall(Name(matrix, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateMatMPI(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(ReplaceOrderings());
  PetscCall(CreateDressed(matrix, true));
  PetscCall(Name(matrix, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

bool has_our_name(Vec vector) { return is_named((PetscObject)vector, kVecName); }

PetscErrorCode RegisterNamedTypes() {
  PetscFunctionBegin;
  PetscCall(VecRegister(kVecName, CreateVec));
  PetscCall(MatRegisterRootName(kMatName, kMatSeqName, kMatMPIName));
  PetscCall(MatRegister(kMatSeqName, CreateMatSeq));
  PetscCall(MatRegister(kMatMPIName, CreateMatMPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
