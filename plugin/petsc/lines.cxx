// SPDX-License-Identifier: BSD-2-Clause
/* One line of all rows in the matrix's order, and the lines and bands that a program sets. */
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "exchange.hxx"
#include "parallel.hpp"
#include "pc_oclspkt.hxx"
#include "split.hpp"
#include "write_bands.hpp"

namespace oclspkt::petsc {
namespace {

/// Fail on all ranks if a rank found a bad row. Collective.
/// @param what  the fault of the row, for the message
/// @param bad   global row; -1: none
void agree_on_rows(PC pc, const char* what, PetscInt bad) {
  PetscInt worst = bad;
  OclspktReduce(MPI_IN_PLACE, &worst, 1, MPIU_INT, MPI_MAX, comm_of(pc));
  OclspktCheck(worst < 0, comm_of(pc), PETSC_ERR_ARG_OUTOFRANGE,
               "PCOCLSPKTSetLines(): row %" PetscInt_FMT " %s; each rank lists its own global rows, each once", worst,
               what);
}

/// Set the cuts of the line of all rows.
/// @param starts  shape [ranks + 1]; first row of each rank, then the number of all rows
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

/// Lists of numbers that a rank sends to, or receives from, all ranks; shape [ranks].
using Outbox = std::vector<std::vector<PetscInt>>;

/// Send each rank its list. Collective. @return the lists that this rank received, by sender
Outbox deliver(PC pc, const Outbox& outbox) {
  std::vector<Index> sent, received(outbox.size());
  std::vector<PetscInt> out, in;
  std::vector<Exchange::Leg> to, from;
  Outbox inbox;
  for (const auto& list : outbox) {
    sent.push_back(static_cast<Index>(list.size()));
    out.insert(out.end(), list.begin(), list.end());
  }
  must_mpi(MPI_Alltoall(sent.data(), 1, MPIU_INT64, received.data(), 1, MPIU_INT64, comm_of(pc)));
  for (std::size_t r = 0; r < outbox.size(); ++r) {
    if (sent[r] > 0) to.push_back({static_cast<int>(r), sent[r]});
    if (received[r] > 0) from.push_back({static_cast<int>(r), received[r]});
  }
  in.resize(static_cast<std::size_t>(std::reduce(received.begin(), received.end())));
  const auto channel = MpiExchange(comm_of(pc)).open(to, from, sizeof(PetscInt));
  channel->start(out.data(), in.data());
  channel->finish();
  auto at = in.begin();
  for (const Index count : received) at += static_cast<std::ptrdiff_t>(inbox.emplace_back(at, at + count).size());
  return inbox;
}

/// One rank's part of a line, in the line's register. The rank with number (line number) mod (number of ranks) keeps
/// this register.
struct PartOfLine {
  int rank;
  PetscInt first, last;  ///< global rows
};
using Register = std::map<PetscInt, std::vector<PartOfLine>>;

/// Messages to the ranks that keep registers: number, first row and last row of each line of this rank.
Outbox questions(const GivenLines& given, int ranks) {
  Outbox outbox(static_cast<std::size_t>(ranks));
  for (std::size_t l = 0; l < given.numbers.size(); ++l) {
    const PetscInt begin = given.starts[l], end = given.starts[l + 1];
    auto& list = outbox[static_cast<std::size_t>(given.numbers[l] % ranks)];
    list.insert(list.end(), {given.numbers[l], given.rows[static_cast<std::size_t>(begin)],
                             given.rows[static_cast<std::size_t>(end) - 1]});
  }
  return outbox;
}

Register register_of(const Outbox& inbox) {
  Register lines;
  for (int r = 0; r < static_cast<int>(inbox.size()); ++r) {
    const auto& list = inbox[static_cast<std::size_t>(r)];
    for (std::size_t at = 0; at < list.size(); at += 3) lines[list[at]].push_back({r, list[at + 1], list[at + 2]});
  }
  return lines;
}

/// Messages to the ranks that have parts of lines: for each line its number and the count of its parts, then the rank,
/// first row and last row of each part.
Outbox answers(const Register& lines, std::size_t ranks) {
  Outbox outbox(ranks);
  for (const auto& [number, parts] : lines) {
    std::vector<PetscInt> entry{number, static_cast<PetscInt>(parts.size())};
    for (const PartOfLine& part : parts) entry.insert(entry.end(), {part.rank, part.first, part.last});
    for (const PartOfLine& part : parts) {
      auto& list = outbox[static_cast<std::size_t>(part.rank)];
      list.insert(list.end(), entry.begin(), entry.end());
    }
  }
  return outbox;
}

void take_answers(const Outbox& inbox, int here, const GivenLines& given, LineLayout& layout) {
  std::map<PetscInt, std::size_t> place;
  std::map<std::vector<int>, int> chains;
  const std::size_t count = given.numbers.size();
  for (std::size_t l = 0; l < count; ++l) place[given.numbers[l]] = l;
  layout.above.assign(count, -1);
  layout.below.assign(count, -1);
  layout.cuts.chain_of.assign(count, 0);
  layout.cuts.number.assign(given.numbers.begin(), given.numbers.end());
  for (const std::vector<PetscInt>& list : inbox) {
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t l = place.at(list[at]), parts = static_cast<std::size_t>(list[at + 1]);
      std::vector<int> chain;
      for (std::size_t p = 0; p < parts; ++p) {
        const PetscInt* part = &list[at + 2 + 3 * p];
        chain.push_back(static_cast<int>(part[0]));
        if (p + 1 < parts && part[3] == here) layout.above[l] = part[2];
        if (p > 0 && part[-3] == here) layout.below[l] = part[1];
      }
      const auto [known, fresh] = chains.try_emplace(chain, static_cast<int>(layout.cuts.chains.size()));
      if (fresh) layout.cuts.chains.push_back(chain);
      layout.cuts.chain_of[l] = known->second;
      at += 2 + 3 * parts;
    }
  }
}

/// Find the other ranks that hold parts of this rank's lines, and the neighbouring rows there. Collective.
void join_given(PC pc, const GivenLines& given, LineLayout& layout) {
  const Outbox inbox = deliver(pc, questions(given, ranks_of(comm_of(pc))));
  take_answers(deliver(pc, answers(register_of(inbox), inbox.size())), rank_of(comm_of(pc)), given, layout);
}

}  // namespace

std::vector<Direction> parse_directions(const std::string& words) {
  std::vector<Direction> directions;
  const std::vector<std::string> list = split(words, ',');
  bool automatic = false;
  for (const std::string& word : list) {
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
  if (list.empty() || (automatic && list.size() > 1)) {
    throw InvalidInput("-pc_oclspkt_lines takes auto, or directions (x, y, z, matrix, given) joined by commas, not '" +
                       words + "'");
  }
  return directions;
}

void share_exchange(PC pc, LineLayout& layout) {
  MPI_Comm comm = comm_of(pc);
  PC_OCLSPKT* o = data(pc);
  int longest = 1;
  for (const auto& chain : layout.cuts.chains) longest = std::max(longest, static_cast<int>(chain.size()));
  OclspktReduce(MPI_IN_PLACE, &longest, 1, MPI_INT, MPI_MAX, comm);
  if (longest == 1) {
    layout.above.clear();
    layout.below.clear();
    layout.cuts = {};
    return;
  }
  if (!o->exchange) o->exchange = std::make_shared<MpiExchange>(comm);
  layout.exchange = o->exchange;
}

LineLayout lay_out_matrix(PC pc, Mat matrix) {
  const MPI_Comm comm = comm_of(matrix);
  const int ranks = ranks_of(comm), rank = rank_of(comm);
  const PetscInt* starts;
  PetscInt rows;
  must(MatGetLocalSize(matrix, &rows, nullptr));
  must(MatGetOwnershipRanges(matrix, &starts));
  LineLayout layout(ranks > 1 && rows == 0 ? LineSet() : LineSet::one(rows));
  if (ranks == 1) return layout;
  cut_matrix(starts, ranks, rank, layout);
  share_exchange(pc, layout);
  return layout;
}

LineLayout lay_out_given(PC pc, Mat matrix, const GivenLines& given) {
  PetscInt first, end, bad = -1, lost = -1;
  must(MatGetOwnershipRange(matrix, &first, &end));
  std::vector<PetscInt> seen(static_cast<std::size_t>(end - first));
  for (const PetscInt row : given.rows) {
    if (row < first || row >= end) {
      lost = row;
    } else if (seen[static_cast<std::size_t>(row - first)]++ > 0) {
      bad = row;
    }
  }
  agree_on_rows(pc, "belongs to another rank than the one that lists it", lost);
  agree_on_rows(pc, "is listed twice", bad);
  const auto missing = std::find(seen.begin(), seen.end(), 0);
  agree_on_rows(pc, "is in no line",
                missing == seen.end() ? -1 : first + static_cast<PetscInt>(missing - seen.begin()));
  LineLayout layout = layout_of(given, first);
  if (ranks_of(comm_of(matrix)) > 1) {
    join_given(pc, given, layout);
    share_exchange(pc, layout);
  }
  return layout;
}

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

/// Check the arguments of PCOCLSPKTSetLines() for consistency. @throws PetscFailure
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

/// The lines that have rows, sorted by number, which gives the same order on all ranks.
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

/// The layout of a direction; null if the next set-up may change it or a line is cut.
const LineLayout* known_lines(PC pc, Direction direction, Index rows) {
  if (!lines_stay(pc)) return nullptr;
  for (const auto& sweep : data(pc)->sweeps) {
    const LineLayout& layout = sweep->layout;
    if (sweep->direction == direction && layout.lines.extent() == rows && !layout.exchange) return &layout;
  }
  return nullptr;
}

/// Copy this rank's part of three vectors to the bands. If the layout of their lines is known, the copy also surveys
/// the bands.
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

/// Check that a program passes three objects of the right class, or three null pointers.
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
    o->given.lines = in_order(given);
  } else {
    o->given.lines.reset();
  }
  ++o->given.changes;
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
  GivenBands& given = o->given.bands[place(direction)];
  const bool before = given.set;
  given.set = given.taken = false;
  if (diag) {
    take_bands(pc, direction, {lower, diag, upper}, given);
    given.set = true;
  }
  if (given.set != before) ++o->given.changes;
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
