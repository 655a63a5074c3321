// SPDX-License-Identifier: BSD-2-Clause
// Numbers of vectors of -oclspkt_types, and parts of them, case by case.
#include <array>

#include "oclspkt/oclspkt_vec.h"
#include "types_support.hxx"

namespace oclspkt::test {
namespace {

/// Values of a rank's vector, and the least and greatest of all ranks, each of which has them.
struct Extremes {
  std::vector<PetscScalar> values;
  PetscReal least, greatest;
  PetscInt least_at, greatest_at;  ///< in the first rank
};

TEST(TypesNumbers, ExtremesAreThoseOfPetscWithTheirFirstPlaces) {
  const Extremes several[] = {{{1, -2, 3, -2, 3}, -2, 3, 1, 2},
                              {{1, kNan, -2, 3}, -2, 3, 2, 3},
                              {{kInf, kInf}, kInf, kInf, 0, 0},
                              {{-kInf, 1, -kInf, kInf}, -kInf, kInf, 0, 3},
                              {{7}, 7, 7, 0, 0}};
  for (const Extremes& of : several) {
    SCOPED_TRACE(testing::PrintToString(of.values));
    const Owned x(of.values, true);
    PetscReal value;
    PetscInt place;
    send_away(x);
    OK(VecMin(x, &place, &value));
    EXPECT_EQ(value, of.least);
    EXPECT_EQ(place, of.least_at);
    OK(VecMax(x, &place, &value));
    EXPECT_EQ(value, of.greatest);
    EXPECT_EQ(place, of.greatest_at);
    OK(VecMin(x, nullptr, &value));
    EXPECT_EQ(value, of.least);
    EXPECT_TRUE(is_away(x)) << "an extreme took it to the host";
  }
}

/* Of one rank: MPI does not say what the least of NaN and numbers is. */
TEST(TypesNumbers, AFirstNaNIsTheExtreme) {
  PetscScalar memory[] = {kNan, 1, 2};
  HeldVec host, x;
  PetscReal value;
  PetscInt place;
  OK(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 3, memory, &host));
  OK(VecCreateSeq(PETSC_COMM_SELF, 3, &x));
  OK(VecCopy(host, x));
  send_away(x);
  for (const Vec v : {(Vec)x, (Vec)host}) {
    OK(VecMin(v, &place, &value));
    EXPECT_TRUE(std::isnan(value));
    EXPECT_EQ(place, 0);
    OK(VecMax(v, &place, &value));
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_TRUE(is_away(x));
}

TEST(TypesNumbers, NumbersOfNothingAreThoseOfPetsc) {
  PetscReal values[2][3];
  PetscScalar sums[2];
  PetscInt places[2][2];
  for (const bool dressed : {false, true}) {
    const Owned x(0, dressed);
    OK(VecMin(x, places[dressed], values[dressed]));
    OK(VecMax(x, places[dressed] + 1, values[dressed] + 1));
    OK(VecMaxPointwiseDivide(x, x, values[dressed] + 2));
    OK(VecSum(x, sums + dressed));
  }
  for (int k = 0; k < 3; ++k) EXPECT_EQ(values[1][k], values[0][k]) << k;
  for (int k = 0; k < 2; ++k) EXPECT_EQ(places[1][k], places[0][k]) << k;
  EXPECT_EQ(sums[1], 0);
}

TEST(TypesNumbers, SumsAndRatiosComeFromTheDevice) {
  const Owned x({1, -6, 3, 8}, true), y({2, -1, 0, 4}, true);
  PetscScalar sum;
  PetscReal ratio;
  OK(VecScale(x, 2));
  OK(VecScale(y, 2));
  OK(VecSum(x, &sum));
  EXPECT_EQ(sum, 12 * PetscGlobalSize);
  OK(VecMaxPointwiseDivide(x, y, &ratio));
  EXPECT_EQ(ratio, 6);
  OK(VecMaxPointwiseDivide(y, x, &ratio));
  EXPECT_EQ(ratio, 2);
  EXPECT_TRUE(is_away(x) && is_away(y));
}

/* PETSc 3.18 asks types for these, and leaves it to them that norms of before do not count any longer. */
TEST(TypesNumbers, TheNormAfterAnOperationInPlaceIsNotTheCachedOneOfBefore) {
  const Owned x({-4, 9, -16, 0}, true);
  const PetscInt ranks = PetscGlobalSize;
  EXPECT_EQ(norm_of(x, NORM_1), 29 * ranks);
  OK(VecAbs(x));
  OK(VecShift(x, 9));
  EXPECT_EQ(norm_of(x, NORM_1), 65 * ranks);
  OK(VecShift(x, -9));
  OK(VecSqrtAbs(x));
  EXPECT_EQ(norm_of(x, NORM_1), 9 * ranks);
  OK(VecReciprocal(x));
  EXPECT_NEAR(norm_of(x, NORM_1), (.5 + 1. / 3 + .25) * ranks, 1e-15 * ranks);
  EXPECT_TRUE(is_away(x));
}

TEST(TypesNumbers, SwappedVectorsStayOnTheDevice) {
  const Owned x({1, 2, 3}, true), y({4, 5, 6}, true);
  OK(VecScale(x, 2));
  EXPECT_EQ(norm_of(y, NORM_1), 15 * PetscGlobalSize);
  OK(VecSwap(x, y));
  EXPECT_TRUE(is_away(x) && is_away(y));
  EXPECT_EQ(norm_of(x, NORM_1), 15 * PetscGlobalSize);
  EXPECT_EQ(values_of(x), (std::vector<PetscScalar>{4, 5, 6}));
  EXPECT_EQ(values_of(y), (std::vector<PetscScalar>{2, 4, 6}));
  PetscScalar* a;
  OK(VecGetArray(x, &a));
  OK(VecSwap(x, y));
  EXPECT_EQ(a[1], 4) << "an array that is out";
  OK(VecRestoreArray(x, &a));
  EXPECT_EQ(values_of(y), (std::vector<PetscScalar>{4, 5, 6}));
}

/// A part of every rank: `count` places from the second on.
class Part : NotCopied {
 public:
  Part(Vec whole, PetscInt count) : whole_(whole) {
    PetscInt first;
    VecGetOwnershipRange(whole, &first, nullptr);
    ISCreateStride(PETSC_COMM_WORLD, count, first + 1, 1, &places_);
    VecGetSubVector(whole_, places_, &part_);
  }
  ~Part() {
    VecRestoreSubVector(whole_, places_, &part_);
    ISDestroy(&places_);
  }
  operator Vec() const { return part_; }

 private:
  Vec whole_, part_ = nullptr;
  IS places_ = nullptr;
};

TEST(TypesParts, APartIsWorkedOnWithoutItsVectorComingDown) {
  const Owned x({1, 2, 3, 4, 5}, true);
  OK(VecScale(x, 2));
  {
    const Part part(x, 3);
    PetscInt block;
    OK(VecScale(part, 10));
    OK(VecGetBlockSize(part, &block));
    EXPECT_EQ(block, 1);
    EXPECT_EQ(norm_of(part, NORM_1), 180 * PetscGlobalSize);
    EXPECT_TRUE(is_away(x) && is_away(part));
  }
  EXPECT_TRUE(is_away(x));
  EXPECT_EQ(values_of(x), (std::vector<PetscScalar>{2, 40, 60, 80, 10}));
}

TEST(TypesParts, APartAndItsVectorSeeEachOthersChanges) {
  const Owned x({1, 2, 3, 4, 5}, true);
  send_away(x);
  const Part part(x, 3);
  OK(VecShift(part, 10));
  EXPECT_EQ(values_of(x), (std::vector<PetscScalar>{1, 12, 13, 14, 5}));
  OK(VecScale(x, 2));
  EXPECT_EQ(norm_of(part, NORM_1), 78 * PetscGlobalSize);
  PetscScalar* a;
  OK(VecGetArray(x, &a));
  a[2] = -1;
  OK(VecRestoreArray(x, &a));
  EXPECT_EQ(norm_of(part, NORM_1), 53 * PetscGlobalSize);
  OK(VecGetArray(part, &a));
  a[0] = 7;
  OK(VecScale(x, 2));
  EXPECT_EQ(a[0], 14);
  OK(VecRestoreArray(part, &a));
  EXPECT_EQ(values_of(x), (std::vector<PetscScalar>{4, 14, -2, 56, 20}));
}

TEST(TypesParts, PartsBesideEachOtherMayBeOutTogether) {
  const Owned x({1, 2, 3, 4}, true), y(1);
  send_away(x);
  IS places[2];
  Vec parts[2];
  PetscInt first;
  OK(VecGetOwnershipRange(x, &first, nullptr));
  for (PetscInt k = 0; k < 2; ++k) {
    OK(ISCreateStride(PETSC_COMM_WORLD, 2, first + 2 * k, 1, places + k));
    OK(VecGetSubVector(x, places[k], parts + k));
  }
  OK(VecAXPY(parts[0], 10, parts[1]));
  OK(VecScale(parts[1], -1));
  for (int k = 0; k < 2; ++k) {
    OK(VecRestoreSubVector(x, places[k], parts + k));
    OK(ISDestroy(places + k));
  }
  EXPECT_TRUE(is_away(x));
  EXPECT_EQ(values_of(x), (std::vector<PetscScalar>{31, 42, -3, -4}));
}

TEST(TypesParts, APartKeepsTheBlockSizeOfItsVector) {
  HeldVec x;
  OK(VecCreate(PETSC_COMM_WORLD, &x));
  OK(VecSetSizes(x, 8, PETSC_DETERMINE));
  OK(VecSetBlockSize(x, 2));
  OK(VecSetType(x, VECSTANDARD));
  for (const auto& [from, count, expected] : {std::array{2, 4, 2}, {1, 4, 1}, {2, 3, 1}}) {
    HeldIS places;
    Vec part;
    PetscInt first, block;
    OK(VecGetOwnershipRange(x, &first, nullptr));
    OK(ISCreateStride(PETSC_COMM_WORLD, count, first + from, 1, &places));
    OK(VecGetSubVector(x, places, &part));
    OK(VecGetBlockSize(part, &block));
    EXPECT_EQ(block, expected) << from << " " << count;
    OK(VecRestoreSubVector(x, places, &part));
  }
}

/* As preconditioners by blocks make their vectors. */
TEST(TypesParts, WhatARankHasIsWorkedOnWhereItLies) {
  const Owned x({1, 2, 3}, true);
  HeldVec local;
  OK(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 3, nullptr, &local));
  OK(VecScale(x, 2));
  for (int round = 0; round < 2; ++round) {
    OK(VecGetLocalVectorRead(x, local));
    EXPECT_EQ(norm_of(local, NORM_1), round == 0 ? 12 : 36);
    OK(VecRestoreLocalVectorRead(x, local));
    OK(VecGetLocalVector(x, local));
    OK(VecScale(local, 3));
    EXPECT_TRUE(is_away(local));
    OK(VecRestoreLocalVector(x, local));
    EXPECT_TRUE(is_away(x));
  }
  EXPECT_EQ(values_of(x), (std::vector<PetscScalar>{18, 36, 54}));
}

TEST(TypesParts, EveryOtherPlaceIsCopiedOnTheDevice) {
  const InsertMode modes[] = {INSERT_VALUES, ADD_VALUES, MAX_VALUES};
  for (const InsertMode mode : modes) {
    std::vector<PetscScalar> found[2][2];
    for (const bool dressed : {false, true}) {
      const Owned x({1, 2, 3, 4, 5, 6}, dressed), y({9, 1, 5}, dressed);
      OK(VecSetBlockSize(x, 2));
      send_away(x);
      OK(VecStrideGather(x, 1, y, mode));
      OK(VecScale(y, 2));
      OK(VecStrideScatter(y, 0, x, mode));
      EXPECT_EQ(is_away(x) && is_away(y), dressed);
      found[dressed][0] = values_of(x);
      found[dressed][1] = values_of(y);
    }
    EXPECT_EQ(found[1][0], found[0][0]) << mode;
    EXPECT_EQ(found[1][1], found[0][1]) << mode;
  }
}

#if PETSC_VERSION_GE(3, 20, 0)
/// What PETSc makes of vectors of the host, and what this makes of the same on the device, is alike.
struct WeightedNorms {
  std::array<PetscReal, 3> norm{};
  std::array<PetscInt, 3> places{};
};
struct Tolerances {
  PetscReal atol, rtol, ignore_max;
  bool each;
};

WeightedNorms weighted_norms(Vec u, Vec y, Vec e, NormType type, const Tolerances& t) {
  WeightedNorms w;
  const Vec each = t.each ? u : nullptr;
  EXPECT_EQ(VecErrorWeightedNorms(u, y, e, type, t.atol, each, t.rtol, each, t.ignore_max, &w.norm[0], &w.places[0],
                                  &w.norm[1], &w.places[1], &w.norm[2], &w.places[2]),
            0);
  return w;
}

TEST(TypesNumbers, ErrorsOfStepsAreWeighedAsByPetsc) {
  const std::vector<PetscScalar> of_u{1, -2, 0, 3, 0, 1e-3}, of_y{1.5, 2, 0, kNan, 1, 1e-3},
      of_e{.1, -.2, .3, .4, 0, 2};
  for (const bool has_nan : {false, true}) {
    std::vector<PetscScalar> values(of_y);
    if (!has_nan) values[3] = 4;
    const Owned u(of_u, true), y(values, true), e(of_e, true), host_u(of_u, false), host_y(values, false),
        host_e(of_e, false);
    for (const Tolerances& t : {Tolerances{1e-2, 1e-1, -1, false},
                                {0, 1e-1, -1, false},
                                {1e-2, 0, -1, false},
                                {0, 0, -1, false},
                                {1e-2, 1e-1, 1.2, false},
                                {1e-2, 1e-1, -1, true},
                                {-1, 1e-1, -1, false}}) {
      for (const NormType type : {NORM_2, NORM_INFINITY}) {
        for (const bool given : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << "NaN " << has_nan << ", atol " << t.atol << ", rtol " << t.rtol << ", ignored "
                       << t.ignore_max << ", each " << t.each << ", norm " << type << ", error " << given);
          const WeightedNorms ours = weighted_norms(u, y, given ? (Vec)e : nullptr, type, t);
          const WeightedNorms right = weighted_norms(host_u, host_y, given ? (Vec)host_e : nullptr, type, t);
          for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_TRUE(same_number(ours.norm[k], right.norm[k])) << ours.norm[k] << ", PETSc has " << right.norm[k];
            EXPECT_EQ(ours.places[k], right.places[k]);
          }
        }
      }
    }
  }
}

TEST(TypesNumbers, ErrorsOfStepsLeaveValuesOnTheDevice) {
  const Owned u({1, 2, 3}, true), y({1, 2, 4}, true);
  for (const Vec v : {(Vec)u, (Vec)y}) send_away(v);
  EXPECT_EQ(weighted_norms(u, y, nullptr, NORM_INFINITY, {.5, 0, -1, false}).norm[0], 2);
  EXPECT_TRUE(is_away(u) && is_away(y));
}
#endif

/// Each look at it costs as much as a tenth of an operation.
TEST(TypesLimit, AShortVectorOfOneProcessIsPetscs) {
  PetscBool is_fixed;
  OK(PetscOptionsHasName(nullptr, nullptr, "-oclspkt_types_least", &is_fixed));
  if (is_fixed) return; /* to 1 */
  HeldVec brief, copy, extended, of_petsc;
  OK(VecCreateSeq(PETSC_COMM_SELF, 9000, &brief));
  OK(VecDuplicate(brief, &copy));
  OK(VecCreateSeq(PETSC_COMM_SELF, 12000, &extended));
  OK(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, 9000, nullptr, &of_petsc));
  for (const Vec v : {(Vec)brief, (Vec)copy}) {
    EXPECT_EQ(v->ops->axpy, of_petsc->ops->axpy);
    EXPECT_EQ(v->ops->getarrayread, of_petsc->ops->getarrayread);
  }
  EXPECT_NE(extended->ops->axpy, of_petsc->ops->axpy);
  struct _cl_mem* memory = nullptr;
  OK(VecSet(brief, 3));
  OK(VecOpenCLGetMemRead(brief, &memory, nullptr)); /* and yet it has memory for kernels */
  EXPECT_NE(memory, nullptr);
  OK(VecOpenCLRestoreMemRead(brief, &memory));
  OK(VecScale(brief, 3));
  EXPECT_EQ(norm_of(brief, NORM_INFINITY), 9);
  const ErrorTexts errors;
  EXPECT_EQ(VecOpenCLGetMemRead(of_petsc, &memory, nullptr), PETSC_ERR_ARG_WRONG) << "over memory of the program";
}

TEST(TypesLimit, AVectorLongEnoughForADevice) {
  const Owned x(12000);
  OK(VecSet(x, 1));
  EXPECT_EQ(norm_of(x, NORM_1), 12000 * PetscGlobalSize);
}

}  // namespace
}  // namespace oclspkt::test
