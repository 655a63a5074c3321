// SPDX-License-Identifier: BSD-2-Clause
#include "pivoted_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "interface.hpp"
#include "parallel.hpp"
#include "wide.hpp"

namespace oclspkt {
namespace {

template <typename Number>
using Limits = std::numeric_limits<Real<Number>>;

/// A row that multiplies the next diagonal by at most 1 + 1 / kShare is a block of 1, whatever the other rows are.
/// Bunch's value of 0.6 bounds the growth of single rows and blocks alike. This smaller value prefers single rows: they
/// have a componentwise bound, and most blocks of 2 have none.
template <typename Number>
constexpr Number kShare = Number(0.1);

/// Two products can be compared if the larger product has at least this size, even if the smaller product underflows.
template <typename Number>
const Number kLeastProduct = std::ldexp(Limits<Number>::min(), 60);

/// The absolute value of a number, with an unlimited exponent. Its operations round like Number.
template <typename Number>
struct Size {
  int exponent = 0;
  Number part;  ///< mantissa: 0, or in [0.5, 1)

  explicit Size(Number number) : part(std::frexp(std::abs(number), &exponent)) {}
  Size(Number some, int of_some) : Size(some) { exponent += of_some; }
  Size operator*(const Size& b) const { return {part * b.part, exponent + b.exponent}; }
  Size operator/(const Size& b) const { return {part / b.part, exponent - b.exponent}; }
  bool at_least(const Size& b) const {
    if (part == 0 || b.part == 0) return b.part == 0;
    return std::ldexp(part, std::clamp(exponent - b.exponent, -4, 4)) >= b.part;
  }
};

/// The moduli that decide between a single row and a block of 2: the waiting row (diag, upper), the next row (a, b,
/// c), and the lower coupling and the diagonal of the row behind the next row.
template <typename Number>
struct Choice {
  Number diag, upper, a, b, c, lower_after, diag_after;
};

/// True if the waiting row is a block of 1, see take_pivot(). Let x = |diag b|, y = |upper a|, fill = |c lower_after|
/// and full = |b diag_after|. A single row enlarges the next diagonal by y / x. A block of 2 enlarges the diagonal
/// behind the block by (fill / full) (x / y).
template <typename Number>
bool is_alone(const Choice<Number>& k) {
  using Any = Size<Number>;
  const Any x = Any(k.diag) * Any(k.b), y = Any(k.upper) * Any(k.a);
  if (x.at_least(Any(kShare<Number>) * y)) return true;
  const Any share = x / y, fill = Any(k.c) * Any(k.lower_after), full = Any(k.b) * Any(k.diag_after);
  return x.part != 0 && !full.at_least(share * share * fill);
}

/// is_alone() in plain arithmetic, for real Number.
/// @param[out] left_range  true if a product is beyond the range of Number; the result is then not valid
template <typename Number>
[[gnu::always_inline]] inline bool is_alone_in_range(const Choice<Number>& k, bool& left_range) {
  const Number x = k.diag * k.b, y = k.upper * k.a, part = kShare<Number> * y;
  const Number share = x / y, fill = k.c * k.lower_after, full = k.b * k.diag_after;
  const Number shrunk = share * share * fill;
  const auto in_range = [](Number one, Number other) {
    const Number larger = one < other ? other : one;
    return (larger >= kLeastProduct<Number>)&(larger <= Limits<Number>::max());
  };
  const bool alone = x >= part;
  const bool asks = !alone & (k.diag != 0) & (k.b != 0) & (k.c != 0) & (k.lower_after != 0);
  const bool strays = !in_range(shrunk, full) | !(x >= kLeastProduct<Number>);
  left_range = ((k.upper != 0) & (k.a != 0) & !in_range(x, part)) | (asks & strays);
  return alone | (asks & (shrunk > full));
}

/// take_pivot() with arguments by value, so that compilers vectorise it over several systems.
/// @tparam kCareful  true: products may leave the range of Number
/// @return 1 if kCareful is false and a product leaves the range, else 0
template <bool kCareful, typename Number>
[[gnu::always_inline]] inline Real<Number> step(Number& diag, Number& upper, Number& taken, Real<Number>& in_block,
                                                Number a, Number b, Number c, Number lower_after, Number diag_after,
                                                PivotStep<Number>& out) {
  using R = Real<Number>;
  const Number d = diag, u = upper;
  const Choice<R> choice{modulus(d), modulus(u),           modulus(a),         modulus(b),
                         modulus(c), modulus(lower_after), modulus(diag_after)};
  bool left_range = false;
  const bool alone = kCareful ? is_alone(choice) : is_alone_in_range(choice, left_range);
  const bool stays = alone | (in_block != 0);
  const Number pivot = stays ? d : a, onto = stays ? b : u, over = stays ? a : d;
  out.diag = pivot;
  out.upper = stays ? u : b;
  out.upper2 = stays ? Number(-0.0) : c + Number(0);
  out.multiplier = over == Number(0) ? Number(0) : over / pivot;
  out.swapped = stays ? R(0) : R(1);
  taken = coupled(out.multiplier, out.upper);
  diag = onto - taken;
  upper = stays ? c : -coupled(out.multiplier, c);
  in_block = out.swapped;
  return left_range ? R(1) : R(0);
}

/// The state of a bundle's systems during elimination, and the facts found so far. Flags are numbers (1: true), so that
/// all members fit into vector registers.
template <Index kWidth, typename Number>
struct Lanes {
  using R = Real<Number>;
  Number diag[kWidth], upper[kWidth], taken[kWidth] = {};
  R in_block[kWidth] = {}, unsound[kWidth] = {}, lost[kWidth] = {}, growth[kWidth] = {}, blocks[kWidth] = {};
  R unbounded[kWidth] = {};
  R strayed[kWidth] = {};  ///< 1 if a product left the range of numbers in step()
};

template <typename Number>
struct Places {
  Number *diag, *upper, *upper2, *multiplier;
};

/// Record a pivot. @param taken  the number that elimination subtracted to form the pivot; 0 if none
template <Index kWidth, typename Number>
[[gnu::always_inline]] inline void see_pivot(Lanes<kWidth, Number>& s, Index j, Number pivot, Number taken) {
  using R = Real<Number>;
  const R size = modulus(pivot);
  const bool good = (size > 0) & (size <= Limits<Number>::max());
  s.unsound[j] = good ? s.unsound[j] : R(1);
  s.lost[j] = size <= 4 * Limits<Number>::epsilon() * modulus(taken) ? R(1) : s.lost[j];
}

template <Index kWidth, bool kCareful, typename Number>
[[gnu::always_inline]] inline void factor_bundle(Index rows, const BandsView<Number>& b, const Places<Number>& to,
                                                 Lanes<kWidth, Number>& lanes) {
  using R = Real<Number>;
  Lanes<kWidth, Number> s = lanes;
  for (Index j = 0; j < kWidth; ++j) {
    s.diag[j] = b.diag[j];
    s.upper[j] = b.upper[j];
  }
  const Number none[kWidth] = {};
  for (Index i = 0; i + 1 < rows; ++i) {
    const Index here = i * kWidth, below = here + kWidth;
    const Number* const lower_after = i + 2 < rows ? b.lower + below + kWidth : none;
    const Number* const diag_after = i + 2 < rows ? b.diag + below + kWidth : none;
#pragma omp simd
    for (Index j = 0; j < kWidth; ++j) {
      const Number diag = b.diag[below + j], upper = b.upper[below + j], before = s.taken[j];
      PivotStep<Number> p;
      Number d = s.diag[j], u = s.upper[j], taken = before;
      R in_block = s.in_block[j];
      const R left_range =
          step<kCareful>(d, u, taken, in_block, b.lower[below + j], diag, upper, lower_after[j], diag_after[j], p);
      s.diag[j] = d;
      s.upper[j] = u;
      s.taken[j] = taken;
      s.in_block[j] = in_block;
      s.strayed[j] = left_range != 0 ? R(1) : s.strayed[j];
      const bool swapped = p.swapped != 0;
      see_pivot(s, j, p.diag, swapped ? Number(0) : before);
      // The second row of a block of 2 has no pivot of its own, and no growth: the division by infinity gives 0. 0 / 0
      // is NaN, which also counts as no growth.
      const R grown = (modulus(taken) + modulus(d)) / (swapped ? Limits<Number>::infinity() : modulus(diag));
      s.growth[j] = grown > s.growth[j] ? grown : s.growth[j];
      s.blocks[j] = swapped ? R(1) : s.blocks[j];
      const bool eliminates = p.multiplier != Number(0), couples = upper != Number(0);
      const bool unbounded = swapped & eliminates & couples;
      s.unbounded[j] = unbounded ? R(1) : s.unbounded[j];
      to.diag[here + j] = p.diag;
      to.upper[here + j] = p.upper;
      to.upper2[here + j] = p.upper2;
      to.multiplier[here + j] = p.multiplier;
    }
  }
  const Index last = (rows - 1) * kWidth;
  for (Index j = 0; j < kWidth; ++j) {
    to.diag[last + j] = s.diag[j];
    to.upper[last + j] = to.upper2[last + j] = to.multiplier[last + j] = 0;
    see_pivot(s, j, s.diag[j], s.taken[j]);
  }
  lanes = s;
}

/// True if a row changed places with the next row. The row's upper2 is then not -0.
template <typename Number>
bool is_swapped(Number upper2) {
  const bool couples = upper2 != Number(0), positive = !std::signbit(std::real(upper2));
  return couples | positive;
}

/// Solve a bundle with its factors. In a block of 2, the coupling of the second row to the unknown below the block may
/// be larger than all numbers of the first row. So the second row first subtracts this coupling's term. Only then does
/// the first row subtract the right-hand side of the second row.
template <Index kWidth, typename Number>
[[gnu::always_inline]] inline void substitute_bundle(Index rows, const Places<const Number>& f, Number* x) {
  if (rows == 0) return;
  Number swept[kWidth], kept[kWidth];
  std::copy_n(x, kWidth, swept);
  std::copy_n(x, kWidth, kept);
  for (Index i = 0; i + 1 < rows; ++i) {
    const Index at = i * kWidth;
#pragma omp simd
    for (Index j = 0; j < kWidth; ++j) {
      const bool swapped = is_swapped(f.upper2[at + j]);
      const Number below = x[at + kWidth + j], top = swapped ? below : swept[j], rest = swapped ? swept[j] : below;
      x[at + j] = swapped ? below : kept[j];
      swept[j] = rest - coupled(f.multiplier[at + j], top);
      kept[j] = swapped ? rest : swept[j];
    }
  }
  std::copy_n(kept, kWidth, x + (rows - 1) * kWidth);
  Number below[kWidth] = {}, below2[kWidth] = {};
  for (Index i = rows - 1; i >= 0; --i) {
    const Index at = i * kWidth, above = i > 0 ? at - kWidth : at;
    const bool first = i == 0;
#pragma omp simd
    for (Index j = 0; j < kWidth; ++j) {
      // Subtract the term with the next row's unknown last, because that unknown is computed last.
      const Number alone = (x[at + j] - coupled(f.upper2[at + j], below2[j])) - coupled(f.upper[at + j], below[j]);
      const Number second = x[above + j] - coupled(f.upper2[above + j], below[j]);
      const Number in_block = x[at + j] - coupled(f.multiplier[above + j], second);
      const bool closes = !first & is_swapped(f.upper2[above + j]);
      below2[j] = below[j];
      x[at + j] = below[j] = (closes ? in_block : alone) / f.diag[at + j];
    }
  }
}

constexpr Index kMany = PivotedLines<double>::kLanes;

#define OCLSPKT_INSTANTIATE(Number)                                                               \
  OCLSPKT_WIDE void factor_many(Index rows, const BandsView<Number>& b, const Places<Number>& to, \
                                Lanes<kMany, Number>& lanes) {                                    \
    factor_bundle<kMany, false>(rows, b, to, lanes);                                              \
  }                                                                                               \
  OCLSPKT_WIDE void substitute_many(Index rows, const Places<const Number>& f, Number* x) {       \
    substitute_bundle<kMany>(rows, f, x);                                                         \
  }
OCLSPKT_PIVOTED(OCLSPKT_INSTANTIATE)
#undef OCLSPKT_INSTANTIATE

}  // namespace

template <typename Number>
PivotStep<Number> take_pivot(WaitingRow<Number>& waiting, const PivotedRow<Number>& next,
                             const PivotedRow<Number>* after) {
  PivotStep<Number> pivot{};
  step<true>(waiting.diag, waiting.upper, waiting.taken, waiting.in_block, next.lower, next.diag, next.upper,
             after ? after->lower : Number(0), after ? after->diag : Number(0), pivot);
  return pivot;
}

template <typename Number>
Real<Number> smallest_pivot(const std::vector<PivotedRow<Number>>& rows) {
  using R = Real<Number>;
  R smallest = Limits<Number>::infinity();
  if (rows.empty()) return smallest;
  bool finite = true;
  const auto see = [&](Number pivot, R made_of) {
    const R share = pivot == Number(0) ? R(0) : std::abs(pivot) / made_of;
    finite = finite && !std::isnan(share) && is_finite(pivot);
    smallest = std::min(smallest, share);
  };
  WaitingRow<Number> waiting{rows[0].diag, rows.size() > 1 ? rows[0].upper : Number(0)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const WaitingRow<Number> before = waiting;
    PivotStep<Number> pivot{waiting.diag};
    if (i + 1 < rows.size()) {
      PivotedRow<Number> next = rows[i + 1];
      if (i + 2 == rows.size()) next.upper = 0;
      pivot = take_pivot(waiting, next, i + 2 < rows.size() ? &rows[i + 2] : nullptr);
    }
    if (pivot.swapped != 0) {
      see(pivot.diag, std::abs(pivot.diag));
    } else {
      see(pivot.diag, std::max(std::abs(before.taken), before.in_block != 0 ? std::abs(pivot.diag) : rows[i].made_of));
    }
  }
  return finite ? smallest : Limits<Number>::quiet_NaN();
}

template <typename Number>
void PivotedLines<Number>::clear() {
  bundles_.clear();
  added_.clear();
  size_ = 0;
}

template <typename Number>
Index PivotedLines<Number>::place(Index rows, Index width) {
  bundles_.push_back({size_, rows, width, {}, {}, {}});
  return std::exchange(size_, size_ + rows * width);
}

template <typename Number>
void PivotedLines<Number>::add(const std::vector<PivotedRow<Number>>& rows) {
  place(static_cast<Index>(rows.size()), 1);
  added_.insert(added_.end(), rows.begin(), rows.end());
}

template <typename Number>
void PivotedLines<Number>::make_room() {
  for (AlignedArray<Number>* array : {&diag_, &upper_, &upper2_, &multiplier_}) array->resize(size_);
  if (added_.empty()) return;
  std::vector<Number> lower, diag, upper;
  for (const PivotedRow<Number>& row : added_) {
    lower.push_back(row.lower);
    diag.push_back(row.diag);
    upper.push_back(row.upper);
  }
  for (Index s = 0; s < bundles(); ++s) {
    const Bundle& bundle = bundles_[static_cast<std::size_t>(s)];
    if (bundle.rows == 0) continue;
    const auto at = static_cast<std::size_t>(bundle.at);
    lower[at] = upper[at + static_cast<std::size_t>(bundle.rows) - 1] = 0;
    PivotFacts facts;
    factor(s, {&lower[at], &diag[at], &upper[at]}, &facts);
  }
  added_ = {};
}

/// Factor the systems of a bundle fast, and again with care if products leave the range of numbers.
template <typename Number>
template <Index kWidth>
void PivotedLines<Number>::factor_lanes(const Bundle& b, const BandsView<Number>& bands, PivotFacts* facts) {
  // The rounding errors of a single row are four times eps / 2, the errors of a row in a block of 2 are eight times
  // eps / 2. See docs/experiments/pivoting.md.
  constexpr double kAlone = 2 * kWithQuotients<Number>, kInBlock = 4 * kWithQuotients<Number>;
  const Places<Number> to{diag_.data() + b.at, upper_.data() + b.at, upper2_.data() + b.at, multiplier_.data() + b.at};
  Lanes<kWidth, Number> lanes;
  if constexpr (kWidth == 1) {
    factor_bundle<1, false>(b.rows, bands, to, lanes);
  } else {
    factor_many(b.rows, bands, to, lanes);
  }
  if (std::any_of(lanes.strayed, lanes.strayed + kWidth, [](auto n) { return n != 0; })) {
    lanes = {};
    factor_bundle<kWidth, true>(b.rows, bands, to, lanes);
  }
  for (Index j = 0; j < kWidth; ++j) {
    facts[j] = {};
    facts[j].lost = lanes.lost[j] != 0;
    facts[j].growth = static_cast<double>(lanes.growth[j]);
    facts[j].bound = lanes.unbounded[j] != 0
                         ? std::numeric_limits<double>::infinity()
                         : (lanes.blocks[j] != 0 ? kInBlock : kAlone) * std::max(1.0, facts[j].growth);
    for (Index i = 0; lanes.unsound[j] != 0 && i < b.rows && facts[j].bad < 0; ++i) {
      const Real<Number> pivot = modulus(to.diag[i * kWidth + j]);
      facts[j].overflows = !(pivot <= Limits<Number>::max());
      if (!(pivot > 0) || facts[j].overflows) facts[j].bad = i;
    }
    for (Index i = 0; i < b.rows; ++i) {
      facts[j].overflows = facts[j].overflows || modulus(to.multiplier[i * kWidth + j]) > kMostMultiplier<Real<Number>>;
    }
  }
}

template <typename Number>
void PivotedLines<Number>::factor(Index index, const BandsView<Number>& bands, PivotFacts* facts) {
  const Bundle& b = bundles_[static_cast<std::size_t>(index)];
  b.width == 1 ? factor_lanes<1>(b, bands, facts) : factor_lanes<kLanes>(b, bands, facts);
}

template <typename Number>
void PivotedLines<Number>::substitute(const Bundle& b, Number* x) const {
  const Places<const Number> f{diag_.data() + b.at, upper_.data() + b.at, upper2_.data() + b.at,
                               multiplier_.data() + b.at};
  b.width == 1 ? substitute_bundle<1>(b.rows, f, x) : substitute_many(b.rows, f, x);
}

template <typename Number>
void PivotedLines<Number>::solve(Number* x) const {
  constexpr Index kPiece = Index{1} << 12;  // a piece of short systems takes some 100 microseconds
  for_pieces(bundles(), kPiece, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s)
      substitute(bundles_[static_cast<std::size_t>(s)], x + bundles_[static_cast<std::size_t>(s)].at);
  });
}

template <typename Number>
std::int64_t PivotedLines<Number>::bytes() const {
  std::int64_t sum = static_cast<std::int64_t>(bundles_.capacity() * sizeof(Bundle));
  for (const Bundle& bundle : bundles_) sum += static_cast<std::int64_t>(bundle.kept.capacity() * sizeof(Number));
  for (const auto* array : {&diag_, &upper_, &upper2_, &multiplier_}) sum += array->bytes();
  return sum;
}

#define OCLSPKT_INSTANTIATE(Number)                                                                                 \
  template PivotStep<Number> take_pivot(WaitingRow<Number>&, const PivotedRow<Number>&, const PivotedRow<Number>*); \
  template Real<Number> smallest_pivot(const std::vector<PivotedRow<Number>>&);                                     \
  template class PivotedLines<Number>;
OCLSPKT_PIVOTED(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt
