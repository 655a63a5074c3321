// SPDX-License-Identifier: BSD-2-Clause
// NVRTC compiles every kernel in every form that a scheme asks for.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "kernel_source.hpp"
#include "nvrtc.hpp"
#include "translate.hpp"

namespace oclspkt::test {
namespace {

/// Forms of a kernel: one of each list of alternatives, which '|' separates.
struct Forms {
  const char* kernel;
  std::vector<const char*> options;
};

const char* const kNoEntries = "FLOAT NO_ENTRY=2143662325|DOUBLE NO_ENTRY=9221120237243838709";

// What ocl/schemes, ocl/sparse.cpp and ocl/registry.cpp pass; shapes as for an H200. Where a kernel refuses a form, it
// is of another row.
const Forms kByGroups[] = {
    {"tile_halo", {"GROUP_ITEMS=256 ITEM_ROWS=8", "NAN_SAFE=0|NAN_SAFE=1", "|SHARED_FACTORS|SYMMETRIC"}},
    {"tile_halo", {"DOUBLE GROUP_ITEMS=128 ITEM_ROWS=8 NARROW_FACTORS", "NAN_SAFE=0|NAN_SAFE=1", "|SYMMETRIC"}},
    {"tile_stored",
     {"GROUP_ITEMS=128 ITEM_ROWS=8 CORE_GROUPS=2", "NAN_SAFE=0|NAN_SAFE=1", "|SHARED_FACTORS|SYMMETRIC", "|CORRECTED"}},
    {"tile_stored",
     {"DOUBLE GROUP_ITEMS=128 ITEM_ROWS=8 NARROW_FACTORS", "NAN_SAFE=0|NAN_SAFE=1", "|SYMMETRIC", "|CORRECTED"}},
    {"tile_shared",
     {"GROUP_ITEMS=128 ITEM_ROWS=8 STEPS=3", "NAN_SAFE=0|NAN_SAFE=1", "ITEM_TILES=1|ITEM_TILES=2", "|SYMMETRIC",
      "|PRODUCTS_TOLD"}},
    {"tile_halo", {"DOUBLE GROUP_ITEMS=128 ITEM_ROWS=8 NAN_SAFE=1 ON_DEMAND"}},
    {"tile_stored", {"GROUP_ITEMS=128 ITEM_ROWS=8 NAN_SAFE=1 ON_DEMAND", "|CORRECTED"}},
    {"tile_shared", {"GROUP_ITEMS=128 ITEM_ROWS=8 STEPS=3 ITEM_TILES=1 NAN_SAFE=1 ON_DEMAND"}},
    {"tile_reduce", {"GROUP_ITEMS=128 ITEM_ROWS=8", "|SYMMETRIC"}},
    {"tile_reduce", {"FLOAT GROUP_ITEMS=128 ITEM_ROWS=8 WIDE", "|SYMMETRIC"}},
    {"tile_reduce", {"GROUP_ITEMS=128 ITEM_ROWS=4 LEVEL"}},
    {"tile_solve", {"GROUP_ITEMS=128 ITEM_ROWS=8", "|SYMMETRIC"}},
    {"tile_solve", {"FLOAT GROUP_ITEMS=128 ITEM_ROWS=8 WIDE", "|SYMMETRIC"}},
    {"tile_solve", {"GROUP_ITEMS=128 ITEM_ROWS=4 LEVEL"}},
    {"tile_substitute", {"GROUP_ITEMS=128 ITEM_ROWS=8", "|SYMMETRIC"}},
    {"tile_substitute", {"FLOAT GROUP_ITEMS=128 ITEM_ROWS=8 WIDE", "|SYMMETRIC"}},
    {"tile_substitute", {"GROUP_ITEMS=128 ITEM_ROWS=4 LEVEL"}},
    {"tile_stream", {"READS=1|READS=2|READS=3|READS=4"}},
    {"grid_factored", {"BUNDLE=32 ITEMS_DOWN=8 ITEM_ROWS=4", "|SHARED_FACTORS|SYMMETRIC", "|IN_TURN"}},
    {"grid_factored", {"BUNDLE=256 ITEMS_DOWN=1 ITEM_ROWS=8", "|SHARED_FACTORS|SYMMETRIC"}},
    {"grid_streamed", {"BUNDLE=32 ITEMS_DOWN=16 ITEM_ROWS=8", "IN_FLIGHT=1|IN_FLIGHT=3", "|SYMMETRIC", "|IN_TURN"}},
    {"grid_whole", {"BUNDLE=16 ITEMS_DOWN=16 ITEM_ROWS=8", "|SHARED_FACTORS|SYMMETRIC", "|IN_TURN|SEGMENTS"}},
    {"grid_whole", {"BUNDLE=16 ITEMS_DOWN=16 ITEM_ROWS=8 LEFT", "|SHARED_FACTORS", "IN_TURN|SEGMENTS"}},
    {"grid_condense", {"BUNDLE=16 ITEMS_DOWN=16 ITEM_ROWS=8", "|SHARED_FACTORS|SYMMETRIC|LEFT|LEFT SHARED_FACTORS"}},
    {"grid_shared",
     {"BUNDLE=64 ITEMS_DOWN=8 ITEM_ROWS=8", "LINES=1|LINES=2",
      "IN_ONE_TILE=0 AHEAD=1|IN_ONE_TILE=1 AHEAD=0|IN_ONE_TILE=1 AHEAD=1", "|IN_TURN"}},
    {"grid_shared_back", {"BUNDLE=64 ITEMS_DOWN=8 ITEM_ROWS=8 SHARED_FACTORS", "LINES=1|LINES=2"}},
    {"grid_shared_condense", {"BUNDLE=64 ITEMS_DOWN=8 ITEM_ROWS=8 SHARED_FACTORS", "LINES=1|LINES=2"}},
    {"paper_marshal", {"GROUP_ITEMS=64 BLOCK_ROWS=16"}},
    {"paper_unmarshal", {"GROUP_ITEMS=64 BLOCK_ROWS=16"}},
    {"paper_spkfact", {"GROUP_ITEMS=64 PARTITION_ROWS=33", "STAGED=0|STAGED=1"}},
    {"paper_spktrrecl", {"GROUP_ITEMS=64 PARTITION_ROWS=33"}},
    {"paper_spktrrecul", {"GROUP_ITEMS=64 PARTITION_ROWS=33", ""}},
    {"border_take", {""}},
    {"border_put", {""}},
    {"border_correct", {""}},
    {"change_rows", {"|MULTIPLY"}},
    {"vector_combine", {"GROUP_ITEMS=256", "TERMS=0|TERMS=3|TERMS=8", "KEEP=0|KEEP=1"}},
    {"vector_pointwise",
     {"GROUP_ITEMS=256",
      "OPERATION=0|OPERATION=1|OPERATION=2|OPERATION=3|OPERATION=4|OPERATION=5|OPERATION=6|"
      "OPERATION=7|OPERATION=8|OPERATION=9"}},
    {"vector_dots", {"GROUP_ITEMS=256", "TERMS=1|TERMS=8"}},
    {"vector_sum", {"GROUP_ITEMS=256", "SUM=0|SUM=1|SUM=2|SUM=3"}},
    {"vector_extreme", {"GROUP_ITEMS=256", "EXTREME=0|EXTREME=1|EXTREME=2"}},
    {"vector_put", {"GROUP_ITEMS=256", "MERGE=0|MERGE=1|MERGE=2"}},
    {"vector_gather", {"GROUP_ITEMS=256"}},
    {"vector_scatter_add", {"GROUP_ITEMS=256"}},
    {"cg_step", {"GROUP_ITEMS=256", "CG=0|CG=1|CG=2|CG=3"}},
    {"cg_direction", {"GROUP_ITEMS=256"}},
    {"product_dia", {"GROUP_ITEMS=256 SLICE=32", kNoEntries, "|PLUS|DOT"}},
    {"product_sell", {"GROUP_ITEMS=256 SLICE=32", "|PLUS|DOT", "|WIDE", "|SORTED"}},
    {"product_rows", {"GROUP_ITEMS=256 BLOCK_ENTRIES=2048", "|PLUS|DOT", "|WIDE"}},
    {"product_segments", {"GROUP_ITEMS=64", "|PLUS|DOT"}},
    {"task_spkjac", {"TASK_ROWS=32", "|SYMMETRIC"}},
    {"task_spkboth", {"TASK_ROWS=32", "|SYMMETRIC"}},
    {"task_spktrunc", {"TASK_ROWS=32", "|SYMMETRIC"}},
    {"tdma", {"TASK_ROWS=32", "|SYMMETRIC"}},
    {"batch", {"TASK_ROWS=32 BATCH_LINES=16", "KEPT_ROWS=0|KEPT_ROWS=64", "|SYMMETRIC", "|UNEQUAL"}},
};
// Variant `cpu` on a GPU: as many lanes as its cache lines hold (ocl/discovery.cpp).
const char* const kLanes = "FLOAT LANES=16 NATIVE_LANES=16|DOUBLE LANES=8 NATIVE_LANES=8";
const Forms kByLanes[] = {
    {"vector_combine", {kLanes, "GROUP_ITEMS=1", "TERMS=0|TERMS=8", "KEEP=0|KEEP=1"}},
    {"vector_pointwise", {kLanes, "GROUP_ITEMS=1", "OPERATION=1|OPERATION=5|OPERATION=9"}},
    {"vector_dots", {kLanes, "GROUP_ITEMS=1", "TERMS=1|TERMS=8"}},
    {"vector_sum", {kLanes, "GROUP_ITEMS=1", "SUM=0|SUM=3"}},
    {"vector_extreme", {kLanes, "GROUP_ITEMS=1", "EXTREME=0|EXTREME=2"}},
    {"cg_step", {kLanes, "GROUP_ITEMS=1", "CG=0|CG=1|CG=2|CG=3"}},
    {"cg_direction", {kLanes, "GROUP_ITEMS=1"}},
    {"product_dia", {kLanes, "GROUP_ITEMS=1", "FLOAT SLICE=16|DOUBLE SLICE=8", kNoEntries, "|PLUS|DOT"}},
    {"product_sell", {kLanes, "GROUP_ITEMS=1", "FLOAT SLICE=16|DOUBLE SLICE=8", "|PLUS|DOT", "|WIDE", "|SORTED"}},
    {"product_rows", {kLanes, "GROUP_ITEMS=1 BLOCK_ENTRIES=2048", "|PLUS|DOT", "|WIDE"}},
    {"product_segments", {kLanes, "GROUP_ITEMS=1", "|PLUS|DOT"}},
    {"stream", {kLanes}},
    {"truncated_halo", {kLanes}},
    {"truncated_tiles", {kLanes}},
    {"exact_reduce", {kLanes}},
    {"exact_substitute", {kLanes}},
    {"twisted_eliminate", {kLanes}},
    {"twisted_substitute", {kLanes}},
    {"paper_lanes_marshal", {kLanes}},
    {"paper_lanes_spkfact", {kLanes}},
    {"paper_lanes_spktrrec", {kLanes}},
    {"paper_lanes_unmarshal", {kLanes}},
    {"interleaved_streamed", {kLanes, "|CORRECTED"}},
    {"interleaved_streamed", {"DOUBLE NARROW_FACTORS", kLanes, "|CORRECTED"}},
    {"interleaved_factor", {kLanes}},
    {"interleaved_factor", {"DOUBLE NARROW_FACTORS", kLanes}},
    {"strided_factored", {kLanes}},
    {"strided_factored", {"DOUBLE NARROW_FACTORS", kLanes}},
    {"strided_halo", {kLanes}},
    {"strided_shared", {kLanes}},
};

struct Variant {
  std::string kernel, options;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  if (text.empty() || text.back() == by) parts.emplace_back();
  return parts;
}

/// Every combination of alternatives.
std::vector<std::string> combinations(const std::vector<const char*>& lists) {
  std::vector<std::string> all = {""};
  for (const char* list : lists) {
    std::vector<std::string> longer;
    for (const std::string& begin : all) {
      for (const std::string& alternative : split(list, '|')) longer.push_back(begin + " " + alternative);
    }
    all = longer;
  }
  return all;
}

/// The variants of a row; only the first one of each precision if asked for.
void add_variants(const Forms& forms, const std::string& more, bool first_only, std::vector<Variant>* to) {
  for (const char* precision : {"FLOAT", "DOUBLE"}) {
    const std::string other = std::string(precision) == "FLOAT" ? "DOUBLE" : "FLOAT";
    for (const std::string& combination : combinations(forms.options)) {
      std::string options = "-cl-std=CL1.2 -D SCALAR=SCALAR_" + std::string(precision) + more;
      bool fits = true;
      for (const std::string& word : split(combination, ' ')) {
        fits = fits && word != other;
        if (!word.empty() && word != precision) options += " -D " + word;
      }
      if (!fits) continue;
      to->push_back({forms.kernel, options});
      if (first_only) break;
    }
  }
}

constexpr const char* kScalars = " -D LANES=1 -D NATIVE_LANES=1";

std::vector<Variant> variants_by_groups(bool first_only) {
  std::vector<Variant> all;
  for (const Forms& forms : kByGroups) add_variants(forms, kScalars, first_only, &all);
  return all;
}

std::vector<Variant> every_variant() {
  std::vector<Variant> all = variants_by_groups(false);
  for (const Forms& forms : kByLanes) add_variants(forms, "", false, &all);
  return all;
}

const char* text_of(const std::string& kernel) {
  for (const auto* source = ocl::kKernelSources; source->name != nullptr; ++source) {
    if (kernel == source->name) return source->text;
  }
  return "#error no such kernel\n";
}

/// Call work(i) for each i below count, by all processors.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i; (i = next++) < count;) work(i);
    });
  }
}

/// Compile, with every warning but that of unused variables.
Compiled compile(const Variant& variant, const std::vector<std::string>& more) {
  cuda::CudaProgram program = cuda::translate(text_of(variant.kernel), variant.options);
  std::erase(program.options, "-w");
  program.options.emplace_back("-diag-suppress=177");
  program.options.insert(program.options.end(), more.begin(), more.end());
  return Nvrtc::get().compile(program.text, program.options);
}

/// Compile all; one that does not compile fails the test, with its log. @param warnings  they fail the test, too
std::vector<Compiled> compile_all(const std::vector<Variant>& variants, const std::vector<std::string>& more,
                                  bool warnings) {
  std::vector<Compiled> results(variants.size());
  in_parallel(variants.size(), [&](std::size_t i) { results[i] = compile(variants[i], more); });
  constexpr int kMostLogs = 5;
  int logs = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (results[i].good && (!warnings || results[i].log.empty())) continue;
    ADD_FAILURE() << variants[i].kernel << " " << variants[i].options << "\n"
                  << (++logs <= kMostLogs ? results[i].log.substr(0, 3000) : "");
  }
  return results;
}

std::string arch(int capability) { return "--gpu-architecture=sm_" + std::to_string(capability); }

/// The numbers of a kernel's table in PTX, as bytes; those at the end are left out where they are 0.
std::vector<int> table_in(const std::string& ptx, const std::string& kernel) {
  std::smatch found;
  const std::regex pattern(cuda::signature_variable(kernel) + R"(\[(\d+)\] = \{([^}]*)\})");
  if (!std::regex_search(ptx, found, pattern)) return {};
  std::vector<int> numbers(std::stoul(found[1]) / sizeof(int));
  const std::vector<std::string> bytes = split(found[2], ',');
  for (std::size_t i = 0; i < bytes.size(); ++i) numbers.at(i / 4) |= std::stoi(bytes[i]) << 8 * (i % 4);
  return numbers;
}

std::string kinds_in(const std::string& ptx, const std::string& kernel) {
  std::string text;
  for (const cuda::Parameter& p : cuda::signature(table_in(ptx, kernel)).parameters) {
    text += "vbl"[static_cast<int>(p.kind)];
  }
  return text;
}

/// To the compiler's own representation: all errors and warnings of the language show, and nothing is optimised.
TEST(Nvrtc, CompilesEveryVariant) {
  const std::vector<Variant> all = every_variant();
  std::printf("NVRTC %s, %zu variants\n", Nvrtc::get().version().c_str(), all.size());
  EXPECT_GT(all.size(), 200);
  compile_all(all, {"-dlto", arch(90)}, true);
}

/// One form of each row and precision, for the oldest card that the compiler knows: newer ones lack nothing of it.
TEST(Nvrtc, MakesMachineCodeOfEveryKernel) {
  const std::vector<Variant> variants = variants_by_groups(true);
  const std::vector<Compiled> results = compile_all(variants, {arch(Nvrtc::get().lowest())}, false);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string& kernel = variants[i].kernel;
    if (!results[i].good) continue;
    const std::vector<int> table = table_in(results[i].ptx, kernel);
    ASSERT_GT(table.size(), 6) << kernel;
    // A group that the text requires is one that the code is made for.
    const bool has_bound = results[i].ptx.find(".maxntid " + std::to_string(table[0])) != std::string::npos;
    EXPECT_EQ(has_bound, table[0] > 0) << kernel;
  }
}

TEST(Nvrtc, TellsTheParametersThatConditionsLeave) {
  const auto kinds = [](const std::string& kernel, const std::string& options) {
    const std::string scalar = "-D SCALAR=SCALAR_FLOAT";
    return kinds_in(compile({kernel, scalar + kScalars + options}, {arch(90)}).ptx, kernel);
  };
  EXPECT_EQ(kinds("tile_reduce", " -D GROUP_ITEMS=32 -D ITEM_ROWS=4"), "bbbbbbvvl");
  EXPECT_EQ(kinds("tile_reduce", " -D GROUP_ITEMS=32 -D ITEM_ROWS=4 -D LEVEL"), "bbbvvl");
  EXPECT_EQ(kinds("tile_solve", " -D GROUP_ITEMS=32 -D ITEM_ROWS=4 -D LEVEL"), "bbvl");
  EXPECT_EQ(kinds("tile_stream", " -D READS=2"), "bbbbbv");
}

/// Vectors move as wholes, and addresses are known to be those of global or local memory.
TEST(Nvrtc, MovesVectorsAsWholes) {
  const std::string ptx =
      compile({"tile_halo",
               "-D SCALAR=SCALAR_FLOAT -D GROUP_ITEMS=128 -D ITEM_ROWS=8 -D NAN_SAFE=1" + std::string(kScalars)},
              {arch(90)})
          .ptx;
  const auto count = [&](const char* pattern) {
    const std::regex regex(pattern);
    return std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), regex), std::sregex_iterator());
  };
  EXPECT_GE(count(R"(ld\.global[.a-z]*\.v4\.)"), 8);
  EXPECT_GE(count(R"(st\.shared\.v4\.)"), 8);
  EXPECT_GE(count(R"(ld\.shared\.v4\.)"), 8);
  EXPECT_EQ(count(R"(\b(ld|st)\.(v[24]\.)?[fbu]\d)"), 0);
  EXPECT_EQ(count("__local_depot"), 0);  // private arrays are registers
}

/// What stands before a text is OpenCL C for the compiler, too.
TEST(Nvrtc, HasTheTypesOfOpenCl) {
  const cuda::CudaProgram program = cuda::translate(R"(
template <typename A, typename B> struct Same { enum { value = 0 }; };
template <typename A> struct Same<A, A> { enum { value = 1 }; };
static_assert(sizeof(long) == 8 && sizeof(ulong) == 8 && sizeof(size_t) == 8 && sizeof(float4) == 16, "");
static_assert(alignof(float4) == 16 && alignof(double2) == 16, "");
static_assert(Same<decltype(get_global_id(0)), size_t>::value, "64 bits");
static_assert(Same<decltype(float4() < float4()), int4>::value, "");
static_assert(Same<decltype(max(1L, 2L)), long>::value && Same<decltype(min(1, 2)), int>::value, "");
static_assert(Same<decltype(fma(1.0f, 2.0f, 3.0f)), float>::value && Same<decltype(fabs(1.0)), double>::value, "");
static_assert(INT_MIN == -2147483647 - 1 && LONG_MIN < INT_MIN && __OPENCL_C_VERSION__ == 120, "");
__constant double table[2] = {1, 2};
__kernel void k(__global double* restrict x, __local float2* w, const int n) {
  __local int flags[4];
  if (get_local_id(0) < 4) flags[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const float4 v = (float4)(1, 2, x[0], n);
  atomic_or(flags + 1, n);
  atomic_add((volatile __global int*)x, 1);
  w[get_local_id(0)] = (float2)(v.s3, select(v.y, v.x, isnan(x[1])));
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = table[n & 1] + ((__local float*)w)[0] + flags[1] + (n ? NAN : INFINITY);
})",
                                                    "-cl-std=CL1.2");
  std::vector<std::string> options = program.options;
  options.push_back(arch(90));
  const Compiled result = Nvrtc::get().compile(program.text, options);
  EXPECT_TRUE(result.good) << result.log;
  EXPECT_EQ(kinds_in(result.ptx, "k"), "blv");
}

TEST(Nvrtc, RefusesASecondLocalArgumentAndNamesTheLine) {
  const auto log_of = [](const char* text) {
    cuda::CudaProgram program = cuda::translate(text, "");
    program.options.push_back(arch(90));
    const Compiled result = Nvrtc::get().compile(program.text, program.options);
    EXPECT_FALSE(result.good);
    return result.log;
  };
  EXPECT_NE(log_of("__kernel void k(__local int* a, __local int* b) {}").find("at most one __local argument"),
            std::string::npos);
  EXPECT_NE(log_of("int a;\n\nint b = c;\n").find("kernel(3): error"), std::string::npos);
}

/// A definition that a scheme passes and that no row above has would leave a form that nobody compiles.
TEST(Variants, HaveEveryDefinitionOfTheSchemes) {
  std::set<std::string> tested;
  for (const Variant& variant : every_variant()) {
    for (const std::string& word : split(variant.options, ' ')) tested.insert(word.substr(0, word.find('=')));
  }
  int count = 0;
  const std::regex definition("-D ([A-Z_]+)");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(OCLSPKT_SCHEMES)) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string content = text.str();
    for (std::sregex_iterator at(content.begin(), content.end(), definition); at != std::sregex_iterator(); ++at) {
      ++count;
      EXPECT_TRUE(tested.contains((*at)[1])) << entry.path() << " passes -D " << (*at)[1];
    }
  }
  EXPECT_GT(count, 40);
}

TEST(Variants, HaveEveryKernel) {
  std::set<std::string> tested;
  for (const Variant& variant : every_variant()) tested.insert(variant.kernel);
  for (const auto* source = ocl::kKernelSources; source->name != nullptr; ++source) {
    EXPECT_TRUE(tested.contains(source->name)) << source->name;
  }
}

}  // namespace
}  // namespace oclspkt::test
