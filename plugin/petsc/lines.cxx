// SPDX-License-Identifier: BSD-2-Clause
#include "lines.hxx"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "boundary.hxx"
#include "join.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

/// Say whose rows do not add up; `bad` is a global row, -1 if there is nothing to say.
PetscErrorCode AgreeOnRows(PC pc, const char* what, PetscInt bad) {
  PetscInt worst = bad;

  PetscFunctionBegin;
  OclspktAllreduce(MPI_IN_PLACE, &worst, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  PetscCheck(worst < 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCOCLSPKTSetLines(): row %" PetscInt_FMT " %s; each rank lists its own global rows, each once", worst,
             what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Say how other ranks continue the line of all rows; `starts` are the first rows of all ranks.
void cut_matrix(const PetscInt* starts, int ranks, int rank, LineLayout& layout) {
  std::vector<int> chain;
  for (int r = 0; r < ranks; ++r) {
    if (starts[r + 1] > starts[r]) chain.push_back(r);
  }
  if (starts[rank + 1] == starts[rank] || chain.size() < 2) return;
  layout.above = {starts[rank] > 0 ? starts[rank] - 1 : -1};
  layout.below = {starts[rank + 1] < starts[ranks] ? starts[rank + 1] : -1};
  layout.cuts.chains = {std::move(chain)};
  layout.cuts.number = {0};
}

LineLayout layout_of(const GivenLines& given, PetscInt first_row) {
  LineLayout layout(LineSet::unequal(std::vector<Index>(given.starts.begin(), given.starts.end())));
  for (const PetscInt row : given.rows) layout.rows.push_back(row - first_row);
  return layout;
}

}  // namespace

std::vector<Direction> parse_directions(const std::string& words) {
  std::vector<Direction> directions;
  std::istringstream list(words);
  bool automatic = false;
  int count = 0;
  for (std::string part; std::getline(list, part, ','); ++count) {
    const std::string word = trimmed(part);
    const auto place = std::find(std::begin(kDirectionNames), std::end(kDirectionNames), word);
    const auto direction = static_cast<Direction>(place - std::begin(kDirectionNames));
    if (word == "auto") {
      automatic = true;
    } else if (place == std::end(kDirectionNames)) {
      throw InvalidInput("-pc_oclspkt_lines has no direction '" + word +
                         "'; there are: auto, x, y, z, matrix, given, joined by commas");
    } else if (std::find(directions.begin(), directions.end(), direction) != directions.end()) {
      throw InvalidInput("-pc_oclspkt_lines names '" + word +
                         "' twice; name it once (-pc_oclspkt_combine symmetric repeats directions by itself)");
    } else {
      directions.push_back(direction);
    }
  }
  if (count == 0 || (automatic && count > 1)) {
    throw InvalidInput("-pc_oclspkt_lines takes auto, or directions (x, y, z, matrix, given) joined by commas, not '" +
                       words + "'");
  }
  return directions;
}

PetscErrorCode LayOutMatrix(PC pc, Mat matrix, LineLayout* layout) {
  const PetscInt* starts;
  PetscInt rows;
  PetscMPIInt ranks, rank;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(MatGetOwnershipRanges(matrix, &starts));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)matrix), &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)matrix), &rank));
  OclspktCall(pc, *layout = LineLayout(ranks > 1 && rows == 0 ? LineSet() : LineSet::one(rows)));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  OclspktCall(pc, cut_matrix(starts, ranks, rank, *layout));
  PetscCall(ShareExchange(pc, layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LayOutGiven(PC pc, Mat matrix, const GivenLines& given, LineLayout* layout) {
  PetscInt first, end, bad = -1, lost = -1;
  std::vector<PetscInt> seen;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(matrix, &first, &end));
  OclspktCall(pc, seen.assign(static_cast<std::size_t>(end - first), 0));
  for (const PetscInt row : given.rows) {
    if (row < first || row >= end) {
      lost = row;
    } else if (seen[static_cast<std::size_t>(row - first)]++ > 0) {
      bad = row;
    }
  }
  PetscCall(AgreeOnRows(pc, "belongs to another rank than the one that lists it", lost));
  PetscCall(AgreeOnRows(pc, "is listed twice", bad));
  const auto missing = std::find(seen.begin(), seen.end(), 0);
  PetscCall(AgreeOnRows(pc, "is in no line",
                        missing == seen.end() ? -1 : first + static_cast<PetscInt>(missing - seen.begin())));
  OclspktCall(pc, *layout = layout_of(given, first));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)matrix), &ranks));
  if (ranks > 1) {
    PetscCall(JoinGiven(pc, given, layout));
    PetscCall(ShareExchange(pc, layout));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
