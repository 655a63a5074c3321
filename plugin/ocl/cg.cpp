// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients whose scalars stay on the device. Each launch that needs a sum adds up the partial sums of the
// launch before, all work-groups alike, so every run gives the same bits.
#include <algorithm>
#include <vector>

#include "scalars.hpp"
#include "space_cg.hpp"
#include "space_state.hpp"

namespace oclspkt::ocl {
namespace {

/// The device's memory: partial sums of p . w, then those of r . z and of the norm; and the records, a ring.
struct CgMemory {
  Buffer partial, records;
};

template <typename T>
class ClCg final : public SpaceCg<T> {
 public:
  ClCg(int index, const std::shared_ptr<SpaceState>& state, CgForm form, CgNorm norm, Index rows, int kept)
      : form_(form),
        norm_(norm),
        rows_(rows),
        slots_(kept + 1),
        first_(2 * state->most_parts()),
        groups_(state->runs_of_sums(rows).geometry.groups),
        part_(index, state, memory_for(*state)) {}

  void begin(const CgRecord<T>& record, T unit) override {
    work("beginning conjugate gradients", [&](SpaceState& s) {
      last_ = 0;
      unit_ = unit;
      least_ = T(-1);
      most_ = std::numeric_limits<T>::infinity();
      std::vector<CgRecord<T>> ring(static_cast<std::size_t>(slots_), CgRecord<T>{});
      ring[0] = record;
      s.write(memory().records, ring.data(), static_cast<std::int64_t>(ring.size() * sizeof record));
    });
  }

  void set_limits(T least, T most) override {
    least_ = least;
    most_ = most;
  }

  void step(const CgArrays<T>& v) override {
    work("a step of conjugate gradients", [&](SpaceState& s) {
      const auto buffer = [&](const SpaceArray<T>& array) -> const Buffer& { return buffer_of(s, array, rows_); };
      if (v.a->rows() != rows_ || v.a->columns() != rows_) {
        throw InvalidInput("conjugate gradients for " + std::to_string(rows_) + " unknowns got another matrix");
      }
      const Index parts = enqueue_product_with_dot(s, *v.a, buffer(*v.p), buffer(*v.w), memory().partial);
      Kernel& kernel = s.kernel(VectorKernel::cg_step, std::min(static_cast<int>(form_), 3));
      const SpaceState::Runs runs = s.runs_of_sums(rows_);
      s.set(kernel, runs, rows_, buffer(*v.x), buffer(*v.r), buffer(*v.p), buffer(*v.w), buffer(*v.z),
            buffer(v.inverse != nullptr ? *v.inverse : *v.r), memory().partial, Long{parts}, Long{first_},
            memory().records, static_cast<Int>(last_), static_cast<Int>(next()), least_, most_, unit_);
      s.launch(kernel, runs.geometry);
    });
  }

  void turn(const CgArrays<T>& v) override {
    work("turning the direction of conjugate gradients", [&](SpaceState& s) {
      const auto buffer = [&](const SpaceArray<T>& array) -> const Buffer& { return buffer_of(s, array, rows_); };
      const bool sums = form_ == CgForm::others_z || form_ == CgForm::others_r;
      if (sums) {
        // The second product is the square of the norm; the vector of both is the one of which the norm is.
        const bool of_z = form_ == CgForm::others_z;
        const SumOf<T> products[] = {{SumKind::dot, of_z ? v.r : v.z, of_z ? v.z : v.r},
                                     {SumKind::dot, of_z ? v.z : v.r, of_z ? v.z : v.r}};
        const std::size_t count = norm_ == CgNorm::natural ? 1 : 2;
        enqueue_dots<T>(s, std::span(products).first(count), memory().partial, first_);
      }
      const bool one_sum = norm_ == CgNorm::natural || form_ == CgForm::plain;
      Kernel& kernel = s.kernel(VectorKernel::cg_direction, 0);
      const SpaceState::Runs runs = s.runs(rows_, s.most_parts());
      s.set(kernel, runs, rows_, buffer(*v.p), buffer(*v.z), memory().partial, Long{groups_}, Long{first_},
            Long{one_sum ? first_ : first_ + groups_}, memory().records, static_cast<Int>(last_),
            static_cast<Int>(next()), least_, most_);
      s.launch(kernel, runs.geometry);
      last_ = next();
    });
  }

  void take(std::span<CgRecord<T>> records) override {
    work("getting the numbers of conjugate gradients", [&](SpaceState& s) {
      std::vector<CgRecord<T>> ring(static_cast<std::size_t>(slots_));
      const auto count = static_cast<int>(records.size());
      if (count >= slots_) throw InvalidInput("fewer iterations of conjugate gradients are kept than asked for");
      const auto bytes = static_cast<std::int64_t>(ring.size() * sizeof ring[0]);
      s.wait_for_copy(enqueue_read(*s.device, memory().records, ring.data(), bytes));
      s.count(0, bytes);
      for (int k = 0; k < count; ++k) {
        records[static_cast<std::size_t>(k)] =
            ring[static_cast<std::size_t>((last_ + slots_ - count + 1 + k) % slots_)];
      }
    });
  }

 private:
  static_assert(sizeof(CgRecord<T>) == 4 * sizeof(T));

  CgMemory memory_for(const SpaceState& s) const {
    const auto scalars = [&](std::int64_t count) {
      return make_buffer(*s.device, Access::read_write, count * static_cast<std::int64_t>(sizeof(T)));
    };
    return {scalars(first_ + 2 * groups_), scalars(4 * std::int64_t{slots_})};
  }
  CgMemory& memory() const { return part_.value(); }
  int next() const { return (last_ + 1) % slots_; }
  template <typename Work>
  void work(const char* what, const Work& work) {
    work_on(part_.index(), *part_.state(), what, work);
  }

  CgForm form_;
  CgNorm norm_;
  Index rows_;
  int slots_, last_ = 0;  ///< of the ring; the slot of the last record
  Index first_;           ///< in CgMemory::partial: the first part of r . z
  Index groups_;          ///< parts of r . z and of the norm
  T least_ = T(-1), most_ = std::numeric_limits<T>::infinity(), unit_ = T(1);
  SpacePart<CgMemory> part_;
};

}  // namespace

template <typename T>
std::unique_ptr<SpaceCg<T>> make_cg(int index, const std::shared_ptr<SpaceState>& state, CgForm form, CgNorm norm,
                                    Index rows, int kept) {
  return std::make_unique<ClCg<T>>(index, state, form, norm, rows, kept);
}

#define OCLSPKT_INSTANTIATE(T) \
  template std::unique_ptr<SpaceCg<T>> make_cg(int, const std::shared_ptr<SpaceState>&, CgForm, CgNorm, Index, int);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl
