// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-bench-attainable FILE [ROWS [ROUNDS]]: the most that a GPU behind a bus and the host's cores can do together
// for vectors on the host, whatever solves: plain copies of pinned memory both ways, and a stream of five words a row
// on the cores, at once, with the rows cut between them in several ways. Two modes, as solves have them: the bands lie
// where they are used (two words a row cross the bus), or come along (five). Where there are several GPUs, also what
// their copies reach together, each of its share of the rows, with bands that lie on them.
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "device.hpp"
#include "json_file.hpp"
#include "memory.hpp"
#include "node.hpp"
#include "oclspkt/error.hpp"
#include "oclspkt/solver.hpp"
#include "parallel.hpp"
#include "provenance.hpp"
#include "statistics.hpp"

namespace oclspkt::bench {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Pinned memory that goes to the device while other comes back: as much of it as a solve has, beyond any cache.
class Copies {
 public:
  Copies(const DeviceHandles& handles, Index rows)
      : column_(static_cast<std::size_t>(rows) * sizeof(double)),
        pinned_(handles.context, CL_MEM_ALLOC_HOST_PTR, (kWordsUp + 1) * column_),
        up_(handles.context, CL_MEM_READ_WRITE, kPart),
        down_(handles.context, CL_MEM_READ_WRITE, kPart) {
    cl_int error = CL_SUCCESS;
    for (cl_command_queue& queue : queues_) {
      queue = clCreateCommandQueue(handles.context, handles.device, 0, &error);
      check(error, "clCreateCommandQueue");
    }
    host_ = static_cast<std::byte*>(clEnqueueMapBuffer(queues_[0], pinned_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                                       0, (kWordsUp + 1) * column_, 0, nullptr, nullptr, &error));
    check(error, "clEnqueueMapBuffer");
    const auto bytes = static_cast<Index>((kWordsUp + 1) * column_);
    for_pieces(bytes, static_cast<Index>(kPart),
               [&](Index first, Index end) { std::memset(host_ + first, 0, static_cast<std::size_t>(end - first)); });
  }
  ~Copies() {
    clEnqueueUnmapMemObject(queues_[0], pinned_.get(), host_, 0, nullptr, nullptr);
    for (cl_command_queue queue : queues_) {
      clFinish(queue);
      clReleaseCommandQueue(queue);
    }
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  static constexpr std::size_t kWordsUp = 4;

  /// Copy that many bytes up and down at the same time, at most kWordsUp words a row and one.
  void run(double up, double down) const {
    const std::byte* from = host_;
    for (std::byte* to = host_ + kWordsUp * column_; up > 0 || down > 0; up -= kPart, down -= kPart) {
      const auto part = [](double left) { return static_cast<std::size_t>(std::clamp<double>(left, 0, kPart)); };
      if (part(up) > 0) {
        check(clEnqueueWriteBuffer(queues_[0], up_.get(), CL_FALSE, 0, part(up), from, 0, nullptr, nullptr), "write");
        from += part(up);
      }
      if (part(down) > 0) {
        check(clEnqueueReadBuffer(queues_[1], down_.get(), CL_FALSE, 0, part(down), to, 0, nullptr, nullptr), "read");
        to += part(down);
      }
      for (cl_command_queue queue : queues_) clFlush(queue);
    }
    for (cl_command_queue queue : queues_) check(clFinish(queue), "clFinish");
  }

 private:
  static constexpr std::size_t kPart = std::size_t{32} << 20;
  std::size_t column_;  // bytes of a word of all rows
  Memory pinned_, up_, down_;
  cl_command_queue queues_[2] = {};
  std::byte* host_ = nullptr;
};

/// Five arrays that the cores stream.
struct Arrays {
  explicit Arrays(Index rows) : n(rows), a(n), b(n), c(n), y(n), x(n) {
    for (AlignedArray<double>* array : {&a, &b, &c, &y, &x}) {
      for_pieces(n, kPieceRows, [&](Index first, Index end) { std::fill_n(array->data() + first, end - first, 1.0); });
    }
  }
  void stream(Index rows) {
    for_pieces(rows, kPieceRows, [&](Index first, Index end) {
      for (Index i = first; i < end; ++i) x.data()[i] = (a.data()[i] + b.data()[i]) + (c.data()[i] + y.data()[i]);
    });
  }
  Index n;
  AlignedArray<double> a, b, c, y, x;
};

/// Rows a second for each share of the card.
nlohmann::ordered_json measure(const Copies& copies, Arrays& arrays, double words_up, int rounds) {
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  for (const double card : {0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0}) {
    const double rows = card * static_cast<double>(arrays.n);
    const Index rest = arrays.n - static_cast<Index>(rows);
    std::vector<double> seconds;
    for (int r = -1; r < rounds; ++r) {
      const auto start = Clock::now();
      std::thread cores([&] { arrays.stream(rest); });
      if (rows > 0) copies.run(words_up * sizeof(double) * rows, sizeof(double) * rows);
      cores.join();
      if (r >= 0) seconds.push_back(since(start));
    }
    const double rate = static_cast<double>(arrays.n) / median(seconds);
    std::printf("%g words up, card %.2f: %.3g rows/s\n", words_up, card, rate);
    records.push_back({{"words up", words_up}, {"share of the card", card}, {"rows per second", rate}});
  }
  return records;
}

/// A solver that uses one device, for its context.
std::unique_ptr<Solver<double>> open_device(int device) {
  Options options;
  options.devices = std::to_string(device);
  auto solver = std::make_unique<Solver<double>>(options);
  const std::vector<double> ones(4096, 1.0), zeros(4096, 0.0);
  solver->set_up(LineSet::one(4096), zeros.data(), ones.data(), zeros.data());
  return solver;
}

/// Rows a second of copies of all cards at once, for one card and more.
nlohmann::ordered_json measure_cards(const std::vector<std::unique_ptr<Copies>>& cards, Index rows, int rounds) {
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  for (std::size_t count = 1; count <= cards.size(); ++count) {
    const double bytes = sizeof(double) * static_cast<double>(rows) / static_cast<double>(count);
    std::vector<double> seconds;
    for (int r = -1; r < rounds; ++r) {
      const auto start = Clock::now();
      std::vector<std::future<void>> others;
      for (std::size_t k = 1; k < count; ++k) {
        others.push_back(std::async(std::launch::async, [&, k] { cards[k]->run(bytes, bytes); }));
      }
      cards[0]->run(bytes, bytes);
      for (std::future<void>& other : others) other.get();
      if (r >= 0) seconds.push_back(since(start));
    }
    const double rate = static_cast<double>(rows) / median(seconds);
    std::printf("1 word up, %zu cards: %.3g rows/s\n", count, rate);
    records.push_back({{"cards", count}, {"rows per second", rate}});
  }
  return records;
}

int run(const std::string& file, Index rows, int rounds) {
  JsonFile json(file);
  std::string why;
  DeviceModule* module = device_module(&why);
  if (module == nullptr) throw DeviceError(why);
  const DeviceInfo* gpu = nullptr;
  std::vector<std::unique_ptr<Solver<double>>> opened;
  std::vector<std::unique_ptr<Copies>> cards;
  for (const DeviceInfo& device : module->devices()) {
    if (device.type != DeviceType::gpu || device.cuda) continue;
    if (gpu == nullptr) gpu = &device;
    opened.push_back(open_device(device.index));
    cards.push_back(std::make_unique<Copies>(opened.back()->device_handles(), rows));
  }
  if (gpu == nullptr) throw DeviceError("there is no GPU; oclspkt-devices lists what was found");
  Arrays arrays(rows);
  nlohmann::ordered_json document{
      {"provenance",
       provenance(*gpu, "oclspkt-bench-attainable FILE " + std::to_string(rows) + " " + std::to_string(rounds))},
      {"processors", processor_share()},
      {"rows", rows}};
  document["resident"] = measure(*cards.front(), arrays, 1, rounds);
  document["one shot"] = measure(*cards.front(), arrays, static_cast<double>(Copies::kWordsUp), rounds);
  if (cards.size() > 1) document["cards"] = measure_cards(cards, rows, rounds);
  json.write(document);
  return 0;
}

}  // namespace
}  // namespace oclspkt::bench

int main(int argc, char** argv) {
  const long long rows = argc >= 3 ? std::atoll(argv[2]) : 100'000'000;
  const int rounds = argc >= 4 ? std::atoi(argv[3]) : 5;
  if (argc < 2 || argc > 4 || argv[1][0] == '-' || rows < 1 || rounds < 1) {
    std::fputs("usage: oclspkt-bench-attainable FILE [ROWS [ROUNDS]]\n", stderr);
    return 2;
  }
  try {
    oclspkt::bench::require_release();
    return oclspkt::bench::run(argv[1], rows, rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
