// SPDX-License-Identifier: BSD-2-Clause
// Solvers pass vectors on in their own device memory. The first solver copies y there and the last copies x back, by
// their pipelines. The solvers between work without copies.
#include "cl_visit.hpp"

#include <algorithm>
#include <functional>
#include <mutex>

#include "change_rows.hpp"
#include "cl_solver.hpp"
#include "error_name.hpp"

namespace oclspkt::ocl {
namespace {

/// The objects that a device may use, see Holding.
struct VisitState final : Holding {
  std::mutex mutex;
  std::shared_ptr<OpenDevice> device;  ///< null after a release
  Kernel change;                       ///< empty if no rows are changed
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
  ClVisit(int index, std::shared_ptr<VisitState> state, std::vector<ClSolver<T>*> solvers, bool sum)
      : index_(index), state_(std::move(state)), solvers_(std::move(solvers)), sum_(sum) {}
  ~ClVisit() override { Registry::instance().retire(std::move(state_), index_); }
  ClVisit(const ClVisit&) = delete;
  ClVisit& operator=(const ClVisit&) = delete;

  void take(std::size_t step, const T* y, T* x) override {
    Registry::instance().require_usable(index_);
    const std::lock_guard lock(state_->mutex);
    VisitState& s = *state_;
    const bool first = step == 0, last = step + 1 == solvers_.size(), adds = sum_ && !first;
    ClSolver<T>& solver = *solvers_[step];
    const Buffer right = first || sum_ ? solvers_.front()->right() : solvers_[step - 1]->solution();
    const Buffer changed = solver.solution();
    const Buffer by = adds ? solvers_[step - 1]->solution() : last ? Buffer() : s.between;
    if (!s.device || right() == nullptr || changed() == nullptr || (adds && by() == nullptr)) {
      throw DeviceError("the device was released since the last set-up: set the solver up again");
    }
    const auto change = [&](const Chunk& tiles) { return this->change(changed, by, tiles); };
    Vectors<T> vectors{.y = first ? y : nullptr, .x = last ? x : nullptr, .y_buffer = right};
    if (by() != nullptr) vectors.then = std::ref(change);
    solver.solve(vectors);
  }

  std::int64_t bytes() const override { return ocl::bytes_of(state_->between); }

 private:
  /// Change the rows that a launch solved, after it in its queue.
  Event change(const Buffer& x, const Buffer& z, const Chunk& tiles) {
    return change_rows<T>(*state_->device, state_->change, {x, z, tiles.kept_first, tiles.kept_end});
  }

  int index_;
  std::shared_ptr<VisitState> state_;
  std::vector<ClSolver<T>*> solvers_;
  bool sum_;
};

}  // namespace

template <typename T>
std::unique_ptr<Visit<T>> make_visit(int device, const std::shared_ptr<OpenDevice>& open, const VisitSteps<T>& steps) {
  std::vector<ClSolver<T>*> solvers;
  std::int64_t longest = 0;
  for (DeviceSolver<T>* solver : steps.solvers) {
    solvers.push_back(static_cast<ClSolver<T>*>(solver));  // all are of one device, hence of this module
    const std::int64_t bytes = solvers.back()->kept_vector_bytes();
    if (bytes == 0) return nullptr;
    longest = std::max(longest, bytes);
  }
  try {
    for (ClSolver<T>* solver : solvers) solver->keep_vectors(longest);
    auto state = std::make_shared<VisitState>();
    state->device = open;
    const char* const options = steps.sum ? "" : " -D MULTIPLY";
    if (steps.sum || steps.between != nullptr) {
      state->change = open->kernel("change_rows", sizeof(T) == sizeof(double), 1, options);
    }
    if (!steps.sum && steps.between != nullptr) {
      state->between = solvers.front()->bring_vector(steps.between);
    }
    Registry::instance().watch(state);
    return std::make_unique<ClVisit<T>>(device, std::move(state), std::move(solvers), steps.sum);
  } catch (const cl::Error& error) {
    throw device_error(open->info(), "taking vectors for several solvers", error);
  }
}

template std::unique_ptr<Visit<float>> make_visit(int, const std::shared_ptr<OpenDevice>&, const VisitSteps<float>&);
template std::unique_ptr<Visit<double>> make_visit(int, const std::shared_ptr<OpenDevice>&, const VisitSteps<double>&);

}  // namespace oclspkt::ocl
