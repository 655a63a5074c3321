// SPDX-License-Identifier: BSD-2-Clause
#include "program_file.hpp"

#include <functional>

#include "build_program.hpp"
#include "devices.hpp"
#include "program_cache.hpp"
#include "registry.hpp"
#include "sha256.hpp"
#include "surroundings.hpp"

namespace oclspkt::test {
namespace {

namespace fs = std::filesystem;
using namespace oclspkt::ocl;

constexpr int kDamages = 200;
const std::string kNumbers = "-D STEP=2.5f";
constexpr const char* kText =
    "__kernel void steps(__global float* x) { x[get_global_id(0)] = x[get_global_id(0)] / STEP + 0.1f; }\n";

/// A device that stands in for a board: an FPGA without a compiler.
FoundDevice board_of(int device) {
  FoundDevice board = Registry::instance().device(device);
  board.info.type = DeviceType::fpga;
  board.info.compiler = false;
  return board;
}

/// A folder with the program of a kernel for such a board.
class Programs {
 public:
  explicit Programs(int device, const std::string& more = kNumbers, bool is_double = false) : board(board_of(device)) {
    wanted = {"steps", kText, build_options(board, is_double, kOneTask) + " " + more};
    file = (folder / (program_name(wanted) + ".bin")).string();
    const cl::Context context(board.handle);
    bytes = bytes_of_program(build_program(board, context, wanted));
    note = note_of(wanted, board.info.name, board.info.platform, board.info.driver_version, bytes);
    write_program(file, note, bytes);
  }

  /// What the kernel makes of some numbers, with its program from `path`, or from its text on the device itself.
  std::vector<float> run(const std::string& path) const {
    FoundDevice device = board;
    device.info.compiler = path.empty();
    OpenDevice open(device);
    Kernel kernel = open.kernel("steps", false, kOneTask, kNumbers, kText, path);
    std::vector<float> x = {1.0F, 3.14159F, -1e-30F, 7e20F};
    const cl::Buffer buffer(open.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, x.size() * sizeof(float),
                            x.data());
    kernel.handle.setArg(0, buffer);
    open.queue().enqueueNDRangeKernel(kernel.handle, cl::NullRange, cl::NDRange(x.size()));
    open.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, x.size() * sizeof(float), x.data());
    return x;
  }
  /// Why the board refuses to run with a path, see thrown_text().
  std::string why_refused(const std::string& path) const {
    return thrown_text<BuildError>([&] { run(path); });
  }
  void write_changed(const std::function<void(ProgramNote&)>& change) const {
    ProgramNote changed = note;
    change(changed);
    write_program(file, changed, bytes);
  }

  const FreshFolder fresh;
  const fs::path folder = fresh.path();
  FoundDevice board;
  WantedProgram wanted;
  std::string file;
  ProgramNote note;
  std::vector<unsigned char> bytes;
};

/// Expects an error that names the file, a cause and a cure.
void expect_clear(const std::string& why, const std::string& file, const std::string& cause) {
  EXPECT_NE(why.find(file), std::string::npos) << why;
  EXPECT_NE(why.find(cause), std::string::npos) << why;
  EXPECT_NE(why.find("oclspkt-fpga-build"), std::string::npos) << why;
}

TEST(ProgramFile, ChecksumsAreThoseOfTheStandard) {
  const auto sum = [](const std::string& text) {
    return sha256({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  };
  EXPECT_EQ(sum(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sum(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ProgramFile, OptionsAreTheSameInAnyOrder) {
  EXPECT_EQ(ordered_options("-D B=1  -DA -cl-std=CL1.2 -D A"), "-DA -DB=1 -cl-std=CL1.2");
  EXPECT_EQ(ordered_options("-DA -D B=1 -cl-std=CL1.2"), ordered_options("-cl-std=CL1.2 -D B=1 -D A"));
  EXPECT_EQ(
      program_name({"spk", "", "-D SCALAR=SCALAR_DOUBLE -D TASK_ROWS=16 -D SYMMETRIC -D LANES=1 -D BATCH_LINES=8"}),
      "spk_f64_m16_symmetric_BATCH_LINES8");
}

TEST(ProgramFile, LoadsAndGivesTheBitsOfAProgramBuiltFromText) {
  on_every_device<float>([](const DeviceInfo& info) {
    const Programs programs(info.index);
    EXPECT_EQ(read_note(programs.file), programs.note);
    const std::vector<float> built = programs.run("");
    EXPECT_EQ(programs.run(programs.file), built);
    EXPECT_EQ(programs.run(programs.folder.string()), built);
    fs::create_directories(programs.folder / "empty");
    EXPECT_EQ(programs.run((programs.folder / "empty").string() + ":" + programs.folder.string()), built);
  });
}

TEST(ProgramFile, SolvesWithTheBitsOfAProgramBuiltFromText) {
  on_every_device<float>([](const DeviceInfo& info) {
    if (info.type != DeviceType::fpga) return;
    const Programs other(info.index);  // its folder, and a program without the kernel that is wanted
    const FoundDevice& found = Registry::instance().device(info.index);
    const WantedProgram wanted = {"truncated_halo", kernel_text("truncated_halo"),
                                  build_options(found, false, found.tile_lanes(false))};
    const std::string file = (other.folder / "halo.bin").string();
    const auto write = [&](const std::vector<unsigned char>& bytes) {
      write_program(file, note_of(wanted, info.name, info.platform, info.driver_version, bytes), bytes);
    };
    const Bands<float> bands = closed(random_dominant<float>(LineSet::one(5001), 3));
    const std::vector<float> y = random_vector<float>(5001);
    const auto solved = [&](const std::string& path) {
      return solve(info.index, bands, y, {.halo = 32}, {.use = {.fpga_binary = path}});
    };
    write(other.bytes);
    EXPECT_THROW(solved(file), DeviceError);
    const cl::Context context(found.handle);
    write(bytes_of_program(build_program(found, context, wanted)));
    EXPECT_EQ(solved(other.folder.string()), solved(""));
  });
}

TEST(ProgramFile, ThatIsNotThereLeavesABoardWithAClearError) {
  const Programs programs(module().devices().front().index);
  OpenDevice open(programs.board);
  expect_refusal<BuildError>([&] { open.kernel("steps", false, kOneTask, kNumbers, kText); },
                             {"no compiler", "-pc_oclspkt_fpga_binary", "oclspkt-fpga-build"});
  const fs::path empty = programs.folder / "empty";
  fs::create_directories(empty);
  expect_clear(programs.why_refused(empty.string()), empty.string(), "is a program of kernel steps");
  expect_clear(programs.why_refused("/nowhere-at-all"), "/nowhere-at-all", "/nowhere-at-all.json");
}

TEST(ProgramFile, OfAnotherDeviceOrDriverIsRefusedWhereItIsNamed) {
  on_every_device<float>([](const DeviceInfo& info) {
    const Programs programs(info.index);
    for (const DeviceInfo& other : module().devices()) {
      if (other.index == info.index) continue;
      FoundDevice elsewhere = board_of(other.index);
      EXPECT_THROW(read_program(programs.file, elsewhere.info, programs.wanted), BuildError);
      const cl::Context context(elsewhere.handle);
      EXPECT_THROW(load_program(elsewhere, context, programs.file, programs.wanted), BuildError);
      EXPECT_FALSE(load_program(elsewhere, context, programs.folder.string(), programs.wanted));
    }
    programs.write_changed([](ProgramNote& note) { note.driver = "an older one"; });
    expect_clear(programs.why_refused(programs.file), programs.file, "an older one");
  });
}

TEST(ProgramFile, OfAnotherScalarSizeTextOrVersionIsRefused) {
  const int device = module().devices().front().index;
  for (const char* other : {"-D STEP=2.5f -D TASK_ROWS=64", "-D STEP=3", "-D STEP=2.5f -D SYMMETRIC"}) {
    const Programs programs(device, other);
    expect_clear(programs.why_refused(programs.file), programs.file, "is a program of kernel steps");
    EXPECT_THROW(read_program(programs.file, programs.board.info, {"steps", kText, kNumbers}), BuildError);
  }
  const Programs twice(device, kNumbers, true);
  expect_clear(twice.why_refused(twice.file), twice.file, "is a program of kernel steps");
  const Programs programs(device);
  programs.write_changed([](ProgramNote& note) { note.source[5] ^= 1; });
  expect_clear(programs.why_refused(programs.file), programs.file, "another text of kernel steps");
  programs.write_changed([](ProgramNote& note) { note.rows = 32; });
  expect_clear(programs.why_refused(programs.file), programs.file, "do not agree");
  write_program(programs.file, programs.note, programs.bytes);
  std::string text = contents_of(programs.file + ".json");
  write_file(programs.file + ".json", text.replace(text.find("program 1"), 9, "program 0"));
  expect_clear(programs.why_refused(programs.file), programs.file, "another version of oclspkt");
}

/// Cut, flip, replace or lengthen one of both files. @return what was done
std::string damage(const Programs& programs, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const bool of_note = below(2) == 0;
  const std::string file = programs.file + (of_note ? ".json" : "");
  std::string bytes = contents_of(file);
  const std::size_t kind = below(5), at = below(bytes.size());
  const char* const kKinds[] = {"cut", "flipped", "zeroed", "longer", "other bytes"};
  if (kind == 0) bytes.resize(at);
  if (kind == 1) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
  if (kind == 2) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 64);
    bytes.replace(at, count, count, '\0');
  }
  if (kind == 3) bytes += "}";
  if (kind == 4) std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(below(256)); });
  write_file(file, bytes);
  return std::string(of_note ? "note " : "program ") + kKinds[kind] + " at " + std::to_string(at);
}

TEST(ProgramFile, ThatIsDamagedIsRefusedBeforeADriverSeesIt) {
  std::mt19937_64 random(20191107);
  for (const DeviceInfo& info : module().devices()) {
    const Programs programs(info.index);
    const std::vector<float> built = programs.run("");
    for (int i = 0; i < kDamages; ++i) {
      write_program(programs.file, programs.note, programs.bytes);
      const std::string done = damage(programs, random);
      const std::string why = programs.why_refused(programs.file);
      // A blank of the note may become another blank.
      if (why == "nothing was thrown") {
        EXPECT_EQ(read_note(programs.file), programs.note) << done;
        continue;
      }
      EXPECT_NE(why.find(programs.file), std::string::npos) << done << ": " << why;
      EXPECT_NE(why.find("oclspkt-fpga-build"), std::string::npos) << done << ": " << why;
    }
    write_program(programs.file, programs.note, programs.bytes);
    EXPECT_EQ(programs.run(programs.file), built);
  }
}

TEST(ProgramFile, ThatADriverDoesNotTakeIsAnErrorOfTheFile) {
  for (const DeviceInfo& info : module().devices()) {
    if (info.platform.find("Portable") != std::string::npos) continue;  // PoCL ends the process
    const Programs programs(info.index);
    const std::vector<unsigned char> noise(1000, 'x');
    write_program(programs.file, note_of(programs.wanted, info.name, info.platform, info.driver_version, noise), noise);
    expect_clear(programs.why_refused(programs.file), programs.file, "is not taken by the driver");
  }
}

// Programs that are kept for run-times of OpenCL that keep none. What the keeper does with its files: tests/cuda/fakes.

namespace fs = std::filesystem;
using namespace oclspkt::ocl;

constexpr const char* kPutText = "__kernel void put(__global int* x) { x[get_global_id(0)] = VALUE; }\n";

/// A fresh folder, which the keeper is told to use.
class KeptPrograms : public ::testing::Test {
 protected:
  /// Build the program in a context of its own. @return what its kernel puts
  static int put(const FoundDevice& device, int value, std::vector<unsigned char>* bytes = nullptr) {
    const cl::Context context(device.handle);
    const std::string options = "-cl-std=CL1.2 -D VALUE=" + std::to_string(value);
    const cl::Program program = build_program(device, context, {"put", kPutText, options});
    if (bytes != nullptr) *bytes = bytes_of_program(program);
    cl::Kernel kernel(program, "put");
    const cl::CommandQueue queue(context, device.handle);
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, sizeof(cl_int));
    cl_int x = 0;
    kernel.setArg(0, buffer);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    queue.enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof x, &x);
    return x;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path())) all.push_back(entry.path().stem());
    return all;
  }
  void forget() const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove_all(entry.path());
  }

  /// Call f for each device whose run-time keeps nothing.
  template <typename F>
  void each(const F& f) const {
    for (const DeviceInfo& info : module().devices()) {
      if (info.platform.starts_with("Intel(R)")) f(Registry::instance().device(info.index));
    }
  }

  /// Forget all, and build the program that puts 1. @return the name under which it is kept
  std::string keep_one(const FoundDevice& device) const {
    forget();
    EXPECT_EQ(put(device, 1), 1);
    const std::vector<std::string> all = keys();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? "" : all.front();
  }

  const FreshFolder folder_;
  Variable cache_{"OCLSPKT_KERNEL_CACHE", folder_.path().c_str()};
};

TEST_F(KeptPrograms, AreLoadedByLaterProcesses) {
  each([&](const FoundDevice& device) {
    SCOPED_TRACE(device.info.name);
    const std::string key = keep_one(device);
    ASSERT_FALSE(key.empty());
    std::vector<unsigned char> other;
    EXPECT_EQ(put(device, 2, &other), 2);
    EXPECT_EQ(keys().size(), 2U) << "other options, another program";
    // Another program under this name shows that it is the file that runs.
    ProgramCache().keep(key, {other.begin(), other.end()});
    EXPECT_EQ(put(device, 1), 2);
    EXPECT_EQ(put(device, 2), 2);
    EXPECT_EQ(keys().size(), 2U);
  });
}

TEST_F(KeptPrograms, ThatTheDriverDoesNotTakeAreBuiltAnew) {
  each([&](const FoundDevice& device) {
    SCOPED_TRACE(device.info.name);
    const std::string key = keep_one(device);
    ASSERT_FALSE(key.empty());
    ProgramCache().keep(key, "no program");
    EXPECT_EQ(put(device, 1), 1);
    EXPECT_GT(ProgramCache().find(key).size(), 100U) << "not written anew";
    cache_.set("none");
    EXPECT_EQ(put(device, 1), 1);
    cache_.set(folder_.path().c_str());
  });
}

TEST_F(KeptPrograms, AreThoseOfTheDevice) {
  std::size_t devices = 0;
  each([&](const FoundDevice& device) {
    EXPECT_EQ(put(device, 1), 1);
    EXPECT_EQ(keys().size(), ++devices) << device.info.name;
  });
}

TEST_F(KeptPrograms, AreNotThoseOfRunTimesThatKeepTheirOwn) {
  for (const DeviceInfo& info : module().devices()) {
    if (info.platform.starts_with("Intel(R)")) continue;
    EXPECT_EQ(put(Registry::instance().device(info.index), 1), 1) << info.name;
  }
  EXPECT_TRUE(keys().empty());
}

}  // namespace
}  // namespace oclspkt::test
