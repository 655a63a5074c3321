// SPDX-License-Identifier: BSD-2-Clause
/* Dressed matrices: sequential AIJ matrices, and the blocks of parallel AIJ matrices, whose products run on the device.
   The values stay on the host. The device has a copy, in a form that suits the pattern.

   The types `opencl` and `aijopencl` dress single vectors and matrices; -oclspkt_types dresses all objects. These
   types are PETSc's own types under other names, and some functions of PETSc test a type by its name. Where such a
   function would silently do something wrong, this file gives the object PETSc's name during the call. */
#include <petsc/private/matimpl.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "mat_dress.hxx"

namespace oclspkt::petsc {
namespace {

/// An integer of the solver library that is as wide as PetscInt.
using IndexOfPetsc = std::conditional_t<sizeof(PetscInt) == sizeof(std::int64_t), std::int64_t, std::int32_t>;

struct MatSide {
  PetscObjectId of = 0;  ///< id of the matrix, because a later matrix may have the same address
  Twin plain, transposed;
};

struct Matrices {
  PetscErrorCode (*create_seq)(Mat) = nullptr;  ///< PETSc's creator of MATSEQAIJ
  struct _MatOps host = {};                     ///< PETSc's operations of MATSEQAIJ
  PetscErrorCode (*retrieve_values)(Mat) = nullptr;
  std::unordered_map<Mat, MatSide> sides;
};
Matrices& matrices() {
  static auto* const all = new Matrices;
  return *all;
}

/// PETSc's compressed rows of a matrix, valid from get() to restore().
class HostRows {
 public:
  explicit HostRows(Mat matrix) : matrix_(matrix) {}
  /// @return false if the matrix has no compressed rows
  bool get() {
    PetscBool available;
    must(MatGetRowIJ(matrix_, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &begin_, &column_, &available));
    if (available) must(MatSeqAIJGetArrayRead(matrix_, &values_));
    return available;
  }
  void restore() {
    PetscBool available;
    if (values_) must(MatSeqAIJRestoreArrayRead(matrix_, &values_));
    must(MatRestoreRowIJ(matrix_, 0, PETSC_FALSE, PETSC_FALSE, &rows_, &begin_, &column_, &available));
  }
  SparsePattern<IndexOfPetsc> pattern() const {
    return {matrix_->rmap->n, matrix_->cmap->n, reinterpret_cast<const IndexOfPetsc*>(begin_),
            reinterpret_cast<const IndexOfPetsc*>(column_)};
  }
  /// The pattern of the nonempty rows.
  /// @param[out] rows   indices of the nonempty rows
  /// @param[out] begin  storage that the returned pattern uses
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

/// Make the device's form of a matrix from its pattern.
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

/// Multiply on the device. @return false if the host must multiply
bool multiply_on_device(const Product& product) {
  const Operation work = product.work();
  DeviceSpace* const space = space_of_product(work);
  if (!space) {
    note_fall_back(work);
    return false;
  }
  Twin& twin = twin_of(product.matrix, product.transposed);
  const std::string failure = follow(*space, product.matrix, -1, product.transposed, twin);
  const bool done = run_in(*space, work, [&](DeviceSpace& in, const Arrays& read, DeviceArray* written) {
    if (!failure.empty()) throw DeviceError(failure);
    in.product(*twin.form, *read[0], product.y != nullptr ? read[1] : nullptr, *written);
  });
  if (!done) return false;
  must(OclspktLogGpuFlops(2 * twin.entries));
  must(PetscObjectStateIncrease((PetscObject)product.z)); /* PETSc's product does this in VecRestoreArray() */
  return true;
}

template <auto slot, bool transposed, typename... Vectors>
void multiply_by_device(Mat matrix, Vectors... vectors) {
  if (!multiply_on_device({matrix, transposed, vectors...})) must((*(matrices().host.*slot))(matrix, vectors...));
}

void mat_destroy(Mat matrix) {
  matrices().sides.erase(matrix);
  must((*matrices().host.destroy)(matrix));
}

/// Call PETSc's operation, which changes values, and increase the matrix's state, which tells when the device's copy is
/// out of date. PETSc's parallel matrices change blocks without increasing the state of the block.
template <auto slot, typename... Arguments>
void change_values(Mat matrix, Arguments... arguments) {
  must((*(matrices().host.*slot))(matrix, arguments...));
  must(PetscObjectStateIncrease((PetscObject)matrix));
}

void mat_copy(Mat from, Mat to, MatStructure structure) {
  must((*matrices().host.copy)(from, to, structure));
  must(PetscObjectStateIncrease((PetscObject)to));
}

void retrieve_values(Mat matrix) {
  must((*matrices().retrieve_values)(matrix));
  must(PetscObjectStateIncrease((PetscObject)matrix));
}

/// Put operations of the device into a `seqaij` matrix of PETSc. A second call does nothing.
void dress_matrix(Mat matrix) {
  Matrices& m = matrices();
  if (matrix->ops->destroy == Called<mat_destroy, Mat>) return;
  if (m.host.destroy == nullptr) {
    m.host = *matrix->ops;
    must(PetscObjectQueryFunction((PetscObject)matrix, "MatRetrieveValues_C", &m.retrieve_values));
  }
  must(PetscObjectComposeFunction((PetscObject)matrix, "MatRetrieveValues_C", (Called<retrieve_values, Mat>)));
  OCLSPKT_PUT_PRODUCTS(matrix->ops, multiply_by_device);
  matrix->ops->destroy = Called<mat_destroy>;
  matrix->ops->copy = Called<mat_copy>;
  matrix->ops->scale = Called<change_values<&_MatOps::scale, PetscScalar>>;
  matrix->ops->shift = Called<change_values<&_MatOps::shift, PetscScalar>>;
  matrix->ops->diagonalscale = Called<change_values<&_MatOps::diagonalscale, Vec, Vec>>;
  matrix->ops->diagonalset = Called<change_values<&_MatOps::diagonalset, Vec, InsertMode>>;
  matrix->ops->zeroentries = Called<change_values<&_MatOps::zeroentries>>;
  matrix->ops->zerorows = Called<change_values<&_MatOps::zerorows, PetscInt, const PetscInt*, PetscScalar, Vec, Vec>>;
  matrix->ops->zerorowscolumns =
      Called<change_values<&_MatOps::zerorowscolumns, PetscInt, const PetscInt*, PetscScalar, Vec, Vec>>;
  matrix->ops->axpy = Called<change_values<&_MatOps::axpy, PetscScalar, Mat, MatStructure>>;
}

void create_seq_mat(Mat matrix) {
  must((*matrices().create_seq)(matrix));
  dress_matrix(matrix);
}

}  // namespace

bool is_dressed(Mat matrix) {
  return matrix->ops->mult == Called<multiply_by_device<&_MatOps::mult, false, Vec, Vec>, Mat, Vec, Vec>;
}

Twin& twin_of(Mat matrix, bool transposed) {
  MatSide& side = matrices().sides[matrix];
  if (const PetscObjectId id = ((PetscObject)matrix)->id; side.of != id) {
    side = {};
    side.of = id;
  }
  return transposed ? side.transposed : side.plain;
}

std::string follow(DeviceSpace& space, Mat matrix, PetscObjectState outer, bool transposed, Twin& twin) {
  PetscObjectState values, pattern;
  std::string failure;
  must(PetscObjectStateGet((PetscObject)matrix, &values));
  must(MatGetNonzeroState(matrix, &pattern));
  const bool same_pattern = twin.form && twin.of == &space && twin.pattern == pattern;
  const bool same_values = twin.values == values && (outer < 0 || twin.outer == outer);
  if (same_pattern && same_values) return {};
  HostRows rows(matrix);
  if (!rows.get()) return "the matrix has no rows at hand";
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
    failure = e.what();
    twin.form.reset();
  }
  rows.restore();
  return failure;
}

DeviceSpace* space_of_product(const Operation& work) {
  const Vec x = work.read.front(), z = work.written;
  const auto dressed = [](Vec v) { return is_dressed(v); };
  const bool can_be = dressed(z) && x != z && std::all_of(work.read.begin(), work.read.end(), dressed);
  return can_be ? space_for(std::min(x->map->n, z->map->n)) : nullptr;
}

void register_matrices() {
  must(MatInitializePackage());
  replace_creator(MatList, "matrices", MATSEQAIJ, types().options.on, Called<create_seq_mat, Mat>,
                  &matrices().create_seq, MatRegister);
  register_parallel_matrices();
}

void forget_matrices() {
  matrices().sides.clear();
  forget_parallel_matrices();
}

namespace {

using GetOrdering = PetscErrorCode (*)(Mat, MatOrderingType, IS*, IS*);

/// Operations of `mpiaij` matrices (PETSc's, or with -oclspkt_types partly ours), and PETSc's orderings by name.
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

/// While this guard lives, an object of PETSc has another type name, for functions that test for PETSc's names.
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

/// Dress the blocks of a matrix. Must be called before each use of the blocks, because PETSc may replace them by new
/// blocks of type `seqaij`.
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

/// Compute an ordering under PETSc's type name. For `mpiaij`, PETSc 3.18 orders the diagonal block. For any other name,
/// it returns an ordering that is no permutation of the rank's rows.
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
  for (int k = 0; k < count && names[k] != nullptr; ++k) { /* some releases also count the null at the end */
    must(PetscFunctionListFind(MatOrderingList, names[k], &found));
    of_petsc().orderings[names[k]] = found;
    must(MatOrderingRegister(names[k], Called<ordering_of>));
  }
  must(PetscFree(names));
}

void rename_matrix(Mat matrix, bool parallel, bool ours);

/// Convert by a copy and a new name. PETSc's conversion sets the values of a new matrix one by one. This fails for a
/// transposed pattern without values. It also fails for matrices of MatCreateMPIAIJWithArrays(), because
/// MatUpdateMPIAIJWithArray() reads data that the new matrix would lack.
template <bool parallel, bool ours>
void convert(Mat from, MatType /*type*/, MatReuse reuse, Mat* to) {
  if (reuse == MAT_REUSE_MATRIX) {
    must(MatCopy(from, *to, DIFFERENT_NONZERO_PATTERN));
    return;
  }
  if (reuse == MAT_INITIAL_MATRIX) must(MatDuplicate(from, MAT_COPY_VALUES, to));
  rename_matrix(*to, parallel, ours);
}

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

/* A matrix renamed to PETSc's type keeps our products. For PETSc's vectors, our products call PETSc's products. */
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
  create_seq_mat(matrix);
  give_name(matrix, false);
}

void create_named_mpi(Mat matrix) {
  replace_orderings();
  create_parallel(matrix);
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
