// SPDX-License-Identifier: BSD-2-Clause
#include "agree.hxx"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hxx"
#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

/// Something that all ranks have to set alike, and how this rank set it.
struct Setting {
  std::string name, value;
};

/// A value as ranks compare it: numbers with all of their digits.
std::string exact_text(const OptionEntry& entry, const Settings& settings) {
  const auto* number = std::get_if<double Settings::*>(&entry.field);
  if (!number) return value_text(entry, settings);
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", settings.**number);
  return text;
}

std::vector<Setting> settings_of(const PC_OCLSPKT& o) {
  std::vector<Setting> all;
  const auto called = [](bool was) { return was ? "called" : "not called"; };
  for (const OptionEntry& entry : option_table()) {
    if (!entry.by_rank) all.push_back({std::string(kOptionPrefix) + entry.name, exact_text(entry, o.settings)});
  }
  all.push_back({"PCOCLSPKTSetLines()", called(o.given_lines.has_value())});
  for (std::size_t a = 0; a < kAxes; ++a) {
    all.push_back({std::string("PCOCLSPKTSetBands() for ") + kDirectionNames[a], called(o.given_bands[a].set)});
  }
  return all;
}

constexpr std::size_t kMostText = 256;
using Text = std::array<char, kMostText>;

/// A text of one rank on all. Collective.
PetscErrorCode TextOf(MPI_Comm comm, PetscMPIInt rank, const std::string& own, Text* text) {
  PetscFunctionBegin;
  *text = {};
  own.copy(text->data(), kMostText - 1);
  PetscCallMPI(MPI_Bcast(text->data(), static_cast<PetscMPIInt>(kMostText), MPI_CHAR, rank, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The error about a setting that differs, with the values of rank 0 and of the first rank that has another.
/// Collective.
PetscErrorCode RefuseDifference(PC pc, const Setting& setting) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt ranks, rank, other;
  Text first, another;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(TextOf(comm, 0, setting.value, &first));
  other = setting.value.compare(0, kMostText - 1, first.data()) == 0 ? ranks - 1 : rank;
  OclspktAllreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MIN, comm);
  PetscCall(TextOf(comm, other, setting.value, &another));
  SETERRQ(comm, PETSC_ERR_ARG_INCOMP,
          "%s differs among the ranks of this preconditioner: it is '%s' on rank 0 and '%s' on rank %d; set it to the "
          "same on all of them",
          setting.name.c_str(), first.data(), another.data(), other);
}

/// The hash of each setting, and minus that: by their least values over ranks these see whether they differ.
std::vector<PetscInt64> hashes_of(const std::vector<Setting>& settings) {
  std::vector<PetscInt64> hashes;
  for (const Setting& setting : settings) {
    const auto hash = static_cast<PetscInt64>(std::hash<std::string>{}(setting.value) >> 1);
    hashes.insert(hashes.end(), {hash, -hash});
  }
  return hashes;
}

}  // namespace

PetscErrorCode AgreeOn(PC pc, const Trouble& trouble, std::span<double> sums) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  std::array<double, 4> all{};
  PetscMPIInt ranks, rank, worst;
  Caught caught{};

  PetscFunctionBegin;
  std::copy(sums.begin(), sums.end(), all.begin());
  all[sums.size()] = trouble.met() ? 1 : 0;
  OclspktAllreduce(MPI_IN_PLACE, all.data(), static_cast<PetscMPIInt>(sums.size()) + 1, MPI_DOUBLE, MPI_SUM, comm);
  std::copy_n(all.begin(), sums.size(), sums.begin());
  if (all[sums.size()] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  worst = 2 * ranks;
  if (trouble.met()) {
    caught = Describe(trouble.met());
    worst = caught.reason == PC_NOERROR ? rank : ranks + rank;
  }
  OclspktAllreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, comm);
  worst %= ranks;
  PetscCallMPI(MPI_Bcast(&caught, static_cast<PetscMPIInt>(sizeof caught), MPI_BYTE, worst, comm));
  PetscCall(RaiseOnAll(pc, caught, ranks == 1 ? -1 : worst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AgreeOnSettings(PC pc, PetscBool* stays) {
  PetscMPIInt ranks;
  std::vector<Setting> own;
  std::vector<PetscInt64> least; /* of the hashes, and of `stays` */

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  OclspktCall(pc, own = settings_of(*data(pc)));
  OclspktCall(pc, least = hashes_of(own));
  OclspktCall(pc, least.push_back(*stays));
  OclspktAllreduce(MPI_IN_PLACE, least.data(), static_cast<PetscMPIInt>(least.size()), MPIU_INT64, MPI_MIN,
                   PetscObjectComm((PetscObject)pc));
  for (std::size_t s = 0; s < own.size(); ++s) {
    if (least[2 * s] != -least[2 * s + 1]) PetscCall(RefuseDifference(pc, own[s]));
  }
  *stays = static_cast<PetscBool>(least.back() != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AgreeOnTypes(PetscBool given) {
  PetscBool begun;
  PetscMPIInt ranks;
  int all = given ? 1 : 0;

  PetscFunctionBegin;
  PetscCall(PetscInitialized(&begun));
  if (begun) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  OclspktAllreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
  PetscCheck(all == 0 || all == ranks, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-oclspkt_types is given on %d of %d ranks: give it on all of them or on none, also where options come "
             "from the environment",
             all, ranks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace oclspkt::petsc
