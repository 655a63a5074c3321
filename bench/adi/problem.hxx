// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <petscdmda.h>

#include <array>

namespace oclspkt::bench::adi {

inline constexpr int kAxes = 3;

/// sin(p pi x) sin(q pi y) sin(r pi z): an eigenvector of second differences along each axis.
struct Wave {
  std::array<int, kAxes> number;
  double amplitude;
};
inline constexpr std::array<Wave, 5> kWaves{
    {{{1, 1, 1}, 1.0}, {{2, 1, 3}, 0.5}, {{5, 4, 2}, 0.3}, {{7, 9, 8}, 0.2}, {{16, 13, 19}, 0.1}}};
using Factors = std::array<double, kWaves.size()>;

/// u_t = u_xx + u_yy + u_zz on the unit cube, 0 on its faces; n points along each axis, inside.
class Problem {
 public:
  PetscErrorCode Create(MPI_Comm comm, PetscInt n);
  PetscErrorCode Destroy();

  DM grid = nullptr;
  PetscInt n = 0;
  double h() const { return 1 / static_cast<double>(n + 1); }

  /// u = sum of the waves, each times its factor.
  PetscErrorCode Fill(const Factors& factors, Vec u) const;
  /// Largest difference from that sum, against the largest entry at the start (waves die out). Collective.
  PetscErrorCode Error(const Factors& factors, Vec u, double* error) const;
  /// 1 - lambda (the three second differences times h^2), by a matrix that the caller destroys.
  PetscErrorCode CreateMatrix(double lambda, Mat* matrix) const;

  /// What becomes of the waves in `steps` steps of size lambda h^2:
  Factors unchanged() const;
  Factors exact(double lambda, int steps) const;     ///< of the equation, discrete in space only
  Factors factored(double lambda, int steps) const;  ///< by (1 - dt A_z)^-1 (1 - dt A_y)^-1 (1 - dt A_x)^-1
  Factors implicit(double lambda, int steps) const;  ///< by (1 - dt A)^-1
};

}  // namespace oclspkt::bench::adi
