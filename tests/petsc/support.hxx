// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>
#include <petsc/private/petscimpl.h>
#include <petscdm.h>
#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "oclspkt/oclspkt.h"

/// Fails the test when a PETSc call returns an error.
#define OK(...) ASSERT_EQ(__VA_ARGS__, 0) << #__VA_ARGS__

namespace oclspkt::test {

/// For classes that undo something at their end.
class NotCopied {
 protected:
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

/// Collects the texts of PETSc errors instead of printing them and stopping.
class ErrorTexts : NotCopied {
 public:
  ErrorTexts() { PetscPushErrorHandler(&ErrorTexts::collect, this); }
  ~ErrorTexts() { PetscPopErrorHandler(); }
  const std::string& text() const { return text_; }

 private:
  static PetscErrorCode collect(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                                const char* message, void* context) {
    if (type == PETSC_ERROR_INITIAL) static_cast<ErrorTexts*>(context)->text_ += message;
    return code;
  }
  std::string text_;
};

/// A device for tests; the host in builds of PETSc with complex scalars, which devices do not solve yet.
inline constexpr const char* kDevice = PetscDefined(USE_COMPLEX) ? "host" : "cpu";

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline void expect_in(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) EXPECT_TRUE(contains(text, part)) << "'" << part << "' is not in: " << text;
}

/// Any code but that of success.
inline constexpr PetscErrorCode kAnyError = static_cast<PetscErrorCode>(-1);

/// Expects that a PETSc call returns an error whose texts have all these parts.
#define EXPECT_ERROR(call, code, ...)                                   \
  do {                                                                  \
    const oclspkt::test::ErrorTexts errors;                             \
    const PetscErrorCode returned = call;                               \
    oclspkt::test::expect_error(returned, code, errors, {__VA_ARGS__}); \
  } while (false)

inline void expect_error(PetscErrorCode returned, PetscErrorCode expected, const ErrorTexts& errors,
                         std::initializer_list<std::string> parts) {
  if (expected == kAnyError) {
    EXPECT_NE(returned, 0);
  } else {
    EXPECT_EQ(returned, expected);
  }
  expect_in(errors.text(), parts);
}

/// A PETSc object that is given back with its scope.
template <typename Object, PetscErrorCode (*kDestroy)(Object*)>
class Held : NotCopied {
 public:
  Held(Object object = nullptr) : object_(object) {}
  ~Held() { EXPECT_EQ(kDestroy(&object_), 0); }
  operator Object() const { return object_; }
  explicit operator PetscObject() const { return reinterpret_cast<PetscObject>(object_); }
  Object operator->() const { return object_; }
  Object* operator&() { return &object_; }  // as PETSc takes objects that it makes

 private:
  Object object_;
};
using HeldDM = Held<DM, DMDestroy>;
using HeldIS = Held<IS, ISDestroy>;
using HeldKSP = Held<KSP, KSPDestroy>;
using HeldMat = Held<Mat, MatDestroy>;
using HeldMatNullSpace = Held<MatNullSpace, MatNullSpaceDestroy>;
using HeldPC = Held<PC, PCDestroy>;
using HeldVec = Held<Vec, VecDestroy>;

inline PetscErrorCode assemble(Mat A) {
  const PetscErrorCode error = MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  return error != 0 ? error : MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
}
inline PetscErrorCode assemble(Vec v) {
  const PetscErrorCode error = VecAssemblyBegin(v);
  return error != 0 ? error : VecAssemblyEnd(v);
}

inline Vec duplicate(Vec v) {
  Vec other = nullptr;
  EXPECT_EQ(VecDuplicate(v, &other), 0);
  return other;
}
/// What this rank has of a vector.
inline std::vector<PetscScalar> values_of(Vec v) {
  const PetscScalar* array;
  PetscInt n = 0;
  VecGetLocalSize(v, &n);
  VecGetArrayRead(v, &array);
  std::vector<PetscScalar> values(array, array + n);
  VecRestoreArrayRead(v, &array);
  return values;
}
inline void write_values(Vec v, const std::vector<PetscScalar>& values) {
  PetscScalar* array;
  VecGetArrayWrite(v, &array);
  std::copy(values.begin(), values.end(), array);
  VecRestoreArrayWrite(v, &array);
}
inline PetscReal norm_of(Vec v, NormType type = NORM_2) {
  PetscReal norm = NAN;
  EXPECT_EQ(VecNorm(v, type, &norm), 0);
  return norm;
}
inline PetscScalar dot(Vec x, Vec y) {
  PetscScalar product = NAN;
  EXPECT_EQ(VecTDot(x, y, &product), 0);
  return product;
}
inline PetscInt iterations_of(KSP ksp) {
  PetscInt count = -1;
  EXPECT_EQ(KSPGetIterationNumber(ksp, &count), 0);
  return count;
}
inline PCFailedReason failed_reason(PC pc) {
  PCFailedReason reason = PC_SETUP_ERROR;
  EXPECT_EQ(PCGetFailedReason(pc, &reason), 0);
  return reason;
}
inline KSPConvergedReason converged_reason(KSP ksp) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  EXPECT_EQ(KSPGetConvergedReason(ksp, &reason), 0);
  return reason;
}

inline IS indices(const std::vector<PetscInt>& numbers, MPI_Comm comm = PETSC_COMM_SELF) {
  IS set = nullptr;
  ISCreateGeneral(comm, static_cast<PetscInt>(numbers.size()), numbers.data(), PETSC_COPY_VALUES, &set);
  return set;
}

/// Rows of a sparse matrix as (column, value) pairs, in the order they are stored.
using Rows = std::vector<std::vector<std::pair<PetscInt, PetscScalar>>>;

inline Rows tridiagonal(PetscInt n, PetscScalar lower, PetscScalar diag, PetscScalar upper) {
  Rows rows(static_cast<std::size_t>(n));
  for (PetscInt i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    if (i > 0) row.emplace_back(i - 1, lower);
    row.emplace_back(i, diag);
    if (i < n - 1) row.emplace_back(i + 1, upper);
  }
  return rows;
}

/// A sequential matrix that owns its arrays, so that columns may be stored in any order.
class Matrix {
 public:
  explicit Matrix(const Rows& rows) : n_(static_cast<PetscInt>(rows.size())), starts_{0} {
    for (const auto& row : rows) {
      for (const auto& [column, value] : row) {
        columns_.push_back(column);
        values_.push_back(value);
      }
      starts_.push_back(static_cast<PetscInt>(columns_.size()));
    }
    MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n_, n_, starts_.data(), columns_.data(), values_.data(), &mat_);
  }

  operator Mat() const { return mat_; }
  PetscInt rows() const { return n_; }

  /// Write over the stored values of all rows and tell PETSc.
  void set_values(const Rows& rows) {
    std::size_t k = 0;
    for (const auto& row : rows) {
      for (const auto& entry : row) values_.at(k++) = entry.second;
    }
    PetscObjectStateIncrease(static_cast<PetscObject>(mat_));
  }

 private:
  PetscInt n_;
  std::vector<PetscInt> starts_, columns_;
  std::vector<PetscScalar> values_;
  HeldMat mat_;
};

/// A vector of length n with entries that are neither smooth nor small.
class Vector {
 public:
  explicit Vector(PetscInt n) {
    VecCreateSeq(PETSC_COMM_SELF, n, &vec_);
    for (PetscInt i = 0; i < n; ++i) VecSetValue(vec_, i, 1 + std::sin(1.7 * i), INSERT_VALUES);
    assemble(vec_);
  }
  operator Vec() const { return vec_; }
  PetscScalar operator[](PetscInt i) const {
    PetscScalar value = NAN;
    VecGetValues(vec_, 1, &i, &value);
    return value;
  }

 private:
  HeldVec vec_;
};

/// Largest abs(x - y); NaN if there is one.
inline PetscReal distance(Vec x, Vec y) {
  HeldVec d;
  PetscReal norm = NAN;
  VecDuplicate(x, &d);
  VecCopy(x, d);
  VecAXPY(d, -1, y);
  VecNorm(d, NORM_INFINITY, &norm);
  return norm;
}

/// |b - A x| / |b|
inline PetscReal residual(Mat A, Vec b, Vec x) {
  HeldVec r;
  PetscReal norm = NAN, size = NAN;
  VecDuplicate(b, &r);
  MatMult(A, x, r);
  VecAYPX(r, -1, b);
  VecNorm(r, NORM_2, &norm);
  VecNorm(b, NORM_2, &size);
  return norm / size;
}

/// What the view of an object prints.
inline std::string view_text(PetscObject object, PetscViewerFormat format = PETSC_VIEWER_DEFAULT) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  PetscViewer viewer;
  PetscViewerASCIIOpenWithFILE(PetscObjectComm(object), stream, &viewer);
  PetscViewerPushFormat(viewer, format);
  PetscObjectView(object, viewer);
  PetscViewerDestroy(&viewer);
  std::fclose(stream);
  const std::string printed(text, size);
  std::free(text);
  return printed;
}

/// A PC of our type on a matrix, on the host unless told otherwise; options are read with the prefix "t_".
class Preconditioner {
 public:
  explicit Preconditioner(Mat mat = nullptr, const char* devices = "host") {
    PCCreate(PETSC_COMM_SELF, &pc_);
    PCSetOptionsPrefix(pc_, "t_");
    PCSetType(pc_, PCOCLSPKT);
    PCOCLSPKTSetDevices(pc_, devices);
    if (mat) PCSetOperators(pc_, mat, mat);
  }
  operator PC() const { return pc_; }

  /// What PCView prints.
  std::string view(PetscViewerFormat format = PETSC_VIEWER_DEFAULT) const {
    return view_text(static_cast<PetscObject>(pc_), format);
  }

 private:
  HeldPC pc_;
};

/// A matrix, its preconditioner, and two vectors.
struct System {
  explicit System(const Rows& rows, const char* devices = "host") : A(rows), pc(A, devices), b(A.rows()), x(A.rows()) {}
  Matrix A;
  Preconditioner pc;
  Vector b, x;
};

/// A PC of our type for a matrix; the caller destroys it.
inline PC make_pc(Mat A, const char* devices) {
  PC pc = nullptr;
  PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &pc);
  PCSetType(pc, PCOCLSPKT);
  PCOCLSPKTSetDevices(pc, devices);
  PCSetOperators(pc, A, A);
  return pc;
}

/// A KSP for a matrix with a PC of a type, which reads options behind the prefix; the caller destroys it.
inline KSP make_ksp(Mat A, PCType type, const char* prefix = nullptr) {
  KSP ksp = nullptr;
  PC pc;
  KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &ksp);
  KSPSetOptionsPrefix(ksp, prefix);
  KSPSetOperators(ksp, A, A);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, type);
  return ksp;
}
/// A KSP of a type with a PC that has its matrices; the caller destroys it.
inline KSP make_ksp(PC pc, KSPType type, PetscReal rtol, PetscInt most = PETSC_DEFAULT,
                    PetscReal atol = PETSC_DEFAULT) {
  KSP ksp = nullptr;
  Mat A, P;
  PCGetOperators(pc, &A, &P);
  KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), &ksp);
  KSPSetPC(ksp, pc);
  KSPSetOperators(ksp, A, P);
  KSPSetType(ksp, type);
  KSPSetTolerances(ksp, rtol, atol, PETSC_DEFAULT, most);
  return ksp;
}
inline PC pc_of(KSP ksp) {
  PC pc = nullptr;
  EXPECT_EQ(KSPGetPC(ksp, &pc), 0);
  return pc;
}

/// What a getter of the PC says.
template <typename T>
T got(PetscErrorCode (*get)(PC, T*), PC pc) {
  T value{};
  EXPECT_EQ(get(pc, &value), 0);
  return value;
}
/// Nonzero entries off the three bands, as counted at the last set-up.
inline PetscInt64 ignored(PC pc) { return got(PCOCLSPKTGetIgnoredEntries, pc); }
inline std::string method_used(PC pc) {
  const char* method = "";
  EXPECT_EQ(PCOCLSPKTGetMethodUsed(pc, &method, nullptr), 0);
  return method;
}

/// An entry of the options database that is gone with its scope.
class Option : NotCopied {
 public:
  Option(const char* name, const char* value) : name_(name) { PetscOptionsSetValue(nullptr, name, value); }
  ~Option() { PetscOptionsClearValue(nullptr, name_); }

 private:
  const char* name_;
};

/// An options database of its own that everything reads while it lives.
class OptionSet : NotCopied {
 public:
  explicit OptionSet(const std::string& options) {
    PetscOptionsCreate(&database_);
    PetscOptionsInsertString(database_, options.c_str());
    PetscOptionsPush(database_);
  }
  ~OptionSet() {
    PetscOptionsPop();
    PetscOptionsDestroy(&database_);
  }

  /// Options that nothing has read, joined by blanks.
  std::string left() const {
    PetscInt count = 0;
    char **names = nullptr, **values = nullptr;
    std::string text;
    PetscOptionsLeftGet(database_, &count, &names, &values);
    for (PetscInt i = 0; i < count; ++i) text.append(text.empty() ? "" : " ").append(names[i]);
    PetscOptionsLeftRestore(database_, &count, &names, &values);
    return text;
  }

 private:
  PetscOptions database_ = nullptr;
};

/// Counts the lines that PETSc's error printer gets on this rank while it lives, and keeps the last one.
class Printed : NotCopied {
 public:
  Printed() : before_(PetscErrorPrintf) {
    count_ = 0;
    PetscErrorPrintf = take;
  }
  ~Printed() { PetscErrorPrintf = before_; }
  /// Of all ranks together.
  static int lines() {
    int all = count_;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
    return all;
  }
  static const std::string& text() { return text_; }

 private:
  static PetscErrorCode take(const char format[], ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_ = text;
    ++count_;
    return PetscErrorCode(0);
  }
  static inline int count_ = 0;
  static inline std::string text_;
  PetscErrorCode (*before_)(const char[], ...);
};

/// False on machines without such a device, unless the environment says that devices must be there.
inline bool device_is_there(Mat A, const char* devices) {
  if (PetscDefined(USE_COMPLEX)) return false;  // devices solve no complex numbers yet
  const Preconditioner pc(A, devices);
  const char* required = std::getenv("OCLSPKT_REQUIRE_DEVICES");
  const ErrorTexts errors;
  return PCSetUp(pc) != PETSC_ERR_ARG_WRONG || (required != nullptr && *required != '\0');
}

}  // namespace oclspkt::test
