// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <vector>

#include "fallback_lines.hpp"
#include "locked_vectors.hpp"
#include "oclspkt/solver.hpp"
#include "sharing.hpp"
#include "ways.hpp"

namespace oclspkt {

/// @throws InvalidInput naming the option that is out of range
void check_options(const Options& options);

/// The state of a Solver: bands, what set-up chose for them, and the solvers that carry it.
template <typename T>
class Solver<T>::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) { check_options(options_); }

  void set_options(Options options);
  Bands<T>& bands(const LineSet& lines);
  void fill(const LineSet& lines, const BandsFill<T>& fill);
  /// @param survey of `filled`, if nothing but a fill for these very lines has had them
  void swap_bands(const LineSet& lines, Bands<T>& filled, const std::optional<Survey>& survey);
  void set_up(const Known& known);
  void apply(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  void apply_on_device(_cl_mem* y, _cl_mem* x);
  bool solves_on_queue() const;
  bool takes(const DeviceQueue& queue) const;
  void enqueue(const DeviceQueue& queue, const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  bool takes_transpose(const DeviceQueue& queue);
  std::unique_ptr<Borders<T>> borders(const BorderLayout<T>& layout) { return solver_->borders(layout); }
  void enqueue_transpose(const DeviceQueue& queue, const T* y, T* x);
  /// What solves all lines on one device by itself, else null.
  DeviceSolver<T>* alone_on_device() const;
  int device() const { return device_; }
  bool take_step(Visit<T>& visit, std::size_t step, const T* y, T* x);
  DeviceHandles device_handles() const;
  void apply_transpose(const T* y, T* x);
  Times times() const;
  std::int64_t bytes() const;
  std::vector<Index> pinned_lines() const;
  void copy_bands(Bands<T>& out);
  const Counts& counts() const { return counts_; }

  const Options& options() const { return options_; }
  const LineSet& lines() const { return lines_; }
  const Report& report() const { return report_; }
  const Solver<T>* transposed() const { return transposed_.get(); }

 private:
  /// A way that a set-up took and that the next one tries first.
  struct InUse {
    WayName way, head;  ///< and the one that was tried first then
    LineSet lines;
    double applies;  ///< that were expected
  };
  enum class Outcome { taken, rejected, dearer };

  void begin_set_up();
  void look(const std::optional<Survey>& rows = std::nullopt);
  Outlook<T> outlook() const;
  void choose(const Processors& processors, std::vector<Way> ways, const std::optional<InUse>& before,
              const Processor*& tried);
  std::optional<Way> first_that_holds(std::vector<Way> ways, const std::optional<WayName>& first, bool insist,
                                      const Processor*& tried, std::vector<Way>& rejected);
  Outcome try_way(Way& way, std::vector<Way>& ways, bool keeps, bool insist, Rejection& rejection);
  bool comparable(const std::vector<Way>& ways, const InUse& before) const;
  void take(const Way& way, const Proposal& proposal, const char* pin_why);
  void adopt(const Way& way);
  Rejection examine_adopted(Proposal& proposal, bool insist);
  void put_back();
  Bands<T>& room(const LineSet& lines);

  bool share();
  void note_losses();
  void solve(const T* y, Index y_stride, T* x, Index x_stride, Index columns);
  void lock_vectors(const T* y, const T* x);
  Options options_for_choice() const;
  void choose_of_those_left(const std::optional<InUse>& before);
  void note_queue(const Processors& processors);
  void forget_queue(const std::string& why);
  void fall_back(const DeviceError& error);
  void lose(const LostDevice& device);
  void share_losses();
  void set_up_transpose();
  template <typename Work>
  void on_transposed(const Work& work);
  void discard_choice();
  void retire();

  Options options_;
  Known known_;
  LineSet lines_;  ///< as the user gave them; bands_ may know them as more lines, where rows do not couple
  Bands<T> bands_;
  Report report_;
  Survey survey_;
  double narrowed_ = 0;           ///< largest change of a row's excess in bands_, by precision narrow
  std::optional<Survey> filled_;  ///< of the rows of bands_, if nothing but fill() has had them
  std::unique_ptr<DeviceSolver<T>> solver_;
  int device_ = -1;               ///< where solver_ is, -1 for the host
  bool by_cuda_ = false;          ///< that device is driven by CUDA
  int of_queue_ = -1;             ///< the device of Known::queue, if it was among those that could be used
  std::vector<LostDevice> lost_;  ///< not tried again while options and layout stay
  bool reusable_ = false;         ///< solver_ may be set up again for the same method and device
  std::optional<InUse> in_use_;
  FallbackLines<T> fallback_{bands_};
  Sharing<T> sharing_;
  LockedVectors locked_;
  std::string only_;  ///< the device that solves, of those named; empty: any
  std::unique_ptr<Solver<T>> transposed_;
  bool transpose_stale_ = true;
  Times finished_;  ///< of solvers that are gone
  Times trials_;    ///< of set-ups
  double total_seconds_ = 0;
  std::int64_t applies_ = 0;           ///< since the last set-up
  std::int64_t expected_applies_ = 0;  ///< until the next one: as many as came between the last two; 0: not known
  Counts counts_;
};

extern template class Solver<float>::Impl;
extern template class Solver<double>::Impl;

}  // namespace oclspkt
