// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "boundary.hxx"
#include "parallel.hpp"
#include "pc_oclspkt.hxx"
#include "write_bands.hpp"

namespace oclspkt::petsc {
namespace {

std::vector<PetscInt> copy_indices(IS set) {
  const PetscInt* indices;
  PetscInt count;
  must(ISGetLocalSize(set, &count));
  must(ISGetIndices(set, &indices));
  std::vector<PetscInt> copy(indices, indices + count);
  must(ISRestoreIndices(set, &indices));
  return copy;
}

/// Starts and numbers fit each other and the rows.
void check_given(const GivenLines& given) {
  const std::vector<PetscInt>&starts = given.starts, &numbers = given.numbers;
  OclspktCheck(starts.size() == numbers.size() + 1, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "PCOCLSPKTSetLines(): %" PetscInt_FMT " lines need %" PetscInt_FMT
               " starts, the last of them the number of rows; there are %" PetscInt_FMT,
               static_cast<PetscInt>(numbers.size()), static_cast<PetscInt>(numbers.size()) + 1,
               static_cast<PetscInt>(starts.size()));
  OclspktCheck(starts.front() == 0 && static_cast<std::size_t>(starts.back()) == given.rows.size() &&
                   std::is_sorted(starts.begin(), starts.end()),
               PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "PCOCLSPKTSetLines(): starts must begin with 0, not decrease, and end with the %" PetscInt_FMT
               " rows of this rank, not %" PetscInt_FMT,
               static_cast<PetscInt>(given.rows.size()), starts.back());
  std::vector<PetscInt> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  OclspktCheck(sorted.empty() || sorted.front() >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "PCOCLSPKTSetLines(): a line has the number %" PetscInt_FMT "; count lines from 0", sorted.front());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  OclspktCheck(twice == sorted.end(), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "PCOCLSPKTSetLines(): line %" PetscInt_FMT
               " is listed twice on one rank; a rank holds one part of a line, its rows next to each other",
               *twice);
}

/// The lines that have rows, in the order of their numbers, which is the same on all ranks.
GivenLines in_order(const GivenLines& all) {
  std::vector<std::size_t> order(all.numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return all.numbers[a] < all.numbers[b]; });
  GivenLines ordered{{}, {0}, {}};
  for (const std::size_t l : order) {
    if (all.starts[l] == all.starts[l + 1]) continue;
    ordered.numbers.push_back(all.numbers[l]);
    ordered.rows.insert(ordered.rows.end(), all.rows.begin() + all.starts[l], all.rows.begin() + all.starts[l + 1]);
    ordered.starts.push_back(static_cast<PetscInt>(ordered.rows.size()));
  }
  return ordered;
}

/// The lines of a direction, if they are known already and not cut; else null.
const LineLayout* known_lines(PC pc, Direction direction, Index rows) {
  if (!lines_stay(pc)) return nullptr;
  for (const auto& sweep : data(pc)->sweeps) {
    const LineLayout& layout = sweep->layout;
    if (sweep->direction == direction && layout.lines.extent() == rows && !layout.exchange) return &layout;
  }
  return nullptr;
}

/// Copy the rows of three vectors that are on this rank, and look at them on the way where their lines are known.
void take_bands(PC pc, Direction direction, const std::array<Vec, 3>& vectors, GivenBands& given) {
  std::array<const PetscScalar*, 3> values;
  PetscInt rows[3];
  for (std::size_t b = 0; b < 3; ++b) must(VecGetLocalSize(vectors[b], &rows[b]));
  OclspktCheck(rows[0] == rows[1] && rows[2] == rows[1], PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "PCOCLSPKTSetBands(): the vectors have %" PetscInt_FMT ", %" PetscInt_FMT " and %" PetscInt_FMT
               " rows here; give three of the same layout",
               rows[0], rows[1], rows[2]);
  const LineLayout* const layout = known_lines(pc, direction, rows[1]);
  for (std::size_t b = 0; b < 3; ++b) must(VecGetArrayRead(vectors[b], &values[b]));
  const auto copy = copy_of<PetscScalar>({values[0], values[1], values[2]});
  given.ends.reset();
  if (layout) {
    given.bands.fill(layout->lines, copy);
    given.ends = ends_of(*layout);
  } else {
    given.bands.fill(rows[1], copy);
  }
  for (std::size_t b = 0; b < 3; ++b) must(VecRestoreArrayRead(vectors[b], &values[b]));
}

/// See that a program gives all objects of one kind, or none.
PetscErrorCode CheckObjects(PC pc, const char* function, [[maybe_unused]] PetscClassId kind, [[maybe_unused]] int first,
                            const std::array<PetscObject, 3>& objects) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscCheck(!objects[0] == !objects[1] && !objects[1] == !objects[2], comm_of(pc), PETSC_ERR_ARG_NULL,
             "%s() takes three objects, or NULL for all three to take them back", function);
  for (int k = 0; objects[0] && k < 3; ++k) {
    PetscValidHeaderSpecific(objects[static_cast<std::size_t>(k)], kind, first + k);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::vector<PetscScalar> copy_vector(Vec vector) {
  const PetscScalar* values;
  PetscInt rows;
  must(VecGetLocalSize(vector, &rows));
  must(VecGetArrayRead(vector, &values));
  std::vector<PetscScalar> copy(static_cast<std::size_t>(rows));
  for_pieces(rows, kPieceRows,
             [&](Index first, Index end) { std::copy(values + first, values + end, copy.data() + first); });
  must(VecRestoreArrayRead(vector, &values));
  return copy;
}

void set_lines(PC pc, IS lines, IS starts, IS rows) {
  PC_OCLSPKT* o = data(pc);
  if (lines) {
    const GivenLines given{copy_indices(lines), copy_indices(starts), copy_indices(rows)};
    check_given(given);
    o->given_lines = in_order(given);
  } else {
    o->given_lines.reset();
  }
  ++o->given_changes;
  forget_operator(pc);
}

void set_bands(PC pc, const char axis[], Vec lower, Vec diag, Vec upper) {
  PC_OCLSPKT* o = data(pc);
  const auto* const end = kDirectionNames + kAxes;
  const auto* const word =
      std::find_if(kDirectionNames, end, [&](const char* name) { return std::strcmp(axis, name) == 0; });
  OclspktCheck(word != end, comm_of(pc), PETSC_ERR_ARG_OUTOFRANGE,
               "PCOCLSPKTSetBands() takes the axes x, y and z, not '%s'", axis);
  const auto direction = static_cast<Direction>(word - kDirectionNames);
  GivenBands& given = o->given_bands[place(direction)];
  const bool before = given.set;
  given.set = given.taken = false;
  if (diag) {
    take_bands(pc, direction, {lower, diag, upper}, given);
    given.set = true;
  }
  if (given.set != before) ++o->given_changes;
  forget_operator(pc);
}

}  // namespace oclspkt::petsc

PetscErrorCode PCOCLSPKTSetLines(PC pc, IS lines, IS starts, IS rows) {
  PetscFunctionBegin;
  PetscCall(oclspkt::petsc::CheckObjects(pc, "PCOCLSPKTSetLines", IS_CLASSID, 2,
                                         {(PetscObject)lines, (PetscObject)starts, (PetscObject)rows}));
  PetscTryMethod(pc, "PCOCLSPKTSetLines_C", (PC, IS, IS, IS), (pc, lines, starts, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCOCLSPKTSetBands(PC pc, const char axis[], Vec lower, Vec diag, Vec upper) {
  PetscFunctionBegin;
  OclspktValidPC(pc);
  PetscCall(oclspkt::petsc::CheckPointer(PetscObjectComm((PetscObject)pc), "second", "PCOCLSPKTSetBands", axis));
  PetscCall(oclspkt::petsc::CheckObjects(pc, "PCOCLSPKTSetBands", VEC_CLASSID, 3,
                                         {(PetscObject)lower, (PetscObject)diag, (PetscObject)upper}));
  PetscTryMethod(pc, "PCOCLSPKTSetBands_C", (PC, const char[], Vec, Vec, Vec), (pc, axis, lower, diag, upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}
