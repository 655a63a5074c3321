// SPDX-License-Identifier: BSD-2-Clause
// oclspkt-fpga-build: make program files for FPGAs, by an emulator's run-time or by a vendor's compiler.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "device.hpp"
#include "split.hpp"

namespace {

using oclspkt::DeviceInfo;
using oclspkt::DeviceModule;
using oclspkt::InvalidInput;
using oclspkt::kBlanksOfLines;
using oclspkt::ProgramMaker;
using oclspkt::ProgramOrder;
using oclspkt::split;
using oclspkt::trimmed;
using Words = std::vector<std::string>;

constexpr const char* kHelp =
    "Usage: oclspkt-fpga-build [options] KERNEL...\n"
    "\n"
    "Make files with programs that solvers load by -pc_oclspkt_fpga_binary; beside each FILE lies FILE.json, which "
    "says\n"
    "what it is for. docs/fpga.md leads from a report to the first solve.\n"
    "  --device NAME      build on the device whose type, index, name or platform this is (default: fpga, which is "
    "the\n"
    "                     emulator where there is no board)\n"
    "  --scalar TYPE      float (default) or double\n"
    "  --m ROWS           rows of a block, a multiple of 32 (float) or 16 (double); default: 32, as solvers have it\n"
    "  --form FORM        general (default) or symmetric\n"
    "  -D NAME=VALUE      another definition for the kernel\n"
    "  --out FOLDER       where files go (default: here)\n"
    "  --settings FILE    of a board: lines KEY=VALUE\n"
    "  --report           run the vendor's compiler for its report (minutes), not for an image\n"
    "  --image            run it for the image (hours)\n";

std::string joined(const Words& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// The order to oclspkt-fpga-build: its command line, completed by a file of settings.
struct Order {
  enum class What { build, report, image };
  What what = What::build;
  bool help = false;
  std::string device = "fpga", out = ".", settings;
  /// Values of the file's lines KEY=VALUE. kKeys lists the keys.
  std::map<std::string, std::string> values;
  std::vector<std::string> kernels;
  std::string defines;  ///< -D options, joined by blanks

  /// Returns the value of a key, or `otherwise` for a key without a value.
  std::string value(const std::string& key, const std::string& otherwise) const {
    const auto found = values.find(key);
    return found == values.end() || found->second.empty() ? otherwise : found->second;
  }
  /// Returns the value of a key. @throws InvalidInput that names key and file if the key has no value
  std::string needed(const std::string& key) const {
    std::string found = value(key, "");
    if (found.empty()) {
      throw InvalidInput("the settings " + settings + " need a line " + key + "=VALUE (docs/fpga.md)");
    }
    return found;
  }
};

constexpr const char* kKeys[] = {"compiler", "board", "flags",  "kernels",  "scalar",
                                 "m",        "form",  "device", "platform", "driver"};

/// Read the settings of a file. Keys set by the command line keep their values. '#' begins a comment.
void read_settings(const std::string& file, std::map<std::string, std::string>& values) {
  std::ifstream stream(file);
  if (!stream) throw InvalidInput("cannot read the settings " + file + ": docs/fpga.md shows such a file");
  std::map<std::string, std::string> found;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line = trimmed(line.substr(0, line.find('#')), kBlanksOfLines);
    if (line.empty()) continue;
    const auto refuse = [&](const std::string& why) {
      throw InvalidInput(std::string(file).append(":").append(std::to_string(number)).append(": ").append(why));
    };
    const std::size_t equal = line.find('=');
    if (equal == std::string::npos) refuse(std::string("'").append(line).append("' is not KEY=VALUE"));
    const std::string key = trimmed(line.substr(0, equal));
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      const std::string legal = joined({std::begin(kKeys), std::end(kKeys)}, ", ");
      refuse(std::string("the key '").append(key).append("' is unknown; legal are ").append(legal));
    }
    if (!found.emplace(key, trimmed(line.substr(equal + 1))).second) {
      refuse(std::string("the key '").append(key).append("' is there twice"));
    }
  }
  values.insert(found.begin(), found.end());
}

void check_value(const Order& order, const char* key, const Words& legal) {
  const std::string value = order.value(key, legal.front());
  if (std::find(legal.begin(), legal.end(), value) != legal.end()) return;
  throw InvalidInput(std::string(key) + " is '" + value + "'; legal are " + joined(legal, ", "));
}

void check_rows(const Order& order) {
  const std::string rows = order.value("m", "32");
  const bool digits = !rows.empty() && rows.size() < 6 &&
                      std::all_of(rows.begin(), rows.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int least = order.value("scalar", "float") == "double" ? 16 : 32;
  if (digits && std::stoi(rows) > 0 && std::stoi(rows) % least == 0) return;
  throw InvalidInput("m is '" + rows + "'; it must be a multiple of " + std::to_string(least) +
                     " rows, the scalars of 1024 bits");
}

void take_option(Order& order, const std::string& name, const std::string& value) {
  if (name == "--device") {
    order.device = value;
  } else if (name == "--out") {
    order.out = value;
  } else if (name == "--settings") {
    order.settings = value;
  } else if (name == "-D") {
    order.defines += (order.defines.empty() ? "-D " : " -D ") + value;
  } else {
    order.values[name.substr(2)] = value;
  }
}

/// Read a command line, and the settings file that it names.
/// @throws InvalidInput that names an unknown option or key, and lists the legal options or keys
Order read_order(const Words& arguments) {
  const Words with_value = {"--device", "--scalar", "--m", "--form", "--out", "--settings", "-D"};
  Order order;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string word = arguments[i];
    if (word == "--help" || word == "-h") order.help = true;
    if (word.rfind("-D", 0) == 0 && word.size() > 2) {
      take_option(order, "-D", word.substr(2));
    } else if (std::find(with_value.begin(), with_value.end(), word) != with_value.end()) {
      if (i + 1 == arguments.size()) throw InvalidInput(word + " needs a value; see --help");
      take_option(order, word, arguments[++i]);
    } else if (word == "--report" || word == "--image") {
      order.what = word == "--report" ? Order::What::report : Order::What::image;
    } else if (word.empty() || word[0] != '-') {
      order.kernels.push_back(word);
    } else if (!order.help) {
      throw InvalidInput("there is no option " + word + "; see --help");
    }
  }
  if (order.help) return order;
  if (!order.settings.empty()) read_settings(order.settings, order.values);
  check_value(order, "scalar", {"float", "double"});
  check_value(order, "form", {"general", "symmetric"});
  check_value(order, "compiler", {"aoc", "v++"});
  if (!order.value("m", "").empty()) check_rows(order);
  if (order.kernels.empty()) {
    order.kernels = split(order.value("kernels", ""));
  }
  return order;
}

/// Returns the number of the first device with a compiler that matches a word.
int device_of(DeviceModule& module, const std::string& word) {
  std::string text;
  for (const DeviceInfo& device : module.devices()) {
    const bool named = word == oclspkt::name(device.type) || word == std::to_string(device.index) ||
                       device.name.find(word) != std::string::npos || device.platform.find(word) != std::string::npos;
    if (named && device.compiler) return device.index;
    text += "\n  " + std::to_string(device.index) + ": " + device.name + " (" + device.platform + ")" +
            (device.compiler ? "" : ", without a compiler");
  }
  throw InvalidInput("no device with a compiler matches '" + word +
                     "': install Intel's FPGA emulator, or use --report and --image with a vendor's compiler" +
                     (text.empty() ? "" : ". There are:" + text));
}

ProgramOrder program_of(const ProgramMaker& maker, const Order& order, const std::string& kernel) {
  const Words all = maker.kernels(false), blocks = maker.kernels(true);
  if (std::find(all.begin(), all.end(), kernel) == all.end()) {
    throw InvalidInput("there is no kernel " + kernel + "; for FPGAs there are: " + joined(blocks, ", ") +
                       "; others: " + joined(all, ", "));
  }
  ProgramOrder program{kernel, order.value("scalar", "float") == "double", {}};
  std::string rows = order.value("m", "");
  const bool has_blocks = std::find(blocks.begin(), blocks.end(), kernel) != blocks.end();
  if (has_blocks && rows.empty()) rows = "32";  // the default of solvers
  if (!rows.empty()) program.defines = "-D TASK_ROWS=" + rows;
  if (order.value("form", "general") == "symmetric") program.defines += " -D SYMMETRIC";
  if (!order.defines.empty()) program.defines += " " + order.defines;
  return program;
}

/// Run a program with our standard output and error.
/// @throws InvalidInput if its exit status is not 0
void run(const Words& command) {
  std::puts(joined(command, " ").c_str());
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) throw InvalidInput("cannot start " + command[0]);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw InvalidInput(command[0] +
                       " is not in PATH: load the vendor's environment, or leave --report and --image out");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw InvalidInput(command[0] + " failed; see its messages above");
}

Words plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Returns the -D options among build options, each as one word. Other options are only for OpenCL's compilers.
Words definitions(const std::string& options) {
  Words words;
  bool value = false;
  for (const std::string& word : split(options)) {
    if (value) words.push_back("-D" + word);
    value = word == "-D";
  }
  return words;
}

/// Compile one kernel with the compiler that the settings name. @return the program file
std::string compile(const ProgramMaker& maker, const Order& order, const ProgramOrder& program) {
  const bool image = order.what == Order::What::image, is_aoc = order.value("compiler", "aoc") == "aoc";
  const std::string stem = order.out + "/" + maker.name(program), text = stem + ".cl", board = order.needed("board");
  std::ofstream stream(text);
  stream << maker.text(program.kernel);
  stream.close();
  if (!stream) throw InvalidInput("cannot write " + text + ": name a folder that exists by --out");
  const Words rest = plus(definitions(maker.options(program)), split(order.value("flags", "")));
  if (is_aoc) {
    std::string made = stem + (image ? ".aocx" : ".aocr");
    const Words how = image ? Words{"aoc"} : Words{"aoc", "-rtl", "-report"};
    run(plus(plus(plus(how, {"-board=" + board}), rest), {text, "-o", made}));
    return made;
  }
  const Words common = {"v++", "-t", "hw", "--platform", board};
  const Words first = plus(common, {"-c", "--report_level", "2", "-k", program.kernel});
  run(plus(plus(first, rest), {"-o", stem + ".xo", text}));
  if (!image) return stem + ".xo";
  run(plus(common, {"-l", "-o", stem + ".xclbin", stem + ".xo"}));
  return stem + ".xclbin";
}

int make(const Order& order) {
  std::string why;
  DeviceModule* module = oclspkt::device_module(&why);
  ProgramMaker* maker = module != nullptr ? module->programs() : nullptr;
  if (maker == nullptr) throw InvalidInput("no OpenCL module: " + why);
  if (order.kernels.empty()) {
    throw InvalidInput("name a kernel; for FPGAs there are: " + joined(maker->kernels(true), ", "));
  }
  const bool build = order.what == Order::What::build, image = order.what == Order::What::image;
  if (!build && order.settings.empty()) throw InvalidInput("--report and --image need --settings FILE (docs/fpga.md)");
  // Check all names first, because the compiler may run for hours.
  const oclspkt::BoardName board =
      image ? oclspkt::BoardName{order.needed("device"), order.needed("platform"), order.needed("driver")}
            : oclspkt::BoardName{};
  for (const std::string& kernel : order.kernels) {
    const ProgramOrder program = program_of(*maker, order, kernel);
    const std::string file =
        build ? maker->build(device_of(*module, order.device), program, order.out) : compile(*maker, order, program);
    if (image) maker->describe(file, program, board);
    std::printf("%s\n", file.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Order order = read_order({argv + 1, argv + argc});
    if (!order.help) return make(order);
    std::fputs(kHelp, stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oclspkt-fpga-build: %s\n", error.what());
  }
  return 2;
}
