// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <map>
#include <numeric>

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

/// The lists of all ranks end to end, as MPI takes them.
struct Mail {
  std::vector<PetscInt> numbers;
  std::vector<PetscMPIInt> counts, starts;  ///< shape [ranks]
};

/// Make room for as many numbers as the counts say.
void make_room(Mail& mail) {
  mail.starts.resize(mail.counts.size());
  std::exclusive_scan(mail.counts.begin(), mail.counts.end(), mail.starts.begin(), 0);
  mail.numbers.resize(static_cast<std::size_t>(mail.starts.back()) + static_cast<std::size_t>(mail.counts.back()));
}

Mail packed(const Outbox& outbox) {
  Mail mail;
  for (const auto& list : outbox) mail.counts.push_back(static_cast<PetscMPIInt>(list.size()));
  make_room(mail);
  auto at = mail.numbers.begin();
  for (const auto& list : outbox) at = std::copy(list.begin(), list.end(), at);
  return mail;
}

Outbox unpacked(const Mail& mail) {
  Outbox inbox;
  for (std::size_t r = 0; r < mail.counts.size(); ++r) {
    const auto begin = mail.numbers.begin() + mail.starts[r];
    inbox.emplace_back(begin, begin + mail.counts[r]);
  }
  return inbox;
}

PetscErrorCode Deliver(PC pc, const Outbox& outbox, Outbox* inbox) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  Mail out, in;
  PetscInt64 sent = 0, received = 0;

  PetscFunctionBegin;
  for (const auto& list : outbox) sent += static_cast<PetscInt64>(list.size());
  PetscCall(CheckCount(sent));
  OclspktCall(pc, out = packed(outbox));
  OclspktCall(pc, in.counts.resize(outbox.size()));
  PetscCallMPI(MPI_Alltoall(out.counts.data(), 1, MPI_INT, in.counts.data(), 1, MPI_INT, comm));
  for (const PetscMPIInt count : in.counts) received += count;
  PetscCall(CheckCount(received));
  OclspktCall(pc, make_room(in));
  PetscCallMPI(MPI_Alltoallv(out.numbers.data(), out.counts.data(), out.starts.data(), MPIU_INT, in.numbers.data(),
                             in.counts.data(), in.starts.data(), MPIU_INT, comm));
  OclspktCall(pc, *inbox = unpacked(in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A rank's part of a line, as the rank that keeps the line's register knows it.
struct Part {
  int rank;
  PetscInt first, last;  ///< global rows
};
using Register = std::map<PetscInt, std::vector<Part>>;

/// What each rank is asked, by number, first and last row: the keeper of a line's register is the rank that its number
/// gives.
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
  OclspktCall(pc, outbox = questions(given, ranks));
  PetscCall(Deliver(pc, outbox, &inbox));
  OclspktCall(pc, outbox = answers(register_of(inbox), inbox.size()));
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
    layout->above.clear();
    layout->below.clear();
    OclspktCall(pc, layout->cuts = {});
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!o->exchange) OclspktCall(pc, o->exchange = std::make_shared<MpiExchange>(comm));
  layout->exchange = o->exchange;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
