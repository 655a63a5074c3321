// SPDX-License-Identifier: BSD-2-Clause
// Random calls on vectors of -oclspkt_types, beside the same calls on vectors of the host, which are made over arrays
// of ours and therefore never dressed.
#pragma once

#include <array>
#include <functional>
#include <random>
#include <sstream>

#include "types_support.hxx"

namespace oclspkt::test {

inline constexpr std::size_t kVectors = 5;

/// A dressed vector and its twin, which the host alone works on.
struct Pair {
  Vec dressed = nullptr, host = nullptr;
  std::vector<PetscScalar> memory, placed_dressed, placed_host;
  PetscScalar *out_dressed = nullptr, *out_host = nullptr;  ///< arrays that are kept over other calls
  bool placed = false;
  Vec part_dressed = nullptr, part_host = nullptr;  ///< parts of them that are kept over other calls
  IS places = nullptr;
  std::array<Vec, 2> both() const { return {dressed, host}; }
};

/// Vectors in pairs, and random calls on them.
class ModelVectors : NotCopied {
 protected:
  explicit ModelVectors(unsigned seed) : common_(seed), own_(seed + 1 + static_cast<unsigned>(PetscGlobalRank)) {
    n_ = PetscGlobalSize == 1 ? 37 : PetscGlobalRank == 1 ? 0 : 23 - PetscGlobalRank;
    const MPI_Comm comm = PETSC_COMM_WORLD;
    for (Pair& p : pairs_) {
      p.memory.resize(static_cast<std::size_t>(n_) + 1);
      if (PetscGlobalSize == 1) {
        VecCreateSeq(comm, n_, &p.dressed);
        VecCreateSeqWithArray(comm, 1, n_, p.memory.data(), &p.host);
      } else {
        VecCreateMPI(comm, n_, PETSC_DETERMINE, &p.dressed);
        VecCreateMPIWithArray(comm, 1, n_, PETSC_DETERMINE, p.memory.data(), &p.host);
      }
      fill(p, false);
    }
    VecGetSize(pairs_[0].dressed, &rows_);
    VecGetOwnershipRange(pairs_[0].dressed, &first_, nullptr);
    VecDuplicate(pairs_[0].dressed, &weight_dressed_);
    VecDuplicate(pairs_[0].host, &weight_host_);
    for (PetscInt i = first_; i < first_ + n_; ++i) {
      for (const Vec v : {weight_dressed_, weight_host_}) VecSetValue(v, i, 1 + (i * 7) % 5, INSERT_VALUES);
    }
    for (const Vec v : {weight_dressed_, weight_host_}) assemble(v);
  }
  ~ModelVectors() {
    for (Pair& p : pairs_) {
      give_back(p);
      give_back_part(p);
      reset(p);
      VecDestroy(&p.dressed);
      VecDestroy(&p.host);
    }
    VecDestroy(&weight_dressed_);
    VecDestroy(&weight_host_);
  }

  std::size_t below(std::size_t n) { return common_() % n; }
  PetscScalar factor() { return std::array{-2., -1., -.5, 0., .5, 1., 2.}[below(7)]; }
  Pair& x() { return pairs_[x_]; }
  Pair& y() { return pairs_[y_]; }
  Pair& z() { return pairs_[z_]; }

  void call(const char* what, const PetscErrorCode (&codes)[2]) {
    name_ << what << "(" << x_ << " " << y_ << " " << z_ << ") ";
    if (codes[0] != 0 || codes[1] != 0) differs_ = true;
  }
  template <typename Work>
  void on_both(const char* what, const Work& work) {
    call(what, {work(0), work(1)});
  }
  void same(PetscScalar one, PetscScalar two) {
    if (!(std::abs(one - two) <= 1e-10 * (1 + std::abs(two)))) {
      differs_ = true;
      name_ << one << " for " << two << " ";
    }
  }

  /// Small integers, or powers of two, which may be divided by: arithmetic stays exact.
  PetscScalar value(bool powers) {
    const int k = static_cast<int>(own_() % 9) - 4;
    return powers ? std::ldexp(own_() % 2 ? 1 : -1, k / 2) : k;
  }
  void fill(Pair& p, bool powers) {
    std::vector<PetscScalar> values;
    for (PetscInt i = 0; i < n_; ++i) values.push_back(value(powers));
    for (const Vec v : p.both()) write_values(v, values);
  }
  void give_back(Pair& p) {
    if (p.out_host == nullptr) return;
    VecRestoreArray(p.dressed, &p.out_dressed);
    VecRestoreArray(p.host, &p.out_host);
    p.out_dressed = p.out_host = nullptr;
  }
  void give_back_part(Pair& p) {
    if (p.places == nullptr) return;
    VecRestoreSubVector(p.dressed, p.places, &p.part_dressed);
    VecRestoreSubVector(p.host, p.places, &p.part_host);
    ISDestroy(&p.places);
  }
  void reset(Pair& p) {
    if (!p.placed) return;
    VecResetArray(p.dressed);
    VecResetArray(p.host);
    p.placed = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) same(p.placed_dressed[i], p.placed_host[i]);
  }

  void operate() {
    const Operation& operation = kOperations[below(std::size(kOperations))];
    const PetscScalar a = factor(), b = factor(), c = factor();
    const bool by_place = operation.kind == Kind::point || operation.kind == Kind::quotient;
    if (operation.kind == Kind::quotient) fill(y(), true);
    if (operation.kind == Kind::reciprocal || operation.kind == Kind::root) fill(z(), true);
    const auto X = x().both(), Y = y().both(), W = by_place && below(3) == 0 ? X : z().both();
    on_both(operation.name, [&](int k) {
      if (operation.kind == Kind::root) VecPointwiseMult(W[k], W[k], W[k]);
      return operation.run({W[k], X[k], Y[k], a, b, c});
    });
  }
  void operate_beside_the_host() {
    const PetscScalar a = factor();
    const auto X = x().both(), Y = y().both(), Z = z().both();
    switch (below(3)) {
      case 0:
        return call("VecCopy from the host", {VecCopy(X[1], Y[0]), VecCopy(X[1], Y[1])});
      case 1:
        return call("VecAXPY of the host", {VecAXPY(Y[0], a, X[1]), VecAXPY(Y[1], a, X[0])});
      default:
        return call("VecPointwiseMult by the host",
                    {VecPointwiseMult(Z[0], X[1], Y[0]), VecPointwiseMult(Z[1], X[1], Y[1])});
    }
  }

  void sums() {
    const auto X = x().both(), Y = y().both(), Z = z().both();
    const NormType types[] = {NORM_1, NORM_2, NORM_INFINITY, NORM_FROBENIUS, NORM_1_AND_2};
    const NormType type = types[below(5)];
    PetscScalar found[2][2] = {};
    PetscReal norms[2][2] = {};
    PetscInt places[2] = {};
    const std::pair<const char*, std::function<PetscErrorCode(int)>> several[] = {
        {"VecDot", [&](int k) { return VecDot(X[k], Y[k], found[k]); }},
        {"VecDot with the host", [&](int k) { return VecDot(X[k], Y[1 - k], found[k]); }},
        {"VecMDot",
         [&](int k) {
           const Vec of[] = {Y[k], Z[k]};
           return VecMDot(X[k], 2, of, found[k]);
         }},
        {"VecDotNorm2", [&](int k) { return VecDotNorm2(X[k], Y[k], found[k], norms[k]); }},
        {"VecSum", [&](int k) { return VecSum(X[k], found[k]); }},
        {"VecMax", [&](int k) { return VecMax(X[k], below_of_name(2) ? places + k : nullptr, norms[k]); }},
        {"VecMin", [&](int k) { return VecMin(X[k], below_of_name(2) ? places + k : nullptr, norms[k]); }},
        {"VecMaxPointwiseDivide", [&](int k) { return VecMaxPointwiseDivide(X[k], Y[k], norms[k]); }},
        {"VecNorm",
         [&](int k) {
           PetscObjectStateIncrease((PetscObject)X[k]); /* PETSc remembers norms of before a part was changed */
           return VecNorm(X[k], type, norms[k]);
         }},
    };
    const auto& [what, sum] = several[below(std::size(several))];
    on_both(what, sum);
    same(static_cast<PetscScalar>(places[0]), static_cast<PetscScalar>(places[1]));
    for (int k = 0; k < 2; ++k) {
      same(found[0][k], found[1][k]);
      same(norms[0][k], norms[1][k]);
    }
  }

  /// Arrays: got, kept, written, given back, placed, reset; single values; vectors made anew.
  void arrays() {
    Pair& p = x();
    const auto X = p.both();
    switch (below(8)) {
      case 0:
        name_ << "fill " << x_;
        return fill(p, false);
      case 1:
        name_ << "keep or give back the array of " << x_;
        if (p.out_host != nullptr) return give_back(p);
        VecGetArray(p.dressed, &p.out_dressed);
        VecGetArray(p.host, &p.out_host);
        return;
      case 2: {
        name_ << "write into what is kept of " << x_;
        if (p.out_host == nullptr || n_ == 0) return;
        const PetscScalar v = value(false);
        const std::size_t i = own_() % static_cast<std::size_t>(n_);
        p.out_dressed[i] = p.out_host[i] = v;
        return;
      }
      case 3:
        if (p.out_host != nullptr || p.places != nullptr) return;
        name_ << "place or reset the array of " << x_;
        if (p.placed) return reset(p);
        p.placed_host.clear();
        for (PetscInt i = 0; i <= n_; ++i) p.placed_host.push_back(value(false));
        p.placed_dressed = p.placed_host;
        p.placed = true;
        return call("", {VecPlaceArray(X[0], p.placed_dressed.data()), VecPlaceArray(X[1], p.placed_host.data())});
      case 4: {
        const auto row = static_cast<PetscInt>(below(static_cast<std::size_t>(rows_)));
        const InsertMode mode = below(2) ? INSERT_VALUES : ADD_VALUES;
        return on_both("VecSetValues", [&](int k) {
          if (PetscGlobalRank == 0) VecSetValue(X[k], row, 3, mode);
          VecAssemblyBegin(X[k]);
          return VecAssemblyEnd(X[k]);
        });
      }
      case 5: {
        if (n_ == 0) return;
        PetscScalar found[2] = {};
        on_both("VecGetValues", [&](int k) { return VecGetValues(X[k], 1, &first_, found + k); });
        return same(found[0], found[1]);
      }
      case 6: {
        if (p.out_host != nullptr || p.placed || p.places != nullptr) return;
        name_ << "destroy and duplicate ";
        VecDestroy(&p.dressed);
        VecDuplicate(y().dressed, &p.dressed);
        return call("", {VecCopy(y().dressed, p.dressed), VecCopy(y().host, p.host)});
      }
      default: {
        Vec* several[2];
        PetscScalar products[2][3] = {};
        const auto Y = y().both();
        on_both("VecDuplicateVecs", [&](int k) {
          VecDuplicateVecs(X[k], 3, several + k);
          for (int i = 0; i < 3; ++i) VecWAXPY(several[k][i], i, X[k], Y[k]);
          VecMDot(X[k], 3, several[k], products[k]);
          VecCopy(several[k][2], Y[k]);
          return VecDestroyVecs(3, several + k);
        });
        for (int i = 0; i < 3; ++i) same(products[0][i], products[1][i]);
      }
    }
  }

  /// Views of vectors: parts, and what a rank has.
  void views() {
    const auto X = x().both();
    const PetscScalar a = factor();
    const auto what = below(6);
    if (what > 3) return keep_part(x(), a);
    if (x().out_host != nullptr || x().placed || x().places != nullptr) return;
    if (what < 2) {
      IS places;
      const PetscInt step = what == 0 ? 1 : 2;
      ISCreateStride(PETSC_COMM_WORLD, (n_ + step) / (2 * step), first_ + (n_ > 4 ? 1 : 0), step, &places);
      on_both(what == 0 ? "part" : "scattered part", [&](int k) {
        Vec part;
        VecGetSubVector(X[k], places, &part);
        if (below_of_name(2)) VecScale(part, a == PetscScalar(0) ? 2 : a);
        VecShift(part, 1);
        return VecRestoreSubVector(X[k], places, &part);
      });
      ISDestroy(&places);
      return;
    }
    Vec local[2];
    if (PetscGlobalSize == 1) {
      VecCreateSeq(PETSC_COMM_SELF, n_, local);
    } else {
      VecCreateLocalVector(X[0], local);
    }
    VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n_, nullptr, local + 1);
    PetscReal norms[2];
    on_both(what == 2 ? "VecGetLocalVector" : "VecGetLocalVectorRead", [&](int k) {
      if (what == 3) {
        VecGetLocalVectorRead(X[k], local[k]);
        VecNorm(local[k], NORM_1, norms + k);
        return VecRestoreLocalVectorRead(X[k], local[k]);
      }
      VecGetLocalVector(X[k], local[k]);
      VecScale(local[k], a);
      VecNorm(local[k], NORM_1, norms + k);
      return VecRestoreLocalVector(X[k], local[k]);
    });
    same(norms[0], norms[1]);
    for (Vec& v : local) VecDestroy(&v);
  }
  /// A part is taken, changed, or given back, while all is done with the vector that it is of.
  void keep_part(Pair& p, PetscScalar a) {
    if (p.placed) return;
    if (p.places == nullptr) {
      name_ << "keep a part of " << x_ << " ";
      ISCreateStride(PETSC_COMM_WORLD, (n_ + 1) / 2, first_ + (n_ > 4 ? 2 : 0), 1, &p.places);
      return call("VecGetSubVector", {VecGetSubVector(p.dressed, p.places, &p.part_dressed),
                                      VecGetSubVector(p.host, p.places, &p.part_host)});
    }
    PetscScalar sums[2] = {}, *arrays[2];
    const Vec parts[] = {p.part_dressed, p.part_host};
    switch (below(5)) {
      case 0:
        name_ << "give back the part of " << x_;
        return give_back_part(p);
      case 1:
        return on_both("VecShift of a part", [&](int k) { return VecShift(parts[k], a); });
      case 2:
        return on_both("VecSet of a part", [&](int k) { return VecSet(parts[k], a); });
      case 3:
        return on_both("array of a part", [&](int k) {
          VecGetArray(parts[k], arrays + k);
          if (n_ > 4) arrays[k][3] = a;
          VecScale(p.both()[static_cast<std::size_t>(k)], -1);
          return VecRestoreArray(parts[k], arrays + k);
        });
      default:
        on_both("VecSum of a part", [&](int k) { return VecSum(parts[k], sums + k); });
        same(sums[0], sums[1]);
    }
  }
  /// A choice that both vectors of a pair make alike.
  bool below_of_name(std::size_t n) const { return (x_ + y_ + z_) % n == 0; }

  /// Every vector by a sum that the device makes, some by all their values; large ones begin anew.
  void compare() {
    for (std::size_t k = 0; k < kVectors; ++k) {
      Pair& p = pairs_[k];
      if (below(kVectors) == 0) compare_values(p);
      PetscScalar products[2];
      PetscReal largest;
      VecDot(p.dressed, weight_dressed_, products);
      VecDot(p.host, weight_host_, products + 1);
      VecMax(p.host, nullptr, &largest);
      PetscReal least;
      VecMin(p.host, nullptr, &least);
      const PetscReal size = 1 + std::max(std::abs(largest), std::abs(least));
      if (!(std::abs(products[0] - products[1]) <= 1e-11 * size * static_cast<PetscReal>(1 + rows_))) {
        name_ << "vector " << k << ": its weighted sum is " << products[0] << " for " << products[1] << " ";
        differs_ = true;
      }
      if (!(size < 1e5)) fill(p, false);
    }
    int any = differs_;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    differs_ = any != 0;
  }
  void compare_values(Pair& p) {
    const auto dressed = values_of(p.dressed), host = values_of(p.host);
    for (std::size_t i = 0; i < host.size(); ++i) same(dressed[i], host[i]);
  }

  std::mt19937 common_, own_;  ///< what all ranks choose alike, and values
  PetscInt n_ = 0, rows_ = 0, first_ = 0;
  std::array<Pair, kVectors> pairs_;
  Vec weight_dressed_ = nullptr, weight_host_ = nullptr;
  std::size_t x_ = 0, y_ = 0, z_ = 0;
  std::ostringstream name_;
  bool differs_ = false;
};

}  // namespace oclspkt::test
