// SPDX-License-Identifier: BSD-2-Clause
/* Dressed matrices: AIJ of one process, also as the blocks of one of several, whose products are made on the device.
   Their values stay the host's; the device has a copy, in a form that suits their pattern. */
#include "mat_dress.hxx"

#include <algorithm>
#include <type_traits>

#include "boundary.hxx"

namespace oclspkt::petsc {
namespace {

/// Indices of PETSc, as the solver library names them.
using IndexOfPetsc = std::conditional_t<sizeof(PetscInt) == sizeof(std::int64_t), std::int64_t, std::int32_t>;

struct MatSide {
  PetscObjectId of = 0;  ///< the matrix: another one may take its place in memory
  Twin plain, transposed;
};

struct Matrices {
  PetscErrorCode (*create_seq)(Mat) = nullptr;  ///< PETSc's
  struct _MatOps host = {};                     ///< PETSc's operations
  PetscErrorCode (*retrieve_values)(Mat) = nullptr;
  std::unordered_map<Mat, MatSide> sides;
};
Matrices& matrices() {
  static auto* const all = new Matrices;
  return *all;
}

/// The rows of a matrix as PETSc has them, from Get() to Restore().
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
  /// The pattern of the rows that have entries. @param[out] rows  these rows  @param[out] begin  memory of the pattern
  SparsePattern<IndexOfPetsc> packed_pattern(std::vector<Index>& rows, std::vector<IndexOfPetsc>& begin) const {
    SparsePattern<IndexOfPetsc> pattern = this->pattern();
    begin.assign(pattern.begin, pattern.begin + std::min<Index>(1, pattern.rows));
    for (Index row = 0; row < pattern.rows; ++row) {
      if (pattern.begin[row + 1] == pattern.begin[row]) continue;
      rows.push_back(row);
      begin.push_back(pattern.begin[row + 1]);
    }
    pattern.rows = static_cast<Index>(rows.size());
    pattern.begin = begin.data();
    return pattern;
  }
  const PetscScalar* values() const { return values_; }

 private:
  Mat matrix_;
  PetscInt rows_ = 0;
  const PetscInt *begin_ = nullptr, *column_ = nullptr;
  const PetscScalar* values_ = nullptr;
};

/// Make the form of a pattern on the device.
/// @throws DeviceError, InvalidInput, BuildError
void make_form(DeviceSpace& space, const HostRows& host, bool transposed, Twin& twin) {
  std::vector<Index> rows;
  std::vector<IndexOfPetsc> begin;
  const SparsePattern<IndexOfPetsc> pattern = twin.packed ? host.packed_pattern(rows, begin) : host.pattern();
  const FormRequest wanted{.slice = space.slice_rows()};
  twin.form = space.make_matrix(transposed ? make_transposed_form(pattern, wanted) : make_sparse_form(pattern, wanted));
  if (!twin.packed) return;
  twin.rows = space.make_indices(rows);
  twin.part = space.make(twin.rows->size());
}

/// Multiply by the device, or else by the function that PETSc has for the host.
template <auto slot, bool transposed, typename... Vectors>
PetscErrorCode Multiply(Mat matrix, Vectors... vectors) {
  const Product product(matrix, transposed, vectors...);
  const Operation work = product.work();
  DeviceSpace* space;
  PetscBool done = PETSC_FALSE;
  std::string failure;

  PetscFunctionBegin;
  PetscCall(SpaceOfProduct(work, &space));
  if (space) {
    Twin& twin = twin_of(matrix, transposed);
    PetscCall(Follow(*space, matrix, -1, transposed, twin, &failure));
    PetscCall(RunIn(*space, work, &done, [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
      if (!failure.empty()) throw DeviceError(failure);
      in.product(*twin.form, *read[0], product.y != nullptr ? read[1] : nullptr, *written);
    }));
    if (done) PetscCall(OclspktLogGpuFlops(2 * twin.entries));
  } else {
    NoteFallBack(work);
  }
  /* Callers leave the state to VecRestoreArray(). */
  PetscCall(done ? PetscObjectStateIncrease((PetscObject)product.z) : (*(matrices().host.*slot))(matrix, vectors...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Destroy(Mat matrix) {
  PetscFunctionBegin;
  matrices().sides.erase(matrix);
  PetscCall((*matrices().host.destroy)(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An operation that changes values and increases the state, which the device's copy follows. Matrices of several
/// processes call operations of their blocks directly, without the functions that increase the state.
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
  OCLSPKT_PUT_PRODUCTS(matrix->ops, Multiply);
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
  PetscCall(parallel ? CreateParallel(matrix) : CreateSeq(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_dressed(Mat matrix) { return matrix->ops->mult == Multiply<&_MatOps::mult, false, Vec, Vec>; }

Twin& twin_of(Mat matrix, bool transposed) {
  MatSide& side = matrices().sides[matrix];
  if (const PetscObjectId id = ((PetscObject)matrix)->id; side.of != id) {
    side = {};
    side.of = id;
  }
  return transposed ? side.transposed : side.plain;
}

PetscErrorCode Follow(DeviceSpace& space, Mat matrix, PetscObjectState outer, bool transposed, Twin& twin,
                      std::string* failure) {
  PetscObjectState values, pattern;
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)matrix, &values));
  PetscCall(MatGetNonzeroState(matrix, &pattern));
  const bool same_pattern = twin.form && twin.of == &space && twin.pattern == pattern;
  const bool same_values = twin.values == values && (outer < 0 || twin.outer == outer);
  if (same_pattern && same_values) PetscFunctionReturn(PETSC_SUCCESS);
  HostRows rows(matrix);
  PetscCall(rows.Get(&there));
  if (!there) {
    *failure = "the matrix has no rows at hand";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  try {
    const LoggedCopy logged(space, LoggedCopy::Way::up);
    if (!same_pattern) make_form(space, rows, transposed, twin);
    twin.form->set_values(rows.values());
    twin.values = values;
    twin.pattern = pattern;
    twin.outer = outer;
    twin.of = &space;
    twin.entries = static_cast<PetscLogDouble>(rows.pattern().begin[matrix->rmap->n]);
  } catch (const std::exception& e) {
    *failure = e.what();
    twin.form.reset();
  }
  PetscCall(rows.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpaceOfProduct(const Operation& work, DeviceSpace** space) {
  const Vec x = work.read.front(), z = work.written;
  const auto dressed = [](Vec v) { return is_dressed(v); };

  PetscFunctionBegin;
  *space = nullptr;
  if (dressed(z) && x != z && std::all_of(work.read.begin(), work.read.end(), dressed)) {
    PetscCall(SpaceFor(std::min(x->map->n, z->map->n), space));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RegisterMatrices() {
  PetscFunctionBegin;
  PetscCall(MatInitializePackage());
  PetscCall(ReplaceCreator(MatList, "matrices", MATSEQAIJ, types().on, CreateSeq, &matrices().create_seq, MatRegister));
  PetscCall(RegisterParallelMatrices());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ForgetMatrices() {
  PetscFunctionBegin;
  matrices().sides.clear();
  PetscCall(ForgetParallelMatrices());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
