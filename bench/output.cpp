// SPDX-License-Identifier: BSD-2-Clause
#include "output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "measure.hpp"
#include "text.hpp"

namespace oclspkt::bench {
namespace {

bool has_time(const Record& r) { return r.outcome == Outcome::timed && !r.seconds.empty(); }

/// The C stream's median, which shares are quoted against; nothing if it has no time.
std::optional<double> stream_seconds(const std::vector<Record>& records) {
  for (const Record& r : records) {
    if (r.solver == "stream" && r.device == "host" && has_time(r)) return median(r.seconds);
  }
  return std::nullopt;
}

constexpr std::size_t kColumns = 10, kTextColumns = 5, kLinesColumn = 4;
using Line = std::array<std::string, kColumns>;

Line line_of(const Record& r, std::optional<double> stream) {
  const std::string lines = r.lines.empty() ? "" : r.lines + ", " + r.bands;
  Line line{r.solver, r.device, r.method, r.variant, lines, "-", "-", "-", "-", text("%.1e", r.error)};
  if (has_time(r)) {
    const double seconds = median(r.seconds);
    line[5] = text("%.4g", seconds);
    line[6] = text("%.1f %%", 100 * spread(r.seconds));
    line[7] = text("%.1f", static_cast<double>(r.rows) / seconds * 1e-6);
    if (stream) line[8] = text("%.3f", *stream / seconds);
  }
  return line;
}

}  // namespace

std::string table(const std::vector<Record>& records) {
  const auto stream = stream_seconds(records);
  std::vector<Line> lines{
      {"solver", "device", "method", "variant", "lines", "seconds", "spread", "Mrows/s", "of stream", "error"}};
  for (const Record& r : records) lines.push_back(line_of(r, stream));
  const bool many = std::any_of(records.begin(), records.end(), [](const Record& r) { return !r.lines.empty(); });
  std::string out;
  for (const Line& line : lines) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (column == kLinesColumn && !many) continue;
      std::size_t width = 0;
      for (const Line& other : lines) width = std::max(width, other[column].size());
      const std::string padding(width - line[column].size(), ' ');
      out += column == 0 ? "" : "  ";
      out += column < kTextColumns ? line[column] + padding : padding + line[column];
    }
    out += '\n';
  }
  for (const Record& r : records) {
    if (r.outcome == Outcome::timed) continue;
    out += std::string(name(r.outcome)) + ": " + r.solver + " " + r.method + " (" + r.variant + "): " + r.note + '\n';
  }
  return out;
}

nlohmann::ordered_json to_json(const std::vector<Record>& records) {
  const auto stream = stream_seconds(records);
  const auto number = [](double v) { return std::isfinite(v) ? nlohmann::ordered_json(v) : nlohmann::ordered_json(); };
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const Record& r : records) {
    const double none = std::nan("");
    const double seconds = has_time(r) ? median(r.seconds) : none;
    results.push_back({{"solver", r.solver},
                       {"device", r.device},
                       {"method", r.method},
                       {"variant", r.variant},
                       {"form", r.form},
                       {"scalar", r.scalar},
                       {"lines", r.lines},
                       {"line_length", r.line_length},
                       {"bands", r.bands},
                       {"rows", r.rows},
                       {"words_per_row", r.words_per_row},
                       {"seconds", number(seconds)},
                       {"rows_per_second", number(static_cast<double>(r.rows) / seconds)},
                       {"share_of_stream", number(stream ? *stream / seconds : none)},
                       {"error", number(r.error)},
                       {"backward_error", number(r.backward_error)},
                       {"spread", number(has_time(r) ? spread(r.seconds) : none)},
                       {"rounds", r.seconds.size()},
                       {"setup_seconds", r.setup_seconds},
                       {"outcome", name(r.outcome)},
                       {"note", r.note},
                       {"why", r.why},
                       {"platform", r.platform}});
  }
  return results;
}

}  // namespace oclspkt::bench
