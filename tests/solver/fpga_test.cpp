// SPDX-License-Identifier: BSD-2-Clause
// Kernels for FPGAs, on every device: which lines they take, in which blocks, and what the others get.
#include "every_device.hpp"
#include "solver_fixture.hpp"
#include "surroundings.hpp"

namespace oclspkt {
namespace {

template <typename T>
class ForFpgas : public test::SolverFixture<T> {
 protected:
  /// Call f(options) for every device, whose kernels for FPGAs are named.
  template <typename F>
  static void on_devices(const F& f) {
    test::with_every_true_device([&](Options options) {
      options.variant = "fpga";
      f(options);
    });
  }
  /// Set up, expect a part of the plan's shape, and small residuals.
  static Report expect_shape(const Options& options, const Bands<T>& bands, const std::string& shape) {
    Solver<T> solver = test::solver_for(bands, options);
    EXPECT_NE(solver.report().shape.find(shape), std::string::npos)
        << solver.report().shape << " on " << solver.report().device.name << ": " << solver.report().why;
    EXPECT_LE(ForFpgas::backward_error(solver, bands), 20);
    return solver.report();
  }
  static constexpr bool kDouble = sizeof(T) == sizeof(double);
};

SCALAR_TEST(ForFpgas, StreamLinesWhoseTruncationDoesNotShow) {
  this->on_devices([&](const Options& options) {
    for (const double d : {10.0, 2.0, 1.2}) {
      const Report report = this->expect_shape(options, test::random_dominant<T>(LineSet::one(20'011), d),
                                               "blocks of 32 rows from both cuts, solved twice");
      EXPECT_EQ(report.method, Method::truncated_streamed);
      EXPECT_EQ(report.words_per_row, 5);
      EXPECT_LE(report.rounding, kRoundingLimit);
      EXPECT_FALSE(report.certificate_above_tolerance);
    }
    const Report symmetric =
        this->expect_shape(options, test::random_symmetric<T>(LineSet::equal(300, 61), 2), "solved twice, symmetric");
    EXPECT_EQ(symmetric.words_per_row, 4);
  });
}

SCALAR_TEST(ForFpgas, AreThoseOfDevicesOfThatType) {
  const Bands<T> bands = test::random_dominant<T>(LineSet::one(5'003), 3);
  this->on_devices([&](Options options) {
    const bool fpga = test::device_of(options).type == DeviceType::fpga;
    options.variant = "default";
    Solver<T> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().shape.find("one work-item") != std::string::npos, fpga) << solver.report().shape;
    EXPECT_LE(this->backward_error(solver, bands), 20);
    options.variant = "lanes-halo";
    Solver<T> named = test::solver_for(bands, options);
    EXPECT_NE(named.report().device.name, "host") << named.report().device.why;
  });
}

SCALAR_TEST(ForFpgas, LengthenBlocksUntilTheCertificateHolds) {
  // An unknown of these lines decays by d from row to row, in one direction only.
  const auto one_sided = [](double d) { return test::constant<T>(LineSet::one(20'011), 0, d, -1); };
  const double d = this->kDouble ? 1.5 : 1.25;
  this->on_devices([&](Options options) {
    this->expect_shape(options, one_sided(2), "blocks of 32 rows");
    this->expect_shape(options, one_sided(d), "blocks of 64 rows");
    options.partition = 100;
    this->expect_shape(options, one_sided(d), "blocks of 128 rows");
  });
}

SCALAR_TEST(ForFpgas, AreNamedOneByOne) {
  this->on_devices([&](Options options) {
    const Bands<T> bands = test::random_dominant<T>(LineSet::one(5'003), 5);
    options.variant = "fpga-spktrunc";
    this->expect_shape(options, bands, "each half from its own cut");
    options.variant = "fpga-spkboth";
    this->expect_shape(options, bands, "32 rows from both cuts");
    options.variant = "fpga-spkjac";
    this->expect_shape(options, bands, "solved twice");
  });
}

SCALAR_TEST(ForFpgas, LeaveToExactKernelsWhatTruncationDoesNotHold) {
  this->on_devices([&](const Options& options) {
    for (const Bands<T>& bands :
         {test::constant<T>(LineSet::one(5'003), -1, 2, -1), test::diffusion<T>(LineSet::one(5'003), 1000),
          test::random_dominant<T>(LineSet::grid_axis(1, 20, 30, 3), 3),
          test::constant<T>(LineSet::grid_axis(2, 37, 3, 31), -1, 2, -1)}) {
      EXPECT_EQ(this->expect_shape(options, bands, "one work-item").method, Method::exact_factored);
    }
    // A line of many that decays too slowly.
    const LineSet lines = LineSet::equal(100, 60);
    Bands<T> bands = test::random_dominant<T>(lines, 3);
    test::replace_line(bands, 40, -1, 2, -1);
    const Report report = this->expect_shape(options, bands, "one work-item");
    ASSERT_EQ(report.groups.size(), 1U);
    EXPECT_EQ(report.groups.front().lines, 1);
  });
}

SCALAR_TEST(ForFpgas, ThatAreExactAreNamedOneByOne) {
  const Bands<T> bands = test::random_dominant<T>(LineSet::equal(70, 29), 1.5);
  this->on_devices([&](Options options) {
    options.variant = "fpga-tdma";
    EXPECT_EQ(this->expect_shape(options, bands, "one work-item, blocks of 32 rows").method, Method::exact_factored);
    options.variant = "fpga-batch";
    this->expect_shape(options, bands,
                       std::string(this->kDouble ? "64" : "32") + " lines in turn, kept in local memory");
  });
}

SCALAR_TEST(ForFpgas, ThatAreExactReadNoLowerCouplingsOfSymmetricMatrices) {
  this->on_devices([&](Options options) {
    options.method = MethodChoice::exact;
    for (const LineSet& lines : {LineSet::one(1000), LineSet::equal(70, 29), LineSet::grid_axis(1, 37, 31, 3)}) {
      Solver<T> solver = test::solver_for(test::random_symmetric<T>(lines, 1.2), options);
      EXPECT_EQ(solver.report().form, Form::symmetric);
      EXPECT_EQ(solver.report().words_per_row, lines.count() > 1 ? 4 : 8);
      this->set_up(solver, test::random_dominant<T>(lines, 1.2));
      EXPECT_EQ(solver.report().form, Form::general);
      EXPECT_EQ(solver.report().words_per_row, lines.count() > 1 ? 5 : 9);
    }
  });
}

SCALAR_TEST(ForFpgas, GiveWayToPivotingWhereRowsAreNotDominant) {
  this->on_devices([&](Options options) {
    for (const LineSet& lines : {LineSet::one(100), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      const Bands<T> weak = test::constant<T>(lines, 1, 0, 1);
      Solver<T> solver = test::solver_for(weak, options);
      EXPECT_EQ(solver.report().method, Method::pivot) << lines.describe();
      EXPECT_LE(this->backward_error(solver, weak), 20) << lines.describe();
      // Rows that grow, and diagonals that rounding loses: the host's factors tell how far that comes true.
      Bands<T> grows = test::constant<T>(lines, -1, 20, -1);
      for (Index l = 0; l < lines.count(); ++l) grows.diag()[lines.first(l) + 8 * lines.row_stride()] = T(0.01);
      Bands<T> columns = test::column_sums_zero<T>(lines, 0.1);
      for (Bands<T>* hard : {&grows, &columns}) {
        this->set_up(solver, *hard);
        EXPECT_EQ(solver.report().device.name, "host") << lines.describe();
        EXPECT_LE(this->backward_error(solver, *hard), 20) << lines.describe();
      }
    }
  });
}

SCALAR_TEST(ForFpgas, TakeRowsThatAreNotDominantIfTheyDoNotGrow) {
  this->on_devices([&](Options options) {
    for (const LineSet& lines : {LineSet::one(203), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      Solver<T> solver(options);
      // The Jacobian of u'' + u^2 on a fine grid, whose diagonals are a bit less than their couplings.
      const Bands<T> weak = test::constant<T>(lines, -1, T(2 - 1e-6), -1);
      this->set_up(solver, weak);
      EXPECT_NE(solver.report().device.name, "host") << lines.describe() << ": " << explain(solver.report()).front();
      EXPECT_EQ(solver.report().method, Method::exact_factored);
      EXPECT_LT(solver.report().dominance, 1);
      EXPECT_LE(solver.report().rounding, kRoundingLimit);
      EXPECT_LE(this->backward_error(solver, weak), 20) << lines.describe();
    }
  });
}

SCALAR_TEST(ForFpgas, TakeNoSingularLine) {
  this->on_devices([&](Options options) {
    for (const LineSet& lines : {LineSet::one(100), LineSet::equal(70, 38), LineSet::grid_axis(1, 37, 36, 3)}) {
      EXPECT_THROW(test::solver_for(test::neumann<T>(lines), options), Breakdown) << lines.describe();
    }
  });
}

SCALAR_TEST(ForFpgas, SayWhyTheHostSolvesWhatTheMemoryDoesNotHold) {
  this->on_devices([&](Options options) {
    options.use.device_memory = 100'000;
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::exact, MethodChoice::exact_factored}) {
      options.method = method;
      const auto expect = [&](const LineSet& lines, const char* why) {
        const Bands<T> bands = test::random_dominant<T>(lines, 1.5);
        Solver<T> solver = test::solver_for(bands, options);
        EXPECT_EQ(solver.report().device.name, "host");
        EXPECT_NE(solver.report().device.why.find(why), std::string::npos) << solver.report().device.why;
        EXPECT_LE(this->backward_error(solver, bands), 20);
      };
      if (method != MethodChoice::automatic) expect(LineSet::one(100'003), "does not hold all rows at once");
      expect(LineSet::grid_axis(1, 300, 300, 2), "does not hold a block of 90000 places at once");
    }
  });
}

// Files with programs, as users name them: what is wrong with one costs the device, not the answer.

namespace fs = std::filesystem;

class FpgaBinary : public test::SolverFixture<float> {
 protected:
  static constexpr Index kRows = 5003;

  /// Call f(options) for each device with an FPGA, emulated or not.
  template <typename F>
  static void with_every_fpga(const F& f) {
    int found = 0;
    test::with_every_true_device([&](Options options) {
      if (test::device_of(options).type != DeviceType::fpga) return;
      ++found;
      f(options);
    });
    if (found == 0) GTEST_SKIP() << "there is no FPGA and no emulator";
  }
  /// Call f(options, index) for each emulator, which builds programs by itself, with its kernels for FPGAs.
  template <typename F>
  static void with_every_emulator(const F& f) {
    with_every_fpga([&](Options options) {
      const int index = std::stoi(options.devices);
      options.variant = "default";
      if (device_module(nullptr)->info(index).emulated) f(options, index);
    });
  }
  static ProgramMaker& maker() { return *device_module(nullptr)->programs(); }
  /// A folder of that name with nothing in it.
  std::string anew(const std::string& name) const {
    fs::remove_all(folder_ / name);
    fs::create_directories(folder_ / name);
    return path(name);
  }
  /// By the device that the options name, and no other.
  static std::vector<float> solution(const Options& options, const Bands<float>& bands) {
    Solver<float> solver = test::solver_for(bands, options);
    EXPECT_EQ(solver.report().device.type, "fpga") << solver.report().device.why;
    return test::answer(solver, test::random_vector<float>(bands.lines().extent()));
  }
  /// The device cannot be used, which is told with these texts, and the host solves.
  static void expect_left_out(Options options, const Bands<float>& bands, const std::vector<std::string>& texts) {
    options.on_device_failure = OnDeviceFailure::quiet;
    options.profile = "none";
    Solver<float> solver = test::solver_for(bands, options);
    EXPECT_LE(backward_error(solver, bands), 100);
    EXPECT_EQ(solver.report().device.type, "host");
    ASSERT_EQ(solver.report().degraded.size(), 1U);
    for (const std::string& text : texts) {
      EXPECT_NE(solver.report().degraded[0].find(text), std::string::npos)
          << text << ": " << solver.report().degraded[0];
    }
  }

  /// What oclspkt-fpga-build makes of a scheme's kernel, as its plans want it.
  struct Program {
    const char *scheme, *kernel, *defines;
    Index lines;
  };
  static constexpr Program kPrograms[] = {
      {"fpga-spktrunc", "task_spktrunc", "-D TASK_ROWS=32", 1},
      {"fpga-spkboth", "task_spkboth", "-D TASK_ROWS=32", 1},
      {"fpga-spkjac", "task_spkjac", "-D TASK_ROWS=32", 1},
      {"fpga-tdma", "tdma", "-D TASK_ROWS=32", 1},
      {"fpga-batch", "batch", "-D TASK_ROWS=32 -D BATCH_LINES=32 -D KEPT_ROWS=1024", 40},
  };
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const Bands<float> bands_ = test::random_dominant<float>(LineSet::one(kRows), 3);
  const test::FreshFolder fresh_;
  const fs::path folder_ = fresh_.path();
};

TEST_F(FpgaBinary, ThatIsDamagedLeavesTheRowsToTheHost) {
  std::ofstream(path("cut.bin")) << "half of a program";
  std::ofstream(path("cut.bin.json")) << "{\"oclspkt\": \"program 1\", \"dev";
  with_every_fpga([&](Options options) {
    options.use.fpga_binary = path("cut.bin");
    expect_left_out(options, bands_, {path("cut.bin"), "damaged", "oclspkt-fpga-build"});
    options.on_device_failure = OnDeviceFailure::error;
    EXPECT_THROW(test::solver_for(bands_, options), DeviceError);
  });
}

TEST_F(FpgaBinary, GivesTheBitsOfTheText) {
  with_every_emulator([&](Options options, int index) {
    for (const Program& program : kPrograms) {
      for (const bool symmetric : {false, true}) {
        SCOPED_TRACE(std::string(program.scheme) + (symmetric ? ", symmetric" : ""));
        const LineSet lines = program.lines > 1 ? LineSet::equal(program.lines, 71) : LineSet::one(kRows);
        const Bands<float> bands =
            symmetric ? test::random_symmetric<float>(lines, 5) : test::random_dominant<float>(lines, 5);
        options.variant = program.scheme;
        options.use.fpga_binary.clear();
        const std::vector<float> built = solution(options, bands);
        options.use.fpga_binary = anew(program.scheme + std::string(symmetric ? "-symmetric" : ""));
        maker().build(index, {program.kernel, false, program.defines + std::string(symmetric ? " -D SYMMETRIC" : "")},
                      options.use.fpga_binary);
        EXPECT_EQ(solution(options, bands), built);
        // Without the file there is nothing that the device could solve with.
        options.use.fpga_binary = anew("empty");
        expect_left_out(options, bands, {"no file of ", program.kernel, "oclspkt-fpga-build"});
      }
    }
  });
}

TEST_F(FpgaBinary, OfAnotherKindSaysOfWhich) {
  with_every_emulator([&](Options options, int index) {
    options.method = MethodChoice::truncated_streamed;
    const auto expect_other = [&](const ProgramOrder& order, const std::string& text) {
      const std::string folder = anew("other");
      for (const std::string& path : {maker().build(index, order, folder), folder}) {
        options.use.fpga_binary = path;
        expect_left_out(options, bands_, {"no file of " + path, text});
      }
    };
    expect_other({"task_spkjac", false, "-D TASK_ROWS=64"}, "is for blocks of 64 rows, not 32");
    expect_other({"task_spkjac", true, "-D TASK_ROWS=32"}, "is for scalar double, not float");
    expect_other({"task_spkjac", false, "-D TASK_ROWS=32 -D SYMMETRIC"}, "is for form symmetric, not general");
    expect_other({"task_spkjac", false, "-D TASK_ROWS=32 -D MORE=1"}, "is for options -DFPGA");
    options.partition = 64;
    options.use.fpga_binary = maker().build(index, {"task_spkjac", false, "-D TASK_ROWS=32"}, anew("short"));
    expect_left_out(options, bands_, {"is for blocks of 32 rows, not 64"});
  });
}

TEST_F(FpgaBinary, ThatIsDamagedOrOfAnotherDriverLeavesTheRowsToTheNextDevice) {
  with_every_emulator([&](Options options, int index) {
    const std::string file = maker().build(index, {"task_spkjac", false, "-D TASK_ROWS=32"}, anew("damaged"));
    const std::string bytes = test::contents_of(file), note = test::contents_of(file + ".json");
    options.use.fpga_binary = file;
    const auto expect_next = [&](const std::string& why) {
      expect_left_out(options, bands_, {file, why, "oclspkt-fpga-build"});
      Options two = options;
      two.devices += ",host";
      two.balance = "1,0";
      expect_left_out(two, bands_, {file, why});
      test::write_file(file, bytes);
      test::write_file(file + ".json", note);
    };
    std::string flipped = bytes;
    flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 1);
    test::write_file(file, flipped);
    expect_next("its checksum is not that of");
    test::write_file(file, bytes.substr(0, bytes.size() / 2));
    expect_next("is damaged: it has");
    fs::remove(file + ".json");
    expect_next("beside it");
    const std::string driver = device_module(nullptr)->info(index).driver_version;
    std::string older = note;
    older.replace(older.find(driver), driver.size(), "an older one");
    test::write_file(file + ".json", older);
    expect_next("driver an older one");
    EXPECT_NE(solution(options, bands_), std::vector<float>()) << "whole again";
  });
}

TEST_F(FpgaBinary, OfOtherKernelsLeavesACompilerItsWork) {
  ProgramMaker* const maker = device_module(nullptr)->programs();
  ASSERT_NE(maker, nullptr);
  with_every_fpga([&](Options options) {
    const int index = std::stoi(options.devices);
    if (!device_module(nullptr)->info(index).compiler) return;
    Solver<float> solver = test::solver_for(bands_, options);
    const std::vector<float> y = test::random_vector<float>(kRows);
    maker->build(index, {"stream"}, folder_.string());
    options.use.fpga_binary = folder_.string();
    Solver<float> other = test::solver_for(bands_, options);
    EXPECT_EQ(test::answer(solver, y), test::answer(other, y));
    EXPECT_NE(other.report().device.type, "host");
  });
}

TEST_F(FpgaBinary, IsNothingToDevicesThatAreNoFpgas) {
  test::with_every_device([&](Options options) {
    if (options.devices == "host" || test::device_of(options).type == DeviceType::fpga) return;
    options.use.fpga_binary = path("nowhere.bin");
    Solver<float> solver = test::solver_for(bands_, options);
    EXPECT_LE(backward_error(solver, bands_), 100);
    EXPECT_NE(solver.report().device.type, "host");
  });
}

}  // namespace
}  // namespace oclspkt
