// SPDX-License-Identifier: BSD-2-Clause
/* Dressed vectors as objects: made, copied, destroyed, and their arrays handed out. */
#include <petsctao.h>

#include <cstring>
#include <string>

#include "boundary.hxx"
#include "types.hxx"

namespace oclspkt::petsc {
namespace {

PetscErrorCode DestroyVec(Vec vector) {
  Types& t = types();

  PetscFunctionBegin;
  const struct _VecOps& host = of_host(vector);
  forget_parts(vector);
  t.sides.erase(vector);
  PetscCall((*host.destroy)(vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetArray(Vec vector, PetscScalar** array) {
  PetscFunctionBegin;
  PetscCall(ToHost(vector));
  Side& side = side_of(vector);
  side.device = false;
  ++side.out;
  OclspktCall(nullptr, give_to_parts(vector));
  *array = host_array(vector);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array may have been written. Some programs restore what they never got. */
PetscErrorCode RestoreArray(Vec vector, PetscScalar** /*array*/) {
  Side& side = side_of(vector);

  PetscFunctionBegin;
  side.device = false;
  if (side.out > 0) --side.out;
  OclspktCall(nullptr, give_to_parts(vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetArrayRead(Vec vector, const PetscScalar** array) {
  PetscFunctionBegin;
  PetscCall(ToHost(vector));
  *array = host_array(vector);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreArrayRead(Vec /*vector*/, const PetscScalar** /*array*/) {
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlaceArray(Vec vector, const PetscScalar* array) {
  PetscFunctionBegin;
  PetscCall(ToHost(vector)); /* what is put aside */
  PetscCall((*side_of(vector).host_operations->placearray)(vector, array));
  side_of(vector).device = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ResetArray(Vec vector) {
  PetscFunctionBegin;
  PetscCall(ToHost(vector)); /* into the array that was placed */
  PetscCall((*side_of(vector).host_operations->resetarray)(vector));
  side_of(vector).device = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReplaceArray(Vec vector, const PetscScalar* array) {
  PetscFunctionBegin;
  PetscCall((*side_of(vector).host_operations->replacearray)(vector, array));
  side_of(vector).host = true;
  side_of(vector).device = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's copy their operations, and begin with zeros or with what the host's memory holds.
PetscErrorCode Duplicate(Vec vector, Vec* made) {
  PetscFunctionBegin;
  PetscCall((*side_of(vector).host_operations->duplicate)(vector, made));
  if (!is_dressed(*made)) dress(*made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DuplicateVecs(Vec vector, PetscInt count, Vec** made) {
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, made));
  for (PetscInt k = 0; k < count; ++k) PetscCall(VecDuplicate(vector, *made + k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DestroyVecs(PetscInt count, Vec vectors[]) {
  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; ++k) PetscCall(VecDestroy(vectors + k));
  PetscCall(PetscFree(vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSeq(Vec vector) {
  PetscFunctionBegin;
  PetscCall((*types().create_seq)(vector));
  dress(vector);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateMPI(Vec vector) {
  PetscFunctionBegin;
  PetscCall((*types().create_mpi)(vector));
  dress(vector);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Have `create` made by PETSc's function list in the place of PETSc's own, unless it is there already.
PetscErrorCode Replace(const char* type, PetscErrorCode (*create)(Vec), PetscErrorCode (**of_petsc)(Vec)) {
  PetscErrorCode (*found)(Vec) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(VecList, type, &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "this PETSc has no vectors of type %s", type);
  if (found == create) PetscFunctionReturn(PETSC_SUCCESS);
  *of_petsc = found;
  PetscCall(VecRegister(type, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* They keep vectors over arrays of other vectors after those are given back. Such a vector of the host is not known
   here: its values and those of the device would go apart without a word. */
PetscErrorCode RefuseGASM(PC pc) {
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
          "PCGASM keeps vectors over arrays of others, which -oclspkt_types does not see: use -pc_type asm, or leave "
          "-oclspkt_types out");
}

PetscErrorCode RefusePDIPM(Tao tao) {
  SETERRQ(PetscObjectComm((PetscObject)tao), PETSC_ERR_SUP,
          "TAOPDIPM keeps vectors over arrays of others, which -oclspkt_types does not see: leave -oclspkt_types out");
}

}  // namespace

bool is_dressed(Vec vector) { return vector->ops->destroy == DestroyVec; }

/* Duplicates that PETSc makes by copying operations get their side here. */
Side& side_of(Vec vector) {
  Types& t = types();
  const PetscObjectId id = ((PetscObject)vector)->id;
  Side& side = t.sides[vector];
  if (side.of == id) return side;
  side = {};
  side.of = id;
  side.host_operations = std::strcmp(((PetscObject)vector)->type_name, VECSEQ) == 0 ? &t.seq : &t.mpi;
  return side;
}

void dress(Vec vector) {
  Types& t = types();
  const bool is_seq = std::strcmp(((PetscObject)vector)->type_name, VECSEQ) == 0;
  struct _VecOps& of_host = is_seq ? t.seq : t.mpi;
  if (of_host.destroy == nullptr) of_host = *vector->ops;
  put_operations(vector->ops);
  put_sums(vector->ops);
  put_parts(vector->ops);
  vector->ops->destroy = DestroyVec;
  vector->ops->getarray = vector->ops->getarraywrite = GetArray;
  vector->ops->restorearray = vector->ops->restorearraywrite = RestoreArray;
  vector->ops->getarrayread = GetArrayRead;
  vector->ops->restorearrayread = RestoreArrayRead;
  vector->ops->placearray = PlaceArray;
  vector->ops->resetarray = ResetArray;
  vector->ops->replacearray = ReplaceArray;
  vector->ops->duplicate = Duplicate;
  vector->ops->duplicatevecs = DuplicateVecs;
  vector->ops->destroyvecs = DestroyVecs;
}

PetscErrorCode RegisterTypes() {
  Types& t = types();

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-oclspkt_types", &t.on, nullptr));
  if (!t.on) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!PetscDefined(HAVE_THREADSAFETY), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-oclspkt_types wants one thread, and this PETSc was configured with thread safety: leave the option out");
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-oclspkt_types_view", &t.view, nullptr));
  PetscBool fixed = PETSC_FALSE;
  t.least = kLeastRows;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-pc_oclspkt_reproducible", &fixed, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-oclspkt_types_least", &t.least, &t.least_is_fixed));
  if (fixed) t.least_is_fixed = PETSC_TRUE;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-pc_oclspkt_profile", t.profile, sizeof t.profile, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-oclspkt_types_device", t.devices, sizeof t.devices, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-oclspkt_types_poison", &t.poison, nullptr));
  PetscCall(VecInitializePackage());
  PetscCall(Replace(VECSEQ, CreateSeq, &t.create_seq));
  PetscCall(Replace(VECMPI, CreateMPI, &t.create_mpi));
  PetscCall(RegisterMatrices());
  PetscCall(PCInitializePackage());
  PetscCall(PCRegister(PCGASM, RefuseGASM));
  PetscCall(TaoInitializePackage());
  PetscCall(TaoRegister(TAOPDIPM, RefusePDIPM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What was done, for -oclspkt_types_view.
static PetscErrorCode ViewTypes() {
  const Types& t = types();
  std::string text = "oclspkt types: ";

  PetscFunctionBegin;
  OclspktCall(nullptr, {
    if (t.space) {
      const SpaceCounts counts = t.space->counts();
      text += t.space->device().name + ", " + std::to_string(counts.launches - t.begun.launches) + " launches, " +
              std::to_string(counts.waits - t.begun.waits) + " waits, " +
              std::to_string(counts.bytes_up - t.begun.bytes_up) + " bytes up, " +
              std::to_string(counts.bytes_down - t.begun.bytes_down) + " down; vectors copied up " +
              std::to_string(t.ups) + " times, down " + std::to_string(t.downs) + " times\n  vectors of " +
              std::to_string(t.least) + " rows or more" +
              (t.least_is_fixed ? "" : ": from there on it is quicker than the host, as measured") + "\n";
    } else {
      text += "no device was used" + (t.why.empty() ? "" : ": " + t.why) + "\n";
    }
    if (t.space && t.failed) text += "  then the host: " + t.why + "\n";
    for (const auto& [name, count] : t.fell_back) {
      text += "  " + name + ": " + std::to_string(count) + " times by the host, with values on the device\n";
    }
  });
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s", text.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors may be alive: PETSc's operations stay, by which they are destroyed. What only the device has is lost. */
PetscErrorCode FinalizeTypes() {
  Types& t = types();

  PetscFunctionBegin;
  if (t.on && t.view) PetscCall(ViewTypes());
  t.sides.clear();
  t.scratch.reset();
  forget_matrices();
  t.space.reset();
  t.fell_back.clear();
  t.on = PETSC_FALSE;
  t.failed = t.shared = false;
  t.ups = t.downs = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
