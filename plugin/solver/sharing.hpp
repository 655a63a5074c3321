// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "median_of_many.hpp"
#include "profile_store.hpp"
#include "shared_lines.hpp"
#include "shares.hpp"
#include "ways.hpp"

namespace oclspkt {

/// The processors that a user named together: whether they share the rows of a solver, how many each has, and what was
/// measured of that.
/// @tparam T float or double
template <typename T>
class Sharing {
 public:
  /// What is decided at a set-up.
  struct Verdict {
    bool shared = false;
    std::string only;  ///< the device that solves by itself, as Options::devices takes it; empty: any of those named
    std::string why;   ///< empty where one processor was named
  };

  ~Sharing();

  /// Decide how many rows each processor has.
  /// @throws InvalidInput for a balance that does not fit the processors
  Verdict decide(const Options& options, const Processors& processors, const Processor& host,
                 const Outlook<T>& outlook);
  /// Note how long set_up() and all around it took. @pre active()
  void note_set_up(double seconds) { set_up_seconds_ = is_first("together") ? 0 : seconds; }
  /// Set up what was decided. @throws what SharedLines::set_up() throws; nothing is shared then
  void set_up(const Options& options, const Bands<T>& bands, const Known& known);
  bool active() const { return lines_ != nullptr && set_up_; }
  /// A device that copies the rows of its share, -1 if none does. @pre active()
  int copying_device() const;
  /// Go back to one processor.
  void drop();
  /// @pre active()
  SharedLines<T>& lines() { return *lines_; }
  const SharedLines<T>& lines() const { return *lines_; }
  /// One of several processors solves by itself: its applies are to be noted.
  /// @param device  Processor::index
  /// @param set_up_seconds  of the set-up that it has just had
  void watch_single(int device, double set_up_seconds);
  void note_single(double seconds) {
    if (!single_who_.empty()) single_.add(seconds);
  }
  /// Keep what the applies since the last set-up have shown.
  void learn();

  /// Write the shares and what their solvers report. @pre active()
  void write_report(Report& report) const;
  /// The same figures that applies change.
  void update_report(SharesReport& report) const;
  /// The devices of the shares that failed, and how many losses they report.
  std::vector<LostDevice> lost() const;

 private:
  /// A processor, and its figures by itself and beside the others.
  struct Sharer {
    Processor processor;
    std::string word;   ///< as Options::devices takes it
    std::string share;  ///< the same of what solves its share: some of its cores, where others need them to copy
    ShareModel alone, beside;
    bool measured_alone = false;
    double set_up = 0;  ///< seconds of a set-up by itself, a row; 0: not known
  };
  /// Seconds of an apply, each with its part of a set-up.
  struct Prospects {
    double single;                   ///< of the best one by itself
    double shares;                   ///< of all together by the shares at hand, predicted
    std::optional<double> together;  ///< of all together as measured, with whatever shares
    double several() const { return together.value_or(shares); }
  };
  void leave_cores(const Options& options, const Processor& host, const Outlook<T>& outlook, Sharer& s);
  std::vector<Sharer> find_sharers(const Options& options, const Processors& processors, const Processor& host,
                                   const Outlook<T>& outlook);
  void write_profile();
  bool is_first(const std::string& who);
  bool is_first_try(const std::string& who);
  std::string key(const std::string& who, const char* how) const;
  double alone_seconds(const Sharer& sharer) const;
  const Sharer& best_alone() const;
  bool any_measured_alone() const;
  std::optional<Verdict> measure_for_once(const Shares& shares, const Prospects& of, const std::string& texts);
  std::optional<Verdict> measure_untried(double known, const std::string& texts);
  double together_set_up() const;
  std::optional<double> together_seconds() const;
  Verdict least_time(const Shares& shares);
  Verdict judge_time(const Shares& shares);
  Verdict share_as(const Shares& shares, const std::string& why);

  std::vector<Sharer> sharers_;
  std::string kind_;               ///< of the solves: scalar, layout, form, size
  std::string all_;                ///< names of the sharers
  double rows_ = 0, applies_ = 0;  ///< and applies that are expected of a set-up
  bool once_ = false;              ///< one apply is expected, of which there are figures of their own: caches are cold
  double set_up_seconds_ = 0;      ///< of the last one; 0 if it was the first of its kind, which builds kernels
  std::set<std::string> set_ups_;  ///< kinds that there have been
  std::set<std::string> tried_;    ///< processors and kinds that were measured for once
  std::map<std::string, std::int64_t> judged_;  ///< set-ups by processors and kind
  Shares shares_;
  std::vector<Index> kept_;  ///< rows of the last set-up
  std::string kept_for_;     ///< its processors, solves and balance
  std::vector<Piece> pieces_;
  LineSet layout_;
  std::unique_ptr<SharedLines<T>> lines_;
  std::string made_for_;  ///< words of the processors of lines_
  bool set_up_ = false;
  MedianOfMany single_;
  std::string single_who_;
  std::string profile_;  ///< as the options name it
  std::optional<ProfileStore> store_;
  std::chrono::steady_clock::time_point written_{};
};

extern template class Sharing<float>;
extern template class Sharing<double>;

}  // namespace oclspkt
