// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-cards FILE [CARDS [ROUNDS [ROWS]]]: lines on cards of one process, each cut among them or each whole on
// one of them, their vectors on the cards, against the same lines on one card. A thread for each card works in a stream
// of its own; only the numbers next to cuts visit the host. Every answer is checked before its time is kept.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backward_error.hpp"
#include "clock.hpp"
#include "device.hpp"
#include "driver.hpp"
#include "json_file.hpp"
#include "matrices.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/team.hpp"
#include "problem.hpp"
#include "provenance.hpp"
#include "statistics.hpp"

namespace oclspkt::bench {
namespace {

constexpr int kApplies = 20;         ///< that are timed together
constexpr double kMostErrors = 100;  ///< eps

void check(cuda::CUresult result, const char* what) {
  if (result != cuda::kSuccess) throw DeviceError(std::string(what) + " gave CUDA error " + std::to_string(result));
}

/// Lines side by side, or one.
struct Lines {
  const char* name;
  Index x, z;  ///< lines; rows of each
  bool cut;    ///< each is cut among the cards; false: each card has some of them
  LineSet all() const { return set(x, z); }
  /// What each of so many cards has.
  Index lines_of(int cards) const { return cut ? x : x / cards; }
  Index rows_of(int cards) const { return cut ? z / cards : z; }
  LineSet part(int cards) const { return set(lines_of(cards), rows_of(cards)); }

 private:
  static LineSet set(Index lines, Index rows) {
    return lines == 1 ? LineSet::one(rows) : LineSet::grid_axis(1, lines, rows, 1);
  }
};

/// A card's part of vectors of all lines: blocks of places that follow each other, of a card and of the vector.
struct Places {
  Index first, blocks, block, stride;
  Places(const Lines& lines, int card, int cards) {
    const Index of_card = lines.lines_of(cards), rows = lines.rows_of(cards);
    first = card * (lines.cut ? rows * lines.x : of_card);
    blocks = lines.cut ? 1 : rows;
    block = lines.cut ? rows * lines.x : of_card;
    stride = lines.x;
  }
  Index count() const { return blocks * block; }
  /// Copy places [begin, end) of the card from the whole vector.
  void take(const double* whole, Index begin, Index end, double* part) const {
    for_blocks(begin, end, [&](Index at, Index from, Index n) { std::copy_n(whole + at, n, part + (from - begin)); });
  }
  void put(const double* part, double* whole) const {
    for_blocks(0, count(), [&](Index at, Index from, Index n) { std::copy_n(part + from, n, whole + at); });
  }

 private:
  template <typename F>
  void for_blocks(Index begin, Index end, const F& f) const {
    for (Index from = begin; from < end;) {
      const Index in = from % block, n = std::min(block - in, end - from);
      f(first + from / block * stride + in, from, n);
      from += n;
    }
  }
};

/// A card: its part of the lines, in a stream of its own.
class Member {
 public:
  Member(int card, int cards, const Lines& lines) : cards_(cards), lines_(lines), places_(lines, card, cards) {
    std::string why;
    d_ = cuda::driver(&why);
    if (d_ == nullptr) throw DeviceError(why);
    cuda::CUdevice device = 0;
    check(d_->device_get(&device, card), "cuDeviceGet");
    check(d_->primary_retain(&context_, device), "cuDevicePrimaryCtxRetain");
    enter();
    check(d_->stream_create(&stream_, cuda::kStreamNonBlocking), "cuStreamCreate");
    check(d_->memory_alloc(&y_, bytes()), "cuMemAlloc");
    check(d_->memory_alloc(&x_, bytes()), "cuMemAlloc");
  }
  ~Member() {
    d_->memory_free(y_);
    d_->memory_free(x_);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  void enter() const { check(d_->context_push(context_), "cuCtxPushCurrent"); }
  void set_up(const Problem<double>& problem, const std::shared_ptr<Exchange>& exchange) {
    Options options;
    options.devices = "gpu";
    options.on_device_failure = OnDeviceFailure::error;
    solver_.set_options(options);
    const BandsView<double> bands = problem.bands.view();
    const auto copy = [&](const BandsPart<double>& to, Index first, Index end) {
      places_.take(bands.lower, first, end, to.lower);
      places_.take(bands.diag, first, end, to.diag);
      places_.take(bands.upper, first, end, to.upper);
    };
    const bool cut = cards_ > 1 && lines_.cut;
    Cuts cuts;
    if (cut) {
      cuts.chains.emplace_back();
      for (int card = 0; card < cards_; ++card) cuts.chains.front().push_back(card);
    }
    solver_.fill({lines_.part(cards_), cuts, cut ? exchange : nullptr}, copy);
    solver_.set_up({.queue = queue()});
    if (!solver_.takes(queue()))
      throw DeviceError("vectors of a card are not taken: " + solver_.report().device.vectors);
    std::vector<double> y(static_cast<std::size_t>(places_.count()));
    places_.take(problem.y.data(), 0, places_.count(), y.data());
    check(d_->copy_up(y_, y.data(), bytes(), stream_), "a write");
    check(d_->stream_synchronize(stream_), "a write");
  }
  void apply(int times) {
    for (int i = 0; i < times; ++i) {
      solver_.enqueue(queue(), reinterpret_cast<const void*>(y_), 0, reinterpret_cast<void*>(x_), 0, 1);
    }
    check(d_->stream_synchronize(stream_), "applies");
  }
  void read(Problem<double>& problem) const {
    std::vector<double> x(static_cast<std::size_t>(places_.count()));
    check(d_->copy_down_now(x.data(), x_, bytes()), "a read");
    places_.put(x.data(), problem.x.data());
  }
  const CutSolver<double>& solver() const { return solver_; }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(places_.count()) * sizeof(double); }
  DeviceQueue queue() const { return {DeviceQueue::Kind::cuda, stream_}; }

  int cards_;
  Lines lines_;
  Places places_;
  const cuda::Driver* d_ = nullptr;
  cuda::CUcontext context_ = nullptr;
  cuda::CUstream stream_ = nullptr;
  cuda::CUdeviceptr y_ = 0, x_ = 0;
  CutSolver<double> solver_;
};

/// Time lines on so many cards. @return a record
nlohmann::ordered_json measure(const Lines& lines, const MatrixSpec& matrix, int cards, int rounds,
                               Problem<double>& problem) {
  Team team(cards);
  std::vector<std::unique_ptr<Member>> members(static_cast<std::size_t>(cards));
  const auto member = [&](int m) -> std::unique_ptr<Member>& { return members[static_cast<std::size_t>(m)]; };
  team.run([&](int m) { member(m) = std::make_unique<Member>(m, cards, lines); });
  const double set_up = seconds_of([&] { team.run([&](int m) { member(m)->set_up(problem, team.exchange(m)); }); });
  team.run([&](int m) {
    member(m)->apply(1);
    member(m)->read(problem);
  });
  const double error =
      normwise_backward_error(problem.lines, problem.bands.view(), problem.x.data(), problem.y.data()) /
      std::numeric_limits<double>::epsilon();
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    seconds.push_back(seconds_of([&] { team.run([&](int m) { member(m)->apply(kApplies); }); }) / kApplies);
  }
  const CutSolver<double>& solver = member(0)->solver();
  const CutReport& cut = solver.cut_report();
  nlohmann::ordered_json record{{"lines", lines.name},
                                {"matrix", matrix.describe()},
                                {"rows", problem.n()},
                                {"scalar", "double"},
                                {"cards", cards},
                                {"seconds", median(seconds)},
                                {"spread", spread(seconds)},
                                {"set_up_seconds", set_up},
                                {"backward_error_eps", error},
                                {"right", error <= kMostErrors},
                                {"device", solver.report().device.name},
                                {"vectors", solver.report().device.vectors},
                                {"method", name(solver.report().method)},
                                {"truncated_at_cuts", cut.truncated},
                                {"gathered", cut.gathered}};
  team.run([&](int m) { member(m).reset(); });
  return record;
}

bool run(const std::string& file, const std::string& command, int cards, int rounds, Index rows) {
  std::string why;
  DeviceModule* module = cuda_module(&why);
  if (module == nullptr) throw DeviceError(why);
  if (static_cast<int>(module->devices().size()) < cards) {
    throw InvalidInput("CUDA lists " + std::to_string(module->devices().size()) + " cards, not " +
                       std::to_string(cards));
  }
  JsonFile json(file);
  nlohmann::ordered_json document{{"provenance", provenance(module->devices().front(), command)},
                                  {"results", nlohmann::ordered_json::array()}};
  const Index side = 1 << 16;
  const Index rows_each = rows / side / cards * cards;
  const Lines all[] = {{"one line", 1, rows / cards * cards, true},
                       {"65536 lines side by side, all cut", side, rows_each, true},
                       {"65536 lines side by side, each whole on a card", side, rows_each, false}};
  bool right = true;
  for (const Lines& lines : all) {
    for (const MatrixSpec& matrix : {MatrixSpec{.matrix = Matrix::random, .dominance = 3},
                                     MatrixSpec{.matrix = Matrix::conduction, .lambda = 100}}) {
      Problem<double> problem(matrix, lines.all());
      double alone = 0;
      for (int count = 1; count <= cards; count *= 2) {
        nlohmann::ordered_json record = measure(lines, matrix, count, rounds, problem);
        const auto seconds = record["seconds"].get<double>();
        if (count == 1) alone = seconds;
        record["times_one_card"] = alone / seconds;
        right = right && record["right"].get<bool>();
        std::printf("%s\n", record.dump().c_str());
        std::fflush(stdout);
        document["results"].push_back(record);
      }
    }
  }
  json.write(document);
  return right;
}

}  // namespace
}  // namespace oclspkt::bench

int main(int argc, char** argv) {
  using namespace oclspkt;
  try {
    if (argc < 2) throw InvalidInput("usage: oclspkt-bench-cards FILE [CARDS [ROUNDS [ROWS]]]");
    const auto number = [&](int at, double otherwise) { return argc > at ? std::stod(argv[at]) : otherwise; };
    const int cards = static_cast<int>(number(2, 2)), rounds = static_cast<int>(number(3, 7));
    const auto rows = static_cast<Index>(number(4, 2e8));
    const bool halves = cards > 0 && std::has_single_bit(static_cast<unsigned>(cards));
    if (!halves || rounds < 1 || rows < (Index{1} << 20))
      throw InvalidInput("give 1, 2, 4, ... cards, 1 round or more, and 2^20 rows or more");
    std::string command = "oclspkt-bench-cards FILE";
    for (int i = 2; i < argc; ++i) command += std::string(" ") + argv[i];
    return bench::run(argv[1], command, cards, rounds, rows) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
