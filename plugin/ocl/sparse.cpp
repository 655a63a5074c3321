// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <bit>
#include <limits>

#include "scalars.hpp"
#include "space_state.hpp"

namespace oclspkt::ocl {
namespace {

// Work-items of a work-group. Groups are large, because a core needs many loads in flight and limits the number of its
// groups. Groups for the segments of long rows are smaller, because a long row has few partial sums.
constexpr std::size_t kItems = 256, kItemsOfSegments = 64;

/// Copy `bytes` bytes of the host to a new buffer, and wait. Without bytes, return a buffer that no kernel reads.
Buffer brought(SpaceState& state, const void* numbers, std::int64_t bytes) {
  Buffer buffer = make_buffer(*state.device, Access::read, std::max<std::int64_t>(bytes, sizeof(Long)));
  if (bytes > 0) state.write(buffer, numbers, bytes);
  return buffer;
}

template <typename V>
Buffer brought(SpaceState& state, const std::vector<V>& numbers) {
  return brought(state, numbers.data(), static_cast<std::int64_t>(numbers.size() * sizeof(V)));
}

Buffer brought(SpaceState& state, const Integers& numbers) { return brought(state, numbers.data(), numbers.bytes()); }

/// Let threads make an array's words by fill(), copy the array to a buffer, and wait.
void write_made(SpaceState& state, const Buffer& to, Index words, std::int64_t word,
                const decltype(Passage::fill)& fill) {
  const std::int64_t bytes = words * word;
  const auto bring = [&](Pipeline& pieces, const Waiter& waiter, Times& times) {
    pieces.bring_made(fill, words, word, to, waiter, times);
  };
  if (state.by_pipeline(bytes, true, bring)) return state.count(bytes, 0);
  const auto made = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  fill(0, words, made.get());
  state.write(to, made.get(), bytes);
}

static_assert(sizeof(Index) == sizeof(Long) && sizeof(RowBlock) == 3 * sizeof(Long) &&
              sizeof(LongRow) == 3 * sizeof(Long));

/// Divide units of work among at most `most_groups` work-groups of `items` work-items.
SpaceState::Runs spread(Index units, std::size_t items, Index most_groups) {
  const Index each = std::max<Index>(1, quotient_up(units, most_groups));
  return {{quotient_up(units, each), items}, each};
}

/// Work-items of a work-group: a power of two.
std::size_t items_of(const SpaceState& state, std::size_t wanted) {
  return state.by_groups ? std::bit_floor(std::min(wanted, state.device->found().max_group_items)) : 1;
}

template <typename T>
struct MatrixMemory {
  /// @throws InvalidInput if the form was made for another kind of device
  MatrixMemory(SpaceState& state, const SparseForm& form);
  struct Kernels {
    Kernel rows, segments;
  };
  enum class Kind { product, sum, dot };  ///< z = A x; z = y + A x; z = A x and x . z
  /// The kernels of a kind, built at its first use.
  Kernels& kernels(const SpaceState& state, Kind kind);
  /// @param partial  written if the kind is `dot`
  /// @return the work-groups, each of which has a part of x . z
  Index enqueue(SpaceState& state, Kind kind, const Buffer& x, const Buffer& y, const Buffer& z, const Buffer& partial);

  SparseFormat format;
  Index rows, columns, places, slice, width, block_entries, block_count, long_count;
  bool wide, sorted;
  std::shared_ptr<const Integers> positions;
  Kernels by_kind[3];  ///< by Kind, see kernels()
  Buffer values, column;
  Buffer pattern;  ///< diagonals, first elements of slices, or blocks
  Buffer row_of;   ///< format sell: rows of A in the order of the slices; format csr: ends of rows
  Buffer long_rows, sums;
};

template <typename T>
MatrixMemory<T>::MatrixMemory(SpaceState& state, const SparseForm& form)
    : format(form.format),
      rows(form.rows),
      columns(form.columns),
      places(form.places),
      slice(form.slice),
      width(static_cast<Index>(form.diagonals.size())),
      block_entries(form.block_entries),
      block_count(std::max<Index>(1, static_cast<Index>(form.blocks.size())) - 1),
      long_count(static_cast<Index>(form.long_rows.size())),
      wide(form.wide),
      sorted(!form.row_of.empty()),
      positions(form.positions) {
  if (slice != slice_rows(state)) {
    throw InvalidInput("the form of the matrix has slices of " + std::to_string(slice) + " rows, " +
                       describe(state.device->info()) + " takes " + std::to_string(slice_rows(state)) +
                       ": make it for that device");
  }
  const auto scalars = [&](Index count) {
    return make_buffer(*state.device, Access::read_write, std::max<Index>(1, count) * static_cast<Index>(sizeof(T)));
  };
  kernels(state, Kind::product);
  values = scalars(places);
  column = brought(state, form.column);
  if (format == SparseFormat::dia) {
    pattern = brought(state, form.diagonals);
  } else if (format == SparseFormat::sell) {
    pattern = brought(state, form.slice_begin);
    row_of = brought(state, form.row_of);
  } else {
    pattern = brought(state, form.blocks);
    row_of = brought(state, form.row_end);
    long_rows = brought(state, form.long_rows);
    sums = scalars(long_count > 0 ? form.long_rows.back().end_segment : 0);
  }
}

template <typename T>
typename MatrixMemory<T>::Kernels& MatrixMemory<T>::kernels(const SpaceState& s, Kind kind) {
  Kernels& made = by_kind[static_cast<std::size_t>(kind)];
  if (!made.rows.name.empty()) return made;
  const char* const kinds[] = {"", " -D PLUS", " -D DOT"};
  const std::string both = kinds[static_cast<std::size_t>(kind)] + std::string(wide ? " -D WIDE" : "");
  const int lanes = s.by_groups ? 1 : static_cast<int>(slice);
  const auto kernel = [&](const char* text, std::size_t items, const std::string& options) {
    return s.device->kernel(text, s.is_double, lanes,
                            "-D GROUP_ITEMS=" + std::to_string(items_of(s, items)) + options + both);
  };
  const std::string sliced = " -D SLICE=" + std::to_string(slice);
  if (format == SparseFormat::dia) {
    made.rows = kernel("product_dia", kItems, sliced + " -D NO_ENTRY=" + std::to_string(kNoEntry<T>));
  } else if (format == SparseFormat::sell) {
    made.rows = kernel("product_sell", kItems, sliced + (sorted ? " -D SORTED" : ""));
  } else {
    if (long_count > 0) made.segments = kernel("product_segments", kItemsOfSegments, "");
    made.rows = kernel("product_rows", kItems, " -D BLOCK_ENTRIES=" + std::to_string(block_entries));
  }
  return made;
}

template <typename T>
Index MatrixMemory<T>::enqueue(SpaceState& s, Kind kind, const Buffer& x, const Buffer& y, const Buffer& z,
                               const Buffer& partial) {
  const OpenDevice& d = *s.device;
  Kernels& k = kernels(s, kind);
  const std::size_t items = items_of(s, kItems);
  const Index most = s.by_groups && kind != Kind::dot
                         ? std::numeric_limits<std::int32_t>::max() / static_cast<Index>(items)
                         : s.most_parts();
  if (format == SparseFormat::csr) {
    const SpaceState::Runs all = spread(block_count, items, most);
    set_arguments(d, k.rows, values, column, pattern, row_of, x, y, z, sums, Long{block_count}, Long{all.run}, partial,
                  Long{0});
    s.launch(k.rows, all.geometry);
    if (long_count == 0) return all.geometry.groups;
    const SpaceState::Runs few = spread(long_count, items_of(s, kItemsOfSegments), most);
    set_arguments(d, k.segments, long_rows, sums, y, z, Long{long_count}, Long{few.run}, x, partial,
                  Long{all.geometry.groups});
    s.launch(k.segments, few.geometry);
    return all.geometry.groups + few.geometry.groups;
  }
  const Index unit = s.by_groups ? static_cast<Index>(items) : slice;  // rows of a unit of work
  const SpaceState::Runs all = spread(quotient_up(rows, unit), items, most);
  if (format == SparseFormat::dia) {
    set_arguments(d, k.rows, values, pattern, x, y, z, Long{rows}, static_cast<Int>(width), Long{all.run * unit},
                  partial, Long{0});
  } else {
    set_arguments(d, k.rows, values, column, pattern, row_of, x, y, z, Long{rows}, Long{all.run * unit}, partial,
                  Long{0});
  }
  s.launch(k.rows, all.geometry);
  return all.geometry.groups;
}

/// A sparse matrix in buffers of a space's device, with the kernels of its products.
template <typename T>
class ClMatrix final : public SpaceMatrix<T> {
 public:
  ClMatrix(int index, const std::shared_ptr<SpaceState>& state, const SparseForm& form)
      : SpaceMatrix<T>(form.rows, form.columns),
        bytes_(form.bytes(sizeof(T))),
        part_(index, state, std::make_unique<MatrixMemory<T>>(*state, form)) {}

  void set_values(const T* from) override {
    work_on(part_.index(), *part_.state(), "bringing the values of a sparse matrix to it", [&](SpaceState& s) {
      constexpr auto kWord = static_cast<Index>(sizeof(T));
      const MatrixMemory<T>& m = memory();
      if (m.places == 0) return;
      if (!m.positions) return s.write(m.values, from, m.places * kWord);
      write_made(s, m.values, m.places, kWord, [&](Index first, Index end, std::byte* to) {
        gather_values(m.format, *m.positions, from, first, end - first, reinterpret_cast<T*>(to));
      });
    });
  }

  std::int64_t bytes() const override { return bytes_; }
  const SpaceState* state() const { return part_.state(); }
  MatrixMemory<T>& memory() const { return *part_.value(); }

 private:
  std::int64_t bytes_;
  SpacePart<std::unique_ptr<MatrixMemory<T>>> part_;
};

}  // namespace

Index slice_rows(const SpaceState& state) {
  return state.by_groups ? kGroupSlice : std::max(8, state.device->found().lanes(state.is_double));
}

template <typename T>
std::unique_ptr<SpaceMatrix<T>> make_matrix(int index, const std::shared_ptr<SpaceState>& state,
                                            const SparseForm& form) {
  return std::make_unique<ClMatrix<T>>(index, state, form);
}

namespace {

template <typename T>
MatrixMemory<T>& memory_of(const SpaceState& s, const SpaceMatrix<T>& a) {
  const auto& matrix = static_cast<const ClMatrix<T>&>(a);
  if (matrix.state() != &s) throw InvalidInput("a matrix is of another device, or of one that was released");
  return matrix.memory();
}

}  // namespace

template <typename T>
void enqueue_product(SpaceState& s, const SpaceMatrix<T>& a, const Buffer& x, const Buffer* y, const Buffer& z) {
  using Kind = typename MatrixMemory<T>::Kind;
  MatrixMemory<T>& m = memory_of(s, a);
  if (m.rows == 0) return;
  // If A has no columns, the kernel does not read x, and any buffer can be its argument.
  m.enqueue(s, y != nullptr ? Kind::sum : Kind::product, m.columns > 0 ? x : m.values, y != nullptr ? *y : z, z, z);
}

template <typename T>
Index enqueue_product_with_dot(SpaceState& s, const SpaceMatrix<T>& a, const Buffer& p, const Buffer& w,
                               const Buffer& partial) {
  MatrixMemory<T>& m = memory_of(s, a);
  return m.enqueue(s, MatrixMemory<T>::Kind::dot, p, w, w, partial);
}

#define OCLSPKT_INSTANTIATE(T)                                                                                      \
  template std::unique_ptr<SpaceMatrix<T>> make_matrix(int, const std::shared_ptr<SpaceState>&, const SparseForm&); \
  template void enqueue_product(SpaceState&, const SpaceMatrix<T>&, const Buffer&, const Buffer*, const Buffer&);   \
  template Index enqueue_product_with_dot(SpaceState&, const SpaceMatrix<T>&, const Buffer&, const Buffer&,         \
                                          const Buffer&);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl
