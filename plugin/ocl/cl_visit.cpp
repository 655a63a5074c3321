// SPDX-License-Identifier: BSD-2-Clause
// Solvers pass vectors on in device memory. The first solver's pipeline copies y to the device, and the last solver's
// pipeline copies x to the host. The other solvers copy nothing.
#include <algorithm>
#include <functional>
#include <mutex>

#include "cl_solver.hpp"
#include "error_name.hpp"
#include "scalars.hpp"

namespace oclspkt::ocl {
namespace {

/// The objects of a visit on its device (see Holding).
struct VisitState final : Holding {
  std::mutex mutex;
  std::shared_ptr<OpenDevice> device;  ///< null after a release
  Kernel change;                       ///< empty if no rows change
  Buffer between;
  void drop() override {
    const std::lock_guard lock(mutex);
    change = {};
    between = Buffer();
    device.reset();
  }
};

template <typename T>
class ClVisit final : public Visit<T> {
 public:
  ClVisit(int index, std::shared_ptr<VisitState> state, std::vector<VisitedSolver<T>*> solvers, bool sum)
      : index_(index), state_(std::move(state)), solvers_(std::move(solvers)), sum_(sum) {}
  ~ClVisit() override { Registry::instance().retire(std::move(state_), index_); }
  ClVisit& operator=(ClVisit&&) = delete;

  void take(std::size_t step, const T* y, T* x) override {
    Registry::instance().require_usable(index_);
    const std::lock_guard lock(state_->mutex);
    VisitState& s = *state_;
    const bool first = step == 0, last = step + 1 == solvers_.size(), adds = sum_ && !first;
    VisitedSolver<T>& solver = *solvers_[step];
    const Buffer previous = first ? Buffer() : solvers_[step - 1]->vectors().second;
    const Buffer right = first || sum_ ? solvers_.front()->vectors().first : previous;
    const Buffer changed = solver.vectors().second;
    const Buffer by = adds ? previous : last ? Buffer() : s.between;
    if (!s.device || right() == nullptr || changed() == nullptr || (adds && by() == nullptr)) {
      throw DeviceError("the device was released since the last set-up: set the solver up again");
    }
    const auto change = [&](const Chunk& tiles) {  // enqueued after the launch that solved the rows
      return change_rows<T>(*s.device, s.change, {changed, by, tiles.kept_first, tiles.kept_end});
    };
    Vectors<T> vectors{.y = first ? y : nullptr, .x = last ? x : nullptr, .y_buffer = right};
    if (by() != nullptr) vectors.then = std::ref(change);
    solver.solve(vectors);
  }

  std::int64_t bytes() const override { return ocl::bytes_of(state_->between); }

 private:
  int index_;
  std::shared_ptr<VisitState> state_;
  std::vector<VisitedSolver<T>*> solvers_;
  bool sum_;
};

}  // namespace

template <typename T>
std::unique_ptr<Visit<T>> make_visit(int device, const std::shared_ptr<OpenDevice>& open, const VisitSteps<T>& steps) {
  std::vector<VisitedSolver<T>*> solvers;
  std::int64_t longest = 0;
  for (DeviceSolver<T>* solver : steps.solvers) {
    solvers.push_back(static_cast<VisitedSolver<T>*>(solver));  // all solvers of a device come from this module
    const std::int64_t bytes = solvers.back()->kept_vector_bytes();
    if (bytes == 0) return nullptr;
    longest = std::max(longest, bytes);
  }
  constexpr const char* kWhat = "taking vectors for several solvers";
  try {
    for (VisitedSolver<T>* solver : solvers) solver->keep_vectors(kWhat, longest);
    auto state = std::make_shared<VisitState>();
    state->device = open;
    const char* const options = steps.sum ? "" : " -D MULTIPLY";
    if (steps.sum || steps.between != nullptr) {
      state->change = open->kernel("change_rows", sizeof(T) == sizeof(double), 1, options);
    }
    if (!steps.sum && steps.between != nullptr) {
      state->between = solvers.front()->bring_vector(kWhat, steps.between);
    }
    Registry::instance().watch(state);
    return std::make_unique<ClVisit<T>>(device, std::move(state), std::move(solvers), steps.sum);
  } catch (const cl::Error& error) {
    throw device_error(open->info(), kWhat, error);
  }
}

#define OCLSPKT_INSTANTIATE(T) \
  template std::unique_ptr<Visit<T>> make_visit(int, const std::shared_ptr<OpenDevice>&, const VisitSteps<T>&);
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl
