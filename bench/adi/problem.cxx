// SPDX-License-Identifier: BSD-2-Clause
#include "problem.hxx"

#include <cmath>
#include <numbers>
#include <vector>

namespace oclspkt::bench::adi {
namespace {

/// What minus the second difference times h^2 multiplies a wave by, along each axis.
std::array<double, kAxes> rates(const Wave& wave, double h) {
  std::array<double, kAxes> all{};
  for (int a = 0; a < kAxes; ++a) all[a] = 4 * std::pow(std::sin(wave.number[a] * std::numbers::pi * h / 2), 2);
  return all;
}

/// One step's factor of each wave, to the power of the steps.
template <typename StepFactor>
Factors after(int steps, double h, StepFactor factor) {
  Factors all{};
  for (std::size_t w = 0; w < kWaves.size(); ++w) all[w] = std::pow(factor(rates(kWaves[w], h)), steps);
  return all;
}

/// sin(number pi h (i + 1)) for all waves, by axis, wave and i.
std::vector<double> sines(PetscInt n, int axis, double h) {
  std::vector<double> all;
  all.reserve(kWaves.size() * static_cast<std::size_t>(n));
  for (const Wave& wave : kWaves) {
    for (PetscInt i = 0; i < n; ++i) all.push_back(std::sin(wave.number[axis] * std::numbers::pi * h * (i + 1)));
  }
  return all;
}

}  // namespace

PetscErrorCode Problem::Create(MPI_Comm comm, PetscInt points) {
  PetscFunctionBeginUser;
  n = points;
  PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n,
                         PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, nullptr, &grid));
  PetscCall(DMSetUp(grid));
  PetscFunctionReturn(0);
}

PetscErrorCode Problem::Destroy() {
  PetscFunctionBeginUser;
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(0);
}

PetscErrorCode Problem::Fill(const Factors& factors, Vec u) const {
  const std::vector<double> x = sines(n, 0, h()), y = sines(n, 1, h()), z = sines(n, 2, h());
  DMDALocalInfo info;
  PetscScalar*** values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(grid, &info));
  PetscCall(DMDAVecGetArrayWrite(grid, u, &values));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        values[k][j][i] = 0;
        for (std::size_t w = 0; w < kWaves.size(); ++w) {
          const std::size_t start = w * static_cast<std::size_t>(n);
          values[k][j][i] += kWaves[w].amplitude * factors[w] * x[start + i] * y[start + j] * z[start + k];
        }
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(grid, u, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode Problem::Error(const Factors& factors, Vec u, double* error) const {
  Vec other;
  PetscReal start, difference;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(grid, &other));
  PetscCall(Fill(unchanged(), other));
  PetscCall(VecNorm(other, NORM_INFINITY, &start));
  PetscCall(Fill(factors, other));
  PetscCall(VecAXPY(other, -1, u));
  PetscCall(VecNorm(other, NORM_INFINITY, &difference));
  PetscCall(DMRestoreGlobalVector(grid, &other));
  *error = difference / start;
  PetscFunctionReturn(0);
}

PetscErrorCode Problem::CreateMatrix(double lambda, Mat* matrix) const {
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(grid, matrix));
  PetscCall(DMDAGetLocalInfo(grid, &info));
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const PetscInt at[] = {k, j, i};  // the order of MatStencil
        const MatStencil row{k, j, i, 0};
        MatStencil columns[7] = {row};
        PetscScalar values[7] = {1 + 6 * lambda};
        PetscInt count = 1;
        for (int a = 0; a < kAxes; ++a) {
          for (const int side : {-1, 1}) {
            if (at[a] + side < 0 || at[a] + side >= n) continue;
            PetscInt* const places[] = {&columns[count].k, &columns[count].j, &columns[count].i};
            columns[count] = row;
            *places[a] += side;
            values[count++] = -lambda;
          }
        }
        PetscCall(MatSetValuesStencil(*matrix, 1, &row, count, columns, values, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*matrix, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

Factors Problem::unchanged() const {
  Factors all;
  all.fill(1);
  return all;
}

Factors Problem::exact(double lambda, int steps) const {
  return after(steps, h(), [&](const auto& r) { return std::exp(-lambda * (r[0] + r[1] + r[2])); });
}

Factors Problem::factored(double lambda, int steps) const {
  return after(steps, h(),
               [&](const auto& r) { return 1 / ((1 + lambda * r[0]) * (1 + lambda * r[1]) * (1 + lambda * r[2])); });
}

Factors Problem::implicit(double lambda, int steps) const {
  return after(steps, h(), [&](const auto& r) { return 1 / (1 + lambda * (r[0] + r[1] + r[2])); });
}

}  // namespace oclspkt::bench::adi
