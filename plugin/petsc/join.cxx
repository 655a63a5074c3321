// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <map>

#include "boundary.hxx"
#include "exchange.hxx"
#include "join.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// Lists of PetscInt that travel from every rank to every rank, by destination.
using Outbox = std::vector<std::vector<PetscInt>>;

/// MPI counts what one rank sends or receives in int.
PetscErrorCode CheckCount(PetscInt64 count) {
  PetscFunctionBegin;
  PetscCheck(count <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "PCOCLSPKTSetLines(): this rank sends or receives %" PetscInt64_FMT
             " numbers about its lines, and MPI takes %d at once: use more ranks, or fewer and longer lines",
             count, PETSC_MPI_INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Deliver(PC pc, const Outbox& outbox, Outbox* inbox) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const std::size_t ranks = outbox.size();
  std::vector<PetscMPIInt> out_counts, in_counts, out_starts, in_starts;
  std::vector<PetscInt> out, in;

  PetscInt64 sent = 0, received = 0;

  PetscFunctionBegin;
  for (const auto& list : outbox) sent += static_cast<PetscInt64>(list.size());
  PetscCall(CheckCount(sent));
  OclspktCall(
      pc, in_counts.resize(ranks); for (const auto& list
                                        : outbox) {
        out_starts.push_back(static_cast<PetscMPIInt>(out.size()));
        out_counts.push_back(static_cast<PetscMPIInt>(list.size()));
        out.insert(out.end(), list.begin(), list.end());
      });
  PetscCallMPI(MPI_Alltoall(out_counts.data(), 1, MPI_INT, in_counts.data(), 1, MPI_INT, comm));
  for (const PetscMPIInt count : in_counts) received += count;
  PetscCall(CheckCount(received));
  OclspktCall(
      pc, PetscMPIInt all = 0; for (const PetscMPIInt count
                                    : in_counts) {
        in_starts.push_back(all);
        all += count;
      } in.resize(static_cast<std::size_t>(all)));
  PetscCallMPI(MPI_Alltoallv(out.data(), out_counts.data(), out_starts.data(), MPIU_INT, in.data(), in_counts.data(),
                             in_starts.data(), MPIU_INT, comm));
  OclspktCall(
      pc, inbox->clear(); for (std::size_t r = 0; r < ranks; ++r) {
        const auto begin = in.begin() + in_starts[r];
        inbox->emplace_back(begin, begin + in_counts[r]);
      });
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A rank's part of a line, as the rank that keeps the line's register knows it.
struct Part {
  int rank;
  PetscInt first, last;  ///< global rows
};
using Register = std::map<PetscInt, std::vector<Part>>;

/// The entries of a register for those who asked: number, count, then rank, first and last row of each part.
Outbox answers(const Register& lines, std::size_t ranks) {
  Outbox outbox(ranks);
  for (const auto& [number, parts] : lines) {
    std::vector<PetscInt> entry{number, static_cast<PetscInt>(parts.size())};
    for (const Part& part : parts) entry.insert(entry.end(), {part.rank, part.first, part.last});
    for (const Part& part : parts) {
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

}  // namespace

PetscErrorCode JoinGiven(PC pc, const GivenLines& given, LineLayout* layout) {
  PetscMPIInt ranks, rank;
  Outbox outbox, inbox;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  OclspktCall(
      pc, outbox.resize(static_cast<std::size_t>(ranks)); for (std::size_t l = 0; l < given.numbers.size(); ++l) {
        const PetscInt begin = given.starts[l], end = given.starts[l + 1];
        auto& list = outbox[static_cast<std::size_t>(given.numbers[l] % ranks)];
        list.insert(list.end(), {given.numbers[l], given.rows[static_cast<std::size_t>(begin)],
                                 given.rows[static_cast<std::size_t>(end) - 1]});
      });
  PetscCall(Deliver(pc, outbox, &inbox));
  OclspktCall(
      pc, Register lines; for (int r = 0; r < ranks; ++r) {
        const auto& list = inbox[static_cast<std::size_t>(r)];
        for (std::size_t at = 0; at < list.size(); at += 3) lines[list[at]].push_back({r, list[at + 1], list[at + 2]});
      } outbox = answers(lines, static_cast<std::size_t>(ranks)));
  PetscCall(Deliver(pc, outbox, &inbox));
  OclspktCall(pc, take_answers(inbox, rank, given, *layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ShareExchange(PC pc, LineLayout* layout) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PC_OCLSPKT* o = data(pc);
  int longest = 1;

  PetscFunctionBegin;
  for (const auto& chain : layout->cuts.chains) longest = std::max(longest, static_cast<int>(chain.size()));
  OclspktAllreduce(MPI_IN_PLACE, &longest, 1, MPI_INT, MPI_MAX, comm);
  if (longest == 1) {
    OclspktCall(pc, layout->above.clear(); layout->below.clear(); layout->cuts = {});
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!o->exchange) OclspktCall(pc, o->exchange = std::make_shared<MpiExchange>(comm));
  layout->exchange = o->exchange;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
