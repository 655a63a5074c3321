// SPDX-License-Identifier: BSD-2-Clause
/* Dressed matrices: AIJ of one process, also as the blocks of one of several, whose products are made on the device.
   Their values stay the host's; the device has a copy, in a form that suits their pattern. */
#include <petsc/private/matimpl.h>

#include <algorithm>
#include <type_traits>

#include "boundary.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

using Form = SpaceMatrix<PetscScalar>;
/// Indices of PETSc, as the solver library names them.
using IndexOfPetsc = std::conditional_t<sizeof(PetscInt) == sizeof(std::int64_t), std::int64_t, std::int32_t>;

/// The copy of a matrix, or of its transpose, on the device.
struct Twin {
  std::unique_ptr<Form> form;
  PetscObjectState values = -1, pattern = -1;  ///< states that it was made of
  DeviceSpace* of = nullptr;
  PetscLogDouble entries = 0;
};

struct MatSide {
  PetscObjectId of = 0;  ///< the matrix: another one may take its place in memory
  Twin plain, transposed;
};

struct Matrices {
  PetscErrorCode (*create_seq)(Mat) = nullptr, (*create_mpi)(Mat) = nullptr;  ///< PETSc's
  struct _MatOps host = {};                                                   ///< PETSc's operations
  PetscErrorCode (*retrieve_values)(Mat) = nullptr;
  std::unordered_map<Mat, MatSide> sides;
};
Matrices& matrices() {
  static auto* const all = new Matrices;
  return *all;
}

/// The rows of a matrix as PETSc has them; given back when this ends.
class HostRows {
 public:
  explicit HostRows(Mat matrix) : matrix_(matrix) {}
  PetscErrorCode Get(PetscBool* there) {
    PetscFunctionBegin;
    PetscCall(MatGetRowIJ(matrix_, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &begin_, &column_, there));
    if (*there) PetscCall(MatSeqAIJGetArrayRead(matrix_, &values_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore() {
    PetscBool there;

    PetscFunctionBegin;
    if (values_) PetscCall(MatSeqAIJRestoreArrayRead(matrix_, &values_));
    PetscCall(MatRestoreRowIJ(matrix_, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &begin_, &column_, &there));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SparsePattern<IndexOfPetsc> pattern() const {
    return {matrix_->rmap->n, matrix_->cmap->n, reinterpret_cast<const IndexOfPetsc*>(begin_),
            reinterpret_cast<const IndexOfPetsc*>(column_)};
  }
  const PetscScalar* values() const { return values_; }

 private:
  Mat matrix_;
  PetscInt rows_ = 0;
  const PetscInt *begin_ = nullptr, *column_ = nullptr;
  const PetscScalar* values_ = nullptr;
};

/// Have the device's copy follow the matrix. @param[out] failure  empty if it does
PetscErrorCode Follow(DeviceSpace& space, Mat matrix, bool transposed, Twin& twin, std::string* failure) {
  PetscObjectState values, pattern;
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)matrix, &values));
  PetscCall(MatGetNonzeroState(matrix, &pattern));
  const bool same_pattern = twin.form && twin.of == &space && twin.pattern == pattern;
  if (same_pattern && twin.values == values) PetscFunctionReturn(PETSC_SUCCESS);
  HostRows rows(matrix);
  PetscCall(rows.Get(&there));
  if (!there) {
    *failure = "the matrix has no rows at hand";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  try {
    const LoggedCopy logged(space, LoggedCopy::Way::up);
    if (!same_pattern) {
      const FormRequest wanted{.slice = space.slice_rows()};
      twin.form = space.make_matrix(transposed ? make_transposed_form(rows.pattern(), wanted)
                                               : make_sparse_form(rows.pattern(), wanted));
    }
    twin.form->set_values(rows.values());
    twin.values = values;
    twin.pattern = pattern;
    twin.of = &space;
    twin.entries = static_cast<PetscLogDouble>(rows.pattern().begin[matrix->rmap->n]);
  } catch (const std::exception& e) {
    *failure = e.what();
    twin = {};
  }
  PetscCall(rows.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = A x, or z = y + A x, of the transposed matrix if that is wanted.
PetscErrorCode Product(const char* name, Mat matrix, bool transposed, Vec x, Vec y, Vec z, PetscBool* done) {
  Operation work{name, {x}, z, true};
  DeviceSpace* space = nullptr;
  std::string failure;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (y != nullptr) work.read.push_back(y);
  const bool dressed = is_dressed(z) && std::all_of(work.read.begin(), work.read.end(), is_dressed);
  if (dressed && x != z) PetscCall(SpaceFor(std::min(x->map->n, z->map->n), &space));
  if (!space) {
    NoteFallBack(work);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  MatSide& side = matrices().sides[matrix];
  if (const PetscObjectId id = ((PetscObject)matrix)->id; side.of != id) {
    side = {};
    side.of = id;
  }
  Twin& twin = transposed ? side.transposed : side.plain;
  PetscCall(Follow(*space, matrix, transposed, twin, &failure));
  PetscCall(RunIn(*space, work, done, [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
    if (!failure.empty()) throw DeviceError(failure);
    in.product(*twin.form, *read[0], y != nullptr ? read[1] : nullptr, *written);
  }));
  if (*done) {
    PetscCall(OclspktLogGpuFlops(2 * twin.entries));
    PetscCall(PetscObjectStateIncrease((PetscObject)z)); /* callers leave that to VecRestoreArray() */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Mult(Mat a, Vec x, Vec z) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(Product("MatMult", a, false, x, nullptr, z, &done));
  if (!done) PetscCall((*matrices().host.mult)(a, x, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultAdd(Mat a, Vec x, Vec y, Vec z) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(Product("MatMultAdd", a, false, x, y, z, &done));
  if (!done) PetscCall((*matrices().host.multadd)(a, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultTranspose(Mat a, Vec x, Vec z) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(Product("MatMultTranspose", a, true, x, nullptr, z, &done));
  if (!done) PetscCall((*matrices().host.multtranspose)(a, x, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MultTransposeAdd(Mat a, Vec x, Vec y, Vec z) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(Product("MatMultTransposeAdd", a, true, x, y, z, &done));
  if (!done) PetscCall((*matrices().host.multtransposeadd)(a, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Destroy(Mat matrix) {
  PetscFunctionBegin;
  matrices().sides.erase(matrix);
  PetscCall((*matrices().host.destroy)(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An operation that changes values. Matrices of several processes call it of their blocks directly, whose state then
/// stays: it is what the device's copy follows.
template <auto slot, typename... Arguments>
PetscErrorCode Change(Mat matrix, Arguments... arguments) {
  PetscFunctionBegin;
  PetscCall((*(matrices().host.*slot))(matrix, arguments...));
  PetscCall(PetscObjectStateIncrease((PetscObject)matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Copy(Mat from, Mat to, MatStructure structure) {
  PetscFunctionBegin;
  PetscCall((*matrices().host.copy)(from, to, structure));
  PetscCall(PetscObjectStateIncrease((PetscObject)to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RetrieveValues(Mat matrix) {
  PetscFunctionBegin;
  PetscCall((*matrices().retrieve_values)(matrix));
  PetscCall(PetscObjectStateIncrease((PetscObject)matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSeq(Mat matrix) {
  PetscFunctionBegin;
  PetscCall((*matrices().create_seq)(matrix));
  PetscCall(DressMatrix(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode DressMatrix(Mat matrix) {
  Matrices& m = matrices();

  PetscFunctionBegin;
  if (matrix->ops->destroy == Destroy) PetscFunctionReturn(PETSC_SUCCESS);
  if (m.host.destroy == nullptr) {
    m.host = *matrix->ops;
    PetscCall(PetscObjectQueryFunction((PetscObject)matrix, "MatRetrieveValues_C", &m.retrieve_values));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)matrix, "MatRetrieveValues_C", RetrieveValues));
  matrix->ops->mult = Mult;
  matrix->ops->multadd = MultAdd;
  matrix->ops->multtranspose = MultTranspose;
  matrix->ops->multtransposeadd = MultTransposeAdd;
  matrix->ops->destroy = Destroy;
  matrix->ops->copy = Copy;
  matrix->ops->scale = Change<&_MatOps::scale, PetscScalar>;
  matrix->ops->shift = Change<&_MatOps::shift, PetscScalar>;
  matrix->ops->diagonalscale = Change<&_MatOps::diagonalscale, Vec, Vec>;
  matrix->ops->diagonalset = Change<&_MatOps::diagonalset, Vec, InsertMode>;
  matrix->ops->zeroentries = Change<&_MatOps::zeroentries>;
  matrix->ops->zerorows = Change<&_MatOps::zerorows, PetscInt, const PetscInt*, PetscScalar, Vec, Vec>;
  matrix->ops->zerorowscolumns = Change<&_MatOps::zerorowscolumns, PetscInt, const PetscInt*, PetscScalar, Vec, Vec>;
  matrix->ops->axpy = Change<&_MatOps::axpy, PetscScalar, Mat, MatStructure>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateDressed(Mat matrix, bool parallel) {
  PetscFunctionBegin;
  PetscCall(parallel ? (*matrices().create_mpi)(matrix) : CreateSeq(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterMatrices() {
  PetscErrorCode (*found)(Mat) = nullptr;

  PetscFunctionBegin;
  PetscCall(MatInitializePackage());
  PetscCall(PetscFunctionListFind(MatList, MATMPIAIJ, &matrices().create_mpi));
  PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "this PETSc has no matrices of type %s", MATSEQAIJ);
  if (found == CreateSeq) PetscFunctionReturn(PETSC_SUCCESS);
  matrices().create_seq = found;
  if (types().on) PetscCall(MatRegister(MATSEQAIJ, CreateSeq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void forget_matrices() { matrices().sides.clear(); }

}  // namespace oclspkt::petsc
