// SPDX-License-Identifier: BSD-2-Clause
/* The words of C's enumerations, whose values are those of the solver's. */
#include "oclspkt/oclspkt.h"
#include "pc_oclspkt.hxx"

/* A value of C, the solver's, and the words of the solver's enumeration. */
#define OCLSPKT_METHODS(ROW)                                                                                        \
  ROW(PC_OCLSPKT_METHOD_AUTO, oclspkt::MethodChoice::automatic, oclspkt::kMethodChoiceNames)                        \
  ROW(PC_OCLSPKT_METHOD_TRUNCATED, oclspkt::MethodChoice::truncated, oclspkt::kMethodChoiceNames)                   \
  ROW(PC_OCLSPKT_METHOD_TRUNCATED_HALO, oclspkt::MethodChoice::truncated_halo, oclspkt::kMethodChoiceNames)         \
  ROW(PC_OCLSPKT_METHOD_TRUNCATED_STREAMED, oclspkt::MethodChoice::truncated_streamed, oclspkt::kMethodChoiceNames) \
  ROW(PC_OCLSPKT_METHOD_EXACT, oclspkt::MethodChoice::exact, oclspkt::kMethodChoiceNames)                           \
  ROW(PC_OCLSPKT_METHOD_EXACT_TWOPASS, oclspkt::MethodChoice::exact_twopass, oclspkt::kMethodChoiceNames)           \
  ROW(PC_OCLSPKT_METHOD_EXACT_FACTORED, oclspkt::MethodChoice::exact_factored, oclspkt::kMethodChoiceNames)         \
  ROW(PC_OCLSPKT_METHOD_PIVOT, oclspkt::MethodChoice::pivot, oclspkt::kMethodChoiceNames)
#define OCLSPKT_PRECISIONS(ROW)                                                      \
  ROW(PC_OCLSPKT_PRECISION_SAME, oclspkt::Precision::same, oclspkt::kPrecisionNames) \
  ROW(PC_OCLSPKT_PRECISION_NARROW, oclspkt::Precision::narrow, oclspkt::kPrecisionNames)
#define OCLSPKT_ON_DEVICE_FAILURES(ROW)                                                                        \
  ROW(PC_OCLSPKT_ON_DEVICE_FAILURE_DEGRADE, oclspkt::OnDeviceFailure::degrade, oclspkt::kOnDeviceFailureNames) \
  ROW(PC_OCLSPKT_ON_DEVICE_FAILURE_QUIET, oclspkt::OnDeviceFailure::quiet, oclspkt::kOnDeviceFailureNames)     \
  ROW(PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR, oclspkt::OnDeviceFailure::error, oclspkt::kOnDeviceFailureNames)
#define OCLSPKT_SINGULARS(ROW)                                                         \
  ROW(PC_OCLSPKT_SINGULAR_AUTO, oclspkt::Singular::automatic, oclspkt::kSingularNames) \
  ROW(PC_OCLSPKT_SINGULAR_FAIL, oclspkt::Singular::fail, oclspkt::kSingularNames)      \
  ROW(PC_OCLSPKT_SINGULAR_PIN, oclspkt::Singular::pin, oclspkt::kSingularNames)
#define OCLSPKT_ABOVE_BOUNDS(ROW)                                                        \
  ROW(PC_OCLSPKT_ABOVE_BOUND_WARN, oclspkt::AboveBound::warn, oclspkt::kAboveBoundNames) \
  ROW(PC_OCLSPKT_ABOVE_BOUND_ERROR, oclspkt::AboveBound::error, oclspkt::kAboveBoundNames)
#define OCLSPKT_TRANSFERS(ROW)                                                         \
  ROW(PC_OCLSPKT_TRANSFER_AUTO, oclspkt::Transfer::automatic, oclspkt::kTransferNames) \
  ROW(PC_OCLSPKT_TRANSFER_COPY, oclspkt::Transfer::copy, oclspkt::kTransferNames)
#define OCLSPKT_COMBINES(ROW)                                                                          \
  ROW(PC_OCLSPKT_COMBINE_ADDITIVE, oclspkt::petsc::Combine::additive, oclspkt::petsc::kCombineNames)   \
  ROW(PC_OCLSPKT_COMBINE_FACTORED, oclspkt::petsc::Combine::factored, oclspkt::petsc::kCombineNames)   \
  ROW(PC_OCLSPKT_COMBINE_SYMMETRIC, oclspkt::petsc::Combine::symmetric, oclspkt::petsc::kCombineNames) \
  ROW(PC_OCLSPKT_COMBINE_MULTIPLICATIVE, oclspkt::petsc::Combine::multiplicative, oclspkt::petsc::kCombineNames)
#define OCLSPKT_DIAGONALS(ROW)                                                                  \
  ROW(PC_OCLSPKT_DIAGONAL_FULL, oclspkt::petsc::Diagonal::full, oclspkt::petsc::kDiagonalNames) \
  ROW(PC_OCLSPKT_DIAGONAL_SPLIT, oclspkt::petsc::Diagonal::split, oclspkt::petsc::kDiagonalNames)
#define OCLSPKT_IGNOREDS(ROW)                                                                    \
  ROW(PC_OCLSPKT_IGNORED_IGNORE, oclspkt::petsc::Ignored::ignore, oclspkt::petsc::kIgnoredNames) \
  ROW(PC_OCLSPKT_IGNORED_WARN, oclspkt::petsc::Ignored::warn, oclspkt::petsc::kIgnoredNames)     \
  ROW(PC_OCLSPKT_IGNORED_ERROR, oclspkt::petsc::Ignored::error, oclspkt::petsc::kIgnoredNames)

/* The words, then what PetscOptionsEnum() wants behind them. */
#define OCLSPKT_WORD(c, cxx, names) names[c],
#define OCLSPKT_SAME(c, cxx, names) static_assert(static_cast<int>(c) == static_cast<int>(cxx));
#define OCLSPKT_WORDS(EACH, Type, PREFIX)                                    \
  const char* const Type##s[] = {EACH(OCLSPKT_WORD) #Type, PREFIX, nullptr}; \
  EACH(OCLSPKT_SAME)
OCLSPKT_WORDS(OCLSPKT_METHODS, PCOCLSPKTMethod, "PC_OCLSPKT_METHOD_")
OCLSPKT_WORDS(OCLSPKT_PRECISIONS, PCOCLSPKTPrecision, "PC_OCLSPKT_PRECISION_")
OCLSPKT_WORDS(OCLSPKT_ON_DEVICE_FAILURES, PCOCLSPKTOnDeviceFailure, "PC_OCLSPKT_ON_DEVICE_FAILURE_")
OCLSPKT_WORDS(OCLSPKT_SINGULARS, PCOCLSPKTSingular, "PC_OCLSPKT_SINGULAR_")
OCLSPKT_WORDS(OCLSPKT_ABOVE_BOUNDS, PCOCLSPKTAboveBound, "PC_OCLSPKT_ABOVE_BOUND_")
OCLSPKT_WORDS(OCLSPKT_TRANSFERS, PCOCLSPKTTransfer, "PC_OCLSPKT_TRANSFER_")
OCLSPKT_WORDS(OCLSPKT_COMBINES, PCOCLSPKTCombine, "PC_OCLSPKT_COMBINE_")
OCLSPKT_WORDS(OCLSPKT_DIAGONALS, PCOCLSPKTDiagonal, "PC_OCLSPKT_DIAGONAL_")
OCLSPKT_WORDS(OCLSPKT_IGNOREDS, PCOCLSPKTIgnored, "PC_OCLSPKT_IGNORED_")
