// SPDX-License-Identifier: BSD-2-Clause
// What users of the PC read when they make a mistake: each text has the cause, the number or the name, and a cure.
#include <petscdmda.h>

#include <functional>

#include "support.hxx"

namespace oclspkt::test::messages {
namespace {

/// The call on a PC of a tridiagonal matrix of 4 rows, then its set-up.
PetscErrorCode set_up_with(const std::function<PetscErrorCode(PC)>& call) {
  const Matrix matrix(tridiagonal(4, -1, 4, -1));
  const Preconditioner pc(matrix);
  const PetscErrorCode code = call(pc);
  return code ? code : PCSetUp(pc);
}

PetscErrorCode set_up_with_option(const char* name, const char* value) {
  const Option option(name, value);
  return set_up_with([](PC pc) { return PCSetFromOptions(pc); });
}

PetscErrorCode set_up_with_lines(const std::vector<PetscInt>& numbers, const std::vector<PetscInt>& starts,
                                 const std::vector<PetscInt>& rows) {
  const HeldIS lines = indices(numbers), begins = indices(starts), members = indices(rows);
  return set_up_with([&](PC pc) { return PCOCLSPKTSetLines(pc, lines, begins, members); });
}

PetscErrorCode set_up_with_bands(const char* axis, PetscInt lower_rows) {
  const Vector lower(lower_rows), diag(4), upper(4);
  return set_up_with([&](PC pc) { return PCOCLSPKTSetBands(pc, axis, lower, diag, upper); });
}

/// The lines of a grid of 4 x 4 points that is periodic along x.
PetscErrorCode set_up_on_grid(const char* lines) {
  HeldDM grid;
  HeldMat matrix;
  DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 4, 4, 1, 1, 1, 1, nullptr,
               nullptr, &grid);
  DMSetUp(grid);
  DMCreateMatrix(grid, &matrix);
  MatShift(matrix, 4);
  const Preconditioner pc(matrix);
  const PetscErrorCode code = PCOCLSPKTSetDirections(pc, lines);
  return code ? code : PCSetUp(pc);
}

PetscErrorCode read_before_set_up() {
  const Matrix matrix(tridiagonal(4, -1, 4, -1));
  const Preconditioner pc(matrix);
  const char* method;
  return PCOCLSPKTGetMethodUsed(pc, &method, nullptr);
}

PetscErrorCode set_up_of_two_more_columns() {
  HeldMat matrix;
  MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 6, 1, nullptr, &matrix);
  assemble(matrix);
  const Preconditioner pc(matrix);
  return PCSetUp(pc);
}

/// The solve of a KSP that was given no matrix.
PetscErrorCode solve_without_operators() {
  const Vector b(4), x(4);
  HeldKSP ksp;
  PC pc;
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCOCLSPKT);
  return KSPSolve(ksp, b, x);
}

PetscErrorCode set_up_with_a_corner() {
  Rows rows = tridiagonal(4, -1, 4, -1);
  rows[0].emplace_back(3, 1);
  const Matrix matrix(rows);
  const Preconditioner pc(matrix);
  const PetscErrorCode code = PCOCLSPKTSetIgnored(pc, PC_OCLSPKT_IGNORED_ERROR);
  return code ? code : PCSetUp(pc);
}

struct Mistake {
  const char* done;
  std::function<PetscErrorCode()> make;
  const char *cause, *given, *cure;  ///< each is a part of the text
};

std::vector<Mistake> mistakes() {
  const auto option = [](const char* name, const char* value) {
    return [name, value] { return set_up_with_option(name, value); };
  };
  return {
      {"lines along w", option("-t_pc_oclspkt_lines", "w"), "no direction", "'w'", "there are: auto, x, y, z"},
      {"x twice", option("-t_pc_oclspkt_lines", "x,x"), "twice", "'x'", "name it once"},
      {"auto and x", option("-t_pc_oclspkt_lines", "auto,x"), "not", "'auto,x'", "takes auto, or directions"},
      {"lines without a grid", option("-t_pc_oclspkt_lines", "x"), "no grid", "-pc_oclspkt_lines x", "PCSetDM()"},
      {"no lines given", option("-t_pc_oclspkt_lines", "given"), "no lines were given", "-pc_oclspkt_lines given",
       "call PCOCLSPKTSetLines()"},
      {"partition 30000000000000000000", option("-t_pc_oclspkt_partition", "30000000000000000000"), "partition",
       "not 30000000000000000000", "a number of rows up to "},
      {"device_memory 2.5", option("-t_pc_oclspkt_device_memory", "2.5"), "device_memory", "not 2.5", "whole number"},
      {"rtol -1", option("-t_pc_oclspkt_rtol", "-1"), "rtol", "not -1", "must lie in [0, 1)"},
      {"an unknown device", option("-t_pc_oclspkt_devices", "abacus"), "no device matches", "'abacus'", "Use auto"},
      {"z of a plane", [] { return set_up_on_grid("z"); }, "has only 2 dimensions", "-pc_oclspkt_lines z", "name an"},
      {"a periodic axis", [] { return set_up_on_grid("x"); }, "periodic", "along x", "of another direction"},
      {"two starts for two lines",
       [] {
         return set_up_with_lines({0, 1}, {0, 4}, {0, 1, 2, 3});
       },
       "starts", "there are 2", "need 3 starts"},
      {"starts that miss a row",
       [] {
         return set_up_with_lines({0, 1}, {0, 2, 3}, {0, 1, 2, 3});
       },
       "starts", "not 3", "end with the 4 rows"},
      {"line -1",
       [] {
         return set_up_with_lines({0, -1}, {0, 2, 4}, {0, 1, 2, 3});
       },
       "a line has the number", "-1", "count lines from 0"},
      {"line 7 twice",
       [] {
         return set_up_with_lines({7, 7}, {0, 2, 4}, {0, 1, 2, 3});
       },
       "twice", "line 7", "a rank holds one part"},
      {"row 1 twice",
       [] {
         return set_up_with_lines({0}, {0, 4}, {0, 1, 1, 3});
       },
       "listed twice", "row 1", "each once"},
      {"row 9 of 4",
       [] {
         return set_up_with_lines({0}, {0, 4}, {0, 1, 2, 9});
       },
       "another rank", "row 9", "lists its own global rows"},
      {"bands along w", [] { return set_up_with_bands("w", 4); }, "not", "'w'", "takes the axes x, y and z"},
      {"a band of 3 rows", [] { return set_up_with_bands("x", 3); }, "the vectors have", "3, 4 and 4 rows",
       "give three of the same layout"},
      {"a result before the set-up", [] { return read_before_set_up(); }, "chosen nothing yet", "PCOCLSPKT",
       "call PCSetUp()"},
      {"4 x 6 entries", [] { return set_up_of_two_more_columns(); }, "square", "4 rows and 6 columns",
       "the square one"},
      {"no matrix", solve_without_operators, "was given no matrix", "PCOCLSPKT", "call KSPSetOperators()"},
      {"an entry off the bands, and ignored error", set_up_with_a_corner, "off the three bands", "has 1 nonzero",
       "-pc_oclspkt_lines"},
      {"method 99", [] { return set_up_with([](PC pc) { return PCOCLSPKTSetMethod(pc, PCOCLSPKTMethod(99)); }); },
       "no choice number", "99", "use the names"},
      {"a null pointer", [] { return set_up_with([](PC pc) { return PCOCLSPKTGetRtol(pc, nullptr); }); },
       "null pointer", "second argument of PCOCLSPKTGetRtol()", "pass the address"},
  };
}

/// Events of the log that are off in its scope: a set-up that ends in an error would leave them open for later tests.
class EventsOff : NotCopied {
 public:
  EventsOff() {
    PCOCLSPKTInitializePackage();
    for (std::size_t i = 0; i < 2; ++i) {
      PetscLogEventGetId(kNames[i], &events_[i]);
      PetscLogEventDeactivate(events_[i]);
    }
  }
  ~EventsOff() {
    for (const PetscLogEvent event : events_) PetscLogEventActivate(event);
  }

 private:
  static constexpr const char* kNames[] = {"OCLSPKTSetUp", "OCLSPKTBands"};
  PetscLogEvent events_[2] = {};
};

TEST(Messages, NameTheCauseTheNumberAndTheCure) {
  const EventsOff off;
  for (const Mistake& mistake : mistakes()) {
    const ErrorTexts errors;
    const PetscErrorCode code = mistake.make();
    std::printf("%s:\n    %s\n", mistake.done, errors.text().c_str());
    SCOPED_TRACE(std::string(mistake.done) + ": " + errors.text());
    EXPECT_NE(code, 0) << "it was taken";
    for (const char* part : {mistake.cause, mistake.given, mistake.cure}) {
      EXPECT_TRUE(contains(errors.text(), part)) << part;
    }
  }
}

}  // namespace
}  // namespace oclspkt::test::messages
