// SPDX-License-Identifier: BSD-2-Clause
#include "fpga_times.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "command_line.hpp"
#include "fpga_operations.hpp"
#include "json_file.hpp"
#include "oclspkt/error.hpp"
#include "provenance.hpp"

namespace oclspkt::bench {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

constexpr FpgaKernel kKernels[] = {FpgaKernel::spktrunc, FpgaKernel::spkboth,     FpgaKernel::spkjac,
                                   FpgaKernel::tdma,     FpgaKernel::tdma_stored, FpgaKernel::tdma_batch};
constexpr Form kForms[] = {Form::general, Form::symmetric, Form::shared};
constexpr int kWord = sizeof(float);  // the paper's scalar, and the only one that boards have operators for
constexpr double kBitsOfByte = 8;

std::string fixed_text(double value, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
}

std::string milliseconds(double seconds) { return fixed_text(1e3 * seconds, seconds < 1e-3 ? 3 : seconds < 1 ? 1 : 0); }

void print_head(const DescribedBoard& board, std::ostream& out) {
  out << "# " << board.name << "\n\n";
  if (!board.source.empty()) out << "Source: " << board.source << ".\n\n";
  for (const std::string& text : board.fitted) out << "- Fitted: " << text << ".\n";
  for (const FpgaFigure& figure : fpga_figures()) {
    const bool derived = std::find(board.derived.begin(), board.derived.end(), figure.name) != board.derived.end();
    out << "- " << figure.name << " = " << board.figures.*figure.member << (derived ? " (derived)" : "") << '\n';
  }
}

Json record_of(const FpgaTask& task, const FpgaTime& placed, const FpgaTime& spread) {
  return {{"kernel", name(task.kernel)},
          {"form", name(task.form)},
          {"words", fpga_words(fpga_passes(task.kernel, task.form))},
          {"placement", placement_text(placed.placed)},
          {"bank words", placed.bank_words},
          {"pipeline", placed.pipeline},
          {"division chain", placed.chain},
          {"memory", placed.memory},
          {"memory interleaved", spread.memory},
          {"kernel time", placed.kernel},
          {"kernel time interleaved", spread.kernel},
          {"kernel limit interleaved", name(spread.kernel_limit)},
          {"kernel limit", name(placed.kernel_limit)},
          {"bus in", placed.bus_in},
          {"bus out", placed.bus_out},
          {"solve time", placed.solve},
          {"solve limit", name(placed.solve_limit)}};
}

Json print_times(const FpgaBoard& board, Index rows, std::ostream& out) {
  out << "\n## " << rows << " rows of floats\n\nMilliseconds of each term; the kernel takes the longest of the first "
      << "three, a solve the longest of all.\n\n"
         "| kernel | form | words a row | placement | fullest bank | memory | pipeline | division chain | kernel "
         "limited "
         "by | kernel if interleaved | limited by | bus in | bus out | solve | Mrows/s | solve limited by |\n"
         "|---|---|--:|---|--:|--:|--:|--:|---|--:|---|--:|--:|--:|--:|---|\n";
  Json records = Json::array();
  for (const FpgaKernel kernel : kKernels) {
    for (const Form form : kForms) {
      const FpgaTask task{kernel, form, rows, kWord};
      FpgaTask interleaved = task;
      interleaved.interleaved = true;
      const FpgaTime time = predict_fpga(board, task), spread = predict_fpga(board, interleaved);
      out << "| " << name(kernel) << " | " << name(form) << " | " << fpga_words(fpga_passes(kernel, form)) << " | "
          << placement_text(time.placed) << " | " << fixed_text(time.bank_words, 0) << " | "
          << milliseconds(time.memory) << " | " << milliseconds(time.pipeline) << " | "
          << (time.chain > 0 ? milliseconds(time.chain) : "-") << " | " << name(time.kernel_limit) << " | "
          << milliseconds(spread.kernel) << " | " << name(spread.kernel_limit) << " | " << milliseconds(time.bus_in)
          << " | " << milliseconds(time.bus_out) << " | " << milliseconds(time.solve) << " | "
          << fixed_text(static_cast<double>(rows) / time.solve * 1e-6, 0) << " | " << name(time.solve_limit) << " |\n";
      records.push_back(record_of(task, time, spread));
    }
  }
  return records;
}

/// What the table does not say by itself: TDMA's two terms, and what hides the longer one.
Json print_thomas(const FpgaBoard& board, Index rows, std::ostream& out) {
  const auto predict = [&](const FpgaBoard& of, FpgaKernel kernel) {
    return predict_fpga(of, {kernel, Form::general, rows, kWord});
  };
  FpgaBoard fast = board;
  fast.clock_hz = board.highest_clock_hz;
  const FpgaTime spike = predict(board, FpgaKernel::spktrunc), thomas = predict(board, FpgaKernel::tdma),
                 batch = predict(board, FpgaKernel::tdma_batch);
  const double fastest = predict(fast, FpgaKernel::tdma).chain, ratio = thomas.memory / spike.memory;
  const double lines = std::ceil(board.chain_cycles), rows_a_cycle = batch.pipeline / batch.memory;
  out << "\nBy its traffic alone, tdma takes " << milliseconds(thomas.memory) << " ms, " << fixed_text(ratio, 2)
      << " times the memory term of spktrunc. Its rows wait for the division of the row above, "
      << fixed_text(board.chain_cycles, 0) << " cycles each: " << fixed_text(thomas.chain, 1) << " s at "
      << fixed_text(board.clock_hz * 1e-6, 0) << " MHz, " << fixed_text(fastest, 1) << " s at "
      << fixed_text(board.highest_clock_hz * 1e-6, 0) << " MHz, before the way back.\n"
      << "tdma-batch hides that behind " << fixed_text(lines, 0)
      << " lines or more that take turns. It then has one row in "
      << "a cycle, and would have to have " << fixed_text(rows_a_cycle, 1) << " before memory limits it.\n";
  return {{"memory ratio of tdma to spktrunc", ratio},
          {"division chain", thomas.chain},
          {"division chain at the highest clock", fastest},
          {"tdma-batch rows a cycle until memory limits", rows_a_cycle}};
}

/// Operations and words of a block, counted and as the paper has them.
Json print_operations(const FpgaBoard& board, std::ostream& out) {
  const auto m = static_cast<Index>(board.burst_bits / kBitsOfByte / kWord);
  out << "\n## Operations of a block of " << m << " rows\n\nOurs are counted by running the kernels on numbers that "
      << "count; Table 1 is that of Macintosh, Banks and Kelson (2019). A DSP block for each sum and each product and "
      << "for every two divisions, of loops that are unrolled.\n\n"
         "| kernel | ADD | MUL | DIV | words | Table 1: ADD | MUL | DIV | words | DSP blocks | of the chip | by Table "
         "1 "
         "| of the chip |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  Json records = Json::array();
  const auto part = [&](double blocks) {
    return board.dsp_floats > 0 ? fixed_text(100 * blocks / board.dsp_blocks, 1) + " %" : "no operations of floats";
  };
  for (const FpgaKernel kernel : kKernels) {
    const Operations ours = count_fpga_operations(kernel, m), paper = paper_operations(kernel, m);
    const double blocks = dsp_of(count_fpga_operations(kernel, unrolled_rows(kernel, m))), theirs = dsp_of(paper);
    const Index words = m * fpga_words(fpga_passes(kernel, Form::general));
    out << "| " << name(kernel) << " | " << ours.add << " | " << ours.mul << " | " << ours.div << " | " << words
        << " | ";
    if (theirs > 0) {
      out << paper.add << " | " << paper.mul << " | " << paper.div << " | " << words;
    } else {
      out << "| | |";
    }
    out << " | " << fixed_text(blocks, 1) << " | " << part(blocks) << " | ";
    if (theirs > 0) out << fixed_text(theirs, 1) << " | " << part(theirs) << " |\n";
    if (theirs <= 0) out << "| |\n";
    records.push_back({{"kernel", name(kernel)},
                       {"rows of a block", m},
                       {"add", ours.add},
                       {"mul", ours.mul},
                       {"div", ours.div},
                       {"words", words},
                       {"dsp blocks", blocks},
                       {"dsp blocks by Table 1", theirs}});
  }
  return records;
}

}  // namespace

nlohmann::ordered_json print_fpga_times(const DescribedBoard& board, Index rows, std::ostream& out) {
  check_fpga_board(board.figures);
  print_head(board, out);
  Json document{{"board", board.name}, {"rows", rows}, {"fitted", board.fitted}, {"derived", board.derived}};
  for (const FpgaFigure& figure : fpga_figures()) document["figures"][figure.name] = board.figures.*figure.member;
  document["times"] = print_times(board.figures, rows, out);
  document["tdma"] = print_thomas(board.figures, rows, out);
  document["operations"] = print_operations(board.figures, out);
  return document;
}

int fpga_model_command(const std::vector<std::string>& arguments, const std::string& command) {
  std::string file, rows, json_path;
  po::options_description all("oclspkt-bench fpga-model [options]", 120);
  auto add = all.add_options();
  add("help", "print this text");
  add("board", po::value(&file), "JSON file of a board, such as bench/boards/a10pl4.json; without it: the paper's");
  add("rows", po::value(&rows)->default_value("256e6"), "of the system");
  add("json", po::value(&json_path), "file for the results");
  if (read_command_line(arguments, "fpga-model", all).empty()) return 0;
  const DescribedBoard board = file.empty() ? DescribedBoard() : read_board(file);
  JsonFile json(json_path);
  const Json results = print_fpga_times(board, parse_rows(rows), std::cout);
  json.write({{"provenance", provenance({}, command)}, {"results", results}});
  return 0;
}

}  // namespace oclspkt::bench
