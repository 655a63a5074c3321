// SPDX-License-Identifier: BSD-2-Clause
/* The words of C's enumerations. */
#include "oclspkt/oclspkt.h"
#include "pc_oclspkt.hxx"

using oclspkt::AboveBound;
using oclspkt::kAboveBoundNames;
using oclspkt::kMethodChoiceNames;
using oclspkt::kOnDeviceFailureNames;
using oclspkt::kPrecisionNames;
using oclspkt::kSingularNames;
using oclspkt::kTransferNames;
using oclspkt::MethodChoice;
using oclspkt::OnDeviceFailure;
using oclspkt::Precision;
using oclspkt::Singular;
using oclspkt::Transfer;
using oclspkt::petsc::Combine;
using oclspkt::petsc::Diagonal;
using oclspkt::petsc::Ignored;
using oclspkt::petsc::kCombineNames;
using oclspkt::petsc::kDiagonalNames;
using oclspkt::petsc::kIgnoredNames;

/* The words of the solver's own tables, then what PetscOptionsEnum() wants behind them. */
const char* const PCOCLSPKTMethods[] = {kMethodChoiceNames[PC_OCLSPKT_METHOD_AUTO],
                                        kMethodChoiceNames[PC_OCLSPKT_METHOD_TRUNCATED],
                                        kMethodChoiceNames[PC_OCLSPKT_METHOD_TRUNCATED_HALO],
                                        kMethodChoiceNames[PC_OCLSPKT_METHOD_TRUNCATED_STREAMED],
                                        kMethodChoiceNames[PC_OCLSPKT_METHOD_EXACT],
                                        kMethodChoiceNames[PC_OCLSPKT_METHOD_EXACT_TWOPASS],
                                        kMethodChoiceNames[PC_OCLSPKT_METHOD_EXACT_FACTORED],
                                        kMethodChoiceNames[PC_OCLSPKT_METHOD_PIVOT],
                                        "PCOCLSPKTMethod",
                                        "PC_OCLSPKT_METHOD_",
                                        nullptr};
const char* const PCOCLSPKTPrecisions[] = {kPrecisionNames[PC_OCLSPKT_PRECISION_SAME],
                                           kPrecisionNames[PC_OCLSPKT_PRECISION_NARROW], "PCOCLSPKTPrecision",
                                           "PC_OCLSPKT_PRECISION_", nullptr};
const char* const PCOCLSPKTOnDeviceFailures[] = {kOnDeviceFailureNames[PC_OCLSPKT_ON_DEVICE_FAILURE_DEGRADE],
                                                 kOnDeviceFailureNames[PC_OCLSPKT_ON_DEVICE_FAILURE_QUIET],
                                                 kOnDeviceFailureNames[PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR],
                                                 "PCOCLSPKTOnDeviceFailure",
                                                 "PC_OCLSPKT_ON_DEVICE_FAILURE_",
                                                 nullptr};
const char* const PCOCLSPKTSingulars[] = {kSingularNames[PC_OCLSPKT_SINGULAR_AUTO],
                                          kSingularNames[PC_OCLSPKT_SINGULAR_FAIL],
                                          kSingularNames[PC_OCLSPKT_SINGULAR_PIN],
                                          "PCOCLSPKTSingular",
                                          "PC_OCLSPKT_SINGULAR_",
                                          nullptr};
const char* const PCOCLSPKTAboveBounds[] = {kAboveBoundNames[PC_OCLSPKT_ABOVE_BOUND_WARN],
                                            kAboveBoundNames[PC_OCLSPKT_ABOVE_BOUND_ERROR], "PCOCLSPKTAboveBound",
                                            "PC_OCLSPKT_ABOVE_BOUND_", nullptr};
const char* const PCOCLSPKTTransfers[] = {kTransferNames[PC_OCLSPKT_TRANSFER_AUTO],
                                          kTransferNames[PC_OCLSPKT_TRANSFER_COPY], "PCOCLSPKTTransfer",
                                          "PC_OCLSPKT_TRANSFER_", nullptr};

const char* const PCOCLSPKTCombines[] = {kCombineNames[PC_OCLSPKT_COMBINE_ADDITIVE],
                                         kCombineNames[PC_OCLSPKT_COMBINE_FACTORED],
                                         kCombineNames[PC_OCLSPKT_COMBINE_SYMMETRIC],
                                         kCombineNames[PC_OCLSPKT_COMBINE_MULTIPLICATIVE],
                                         "PCOCLSPKTCombine",
                                         "PC_OCLSPKT_COMBINE_",
                                         nullptr};
const char* const PCOCLSPKTDiagonals[] = {kDiagonalNames[PC_OCLSPKT_DIAGONAL_FULL],
                                          kDiagonalNames[PC_OCLSPKT_DIAGONAL_SPLIT], "PCOCLSPKTDiagonal",
                                          "PC_OCLSPKT_DIAGONAL_", nullptr};
const char* const PCOCLSPKTIgnoreds[] = {kIgnoredNames[PC_OCLSPKT_IGNORED_IGNORE],
                                         kIgnoredNames[PC_OCLSPKT_IGNORED_WARN],
                                         kIgnoredNames[PC_OCLSPKT_IGNORED_ERROR],
                                         "PCOCLSPKTIgnored",
                                         "PC_OCLSPKT_IGNORED_",
                                         nullptr};

/* The values of the C enumerations are those of the solver's. */
#define SameValue(c_value, cxx_value) static_assert(static_cast<int>(c_value) == static_cast<int>(cxx_value))
SameValue(PC_OCLSPKT_METHOD_AUTO, MethodChoice::automatic);
SameValue(PC_OCLSPKT_METHOD_TRUNCATED, MethodChoice::truncated);
SameValue(PC_OCLSPKT_METHOD_TRUNCATED_HALO, MethodChoice::truncated_halo);
SameValue(PC_OCLSPKT_METHOD_TRUNCATED_STREAMED, MethodChoice::truncated_streamed);
SameValue(PC_OCLSPKT_METHOD_EXACT, MethodChoice::exact);
SameValue(PC_OCLSPKT_METHOD_EXACT_TWOPASS, MethodChoice::exact_twopass);
SameValue(PC_OCLSPKT_METHOD_EXACT_FACTORED, MethodChoice::exact_factored);
SameValue(PC_OCLSPKT_METHOD_PIVOT, MethodChoice::pivot);
SameValue(PC_OCLSPKT_PRECISION_SAME, Precision::same);
SameValue(PC_OCLSPKT_PRECISION_NARROW, Precision::narrow);
SameValue(PC_OCLSPKT_ON_DEVICE_FAILURE_DEGRADE, OnDeviceFailure::degrade);
SameValue(PC_OCLSPKT_ON_DEVICE_FAILURE_QUIET, OnDeviceFailure::quiet);
SameValue(PC_OCLSPKT_ON_DEVICE_FAILURE_ERROR, OnDeviceFailure::error);
SameValue(PC_OCLSPKT_SINGULAR_AUTO, Singular::automatic);
SameValue(PC_OCLSPKT_SINGULAR_FAIL, Singular::fail);
SameValue(PC_OCLSPKT_SINGULAR_PIN, Singular::pin);
SameValue(PC_OCLSPKT_ABOVE_BOUND_WARN, AboveBound::warn);
SameValue(PC_OCLSPKT_ABOVE_BOUND_ERROR, AboveBound::error);
SameValue(PC_OCLSPKT_TRANSFER_AUTO, Transfer::automatic);
SameValue(PC_OCLSPKT_TRANSFER_COPY, Transfer::copy);
SameValue(PC_OCLSPKT_COMBINE_ADDITIVE, Combine::additive);
SameValue(PC_OCLSPKT_COMBINE_FACTORED, Combine::factored);
SameValue(PC_OCLSPKT_COMBINE_SYMMETRIC, Combine::symmetric);
SameValue(PC_OCLSPKT_COMBINE_MULTIPLICATIVE, Combine::multiplicative);
SameValue(PC_OCLSPKT_DIAGONAL_FULL, Diagonal::full);
SameValue(PC_OCLSPKT_DIAGONAL_SPLIT, Diagonal::split);
SameValue(PC_OCLSPKT_IGNORED_IGNORE, Ignored::ignore);
SameValue(PC_OCLSPKT_IGNORED_WARN, Ignored::warn);
SameValue(PC_OCLSPKT_IGNORED_ERROR, Ignored::error);
#undef SameValue
