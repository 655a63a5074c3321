// SPDX-License-Identifier: BSD-2-Clause
#include "boundary.hxx"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <new>
#include <string_view>

#include "pc_oclspkt.hxx"

namespace oclspkt::petsc {
namespace {

Caught caught(PetscErrorCode code, const char* text, PCFailedReason reason = PC_NOERROR) {
  Caught error{code, reason, {}};
  (void)PetscStrncpy(error.text, text, sizeof error.text);
  return error;
}

/// Raise a PetscFailure as a PETSc error at the line where must() or OclspktCheck() found it.
PetscErrorCode RaiseFailure(const PetscFailure& failure) {
  const auto kind = failure.text.empty() ? PETSC_ERROR_REPEAT : PETSC_ERROR_INITIAL;
  return PetscError(failure.comm, failure.at.line, failure.at.function, failure.at.file, failure.code, kind, "%s",
                    failure.text.empty() ? " " : failure.text.c_str());
}

/// Raise an error, or mark the PC as failed by a Breakdown.
/// @param comm  the ranks that raise the error; the first rank prints it
/// @return 0 if the PC is marked as failed
PetscErrorCode Raise(PC pc, MPI_Comm comm, int line, const char* function, const char* file, const Caught& error) {
  if (error.reason == PC_NOERROR || !pc || pc->erroriffailure) {
    return PetscError(comm, line, function, file, error.code, PETSC_ERROR_INITIAL, "%s", error.text);
  }
  const PetscErrorCode code = MarkFailed(pc, error);
  if (code == PETSC_SUCCESS) return PETSC_SUCCESS;
  return PetscError(comm, line, function, file, code, PETSC_ERROR_REPEAT, " ");
}

/// Raise the error of one rank on all ranks of a PC, or mark the PC as failed. Collective.
/// @param rank  the rank to name in the text; -1: name no rank
PetscErrorCode RaiseOnAll(PC pc, const Caught& error, int rank) {
  Caught all = error;

  PetscFunctionBegin;
  /* Texts of CutSolver already begin with the rank, as in "process 3". */
  const bool named = std::string_view(error.text).starts_with("process ");
  if (rank >= 0 && !named) PetscCall(PetscSNPrintf(all.text, sizeof all.text, "rank %d: %s", rank, error.text));
  PetscStackUpdateLine;
  const PetscErrorCode ierr = Raise(pc, comm_of(pc), __LINE__, PETSC_FUNCTION_NAME, __FILE__, all);
  if (ierr != PETSC_SUCCESS) return ierr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Setting {
  std::string name, value;
};

/// The value of an option as text. Real numbers have all digits, so equal texts mean equal values.
std::string exact_text(const OptionEntry& entry, const Settings& settings) {
  const auto* number = std::get_if<Member<double>>(&entry.field);
  if (!number) return value_text(entry, settings);
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", (*number)(settings));
  return text;
}

std::vector<Setting> settings_of(const PC_OCLSPKT& o) {
  std::vector<Setting> all;
  const auto called = [](bool was) { return was ? "called" : "not called"; };
  for (const OptionEntry& entry : option_table()) {
    if (!entry.by_rank) all.push_back({std::string(kOptionPrefix) + entry.name, exact_text(entry, o.settings)});
  }
  all.push_back({"PCOCLSPKTSetLines()", called(o.given.lines.has_value())});
  for (std::size_t a = 0; a < kAxes; ++a) {
    all.push_back({std::string("PCOCLSPKTSetBands() for ") + kDirectionNames[a], called(o.given.bands[a].set)});
  }
  return all;
}

/// Raise an error about a setting that differs among ranks. The text shows the value of rank 0 and the first value that
/// differs from it. Collective.
void refuse_difference(PC pc, const Setting& setting) {
  MPI_Comm comm = comm_of(pc);
  const std::string first = text_of(comm, 0, setting.value);
  int other = setting.value.compare(0, kMostText - 1, first) == 0 ? ranks_of(comm) - 1 : rank_of(comm);
  OclspktReduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MIN, comm);
  const std::string another = text_of(comm, other, setting.value);
  OclspktCheck(
      false, comm, PETSC_ERR_ARG_INCOMP,
      "%s differs among the ranks of this preconditioner: it is '%s' on rank 0 and '%s' on rank %d; set it to the "
      "same on all of them",
      setting.name.c_str(), first.c_str(), another.c_str(), other);
}

}  // namespace

void must_mpi(int code, int line, const char* function, const char* file) {
  if (PetscLikely(code == MPI_SUCCESS)) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw PetscFailure{PETSC_ERR_MPI, {line, function, file}, PETSC_COMM_SELF, "MPI: " + std::string(text)};
}

std::string text_of(MPI_Comm comm, int rank, const std::string& own) {
  std::array<char, kMostText> text{};
  own.copy(text.data(), kMostText - 1);
  must_mpi(MPI_Bcast(text.data(), static_cast<int>(kMostText), MPI_CHAR, rank, comm));
  return text.data();
}

int ranks_of(MPI_Comm comm) {
  int ranks = 1;
  must_mpi(MPI_Comm_size(comm, &ranks));
  return ranks;
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  must_mpi(MPI_Comm_rank(comm, &rank));
  return rank;
}

void refuse(const Where& at, MPI_Comm comm, PetscErrorCode code, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  throw PetscFailure{code, at, comm, text};
}

PetscErrorCode MarkFailed(PC pc, const Caught& breakdown) {
  PetscFunctionBegin;
  if (pc->data) {
    try {
      data(pc)->failure = breakdown.text;
    } catch (...) {  // out of memory: `failure` stays without text
    }
  }
  PetscCall(PCSetFailedReason(pc, breakdown.reason));
  PetscCall(PetscInfo(pc, "%s failed: %s\n", pc->data && data(pc)->ready ? "apply" : "set-up", breakdown.text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void accept_breakdown(PC pc, const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Breakdown&) {
    if (pc->erroriffailure) throw;
    must(MarkFailed(pc, describe(exception)));
  }
}

Caught describe(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const NotFinite& e) {
    return caught(PETSC_ERR_FP, e.what(), PC_FACTOR_OTHER);
  } catch (const Breakdown& e) {
    return caught(PETSC_ERR_MAT_LU_ZRPVT, e.what(), PC_FACTOR_NUMERIC_ZEROPIVOT);
  } catch (const InvalidInput& e) {
    return caught(PETSC_ERR_ARG_WRONG, e.what());
  } catch (const BuildError& e) {
    return caught(PETSC_ERR_LIB, e.what());
  } catch (const DeviceError& e) {
    return caught(PETSC_ERR_GPU, e.what());
  } catch (const std::bad_alloc&) {
    return caught(PETSC_ERR_MEM, "PCOCLSPKT is out of host memory: use more ranks or fewer rows on each");
  } catch (const std::exception& e) {
    return caught(PETSC_ERR_LIB, e.what());
  } catch (...) {
    return caught(PETSC_ERR_LIB, "PCOCLSPKT caught an exception of unknown type");
  }
}

PetscErrorCode TranslateException(PC pc, int line, const char* function, const char* file) {
  try {
    throw;
  } catch (const PetscFailure& failure) {
    return RaiseFailure(failure);
  } catch (...) {
  }
  // With the PC's communicator, only its first rank would print. PETSC_COMM_SELF lets this rank print its own error.
  return Raise(pc, PETSC_COMM_SELF, line, function, file, describe(std::current_exception()));
}

void agree_on(PC pc, const Trouble& trouble, std::span<double> sums) {
  MPI_Comm comm = comm_of(pc);
  std::array<double, 4> all{};
  Caught caught{};
  std::copy(sums.begin(), sums.end(), all.begin());
  all[sums.size()] = trouble.met() ? 1 : 0;
  OclspktReduce(MPI_IN_PLACE, all.data(), static_cast<PetscMPIInt>(sums.size()) + 1, MPI_DOUBLE, MPI_SUM, comm);
  std::copy_n(all.begin(), sums.size(), sums.begin());
  if (all[sums.size()] == 0) return;
  const int ranks = ranks_of(comm), rank = rank_of(comm);
  int worst = 2 * ranks;
  if (trouble.met()) {
    caught = describe(trouble.met());
    worst = caught.reason == PC_NOERROR ? rank : ranks + rank;
  }
  OclspktReduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MIN, comm);
  worst %= ranks;
  must_mpi(MPI_Bcast(&caught, static_cast<PetscMPIInt>(sizeof caught), MPI_BYTE, worst, comm));
  must(RaiseOnAll(pc, caught, ranks == 1 ? -1 : worst));
}

bool agree_on_settings(PC pc, bool stays) {
  if (ranks_of(comm_of(pc)) == 1) return stays;
  const std::vector<Setting> own = settings_of(*data(pc));
  std::vector<PetscInt64> least; /* hashes h and -h of each setting: the minima of both add up to 0 if ranks agree */
  for (const Setting& setting : own) {
    const auto hash = static_cast<PetscInt64>(std::hash<std::string>{}(setting.value) >> 1);
    least.insert(least.end(), {hash, -hash});
  }
  least.push_back(stays);
  OclspktReduce(MPI_IN_PLACE, least.data(), static_cast<PetscMPIInt>(least.size()), MPIU_INT64, MPI_MIN, comm_of(pc));
  for (std::size_t s = 0; s < own.size(); ++s) {
    if (least[2 * s] != -least[2 * s + 1]) refuse_difference(pc, own[s]);
  }
  return least.back() != 0;
}

void agree_on_types(PetscBool given) {
  PetscBool begun;
  int all = given ? 1 : 0;
  must(PetscInitialized(&begun));
  if (begun) return;
  const int ranks = ranks_of(PETSC_COMM_WORLD);
  OclspktReduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
  OclspktCheck(all == 0 || all == ranks, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
               "-oclspkt_types is given on %d of %d ranks: give it on all of them or on none, also where options come "
               "from the environment",
               all, ranks);
}

}  // namespace oclspkt::petsc
