// SPDX-License-Identifier: BSD-2-Clause
// Sparse products on every device, by kernels for CPUs and for GPUs, in all formats.
#include <atomic>
#include <cstring>

#include "fault.hpp"
#include "space_cases.hpp"
#include "sparse_matrices.hpp"

namespace oclspkt::test {
namespace {

/// NaN and infinities as they are, other numbers within a number of eps of what the row sums up.
template <typename T>
testing::AssertionResult near(const std::vector<T>& z, const std::vector<typename Csr<T>::Row>& exact,
                              const std::vector<T>& y) {
  if (z.size() != exact.size()) return testing::AssertionFailure() << z.size() << " numbers";
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double value = static_cast<double>(z[i]), before = y.empty() ? 0 : static_cast<double>(y[i]);
    const double right = exact[i].sum + before;
    const double limit = 64 * kEps<T> * (exact[i].magnitudes + std::abs(before));
    const bool good = std::isnan(right)   ? std::isnan(value)
                      : std::isinf(right) ? value == right
                                          : std::abs(value - right) <= limit;
    if (!good) return testing::AssertionFailure() << "row " << i << ": " << value << " for " << right;
  }
  return testing::AssertionSuccess();
}

/// A matrix on a device, and vectors that go there for a product.
template <typename T>
class Products {
 public:
  Products(std::shared_ptr<Space<T>> space, const SparseForm& form)
      : space_(std::move(space)), matrix_(space_->make_matrix(form)) {}

  Space<T>& space() { return *space_; }
  SpaceMatrix<T>& matrix() { return *matrix_; }

  /// A x, or y + A x if there is an y, in its place.
  std::vector<T> operator()(const std::vector<T>& x, const std::vector<T>& y = {}) {
    std::vector<T> z(static_cast<std::size_t>(matrix_->rows()), std::numeric_limits<T>::quiet_NaN());
    const auto from = array(x), to = array(y.empty() ? z : y);
    space_->product(*matrix_, *from, y.empty() ? nullptr : to.get(), *to);
    space_->take(*to, z.data());
    return z;
  }
  std::unique_ptr<SpaceArray<T>> array(const std::vector<T>& numbers) {
    auto made = space_->make(static_cast<Index>(numbers.size()));
    space_->bring(numbers.data(), *made);
    return made;
  }

 private:
  std::shared_ptr<Space<T>> space_;
  std::unique_ptr<SpaceMatrix<T>> matrix_;
};

template <typename T>
struct Product : KeptSpaces<T> {
  static constexpr SparseFormat kAll[] = {SparseFormat::dia, SparseFormat::sell, SparseFormat::csr};

  /// Call f(products) for every device and kind of kernels, by forms of that format.
  template <typename I, typename F>
  static void on_all(const Csr<T, I>& a, SparseFormat format, const F& f, bool transposed = false) {
    for (const Variant variant : {Variant::by_type, Variant::gpu}) {
      const auto run = [&](const DeviceInfo& info) {
        SCOPED_TRACE(std::string(name(format)) + (variant == Variant::gpu ? " by kernels for GPUs" : ""));
        const auto space = Product::space_of(info, variant);
        const FormRequest wanted{format, space->slice_rows()};
        Products<T> products(
            space, transposed ? make_transposed_form(a.pattern(), wanted) : make_sparse_form(a.pattern(), wanted));
        products.matrix().set_values(a.values.data());
        f(products);
      };
      variant == Variant::gpu ? on_every_device_for_gpus<T>(run) : on_every_device<T>(run);
    }
  }

  static void expect_right(const Csr<T>& a, const std::string& what, bool dia = false) {
    SCOPED_TRACE(what);
    const std::vector<T> x = random_vector<T>(a.columns), y = random_vector<T>(a.rows, kSeed + 1);
    for (const SparseFormat format : kAll) {
      if (format == SparseFormat::dia && !dia) continue;
      on_all(a, format, [&](Products<T>& products) {
        const std::vector<T> z = products(x), sum = products(x, y);
        EXPECT_TRUE(near(z, a.product(x), {}));
        for (std::size_t i = 0; i < z.size(); ++i) ASSERT_EQ(sum[i], y[i] + z[i]) << "row " << i;
      });
    }
  }
};

SCALAR_TEST(Product, OfStencilsIsRight) {
  this->expect_right(stencil<T>(70, 31, 1), "5-point", true);
  this->expect_right(stencil<T>(13, 17, 19), "7-point", true);
}

/// Rows around the sizes of slices, and of work-groups.
SCALAR_TEST(Product, IsRightWhereverTheRowsEnd) {
  for (const Index n : {1, 2, 7, 8, 9, 31, 33, 255, 256, 257, 1031}) {
    this->expect_right(stencil<T>(n, 1, 1), "n = " + std::to_string(n), true);
  }
}

SCALAR_TEST(Product, OfScatteredEntriesIsRight) {
  const auto uneven = [](Index i) { return i * 7919 % 67; };
  this->expect_right(scattered<T>(3000, 700, uneven), "rows of 0 to 66 entries, columns twice");
  this->expect_right(scattered<T>(1, 5000, [](Index) { return 5000; }), "1 x n");
  this->expect_right(scattered<T>(5000, 1, [](Index i) { return i % 2; }), "n x 1");
  this->expect_right(scattered<T>(9000, 50, [](Index i) { return i % 3000 == 0; }), "rows without entries");
  this->expect_right(scattered<T>(100, 50, [](Index) { return 0; }), "no entries", true);
  this->expect_right(scattered<T>(100, 0, [](Index) { return 0; }), "no columns", true);
  this->expect_right(scattered<T>(0, 100, uneven), "no rows", true);
}

SCALAR_TEST(Product, OfLongRowsIsRight) {
  const auto power = [](Index i) { return i == 700 ? 100'000 : i % 100 == 3 ? 2048 : 2 + i % 5; };
  this->expect_right(scattered<T>(1000, 60'000, power), "a power law");
  this->expect_right(scattered<T>(4, 60'000, [](Index) { return 2049; }), "long rows only");
}

/// 0 in x and entries of 0: NaN comes from entries alone, wherever a format is filled up.
SCALAR_TEST(Product, MakesNaNWhereTheMatrixHasAnEntry) {
  Csr<T> a = stencil<T>(40, 30, 1);
  std::fill_n(a.values.begin() + 500, 50, T(0));
  a.values[700] = std::numeric_limits<T>::quiet_NaN();
  a.values[900] = std::bit_cast<T>(kNoEntry<T>);
  std::vector<T> x = random_vector<T>(a.columns);
  for (std::size_t i = 0; i < x.size(); i += 37) x[i] = std::numeric_limits<T>::quiet_NaN();
  x[111] = std::numeric_limits<T>::infinity();
  for (const SparseFormat format : this->kAll) {
    this->on_all(a, format, [&](Products<T>& products) { EXPECT_TRUE(near(products(x), a.product(x), {})); });
  }
  Csr<T> uneven = scattered<T>(700, 300, [](Index i) { return i % 19; });
  x.resize(300);
  for (const SparseFormat format : {SparseFormat::sell, SparseFormat::csr}) {
    this->on_all(uneven, format, [&](Products<T>& products) { EXPECT_TRUE(near(products(x), uneven.product(x), {})); });
  }
}

SCALAR_TEST(Product, TakesOtherValuesLater) {
  Csr<T> a = stencil<T>(500, 500, 1);  // its values are made in pieces
  const std::vector<T> x = random_vector<T>(a.columns);
  for (const SparseFormat format : this->kAll) {
    this->on_all(a, format, [&](Products<T>& products) {
      Csr<T> other = a;
      for (T& value : other.values) value = 1 / value;
      products.matrix().set_values(other.values.data());
      EXPECT_TRUE(near(products(x), other.product(x), {}));
    });
  }
}

SCALAR_TEST(Product, OfTheTransposedIsRight) {
  const auto a = scattered<T, std::int64_t>(400, 300, [](Index i) { return i == 5 ? 9000 : i % 13; });
  const auto grid = stencil<T, std::int64_t>(30, 20, 1);
  for (const SparseFormat format : this->kAll) {
    const auto& matrix = format == SparseFormat::dia ? grid : a;
    const std::vector<T> x = random_vector<T>(matrix.rows);
    std::vector<typename Csr<T>::Row> right(static_cast<std::size_t>(matrix.columns));
    for (Index i = 0; i < matrix.rows; ++i) {
      for (Index k = matrix.begin[static_cast<std::size_t>(i)]; k < matrix.begin[static_cast<std::size_t>(i) + 1];
           ++k) {
        const double term = static_cast<double>(matrix.values[static_cast<std::size_t>(k)]) *
                            static_cast<double>(x[static_cast<std::size_t>(i)]);
        auto& row = right[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)])];
        row.sum += term;
        row.magnitudes += std::abs(term);
      }
    }
    this->on_all(
        matrix, format, [&](Products<T>& products) { EXPECT_TRUE(near(products(x), right, {})); }, true);
  }
}

SCALAR_TEST(Product, GivesTheSameBitsEachTime) {
  const auto a = scattered<T>(3000, 9000, [](Index i) { return i == 17 ? 20'000 : i * 7919 % 67; });
  const std::vector<T> x = random_vector<T>(a.columns);
  for (const SparseFormat format : {SparseFormat::sell, SparseFormat::csr}) {
    this->on_all(a, format, [&](Products<T>& products) {
      const std::vector<T> first = products(x);
      for (int run = 0; run < 10; ++run)
        ASSERT_EQ(std::memcmp(products(x).data(), first.data(), first.size() * sizeof(T)), 0);
    });
  }
}

/// As for a matrix with 2^31 columns, whose vectors no test has room for.
SCALAR_TEST(Product, TakesColumnsOf64Bits) {
  const auto a = scattered<T>(3000, 700, [](Index i) { return i * 7919 % 67; });
  const std::vector<T> x = random_vector<T>(a.columns);
  const auto widen = [](Integers& numbers) {
    Integers wide(numbers.size(), true);
    for (Index i = 0; i < numbers.size(); ++i) wide.set(i, numbers[i]);
    numbers = std::move(wide);
  };
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto space = this->space_of(info, Variant::by_type);
    for (const SparseFormat format : {SparseFormat::sell, SparseFormat::csr}) {
      SparseForm form = make_sparse_form(a.pattern(), {format, space->slice_rows()});
      form.wide = true;
      widen(form.column);
      widen(form.row_of);
      Products<T> products(space, form);
      products.matrix().set_values(a.values.data());
      EXPECT_TRUE(near(products(x), a.product(x), {}));
    }
  });
}

SCALAR_TEST(Product, CountsWhatItDoes) {
  const auto a = scattered<T>(3000, 700, [](Index i) { return i == 5 ? 5000 : 2; });
  this->on_all(a, SparseFormat::csr, [&](Products<T>& products) {
    const auto x = products.array(random_vector<T>(a.columns)), z = products.space().make(a.rows);
    const SpaceCounts before = products.space().counts();
    products.space().product(products.matrix(), *x, nullptr, *z);
    const SpaceCounts after = products.space().counts();
    EXPECT_EQ(after.launches - before.launches, 2);  // and the long row
    EXPECT_EQ(after.waits - before.waits, 0);
    products.matrix().set_values(a.values.data());
    EXPECT_EQ(products.space().counts().bytes_up - after.bytes_up,
              static_cast<std::int64_t>(a.values.size() * sizeof(T)));
    EXPECT_GT(products.matrix().bytes(), static_cast<std::int64_t>(a.values.size() * (sizeof(T) + 4)));
  });
}

SCALAR_TEST(Product, RefusesMistakes) {
  const auto a = stencil<T>(50, 1, 1);
  this->on_all(a, SparseFormat::csr, [&](Products<T>& products) {
    Space<T>& space = products.space();
    const auto x = space.make(50), shorter = space.make(49), z = space.make(50);
    const SpaceMatrix<T>& matrix = products.matrix();
    EXPECT_NE(thrown_text([&] { space.product(matrix, *x, nullptr, *x); }).find("give it another"), std::string::npos);
    EXPECT_NE(thrown_text([&] { space.product(matrix, *shorter, nullptr, *z); }).find("of one size"),
              std::string::npos);
    EXPECT_NE(thrown_text([&] { space.product(matrix, *x, nullptr, *shorter); }).find("of one size"),
              std::string::npos);
    EXPECT_NE(thrown_text([&] { space.product(matrix, *x, shorter.get(), *z); }).find("of one size"),
              std::string::npos);
    const SparseForm other = make_sparse_form(a.pattern(), {SparseFormat::sell, 5});
    EXPECT_NE(thrown_text([&] { space.make_matrix(other); }).find("slices of 5 rows"), std::string::npos);
  });
}

/// Calls of drivers that go well before one that fails.
std::atomic<int> calls_left{0};
cl_int fail_in_turn(ocl::Place /*place*/, int /*device*/, cl_command_queue /*queue*/) {
  return calls_left-- == 0 ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

SCALAR_TEST(Product, TellsOfEachFailureAndGoesOn) {
  const auto a = scattered<T>(3000, 700, [](Index i) { return i == 5 ? 5000 : i % 4; });
  const std::vector<T> ones(700, T(1));
  const auto exact = a.product(ones);
  on_every_device<T>([&](const DeviceInfo& info) {
    const auto space = this->space_of(info, Variant::by_type);
    const auto x = space->make(700), z = space->make(3000);
    space->bring(ones.data(), *x);
    for (const SparseFormat format : {SparseFormat::sell, SparseFormat::csr}) {
      const SparseForm form = make_sparse_form(a.pattern(), {format, space->slice_rows()});
      const auto work = [&] {
        const auto matrix = space->make_matrix(form);
        matrix->set_values(a.values.data());
        space->product(*matrix, *x, nullptr, *z);
        space->product(*matrix, *x, z.get(), *z);
      };
      int failed = 0;
      for (bool whole = false; !whole && failed < 1000; ++failed) {
        calls_left = failed;
        ocl::fault_hook = fail_in_turn;
        try {
          work();
          whole = calls_left >= 0;
        } catch (const DeviceError&) {
        }
        ocl::fault_hook = nullptr;
        ASSERT_TRUE(whole || calls_left < 0);
      }
      EXPECT_GT(failed, 10);
      EXPECT_LT(failed, 1000);
      work();
      std::vector<T> twice(3000);
      space->take(*z, twice.data());
      for (std::size_t i = 0; i < twice.size(); ++i) {
        ASSERT_NEAR(twice[i], 2 * exact[i].sum, 64 * kEps<T> * 2 * exact[i].magnitudes) << "row " << i;
      }
    }
  });
}

SCALAR_TEST(Product, EndsWithAnErrorOnceTheDeviceIsReleased) {
  const auto a = stencil<T>(50, 1, 1);
  this->on_all(a, SparseFormat::csr, [&](Products<T>& products) {
    const auto x = products.array(random_vector<T>(50)), z = products.space().make(50);
    module().release();
    EXPECT_THROW(products.matrix().set_values(a.values.data()), DeviceError);
    EXPECT_THROW(products.space().product(products.matrix(), *x, nullptr, *z), DeviceError);
  });
}

}  // namespace
}  // namespace oclspkt::test
