// SPDX-License-Identifier: BSD-2-Clause
#include "program_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "error_name.hpp"
#include "kernel_source.hpp"
#include "registry.hpp"
#include "sha256.hpp"
#include "split.hpp"
#include "user_files.hpp"

namespace oclspkt::ocl {
namespace {

namespace fs = std::filesystem;

/// Increase the number when the format of a note, or the meaning of a field, changes.
constexpr const char* kNoteVersion = "program 1";
constexpr std::int64_t kMostNoteBytes = 1 << 16, kMostProgramBytes = 1 << 30;
constexpr const char* kKernelsField = "kernels";  ///< the value of this field is a list with one element
constexpr const char* kMakeAnew = "make it anew with oclspkt-fpga-build";

[[noreturn]] void refuse(const std::string& file, const std::string& cause, const std::string& cure = kMakeAnew) {
  throw BuildError("program " + file + " " + cause + "; " + cure);
}

std::string note_file(const std::string& file) { return file + ".json"; }

/// Call f(name, value) for each field of a note; `name` is the field's name in the file.
template <typename Note, typename F>
void for_fields(Note& note, const F& f) {
  f("device", note.device);
  f("platform", note.platform);
  f("driver", note.driver);
  f(kKernelsField, note.kernel);
  f("scalar", note.scalar);
  f("form", note.form);
  f("options", note.options);
  f("source", note.source);
  f("checksum", note.checksum);
  f("rows", note.rows);
  f("length", note.length);
}

void write_file(const std::string& file, const char* bytes, std::size_t count) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes, static_cast<std::streamsize>(count));
  stream.close();
  if (!stream) throw InvalidInput("cannot write " + file + ": name a folder that exists, with space left");
}

/// Returns the words of build options, each once, without the blank after -D and -I.
std::set<std::string> words_of(const std::string& options) {
  std::set<std::string> words;
  std::string before;
  for (const std::string& word : split(options)) {
    if (word == "-D" || word == "-I") {
      before = word;
      continue;
    }
    words.insert(before + word);
    before.clear();
  }
  return words;
}

/// Returns the value of -D NAME=VALUE among options; empty if there is none.
std::string definition(const std::string& options, const std::string& name) {
  const std::string begin = "-D" + name + "=";
  for (const std::string& word : words_of(options)) {
    if (word.starts_with(begin)) return word.substr(begin.size());
  }
  return "";
}

bool defines(const std::string& options, const std::string& name) { return words_of(options).contains("-D" + name); }

std::string scalar_of(const std::string& options) {
  return definition(options, "SCALAR") == "SCALAR_DOUBLE" ? "double" : "float";
}

std::string form_of(const std::string& options) {
  return defines(options, "SYMMETRIC") ? "symmetric" : defines(options, "SHARED_FACTORS") ? "shared" : "general";
}

std::int64_t rows_of(const std::string& options) { return std::atoll(definition(options, "TASK_ROWS").c_str()); }

std::string device_text(const std::string& device, const std::string& platform, const std::string& driver) {
  return "'" + device + "' (" + platform + ", driver " + driver + ")";
}

/// Returns the reason why a note does not fit a device; empty if it fits.
std::string foreign(const ProgramNote& note, const DeviceInfo& device) {
  if (note.device == device.name && note.platform == device.platform && note.driver == device.driver_version) return "";
  return "is for device " + device_text(note.device, note.platform, note.driver) + ", not for " +
         device_text(device.name, device.platform, device.driver_version);
}

bool is_for(const ProgramNote& note, const WantedProgram& wanted) {
  return note.kernel == wanted.kernel && note.options == ordered_options(wanted.options);
}

/// Returns how a program of the wanted kernel differs from the wanted program. @pre they differ
std::string other_kind(const ProgramNote& note, const WantedProgram& wanted) {
  const ProgramNote now = note_of(wanted, "", "", "", {});
  if (note.scalar != now.scalar) return "is for scalar " + note.scalar + ", not " + now.scalar;
  if (note.form != now.form) return "is for form " + note.form + ", not " + now.form;
  if (note.rows == now.rows) return "is for options " + note.options + ", not " + now.options;
  return "is for blocks of " + std::to_string(note.rows) + " rows, not " + std::to_string(now.rows);
}

struct Candidate {
  std::string file;
  bool named;  ///< the path names the file itself, not its folder
};

std::vector<Candidate> candidates(const std::string& path) {
  std::vector<Candidate> all;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, ':');) {
    std::error_code error;
    if (part.empty()) continue;
    if (!fs::is_directory(part, error)) {
      all.push_back({part, true});
      continue;
    }
    std::set<std::string> found;
    for (fs::directory_iterator at(part, error), end; !error && at != end; at.increment(error)) {
      const fs::path file = at->path();
      std::error_code absent;
      if (file.extension() == ".json" && fs::exists(file.parent_path() / file.stem(), absent)) {
        found.insert((file.parent_path() / file.stem()).string());
      }
    }
    for (const std::string& file : found) all.push_back({file, false});
  }
  return all;
}

cl::Program make_program(const FoundDevice& device, const cl::Context& context, const std::string& file,
                         const std::vector<unsigned char>& bytes) {
  try {
    cl::Program program(context, {device.handle}, {bytes});
    program.build(std::vector<cl::Device>{device.handle});
    return program;
  } catch (const cl::Error& error) {
    refuse(file, std::string("is not taken by the driver of ") + describe(device.info) + ", " + error.what() +
                     " gave " + error_name(error.err()));
  }
}

}  // namespace

std::string ordered_options(const std::string& options) {
  std::string text;
  for (const std::string& word : words_of(options)) text += (text.empty() ? "" : " ") + word;
  return text;
}

ProgramNote note_of(const WantedProgram& wanted, const std::string& device, const std::string& platform,
                    const std::string& driver, const std::vector<unsigned char>& bytes) {
  return {.device = device,
          .platform = platform,
          .driver = driver,
          .kernel = wanted.kernel,
          .scalar = scalar_of(wanted.options),
          .form = form_of(wanted.options),
          .rows = rows_of(wanted.options),
          .options = ordered_options(wanted.options),
          .source = sha256({reinterpret_cast<const unsigned char*>(wanted.source.data()), wanted.source.size()}),
          .length = static_cast<std::int64_t>(bytes.size()),
          .checksum = sha256(bytes)};
}

std::string program_name(const WantedProgram& wanted) {
  const std::set<std::string> said = {"SCALAR",    "LANES",          "NATIVE_LANES", "TASK_ROWS",
                                      "SYMMETRIC", "SHARED_FACTORS", "FPGA",         "HOST_MEMORY"};
  std::string name = wanted.kernel + (scalar_of(wanted.options) == "double" ? "_f64" : "_f32");
  if (const std::int64_t rows = rows_of(wanted.options); rows > 0) name += "_m" + std::to_string(rows);
  if (const std::string form = form_of(wanted.options); form != "general") name += "_" + form;
  for (const std::string& word : words_of(wanted.options)) {
    if (!word.starts_with("-D")) continue;
    const std::size_t equal = std::min(word.find('='), word.size());
    if (said.count(word.substr(2, equal - 2)) > 0) continue;
    name += "_" + word.substr(2, equal - 2) + (equal < word.size() ? word.substr(equal + 1) : "");
  }
  return name;
}

void write_note(const std::string& file, const ProgramNote& note) {
  nlohmann::ordered_json document{{"oclspkt", kNoteVersion}};
  for_fields(note, [&](const char* name, const auto& value) { document[name] = value; });
  document[kKernelsField] = {note.kernel};
  const std::string text = document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  write_file(note_file(file), text.data(), text.size());
}

void write_program(const std::string& file, const ProgramNote& note, const std::vector<unsigned char>& bytes) {
  write_file(file, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  write_note(file, note);
}

ProgramNote read_note(const std::string& file) {
  const std::string name = note_file(file);
  std::error_code error;
  if (!fs::exists(name, error)) {
    refuse(file, "has no " + name + " beside it, which says what it is for",
           "name a file or a folder that oclspkt-fpga-build wrote");
  }
  const std::optional<std::string> text = read_file(name, kMostNoteBytes);
  if (!text) refuse(file, "has a note " + name + " that cannot be read, or is too large for one");
  // If the document has more names than fields, it names a field twice.
  std::size_t names = 0;
  const auto count = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json&) {
    names += event == nlohmann::json::parse_event_t::key ? 1 : 0;
    return depth <= 2;
  };
  const nlohmann::json document = nlohmann::json::parse(*text, count, false);
  if (!document.is_object()) refuse(file, "has a damaged note " + name);
  const auto version = document.find("oclspkt");
  if (version == document.end()) refuse(file, "has a note " + name + " that is none of oclspkt");
  if (*version != kNoteVersion) refuse(file, "was made by another version of oclspkt (" + name + ")");
  ProgramNote note;
  std::size_t fields = 1;
  try {
    for_fields(note, [&](const char* field, auto& value) {
      const nlohmann::json& given = document.at(field);
      const nlohmann::json& one = field == kKernelsField && given.size() == 1 ? given.front() : given;
      if (one.is_number() && !one.is_number_unsigned()) throw InvalidInput(std::string("bad ") + field);
      one.get_to(value);
      ++fields;
    });
  } catch (const std::exception& bad) {
    refuse(file, "has a damaged note " + name + ": " + bad.what());
  }
  const bool whole = names == document.size() && names == fields;
  const bool agree = note.scalar == scalar_of(note.options) && note.form == form_of(note.options) &&
                     note.rows == rows_of(note.options);
  if (!whole || !agree) refuse(file, "has a damaged note " + name + ": its fields do not agree");
  return note;
}

std::vector<unsigned char> read_program(const std::string& file, const DeviceInfo& device,
                                        const WantedProgram& wanted) {
  const ProgramNote note = read_note(file);
  if (const std::string why = foreign(note, device); !why.empty()) refuse(file, why);
  if (!is_for(note, wanted)) {
    refuse(file, "is for kernel " + note.kernel + ", options " + note.options + ", not for " + wanted.kernel +
                     ", options " + ordered_options(wanted.options));
  }
  const ProgramNote now = note_of(wanted, "", "", "", {});
  if (note.source != now.source) refuse(file, "was made from another text of kernel " + wanted.kernel);
  const std::optional<std::string> text = read_file(file, kMostProgramBytes);
  if (!text) refuse(file, "cannot be read, or is no regular file of at most 1 GiB");
  if (static_cast<std::int64_t>(text->size()) != note.length) {
    refuse(file, "is damaged: it has " + std::to_string(text->size()) + " bytes, not " + std::to_string(note.length));
  }
  std::vector<unsigned char> bytes(text->begin(), text->end());
  if (sha256(bytes) != note.checksum) refuse(file, "is damaged: its checksum is not that of " + note_file(file));
  if (bytes.empty()) refuse(file, "is empty");
  return bytes;
}

std::optional<cl::Program> load_program(const FoundDevice& device, const cl::Context& context, const std::string& path,
                                        const WantedProgram& wanted) {
  for (const Candidate& candidate : candidates(path)) {
    const ProgramNote note = read_note(candidate.file);
    const bool counts = is_for(note, wanted) && (candidate.named || foreign(note, device.info).empty());
    if (!counts) continue;
    return make_program(device, context, candidate.file, read_program(candidate.file, device.info, wanted));
  }
  return std::nullopt;
}

std::string nearest_program(const std::string& path, const DeviceInfo& device, const WantedProgram& wanted) {
  for (const Candidate& candidate : candidates(path)) {
    const ProgramNote note = read_note(candidate.file);
    if (note.kernel != wanted.kernel) continue;
    const std::string why = foreign(note, device);
    return candidate.file + " " + (why.empty() ? other_kind(note, wanted) : why);
  }
  return "";
}

std::vector<unsigned char> bytes_of_program(const cl::Program& program) {
  return program.getInfo<CL_PROGRAM_BINARIES>().at(0);
}

namespace {

/// Returns the number of lanes that schemes use for kernels of the same folder.
int lanes_of(const std::string& kernel) {
  for (const KernelSource* source = kKernelSources; source->name != nullptr; ++source) {
    if (kernel != source->name) continue;
    return source->folder == std::string("fpga") ? kOneTask : source->folder == std::string("gpu") ? 1 : 0;
  }
  return 0;
}

/// A made-up board with the properties that build options depend on.
FoundDevice some_board() {
  FoundDevice board;
  board.info.type = DeviceType::fpga;
  board.info.compiler = false;
  return board;
}

class Maker final : public ProgramMaker {
 public:
  std::vector<std::string> kernels(bool for_fpgas) const override {
    std::vector<std::string> names;
    for (const KernelSource* source = kKernelSources; source->name != nullptr; ++source) {
      if (!for_fpgas || source->folder == std::string("fpga")) names.emplace_back(source->name);
    }
    return names;
  }
  std::string text(const std::string& kernel) const override { return kernel_text(kernel); }
  std::string options(const ProgramOrder& order) const override { return wanted(some_board(), order).options; }
  std::string name(const ProgramOrder& order) const override { return program_name(wanted(some_board(), order)); }

  std::string build(int device, const ProgramOrder& order, const std::string& folder) override {
    const auto open = Registry::instance().open(device);
    const DeviceInfo& info = open->info();
    if (!info.compiler)
      throw BuildError(oclspkt::ocl::describe(info) + " has no compiler for kernels: name an emulator");
    const WantedProgram program = wanted(open->found(), order);
    try {
      const cl::Program built = build_program(open->found(), open->context(), program);
      const std::vector<unsigned char> bytes = bytes_of_program(built);
      std::string file = folder + "/" + program_name(program) + ".bin";
      write_program(file, note_of(program, info.name, info.platform, info.driver_version, bytes), bytes);
      return file;
    } catch (const cl::Error& error) {
      throw device_error(info, "taking the program of kernel " + order.kernel, error);
    }
  }

  void describe(const std::string& file, const ProgramOrder& order, const BoardName& board) const override {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(stream), {}};
    if (bytes.empty()) throw InvalidInput("cannot read " + file + ": the compiler should have written it");
    write_note(file, note_of(wanted(some_board(), order), board.device, board.platform, board.driver, bytes));
  }

 private:
  static WantedProgram wanted(const FoundDevice& device, const ProgramOrder& order) {
    const std::string options = build_options(device, order.is_double, lanes_of(order.kernel));
    return {order.kernel, kernel_text(order.kernel), options + (order.defines.empty() ? "" : " " + order.defines)};
  }
};

}  // namespace

ProgramMaker& program_maker() {
  static auto* maker = new Maker;  // usable until the process ends
  return *maker;
}

}  // namespace oclspkt::ocl
