// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients whose scalars stay on the device, against loops of the host.
#include "space_cg.hpp"

#include <numeric>

#include "space_cases.hpp"
#include "sparse_matrices.hpp"

namespace oclspkt::test {
namespace {

/// The neighbours of a grid's points by -1, with a diagonal that makes the matrix well conditioned.
template <typename T>
Csr<T> well_conditioned(Index nx, Index ny) {
  Csr<T> a = stencil<T>(nx, ny, 1);
  for (Index i = 0; i < a.rows; ++i) {
    for (auto k = static_cast<std::size_t>(a.begin[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.begin[static_cast<std::size_t>(i) + 1]); ++k) {
      a.values[k] = a.column[k] == i ? static_cast<T>(6 + i % 3) : T(-1);
    }
  }
  return a;
}

/// A diagonal, and a first row and column without zeros: the rows are of unlike length, the first one is long.
template <typename T>
Csr<T> arrow(Index rows) {
  Csr<T> a;
  a.columns = rows;
  const double arm = 0.5 / std::sqrt(static_cast<double>(rows));
  for (Index i = 0; i < rows; ++i) {
    if (i > 0) a.add(0, arm);
    a.add(i, 1 + 0.25 * static_cast<double>(i % 4));
    for (Index j = 1; i == 0 && j < rows; ++j) a.add(j, arm);
    a.end_row();
  }
  return a;
}

using Numbers = std::vector<double>;
double inner(const Numbers& x, const Numbers& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.); }

/// The method on the host, in double.
template <typename T>
struct HostCg {
  HostCg(const Csr<T>& matrix, const Vector<T>& b, const Vector<T>& inverse_of)
      : a(matrix), inverse(inverse_of.begin(), inverse_of.end()), x(b.size()), r(b.begin(), b.end()) {
    precondition();
    p = z;
    rho = inner(r, z);
  }
  void precondition() {
    z = r;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= inverse[i];
  }
  void iterate() {
    const auto rows = a.product(Vector<T>(p.begin(), p.end()));
    Numbers w;
    for (const auto& row : rows) w.push_back(row.sum);
    curvature = inner(p, w);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += rho / curvature * p[i];
      r[i] -= rho / curvature * w[i];
    }
    precondition();
    const double before = rho;
    rho = inner(r, z);
    for (std::size_t i = 0; i < x.size(); ++i) p[i] = z[i] + rho / before * p[i];
  }

  const Csr<T>& a;
  Numbers inverse, x, r, z, p;
  double rho = 0, curvature = 0;
};

/// The vectors of a solve from x = 0.
template <typename T>
struct DeviceCg {
  DeviceCg(Space<T>& in, const Csr<T>& matrix, SparseFormat format, const Vector<T>& b, const Vector<T>& inverse_of,
           CgForm form, CgNorm norm)
      : space(in), is_plain(form == CgForm::plain), is_others(form == CgForm::others_z || form == CgForm::others_r) {
    a = space.make_matrix(make_sparse_form(matrix.pattern(), FormRequest{format, space.slice_rows()}));
    a->set_values(matrix.values.data());
    x = space.make(matrix.rows);
    w = space.make(matrix.rows);
    r = bring(space, b);
    inverse = bring(space, inverse_of);
    HostCg<T> host(matrix, b, inverse_of);
    p = bring(space, Vector<T>(host.p.begin(), host.p.end()));
    space.fill(*x, T(0));
    cg = space.make_cg(form, norm, matrix.rows, kKept);
    cg->begin({static_cast<T>(host.rho), T(0), T(1), T(1)}, T(1));
  }
  CgArrays<T> arrays() const {
    return {a.get(),
            x.get(),
            r.get(),
            p.get(),
            w.get(),
            is_plain ? r.get() : w.get(),
            is_plain || is_others ? nullptr : inverse.get()};
  }
  void iterate() {
    cg->step(arrays());
    if (is_others) space.pointwise(Pointwise::multiply, *w, *r, inverse.get(), T(0));
    cg->turn(arrays());
  }
  std::vector<CgRecord<T>> records(std::size_t count) {
    std::vector<CgRecord<T>> all(count);
    cg->take(all);
    return all;
  }

  static constexpr int kKept = 8;
  Space<T>& space;
  bool is_plain, is_others;
  std::unique_ptr<SpaceMatrix<T>> a;
  Array<T> x, r, p, w, inverse;
  std::unique_ptr<SpaceCg<T>> cg;
};

template <typename T>
void expect_near(T seen, double right, const char* what) {
  EXPECT_NEAR(static_cast<double>(seen) / right, 1, 4000 * kEps<T>) << what;
}

template <typename T>
struct SpaceCgOnDevice : SpaceOnDevice<T> {
  static Vector<T> inverses(const Csr<T>& a, CgForm form) {
    Vector<T> inverse = draw<T>(a.rows, 5);
    for (T& number : inverse) number = form == CgForm::plain ? T(1) : T(1) + number / 4;
    return inverse;
  }

  /// The records and the solution are those of the host's loops.
  static void expect_right(Space<T>& space, const Csr<T>& a, SparseFormat format, CgForm form, CgNorm norm) {
    SCOPED_TRACE(std::to_string(a.rows) + " rows, " + name(format) + ", form " +
                 std::to_string(static_cast<int>(form)));
    const Vector<T> b = draw<T>(a.rows, 3), inverse = inverses(a, form);
    constexpr std::size_t kIterations = 6;
    HostCg<T> host(a, b, inverse);
    DeviceCg<T> device(space, a, format, b, inverse, form, norm);
    for (std::size_t i = 0; i < kIterations; ++i) device.iterate();
    for (const CgRecord<T>& record : device.records(kIterations)) {
      host.iterate();
      const bool of_z = form == CgForm::diagonal_z || form == CgForm::others_z;
      const Numbers& of_norm = of_z ? host.z : host.r;
      expect_near(record.rho, host.rho, "r . z");
      expect_near(record.curvature, host.curvature, "p . A p");
      expect_near(record.norm, std::sqrt(norm == CgNorm::natural ? std::abs(host.rho) : inner(of_norm, of_norm)),
                  "norm");
      EXPECT_EQ(record.sound, 1);
    }
    const Vector<T> x = take(space, *device.x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(x[i]), host.x[i], 200 * kEps<T>) << "row " << i;
    }
  }
};

SCALAR_TEST(SpaceCgOnDevice, DoesWhatTheHostDoesInEveryForm) {
  this->on_every_space([](Space<T>& space) {
    const Csr<T> a = well_conditioned<T>(67, 41);
    for (const CgForm form :
         {CgForm::plain, CgForm::diagonal_z, CgForm::diagonal_r, CgForm::others_z, CgForm::others_r}) {
      for (const CgNorm norm : {CgNorm::of_form, CgNorm::natural}) {
        SpaceCgOnDevice<T>::expect_right(space, a, SparseFormat::automatic, form, norm);
      }
    }
  });
}

SCALAR_TEST(SpaceCgOnDevice, TakesMatricesInEveryFormat) {
  this->on_every_space([](Space<T>& space) {
    for (const SparseFormat format : {SparseFormat::dia, SparseFormat::sell, SparseFormat::csr}) {
      SpaceCgOnDevice<T>::expect_right(space, well_conditioned<T>(300, 59), format, CgForm::diagonal_r,
                                       CgNorm::of_form);
    }
    for (const SparseFormat format : {SparseFormat::sell, SparseFormat::csr}) {
      SpaceCgOnDevice<T>::expect_right(space, arrow<T>(5003), format, CgForm::plain, CgNorm::of_form);
    }
  });
}

SCALAR_TEST(SpaceCgOnDevice, IsRightWhereverTheRowsEnd) {
  this->on_every_space([](Space<T>& space) {
    for (const Index n : {9, 31, 255, 256, 257, 1031, 100003}) {
      SpaceCgOnDevice<T>::expect_right(space, well_conditioned<T>(n, 1), SparseFormat::automatic, CgForm::diagonal_z,
                                       CgNorm::of_form);
    }
  });
}

SCALAR_TEST(SpaceCgOnDevice, TakesThreeLaunchesAndNoWaitAnIteration) {
  this->on_every_space([](Space<T>& space) {
    const Csr<T> a = well_conditioned<T>(50, 40);
    const Vector<T> b = draw<T>(a.rows, 3), inverse(b.size(), T(1));
    for (const CgForm form : {CgForm::plain, CgForm::diagonal_z}) {
      DeviceCg<T> device(space, a, SparseFormat::automatic, b, inverse, form, CgNorm::of_form);
      const SpaceCounts before = space.counts();
      for (int i = 0; i < 5; ++i) device.iterate();
      EXPECT_EQ(space.counts().launches - before.launches, 15);
      EXPECT_EQ(space.counts().waits, before.waits);
    }
  });
}

SCALAR_TEST(SpaceCgOnDevice, GivesTheSameBitsInEveryRun) {
  this->on_every_space([](Space<T>& space) {
    const Csr<T> a = well_conditioned<T>(300, 211);
    const Vector<T> b = draw<T>(a.rows, 3), inverse = SpaceCgOnDevice<T>::inverses(a, CgForm::diagonal_z);
    Vector<T> first;
    for (int run = 0; run < 3; ++run) {
      DeviceCg<T> device(space, a, SparseFormat::automatic, b, inverse, CgForm::diagonal_z, CgNorm::of_form);
      for (int i = 0; i < 8; ++i) device.iterate();
      const Vector<T> x = take(space, *device.x);
      if (run == 0) first = x;
      EXPECT_EQ(x, first);
    }
  });
}

/// Iterations beyond the limit change nothing, and others may follow under another limit.
SCALAR_TEST(SpaceCgOnDevice, StopsAtTheLimitOfTheNormAndGoesOnFromThere) {
  this->on_every_space([](Space<T>& space) {
    const Csr<T> a = well_conditioned<T>(50, 20);
    const Vector<T> b = draw<T>(a.rows, 3), inverse(b.size(), T(1));
    DeviceCg<T> other(space, a, SparseFormat::automatic, b, inverse, CgForm::plain, CgNorm::of_form);
    for (int i = 0; i < 3; ++i) other.iterate();
    const Vector<T> x = take(space, *other.x);
    const T limit = other.records(1)[0].norm;
    other.iterate();
    const Vector<T> next = take(space, *other.x);

    DeviceCg<T> device(space, a, SparseFormat::automatic, b, inverse, CgForm::plain, CgNorm::of_form);
    device.cg->set_limits(limit, T(1e30));
    for (int i = 0; i < 6; ++i) device.iterate();
    const auto records = device.records(4);
    for (const CgRecord<T>& record : records) EXPECT_EQ(record.norm, limit);
    EXPECT_EQ(records.back().sound, 1);
    EXPECT_EQ(take(space, *device.x), x);
    device.cg->set_limits(T(-1), kInf<T>);
    device.iterate();
    EXPECT_EQ(take(space, *device.x), next);
  });
}

SCALAR_TEST(SpaceCgOnDevice, StopsWhereTheMethodBreaksDown) {
  this->on_every_space([](Space<T>& space) {
    Csr<T> a = well_conditioned<T>(50, 1);
    const Vector<T> b(50, T(1)), inverse(50, T(1));
    const auto last_of = [&](int iterations) {
      DeviceCg<T> device(space, a, SparseFormat::automatic, b, inverse, CgForm::plain, CgNorm::of_form);
      for (int i = 0; i < iterations; ++i) device.iterate();
      expect_same(take(space, *device.x), Vector<T>(50, T(0)));
      EXPECT_EQ(device.records(1)[0].sound, 0);
      return device.records(1)[0];
    };
    std::fill(a.values.begin(), a.values.end(), T(0));
    EXPECT_EQ(last_of(2).curvature, 0);
    a.values[0] = kNaN<T>;
    EXPECT_TRUE(std::isnan(last_of(3).curvature));
    // An indefinite matrix whose second curvature is negative.
    for (Index i = 0; i < 50; ++i) {
      for (std::size_t k = static_cast<std::size_t>(a.begin[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(a.begin[static_cast<std::size_t>(i) + 1]); ++k) {
        a.values[k] = a.column[k] == i ? T(i < 40 ? 1 : -2) : T(0);
      }
    }
    DeviceCg<T> device(space, a, SparseFormat::automatic, b, inverse, CgForm::plain, CgNorm::of_form);
    device.iterate();
    const Vector<T> x = take(space, *device.x);
    for (int i = 0; i < 3; ++i) device.iterate();
    const auto records = device.records(4);
    EXPECT_EQ(records[0].sound, 1);
    EXPECT_LT(records[0].curvature * records[1].curvature, 0);
    EXPECT_EQ(records[1].sound, 0);
    EXPECT_EQ(records[3].curvature, records[1].curvature);
    EXPECT_EQ(take(space, *device.x), x);
  });
}

SCALAR_TEST(SpaceCgOnDevice, RefusesOtherSizes) {
  this->on_every_space([](Space<T>& space) {
    const Csr<T> a = well_conditioned<T>(50, 1);
    const Vector<T> b(50, T(1));
    DeviceCg<T> device(space, a, SparseFormat::automatic, b, b, CgForm::plain, CgNorm::of_form);
    const auto other = space.make_cg(CgForm::plain, CgNorm::of_form, 51, 4);
    EXPECT_THROW(other->step(device.arrays()), InvalidInput);
    std::vector<CgRecord<T>> many(9);
    EXPECT_THROW(device.cg->take(many), InvalidInput);
  });
}

}  // namespace
}  // namespace oclspkt::test
