// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "arguments.hxx"
#include "boundary.hxx"
#include "parallel.hpp"
#include "pc_oclspkt.hxx"
#include "write_bands.hpp"

namespace oclspkt::petsc {
namespace {

PetscErrorCode CopyIndices(PC pc, IS set, std::vector<PetscInt>* to) {
  const PetscInt* indices;
  PetscInt count;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(set, &count));
  PetscCall(ISGetIndices(set, &indices));
  OclspktCall(pc, to->assign(indices, indices + count));
  PetscCall(ISRestoreIndices(set, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Starts and numbers fit each other and the rows.
PetscErrorCode CheckGiven(const GivenLines& given) {
  const std::vector<PetscInt>&starts = given.starts, &numbers = given.numbers;

  PetscFunctionBegin;
  PetscCheck(starts.size() == numbers.size() + 1, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "PCOCLSPKTSetLines(): %" PetscInt_FMT " lines need %" PetscInt_FMT
             " starts, the last of them the number of rows; there are %" PetscInt_FMT,
             static_cast<PetscInt>(numbers.size()), static_cast<PetscInt>(numbers.size()) + 1,
             static_cast<PetscInt>(starts.size()));
  PetscCheck(starts.front() == 0 && static_cast<std::size_t>(starts.back()) == given.rows.size() &&
                 std::is_sorted(starts.begin(), starts.end()),
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "PCOCLSPKTSetLines(): starts must begin with 0, not decrease, and end with the %" PetscInt_FMT
             " rows of this rank, not %" PetscInt_FMT,
             static_cast<PetscInt>(given.rows.size()), starts.back());
  std::vector<PetscInt> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  PetscCheck(sorted.empty() || sorted.front() >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "PCOCLSPKTSetLines(): a line has the number %" PetscInt_FMT "; count lines from 0", sorted.front());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  PetscCheck(twice == sorted.end(), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "PCOCLSPKTSetLines(): line %" PetscInt_FMT
             " is listed twice on one rank; a rank holds one part of a line, its rows next to each other",
             *twice);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The lines that have rows, in the order of their numbers, which is the same on all ranks.
GivenLines in_order(const GivenLines& all) {
  std::vector<std::size_t> order(all.numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return all.numbers[a] < all.numbers[b]; });
  GivenLines kept{{}, {0}, {}};
  for (const std::size_t l : order) {
    if (all.starts[l] == all.starts[l + 1]) continue;
    kept.numbers.push_back(all.numbers[l]);
    kept.rows.insert(kept.rows.end(), all.rows.begin() + all.starts[l], all.rows.begin() + all.starts[l + 1]);
    kept.starts.push_back(static_cast<PetscInt>(kept.rows.size()));
  }
  return kept;
}

/// The lines of a direction, if they are known already and not cut; else null.
PetscErrorCode KnownLines(PC pc, Direction direction, Index rows, const LineLayout** layout) {
  PetscBool stay;

  PetscFunctionBegin;
  *layout = nullptr;
  PetscCall(LinesStay(pc, &stay));
  for (const auto& sweep : data(pc)->sweeps) {
    const LineLayout& known = sweep->layout;
    if (stay && sweep->direction == direction && known.lines.extent() == rows && !known.exchange) *layout = &known;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Copy the rows of three vectors that are on this rank, and look at them on the way where their lines are known.
PetscErrorCode TakeBands(PC pc, Direction direction, const std::array<Vec, 3>& vectors, GivenBands& given) {
  std::array<const PetscScalar*, 3> values;
  PetscInt rows[3];
  const LineLayout* layout;

  PetscFunctionBegin;
  for (std::size_t b = 0; b < 3; ++b) PetscCall(VecGetLocalSize(vectors[b], &rows[b]));
  PetscCheck(rows[0] == rows[1] && rows[2] == rows[1], PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "PCOCLSPKTSetBands(): the vectors have %" PetscInt_FMT ", %" PetscInt_FMT " and %" PetscInt_FMT
             " rows here; give three of the same layout",
             rows[0], rows[1], rows[2]);
  PetscCall(KnownLines(pc, direction, rows[1], &layout));
  for (std::size_t b = 0; b < 3; ++b) PetscCall(VecGetArrayRead(vectors[b], &values[b]));
  const auto copy = copy_of<PetscScalar>({values[0], values[1], values[2]});
  given.ends.reset();
  if (layout) {
    OclspktCall(pc, given.bands.fill(layout->lines, copy));
    OclspktCall(pc, given.ends = ends_of(*layout));
  } else {
    OclspktCall(pc, given.bands.fill(rows[1], copy));
  }
  for (std::size_t b = 0; b < 3; ++b) PetscCall(VecRestoreArrayRead(vectors[b], &values[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All are there, or none.
PetscErrorCode AllOrNone(PC pc, const char* function, bool first, bool second, bool third) {
  PetscFunctionBegin;
  PetscCheck(first == second && second == third, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL,
             "%s takes three objects, or NULL for all three to take them back", function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode CopyVector(PC pc, Vec vector, std::vector<PetscScalar>* to) {
  const PetscScalar* values;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vector, &rows));
  PetscCall(VecGetArrayRead(vector, &values));
  const auto copy = [&](Index first, Index end) { std::copy(values + first, values + end, to->data() + first); };
  OclspktCall(pc, to->resize(static_cast<std::size_t>(rows)));
  OclspktCall(pc, for_pieces(rows, kPieceRows, copy));
  PetscCall(VecRestoreArrayRead(vector, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetLines_OCLSPKT(PC pc, IS lines, IS starts, IS rows) {
  PC_OCLSPKT* o = data(pc);
  GivenLines given;

  PetscFunctionBegin;
  if (lines) {
    PetscCall(CopyIndices(pc, lines, &given.numbers));
    PetscCall(CopyIndices(pc, starts, &given.starts));
    PetscCall(CopyIndices(pc, rows, &given.rows));
    PetscCall(CheckGiven(given));
    OclspktCall(pc, o->given_lines = in_order(given));
  } else {
    o->given_lines.reset();
  }
  ++o->given_changes;
  forget_operator(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetBands_OCLSPKT(PC pc, const char axis[], Vec lower, Vec diag, Vec upper) {
  PC_OCLSPKT* o = data(pc);
  const auto* const end = kDirectionNames + kAxes;
  const auto* const place =
      std::find_if(kDirectionNames, end, [&](const char* word) { return std::strcmp(axis, word) == 0; });

  PetscFunctionBegin;
  PetscCheck(place != end, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCOCLSPKTSetBands() takes the axes x, y and z, not '%s'", axis);
  const auto direction = static_cast<Direction>(place - kDirectionNames);
  GivenBands& given = o->given_bands[oclspkt::petsc::place(direction)];
  const bool before = given.set;
  given.set = given.taken = false;
  if (diag) {
    PetscCall(TakeBands(pc, direction, {lower, diag, upper}, given));
    given.set = true;
  }
  if (given.set != before) ++o->given_changes;
  forget_operator(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc

PetscErrorCode PCOCLSPKTSetLines(PC pc, IS lines, IS starts, IS rows) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscCall(oclspkt::petsc::AllOrNone(pc, "PCOCLSPKTSetLines()", lines, starts, rows));
  if (lines) {
    PetscValidHeaderSpecific(lines, IS_CLASSID, 2);
    PetscValidHeaderSpecific(starts, IS_CLASSID, 3);
    PetscValidHeaderSpecific(rows, IS_CLASSID, 4);
  }
  PetscTryMethod(pc, "PCOCLSPKTSetLines_C", (PC, IS, IS, IS), (pc, lines, starts, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetBands(PC pc, const char axis[], Vec lower, Vec diag, Vec upper) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscCall(oclspkt::petsc::CheckPointer(PetscObjectComm((PetscObject)pc), "second", "PCOCLSPKTSetBands", axis));
  PetscCall(oclspkt::petsc::AllOrNone(pc, "PCOCLSPKTSetBands()", lower, diag, upper));
  if (diag) {
    PetscValidHeaderSpecific(lower, VEC_CLASSID, 3);
    PetscValidHeaderSpecific(diag, VEC_CLASSID, 4);
    PetscValidHeaderSpecific(upper, VEC_CLASSID, 5);
  }
  PetscTryMethod(pc, "PCOCLSPKTSetBands_C", (PC, const char[], Vec, Vec, Vec), (pc, axis, lower, diag, upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}
