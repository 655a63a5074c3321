// SPDX-License-Identifier: BSD-2-Clause
#include <petscksp.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

#include "contestants.hxx"
#include "json_file.hpp"
#include "measure.hpp"
#include "oclspkt/oclspkt.h"
#include "progress.hpp"
#include "provenance.hpp"
#include "report.hxx"

static char help[] =
    "oclspkt-bench-adi: implicit steps of diffusion on a 3-D grid, factored by directions against CG.\n\n\
  -size <n>          points along each axis\n\
  -lambdas <l,...>   time steps over h^2\n\
  -steps <count>     time steps of a run\n\
  -repetitions <n>   runs of each, in turn; times are medians\n\
  -json <file>       where to write the results\n\
  -allow_debug       do not refuse a build that is not Release (tests of the output)\n\
  -pc_oclspkt_...    options of the plugin; -ilu_..., -icc_..., -gamg_...: of the others\n\n";

namespace oclspkt::bench::adi {
namespace {

constexpr int kUsage = 2;  // exit status of what the caller can mend; 1 is for answers that are wrong

struct Settings {
  PetscInt size = 128, steps = 20, repetitions = 3, lambda_count = 16;
  PetscReal lambdas[16] = {1, 10, 100};
  char json[PETSC_MAX_PATH_LEN] = "";
  PetscBool allow_debug = PETSC_FALSE;
};

PetscErrorCode ReadSettings(Settings* s) {
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-size", &s->size, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-steps", &s->steps, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repetitions", &s->repetitions, nullptr));
  PetscCall(PetscOptionsGetRealArray(nullptr, nullptr, "-lambdas", s->lambdas, &s->lambda_count, &set));
  if (!set) s->lambda_count = 3;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-json", s->json, sizeof s->json, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-allow_debug", &s->allow_debug, nullptr));
  PetscCheck(s->size >= 2 && s->steps > 0 && s->repetitions > 0 && s->lambda_count > 0, PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-size is 2 at least, -steps and -repetitions positive, -lambdas not empty");
  for (PetscInt l = 0; l < s->lambda_count; ++l) {
    PetscCheck(s->lambdas[l] > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-lambdas must be positive");
  }
  PetscFunctionReturn(0);
}

/// Ours must do what the factored form does, to rounding.
PetscErrorCode CheckOurs(const Task& task, Vec u) {
  double error;

  PetscFunctionBeginUser;
  PetscCall(task.problem->Error(task.problem->factored(task.lambda, task.steps), u, &error));
  PetscCheck(error <= 1e-11, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "lambda %g: the plugin is off by %g from the factored form", task.lambda, error);
  PetscFunctionReturn(0);
}

/// The errors that both methods have by themselves.
PetscErrorCode OwnErrors(const Task& task, Vec u, Round* round) {
  const Factors exact = task.problem->exact(task.lambda, task.steps);

  PetscFunctionBeginUser;
  PetscCall(task.problem->Fill(task.problem->factored(task.lambda, task.steps), u));
  PetscCall(task.problem->Error(exact, u, &round->factored_error));
  PetscCall(task.problem->Fill(task.problem->implicit(task.lambda, task.steps), u));
  PetscCall(task.problem->Error(exact, u, &round->implicit_error));
  PetscFunctionReturn(0);
}

/// Unfactored steps that are exact may be worse than ours: then CG need not be better than 1 % above them.
double allowed_error(const Round& round) { return std::max(round.factored_error, 1.01 * round.implicit_error); }

PetscErrorCode RunLambda(const Task& task, int repetitions, Progress& progress, Round* round) {
  char where[64];
  Mat matrix;
  Vec u;
  double seconds;

  PetscFunctionBeginUser;
  std::snprintf(where, sizeof where, "lambda %g: ", task.lambda);
  round->lambda = task.lambda;
  PetscCall(DMCreateGlobalVector(task.problem->grid, &u));
  PetscCall(task.problem->CreateMatrix(task.lambda, &matrix));
  PetscCall(OwnErrors(task, u, round));
  progress.step(std::string(where) + "set up");
  PetscCall(CreateContestants(task, matrix, &round->contestants));
  for (Contestant& c : round->contestants) {
    progress.step(where + std::string(c.ours ? "check " : "tolerance of ") + c.name);
    if (!c.ours) PetscCall(FindTolerance(task, allowed_error(*round), c, u));
    if (c.ours) PetscCall(TakeSteps(task, c, u, &seconds));
    if (c.ours) PetscCall(CheckOurs(task, u));
  }
  for (int r = 0; r < repetitions; ++r) {
    for (Contestant& c : round->contestants) {
      if (!c.note.empty()) continue;
      progress.step(where + std::string("repetition ") + std::to_string(r + 1) + " of " + c.name);
      PetscCall(TakeSteps(task, c, u, &seconds));
      c.seconds.push_back(seconds);
    }
  }
  PetscCall(DestroyContestants(&round->contestants));
  PetscCall(MatDestroy(&matrix));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

/// What the view says of each direction; on the first rank.
PetscErrorCode ReadView(PC pc, std::vector<std::string>* lines) {
  char* text = nullptr;
  std::size_t size = 0;
  PetscViewer viewer;
  FILE* file = open_memstream(&text, &size);

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_MEM, "open_memstream() failed");
  PetscCall(PetscViewerASCIIOpenWithFILE(PetscObjectComm((PetscObject)pc), file, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  std::fclose(file);
  std::istringstream all(text == nullptr ? "" : text);
  std::free(text);
  for (std::string line; std::getline(all, line);) {
    for (const char* word : {"lines:", "method:", "device:", "words a row"}) {
      if (line.find(word) == std::string::npos) continue;
      lines->push_back(line.substr(line.find_first_not_of(' ')));
      break;
    }
  }
  PetscFunctionReturn(0);
}

/// The factored apply and those of x, y and z alone, in turn.
PetscErrorCode RunApplies(const Task& task, int repetitions, Progress& progress, Applies* applies) {
  const std::string axes[] = {"x,y,z", "x", "y", "z"};
  KSP ksp[4];
  std::vector<double> seconds[4];
  Vec right, solution;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(task.problem->grid, &right));
  PetscCall(DMGetGlobalVector(task.problem->grid, &solution));
  PetscCall(task.problem->Fill(task.problem->unchanged(), right));
  for (int k = 0; k < 4; ++k) {
    progress.step("set up " + axes[k] + " alone");
    PetscCall(CreateLines(task, axes[k], &ksp[k]));
    PetscCall(KSPSolve(ksp[k], right, solution));
  }
  for (int r = 0; r < repetitions; ++r) {
    for (int k = 0; k < 4; ++k) {
      PetscCall(KSPGetPC(ksp[k], &pc));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      const double start = MPI_Wtime();
      PetscCall(PCApply(pc, right, solution));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      seconds[k].push_back(MPI_Wtime() - start);
    }
  }
  applies->factored = median(seconds[0]);
  for (int a = 0; a < kAxes; ++a) applies->directions[a] = median(seconds[a + 1]);
  PetscCall(KSPGetPC(ksp[0], &pc));
  PetscCall(ReadView(pc, &applies->lines));
  for (KSP& k : ksp) PetscCall(KSPDestroy(&k));
  PetscCall(DMRestoreGlobalVector(task.problem->grid, &solution));
  PetscCall(DMRestoreGlobalVector(task.problem->grid, &right));
  PetscFunctionReturn(0);
}

PetscErrorCode Report(const Settings& s, const std::string& command, const std::vector<Round>& rounds,
                      const Applies& applies, std::ofstream& json) {
  PetscMPIInt rank, ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (rank != 0) PetscFunctionReturn(0);
  std::cout << s.size << "^3 points, " << s.steps << " steps, " << ranks << (ranks == 1 ? " rank\n" : " ranks\n")
            << table(rounds) << table(applies) << std::flush;
  if (!json.is_open()) PetscFunctionReturn(0);
  DeviceInfo device;
  device.name = "see applies.view";
  nlohmann::ordered_json document{{"provenance", provenance(device, command)}};
  document["provenance"]["ranks"] = ranks;
  document["size"] = s.size;
  document["steps"] = s.steps;
  document["results"] = to_json(rounds);
  document["applies"] = to_json(applies);
  json << record_lines(document);
  json.close();
  PetscCheck(json.good(), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "writing %s failed: is the disk full?", s.json);
  PetscFunctionReturn(0);
}

/// The first set-up of a process looks for devices, which belongs to none of the times.
PetscErrorCode FindDevices() {
  Problem problem;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(problem.Create(PETSC_COMM_WORLD, 16));
  PetscCall(CreateLines({&problem, 1, 1}, "x,y,z", &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(problem.Destroy());
  PetscFunctionReturn(0);
}

PetscErrorCode Run(const Settings& s, const std::string& command, bool* wrong) {
  std::vector<Round> rounds(s.lambda_count);
  Applies applies;
  Problem problem;
  Progress progress;
  std::ofstream json;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (s.json[0] != '\0' && rank == 0) {  // before anything is timed, so that a wrong path does not cost the measurement
    json.open(s.json);
    PetscCheck(json.good(), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot write -json %s", s.json);
  }
  progress.step("find devices");
  PetscCall(FindDevices());
  PetscCall(problem.Create(PETSC_COMM_WORLD, s.size));
  for (PetscInt l = 0; l < s.lambda_count; ++l) {
    const Task task{&problem, s.lambdas[l], static_cast<int>(s.steps)};
    PetscCall(RunLambda(task, static_cast<int>(s.repetitions), progress, &rounds[l]));
    for (const Contestant& c : rounds[l].contestants) *wrong = *wrong || (c.ours && !c.note.empty());
  }
  const Task last{&problem, s.lambdas[s.lambda_count - 1], static_cast<int>(s.steps)};
  PetscCall(RunApplies(last, 3 * static_cast<int>(s.repetitions), progress, &applies));
  progress.finish();
  PetscCall(Report(s, command, rounds, applies, json));
  PetscCall(problem.Destroy());
  PetscFunctionReturn(0);
}

}  // namespace
}  // namespace oclspkt::bench::adi

int main(int argc, char** argv) {
  std::string command = "oclspkt-bench-adi";
  for (int a = 1; a < argc; ++a) command += std::string(" ") + argv[a];
  oclspkt::bench::adi::Settings settings;
  bool wrong = false;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(PCOCLSPKTInitializePackage());
  PetscCall(oclspkt::bench::adi::ReadSettings(&settings));
  try {
    if (!settings.allow_debug) oclspkt::bench::require_release();
  } catch (const std::exception& error) {
    std::cerr << "oclspkt-bench-adi: " << error.what() << '\n';
    PetscCall(PetscFinalize());
    return oclspkt::bench::adi::kUsage;
  }
  PetscCall(oclspkt::bench::adi::Run(settings, command, &wrong));
  PetscCall(PetscFinalize());
  return wrong ? 1 : 0;
}
