// SPDX-License-Identifier: BSD-2-Clause
// What becomes of texts in OpenCL C. What stands before them is looked at by vectors_test.cpp and on_host_test.cpp, and
// by NVRTC in compile_test.cpp.
#include <algorithm>

#include "kernel_source.hpp"
#include "thrown.hpp"
#include "translate.hpp"

namespace oclspkt::cuda {
namespace {

/// What comes of the text itself.
std::string body_of(std::string_view text, std::string_view options = "") {
  const std::string all = translate(text, options).text;
  const std::string begin = "#line 1 \"kernel\"\n", end = "\n}\n}\n";
  const std::size_t at = all.find(begin) + begin.size();
  return all.substr(at, all.size() - end.size() - at);
}

bool has_option(const CudaProgram& program, const std::string& option) {
  return std::find(program.options.begin(), program.options.end(), option) != program.options.end();
}

TEST(Translate, LeavesCAsItIs) {
  const std::string text =
      "// __local (float4)(a, b) it's\n/* __kernel */ const char* s = \"__local (t)(a, b)\", c = '\"';\n"
      "#error it's __local\n#define ADD(a, b) ((a) + (b))\n"
      "static inline float f(float x) { return (x)*(float)(x) + g(1, 2) + (float)(h(1, 2)) + JOIN(v, 4)(0, p); }\n";
  EXPECT_EQ(body_of(text), text);
}

TEST(Translate, TellsLocalVariablesFromPointersIntoLocalMemory) {
  EXPECT_EQ(body_of("__local float a[N], b[2 * N][3];"), "__shared__ float a[N], b[2 * N][3];");
  EXPECT_EQ(body_of("__local int flag;"), "__shared__ int flag;");
  EXPECT_EQ(body_of("__local const T *const a = w, *const b = w + 1;"), " const T *const a = w, *const b = w + 1;");
  EXPECT_EQ(body_of("local T* f(__local T* a, int n) { return (__local T*)a; }"),
            " T* f( T* a, int n) { return ( T*)a; }");
  EXPECT_EQ(body_of("struct { __local T *a, *b; };"), "struct {  T *a, *b; };");
  EXPECT_EQ(body_of("#define AT(type, p) (*(__local type*)(p))\n"), "#define AT(type, p) (*( type*)(p))\n");
  EXPECT_THROW(body_of("__local float a[N], *b;"), BuildError);
}

TEST(Translate, TellsConstantsFromPointersToThem) {
  EXPECT_EQ(body_of("__constant float table[2] = {1, 2};"), "__constant__ float table[2] = {1, 2};");
  EXPECT_EQ(body_of("float f(__constant float* p);"), "float f(const float* p);");
  EXPECT_EQ(body_of("float f(global float* p, private int i);"), "float f( float* p,  int i);");
}

TEST(Translate, MakesKernelsOfKernels) {
  EXPECT_EQ(body_of("__kernel void k(__global int* a) {\n  if (a) { }\n}\n"),
            "extern \"C\" __global__ void k(__global int* a) {\n  if (a) { }\n} OPENCL_KERNEL_TABLE(k, 0, 0, 0)\n");
  EXPECT_EQ(body_of("kernel __attribute__((reqd_work_group_size(F(2, N), (M), 1))) void k(int a) {}"),
            "extern \"C\" __global__ __attribute__((reqd_work_group_size(F(2, N), (M), 1))) void k(int a) {} "
            "OPENCL_KERNEL_TABLE(k, F(2, N), (M), 1)");
  EXPECT_EQ(body_of("__kernel void k(int a);"), "extern \"C\" __global__ void k(int a);");
  const CudaProgram two = translate("__kernel void a() {}\n__kernel TASK void b(int n) {}", "");
  EXPECT_EQ(two.kernels, (std::vector<std::string>{"a", "b"}));
}

TEST(Translate, FindsTheEndOfKernelsUnderConditions) {
  const std::string text =
      "#ifdef A\n__kernel void k(\n#ifdef B\n  int b,\n#endif\n  int a) {\n#if C\n  for (;;) {\n#elif D\n  while (1) "
      "{\n#else\n  {\n"
      "#endif\n  }\n}\n#endif\n";
  std::string expected = text;
  expected.replace(0, 18, "#ifdef A\nextern \"C\" __global__ ");
  expected.insert(expected.rfind("\n#endif\n"), " OPENCL_KERNEL_TABLE(k, 0, 0, 0)");
  EXPECT_EQ(body_of(text), expected);
  EXPECT_THROW(body_of("__kernel void k(int a) {"), BuildError);
  EXPECT_THROW(body_of("__kernel void k(int a {}"), BuildError);
}

TEST(Translate, TakesLocalArgumentsFromTheLaunch) {
  EXPECT_NE(body_of("__kernel void k(int a,\n  __local\n const /* of 16 bytes */ float4* restrict w) {}")
                .find("(int a,\n  ::opencl::LocalArgument<const float4> \n w) {}"),
            std::string::npos);
  EXPECT_NE(body_of("__kernel void k(local T *const w, int n) {}").find("(::opencl::LocalArgument<T>  w, int n) {}"),
            std::string::npos);
  EXPECT_THROW(body_of("__kernel void k(__local T w[]) {}"), BuildError);
}

TEST(Translate, MakesConstructorsOfVectorLiterals) {
  EXPECT_EQ(body_of("x = (float4)(a, f(b, c), d[0], 1);"), "x = float4(a, f(b, c), d[0], 1);");
  EXPECT_EQ(body_of("return (v)((w)(a, b), (v)(0));"), "return v(w(a, b), (v)(0));");
  EXPECT_EQ(body_of("#define PAIR(a, b) ((v)(a, b))\n"), "#define PAIR(a, b) (v(a, b))\n");
  EXPECT_EQ(body_of("x = (t)(f(a, b)) + g(a)(b, c) + (n)(m[i, j]);"), "x = (t)(f(a, b)) + g(a)(b, c) + (n)(m[i, j]);");
}

TEST(Translate, KeepsTheNumbersOfLines) {
  for (const auto* source = ocl::kKernelSources; source->name != nullptr; ++source) {
    const std::string text = source->text, body = body_of(text);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(body.begin(), body.end(), '\n')) << source->name;
  }
}

TEST(Translate, FindsTheKernelOfEveryFile) {
  for (const auto* source = ocl::kKernelSources; source->name != nullptr; ++source) {
    EXPECT_EQ(translate(source->text, "").kernels, std::vector<std::string>{source->name});
  }
}

TEST(Translate, PutsDefinitionsInFrontOfTheText) {
  const std::string text = translate("", "-cl-std=CL1.2 -D A=1 -DB=x(y)  -D C -cl-opt-disable").text;
  EXPECT_NE(text.find("\n#define A 1\n#define B x(y)\n#define C 1\nnamespace"), std::string::npos);
}

TEST(Translate, RoundsAsOpenClDoes) {
  const CudaProgram usual = translate("", "-cl-std=CL1.2");
  EXPECT_TRUE(has_option(usual, "-fmad=true"));
  EXPECT_TRUE(has_option(usual, "-prec-div=false"));
  EXPECT_FALSE(has_option(usual, "-ftz=true"));
  EXPECT_TRUE(has_option(translate("int i;\n  # pragma OPENCL FP_CONTRACT OFF\n", ""), "-fmad=false"));
  EXPECT_TRUE(has_option(translate("#pragma OPENCL FP_CONTRACT ON\n", ""), "-fmad=true"));
  EXPECT_TRUE(has_option(translate("// #pragma OPENCL FP_CONTRACT OFF\n", ""), "-fmad=true"));
  const CudaProgram exact = translate("", "-cl-fp32-correctly-rounded-divide-sqrt -cl-denorms-are-zero");
  EXPECT_TRUE(has_option(exact, "-prec-div=true"));
  EXPECT_TRUE(has_option(exact, "-ftz=true"));
  EXPECT_EQ(body_of("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma unroll\n"), "\n#pragma unroll\n");
}

TEST(Translate, RefusesOptionsThatItDoesNotKnow) {
  EXPECT_THROW(translate("", "-I kernels"), BuildError);
  EXPECT_THROW(translate("", "-O3"), BuildError);
}

TEST(Translate, NamesTheLineThatItRefuses) {
  EXPECT_EQ(test::thrown_text<BuildError>([] { translate("int a;\n\n__local int b, *c;", ""); }),
            "line 3 of a kernel text: variables and pointers are declared at once: declare them apart");
}

TEST(Signature, IsReadFromTheNumbersOfAKernel) {
  EXPECT_EQ(signature_variable("stream"), "oclspkt_parameters_stream");
  const int numbers[] = {128, 2, 1, 1, 0, 2};
  const KernelSignature signature_of = signature(numbers);
  EXPECT_EQ(signature_of.group[0], 128);
  EXPECT_EQ(signature_of.group[1], 2);
  ASSERT_EQ(signature_of.parameters.size(), 3);
  EXPECT_EQ(signature_of.parameters[0].kind, ParameterKind::buffer);
  EXPECT_EQ(signature_of.parameters[1].kind, ParameterKind::value);
  EXPECT_EQ(signature_of.parameters[2].kind, ParameterKind::local);
  EXPECT_THROW(signature(std::span(numbers).first(2)), BuildError);
  const int wrong[] = {0, 0, 0, 3};
  EXPECT_THROW(signature(wrong), BuildError);
}

}  // namespace
}  // namespace oclspkt::cuda
