// SPDX-License-Identifier: BSD-2-Clause
/* Making, duplicating and destroying dressed vectors, and access of programs to their arrays. */
#include <petsctao.h>

#include <cstring>
#include <iterator>
#include <utility>

#include "mat_dress.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

void vec_destroy(Vec vector) {
  const struct _VecOps& host = of_host(vector);
  forget_parts(vector);
  types().sides.erase(vector);
  must((*host.destroy)(vector));
}

void vec_get_array(Vec vector, PetscScalar** array) {
  to_host(vector);
  Side& side = side_of(vector);
  side.device = false;
  ++side.out;
  give_to_parts(vector);
  *array = host_array(vector);
}

/* The program may have written the array. Some programs restore arrays that they never got, so `out` may be 0. */
void vec_restore_array(Vec vector, PetscScalar** /*array*/) {
  Side& side = side_of(vector);
  side.device = false;
  if (side.out > 0) --side.out;
  give_to_parts(vector);
}

void vec_get_array_read(Vec vector, const PetscScalar** array) {
  to_host(vector);
  *array = host_array(vector);
}

void vec_restore_array_read(Vec /*vector*/, const PetscScalar** /*array*/) {}

void vec_place_array(Vec vector, const PetscScalar* array) {
  to_host(vector); /* the replaced array must have the values when the program restores it */
  must((*of_host(vector).placearray)(vector, array));
  side_of(vector).device = false;
}

void vec_reset_array(Vec vector) {
  to_host(vector); /* the program expects the values in the placed array */
  must((*of_host(vector).resetarray)(vector));
  side_of(vector).device = false;
}

void vec_replace_array(Vec vector, const PetscScalar* array) {
  check_not_lent(vector);
  must((*of_host(vector).replacearray)(vector, array));
  side_of(vector).host = true;
  side_of(vector).device = false;
}

/// Make a long vector by a function of PETSc, but without its array, which PETSc would fill with zeros. The vector gets
/// pages of zeros instead, which the operating system provides when the host touches them. KSP makes vectors in each
/// solve. On a virtual machine, zeros for 1.7e7 rows took 73 ms, as long as 80 iterations of CG on an H200. While
/// PETSc makes the vector, its layout has no rows, because a second layout would need another communicator or a
/// collective call.
template <typename Make>
void make_without_array(PetscLayout map, Vec* made, const Make& make) {
  const PetscInt rows = map->n, of_all = map->N;
  PetscScalar** arrays;
  map->n = map->N = map->oldn = map->oldN = 0;
  const PetscErrorCode code = make();
  map->n = map->oldn = rows;
  map->N = map->oldN = of_all;
  must(code);
  if (!is_dressed(*made)) dress(*made);
  Side& side = side_of(*made);
  side.host_memory = make_zeros(static_cast<std::size_t>(map->n) * sizeof(PetscScalar));
  OclspktCheck(side.host_memory, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a vector of %" PetscInt_FMT " rows",
               map->n);
  arrays = static_cast<PetscScalar**>((*made)->data); /* [0]: the array; [1]: the memory that PETSc frees */
  arrays[0] = static_cast<PetscScalar*>(side.host_memory.get());
}

template <typename Make>
void make_dressed(PetscLayout map, Vec* made, const Make& make) {
  const Types& t = types();
  if (t.ready && !t.failed && map->n > 0 && map->n >= t.least) {
    make_without_array(map, made, make);
  } else {
    must(make());
  }
  if (!is_dressed(*made)) dress(*made);
}

/// Duplicate a vector and its operations, but not its values.
void vec_duplicate(Vec vector, Vec* made) {
  const auto duplicate = of_host(vector).duplicate;
  make_dressed(vector->map, made, [&] { return (*duplicate)(vector, made); });
  if (has_our_name(vector)) must(PetscObjectChangeTypeName((PetscObject)*made, kVecName));
}

void vec_duplicate_vecs(Vec vector, PetscInt count, Vec** made) {
  must(PetscMalloc1(count, made));
  for (PetscInt k = 0; k < count; ++k) must(VecDuplicate(vector, *made + k));
}

void vec_destroy_vecs(PetscInt count, Vec vectors[]) {
  for (PetscInt k = 0; k < count; ++k) must(VecDestroy(vectors + k));
  must(PetscFree(vectors));
}

void create_by(PetscErrorCode (*create)(Vec), Vec vector) {
  must(PetscLayoutSetUp(vector->map));
  make_dressed(vector->map, &vector, [&] { return (*create)(vector); });
}

/* A sequential vector that is too short for any work on the device stays undressed: with 1000 rows, a test of its
   length would take a tenth of an operation's time. A parallel vector is always dressed, because it may be long on
   other ranks and all ranks must agree. */
void create_seq_vec(Vec vector) {
  must(PetscLayoutSetUp(vector->map));
  if (vector->map->n < (types().options.least_is_fixed ? types().least : kLeastRows)) {
    must((*types().petscs.create_seq)(vector));
  } else {
    create_by(types().petscs.create_seq, vector);
  }
}

void create_mpi_vec(Vec vector) { create_by(types().petscs.create_mpi, vector); }

/* Some solvers get the array of a vector, make another vector over it, and keep that vector after they have restored
   the array. This library cannot see such vectors, so their values would silently differ from the device's values. */
void refuse_solver(MPI_Comm comm, const char* type, const char* cure) {
  OclspktCheck(
      false, comm, PETSC_ERR_SUP,
      "%s keeps vectors over arrays of others, which vectors on a device do not see: %sleave -oclspkt_types and "
      "-vec_type opencl out",
      type, cure);
}

void refuse_gasm(PC pc) { refuse_solver(comm_of(pc), "PCGASM", "use -pc_type asm, or "); }

void refuse_pdipm(Tao tao) { refuse_solver(comm_of(tao), "TAOPDIPM", ""); }

/// PETSc's operations for a vector: by its type, or, for our types, by its number of ranks.
struct _VecOps& operations_of_petsc(Vec vector) {
  const bool is_seq = has_our_name(vector) ? ranks_of(comm_of(vector)) == 1
                                           : std::strcmp(((PetscObject)vector)->type_name, VECSEQ) == 0;
  return is_seq ? types().petscs.seq : types().petscs.mpi;
}

}  // namespace

void refuse_hidden_vectors() {
  PetscErrorCode (*found)(PC);
  must(PCInitializePackage());
  must(PetscFunctionListFind(PCList, PCGASM, &found));
  if (found == Called<refuse_gasm, PC>) return;
  must(PCRegister(PCGASM, Called<refuse_gasm>));
  must(TaoInitializePackage());
  must(TaoRegister(TAOPDIPM, Called<refuse_pdipm>));
}

void create_dressed(Vec vector) {
  create_by(ranks_of(comm_of(vector)) == 1 ? types().petscs.create_seq : types().petscs.create_mpi, vector);
}

bool is_dressed(Vec vector) { return vector->ops->destroy == Called<vec_destroy, Vec>; }

/* Find the side of a vector, or make it. A vector has no side yet if PETSc duplicated it by copying operations. */
Side& side_of(Vec vector) {
  const PetscObjectId id = ((PetscObject)vector)->id;
  Side& side = types().sides[vector];
  if (side.of == id) return side;
  side = {};
  side.of = id;
  side.host_operations = &operations_of_petsc(vector);
  return side;
}

bool is_too_short(Vec vector) {
  PetscBool is_seq = PETSC_FALSE;
  (void)PetscObjectTypeCompare((PetscObject)vector, VECSEQ, &is_seq);
  const bool owns_array = is_seq && static_cast<PetscScalar**>(vector->data)[1] != nullptr;
  return types().options.on && owns_array && !is_dressed(vector);
}

void dress(Vec vector) {
  struct _VecOps& of_host = operations_of_petsc(vector);
  if (of_host.destroy == nullptr) of_host = *vector->ops;
  put_operations(vector->ops);
  put_parts(vector->ops);
  vector->ops->destroy = Called<vec_destroy>;
  vector->ops->getarray = vector->ops->getarraywrite = Called<vec_get_array>;
  vector->ops->restorearray = vector->ops->restorearraywrite = Called<vec_restore_array>;
  vector->ops->getarrayread = Called<vec_get_array_read>;
  vector->ops->restorearrayread = Called<vec_restore_array_read>;
  vector->ops->placearray = Called<vec_place_array>;
  vector->ops->resetarray = Called<vec_reset_array>;
  vector->ops->replacearray = Called<vec_replace_array>;
  vector->ops->duplicate = Called<vec_duplicate>;
  vector->ops->duplicatevecs = Called<vec_duplicate_vecs>;
  vector->ops->destroyvecs = Called<vec_destroy_vecs>;
}

void register_types() {
  Types& t = types();
  t.options = {};
  must(PetscOptionsGetBool(nullptr, nullptr, "-oclspkt_types", &t.options.on, nullptr));
  agree_on_types(t.options.on);
  if (PetscDefined(HAVE_THREADSAFETY)) {
    OclspktCheck(
        !t.options.on, PETSC_COMM_SELF, PETSC_ERR_SUP,
        "-oclspkt_types wants one thread, and this PETSc was configured with thread safety: leave the option out");
    return;
  }
  must(PetscOptionsGetBool(nullptr, nullptr, "-oclspkt_types_view", &t.options.view, nullptr));
  PetscBool fixed = PETSC_FALSE;
  t.least = kLeastRows;
  t.least_of_cg = 0;
  must(PetscOptionsGetBool(nullptr, nullptr, "-pc_oclspkt_reproducible", &fixed, nullptr));
  must(PetscOptionsGetInt(nullptr, nullptr, "-oclspkt_types_least", &t.least, &t.options.least_is_fixed));
  if (fixed) t.options.least_is_fixed = PETSC_TRUE;
  must(PetscOptionsGetString(nullptr, nullptr, "-pc_oclspkt_profile", t.options.profile, sizeof t.options.profile,
                             nullptr));
  must(PetscOptionsGetString(nullptr, nullptr, "-oclspkt_types_device", t.options.devices, sizeof t.options.devices,
                             nullptr));
  must(PetscOptionsGetBool(nullptr, nullptr, "-oclspkt_types_poison", &t.options.poison, nullptr));
  must(PetscOptionsGetBool(nullptr, nullptr, "-oclspkt_types_sync", &t.options.sync, nullptr));
  must(VecInitializePackage());
  replace_creator(VecList, "vectors", VECSEQ, t.options.on, Called<create_seq_vec, Vec>, &t.petscs.create_seq,
                  VecRegister);
  replace_creator(VecList, "vectors", VECMPI, t.options.on, Called<create_mpi_vec, Vec>, &t.petscs.create_mpi,
                  VecRegister);
  register_matrices();
  register_named_types();
  register_solver();
  if (t.options.on) refuse_hidden_vectors();
  t.ready = true;
}

static void view_types() {
  const Types& t = types();
  std::string text = "oclspkt types: ";
  const auto add = [&text](const auto&... words) { (text.append(words), ...); };
  const auto number = [](std::int64_t count) { return std::to_string(count); };
  if (t.space) {
    const SpaceCounts now = t.space->counts();
    add(t.space->device().name, ", ", number(now.launches - t.begun.launches), " launches, ",
        number(now.waits - t.begun.waits), " waits, ", number(now.bytes_up - t.begun.bytes_up), " bytes up, ",
        number(now.bytes_down - t.begun.bytes_down), " down; vectors copied up ", number(t.ups), " times, down ",
        number(t.downs), " times\n  vectors of ", number(t.least), " rows or more",
        t.options.least_is_fixed ? "\n" : ": from there on it is quicker than the host, as measured\n");
    if (t.sharers > 1) {
      add("  shared: ", number(t.sharers), " ranks of this node take turns on it; one rank a device is quicker\n");
    }
    if (t.failed) add("  then the host: ", t.why, "\n");
  } else {
    add("no device was used", t.why.empty() ? "" : ": ", t.why, "\n");
  }
  for (const auto& [name, count] : t.fell_back) {
    add("  ", name, ": ", number(count), " times by the host, with values on the device\n");
  }
  if (t.columns > 0) {
    add("  PCMatApply: ", number(t.columns), " columns of dense matrices, which are the host's: they cross the bus\n");
  }
  must(PetscPrintf(PETSC_COMM_WORLD, "%s", text.c_str()));
}

/* Vectors may outlive this call. PETSc's operations, which they keep, then destroy them. Values that only the device
   has are lost. */
void finalize_types() {
  Types& t = types();
  if (t.ready && t.options.view) view_types();
  for (auto i = t.sides.begin(); i != t.sides.end();) { /* living vectors keep their arrays */
    Side& side = i->second;
    side = {.of = side.of, .host_operations = side.host_operations, .host_memory = std::move(side.host_memory)};
    i = i->second.host_memory ? std::next(i) : t.sides.erase(i);
  }
  t.scratch = {};
  forget_solvers();
  forget_matrices();
  t.space.reset();
  t.fell_back.clear();
  t.options = {};
  t.ready = t.failed = t.shared = false;
  t.ups = t.downs = t.columns = 0;
}

}  // namespace oclspkt::petsc
