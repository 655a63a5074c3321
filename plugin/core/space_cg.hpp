// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <limits>
#include <span>

#include "space.hpp"

namespace oclspkt {

/// What follows the step of an iteration of conjugate gradients before p changes: the preconditioner, and the norm of
/// which the record tells. The values are those of the macro CG in kernels/common/cg_step.cl.
enum class CgForm {
  plain,       ///< z is r, norm of r
  diagonal_z,  ///< z = inverse r by places, norm of z
  diagonal_r,  ///< z = inverse r by places, norm of r
  others_z,    ///< the caller makes z from r, norm of z
  others_r     ///< the caller makes z from r, norm of r
};

/// Whether the norm is that of the form, or the root of |r . z|.
enum class CgNorm { of_form, natural };

/// The vectors of A x = b. r is b - A x, p the direction, w receives A p, z the preconditioned residual. r, p, w and z
/// may have another scale than x, see SpaceCg::begin().
template <typename T>
struct CgArrays {
  const SpaceMatrix<T>* a;
  SpaceArray<T>*x, *r, *p, *w;
  SpaceArray<T>* z;              ///< r for CgForm::plain; else may be w
  const SpaceArray<T>* inverse;  ///< null unless the form is diagonal
};

/// The numbers of an iteration, as kernels/common/cg.clh lays them out.
template <typename T>
struct CgRecord {
  T rho;        ///< r . z after the iteration
  T curvature;  ///< p . A p
  T norm;       ///< of the residual after the iteration
  T sound;      ///< 0: no iteration can follow, else 1
};

/// Conjugate gradients on the device of a space. Iterations are enqueued and their numbers stay there until take().
///
/// An iteration does nothing, and its record repeats the one before, if the last norm lies outside of the limits or is
/// NaN, or if the last record is not sound. An iteration whose curvature is 0, not finite, or of another sign than the
/// one before, does not step either; its record keeps rho and the norm and is not sound.
///
/// All functions throw InvalidInput for arrays of other sizes, DeviceError and BuildError.
template <typename T>
class SpaceCg {
 public:
  virtual ~SpaceCg() = default;
  SpaceCg() = default;
  SpaceCg(const SpaceCg&) = delete;
  SpaceCg& operator=(const SpaceCg&) = delete;

  /// Begin with a record from which the first iteration follows. Its curvature is 0.
  /// @param unit  1 in the scale of r, p and z, and of the records, is this number in the scale of x. The caller
  /// chooses
  ///              a scale in which squares of r and z neither over- nor underflow.
  virtual void begin(const CgRecord<T>& record, T unit) = 0;
  /// The norms between which iterations go on, both excluded. begin() sets the limits to -1 and infinity.
  virtual void set_limits(T least, T most) = 0;
  /// Enqueue w = A p, x += unit alpha p, r -= alpha w, and the z of diagonal forms.
  /// @cost two launches, three where the matrix has long rows
  virtual void step(const CgArrays<T>& arrays) = 0;
  /// Enqueue p = z + beta p. Between step() and turn(), the caller of the forms others_* enqueues the making of z.
  /// @cost one launch, two for the forms others_*
  virtual void turn(const CgArrays<T>& arrays) = 0;
  /// Wait, and get the records of the last iterations.
  /// @param[out] records  shape [at most the iterations kept, see Space::make_cg()]; in the order of the iterations
  virtual void take(std::span<CgRecord<T>> records) = 0;
};

}  // namespace oclspkt
