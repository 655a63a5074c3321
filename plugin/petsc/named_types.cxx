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

void create_named_vec(Vec vector) {
  refuse_hidden_vectors();
  create_dressed(vector);
  must(PetscObjectChangeTypeName((PetscObject)vector, kVecName));
}

/// PETSc makes and replaces the blocks of a matrix as it likes, and calls them `seqaij`: they are dressed when used.
void dress_blocks(Mat matrix) {
  Mat diagonal, other;
  must(MatMPIAIJGetSeqAIJ(matrix, &diagonal, &other, nullptr));
  if (diagonal) dress_matrix(diagonal);
  if (other) dress_matrix(other);
}

template <auto slot, bool, typename... Vectors>
void product_of_blocks(Mat matrix, Vectors... vectors) {
  dress_blocks(matrix);
  must((*(of_petsc().mpi.*slot))(matrix, vectors...));
}

/// PETSc 3.18 looks for `mpiaij` and takes the ordering of the diagonal block; of any other type it takes one that is
/// no permutation of the ranks' rows.
void ordering_of(Mat matrix, MatOrderingType type, IS* rows, IS* columns) {
  if (is_named((PetscObject)matrix, kMatMPIName)) {
    const UnderName name((PetscObject)matrix, MATMPIAIJ);
    must(MatGetOrdering(matrix, type, rows, columns));
  } else {
    must((*of_petsc().orderings.at(type))(matrix, type, rows, columns));
  }
}

void replace_orderings() {
  GetOrdering found;
  const char** names;
  int count;
  must(MatOrderingRegisterAll());
  must(PetscFunctionListFind(MatOrderingList, MATORDERINGNATURAL, &found));
  if (found == Called<ordering_of, Mat, MatOrderingType, IS*, IS*>) return;
  must(PetscFunctionListGet(MatOrderingList, &names, &count));
  for (int k = 0; k < count && names[k] != nullptr; ++k) { /* some releases count the null behind the last, too */
    must(PetscFunctionListFind(MatOrderingList, names[k], &found));
    of_petsc().orderings[names[k]] = found;
    must(MatOrderingRegister(names[k], Called<ordering_of>));
  }
  must(PetscFree(names));
}

/// What conversions turn a matrix into: ours, or PETSc's.
void rename_matrix(Mat matrix, bool parallel, bool ours);

/// PETSc would make another matrix and set its values one by one: those of a transposed pattern are not there yet, and
/// what MatUpdateMPIAIJWithArray() reads of a matrix of MatCreateMPIAIJWithArrays() would be missing.
template <bool parallel, bool ours>
void convert(Mat from, MatType /*type*/, MatReuse reuse, Mat* to) {
  if (reuse == MAT_REUSE_MATRIX) {
    must(MatCopy(from, *to, DIFFERENT_NONZERO_PATTERN));
    return;
  }
  if (reuse == MAT_INITIAL_MATRIX) must(MatDuplicate(from, MAT_COPY_VALUES, to));
  rename_matrix(*to, parallel, ours);
}

/// Give a dressed matrix our name.
void give_name(Mat matrix, bool parallel) {
  const PetscObject object = (PetscObject)matrix;
  using Conversion = PetscErrorCode (*)(Mat, MatType, MatReuse, Mat*);
  const Conversion to_ours[] = {Called<convert<false, true>>, Called<convert<true, true>>};
  const Conversion to_petscs[] = {Called<convert<false, false>>, Called<convert<true, false>>};
  must(PetscObjectChangeTypeName(object, parallel ? kMatMPIName : kMatSeqName));
  must(MatSetVecType(matrix, kVecName));
  if (parallel) {
    of_petsc().mpi = *matrix->ops;
    OCLSPKT_PUT_PRODUCTS(matrix->ops, product_of_blocks);
  }
  must(PetscObjectComposeFunction(
      object, parallel ? "MatConvert_mpiaij_mpiaijopencl_C" : "MatConvert_seqaij_seqaijopencl_C", to_ours[parallel]));
  must(PetscObjectComposeFunction(
      object, parallel ? "MatConvert_mpiaijopencl_mpiaij_C" : "MatConvert_seqaijopencl_seqaij_C", to_petscs[parallel]));
}

/* Our products stay: for PETSc's own vectors they call PETSc's. */
void rename_matrix(Mat matrix, bool parallel, bool ours) {
  if (!ours) {
    must(PetscObjectChangeTypeName((PetscObject)matrix, parallel ? MATMPIAIJ : MATSEQAIJ));
    must(MatSetVecType(matrix, VECSTANDARD));
    return;
  }
  if (parallel) {
    dress_parallel(matrix);
  } else {
    dress_matrix(matrix);
  }
  give_name(matrix, parallel);
}

void create_named_seq(Mat matrix) {
  create_dressed(matrix, false);
  give_name(matrix, false);
}

void create_named_mpi(Mat matrix) {
  replace_orderings();
  create_dressed(matrix, true);
  give_name(matrix, true);
}

}  // namespace

bool has_our_name(Vec vector) { return is_named((PetscObject)vector, kVecName); }

void register_named_types() {
  must(VecRegister(kVecName, Called<create_named_vec>));
  must(MatRegisterRootName(kMatName, kMatSeqName, kMatMPIName));
  must(MatRegister(kMatSeqName, Called<create_named_seq>));
  must(MatRegister(kMatMPIName, Called<create_named_mpi>));
}

}  // namespace oclspkt::petsc
