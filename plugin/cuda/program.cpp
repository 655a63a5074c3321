// SPDX-License-Identifier: BSD-2-Clause
#include <limits>

#include "objects.hpp"
#include "oclspkt/error.hpp"
#include "program_cache.hpp"

using namespace oclspkt::cuda;

namespace {

/// The newest architecture that both compiler and card support, as a compiler option. For the card's own architecture,
/// NVRTC makes machine code. An older compiler makes PTX, which the driver translates to machine code.
struct Architecture {
  std::string option;
  bool machine_code = false;
};

/// @param[out] why  if the option is empty: why compiler and card share no architecture
Architecture architecture_of(const Compiler& c, cl_device_id card, std::string& why) {
  int major = 0, minor = 0;
  for (const auto& [attribute, number] : {std::pair{kComputeMajor, &major}, std::pair{kComputeMinor, &minor}}) {
    if (const CUresult result = card->attribute(attribute, number); result != kSuccess) {
      why = failure("cuDeviceGetAttribute", result);
      return {};
    }
  }
  const int own = 10 * major + minor;
  Architecture of_card{"--gpu-architecture=sm_" + std::to_string(own), true};
  int count = 0;
  if (c.arch_count(&count) != 0 || count < 1) return of_card;
  std::vector<int> known(static_cast<std::size_t>(count));
  if (c.archs(known.data()) != 0) return of_card;
  int best = 0;
  for (const int arch : known) best = arch <= own ? std::max(best, arch) : best;
  if (best == own) return of_card;
  if (best > 0) return {"--gpu-architecture=compute_" + std::to_string(best), false};
  why = "CUDA's run-time compiler " + c.identity.substr(0, c.identity.find(' ')) +
        " makes no code for cards as old as this one, of compute capability " + std::to_string(major) + "." +
        std::to_string(minor) + ": install an older one, or name its file in OCLSPKT_NVRTC";
  return {};
}

/// Compile a program. @return code for the driver; empty after an error, whose cause is in the log
std::string compile(const Compiler& c, const CudaProgram& text, const Architecture& architecture, std::string& log) {
  nvrtcProgram program = nullptr;
  const auto destroy = [&c](nvrtcProgram* made) { *made != nullptr ? c.destroy(made) : 0; };
  const std::unique_ptr<nvrtcProgram, decltype(destroy)> owner(&program, destroy);
  std::vector<const char*> options{architecture.option.c_str()};
  for (const std::string& option : text.options) options.push_back(option.c_str());
  int error = c.create(&program, text.text.c_str(), "oclspkt.cu", 0, nullptr, nullptr);
  if (error == 0) error = c.compile(program, static_cast<int>(options.size()), options.data());
  const bool cubin = architecture.machine_code;
  std::size_t bytes = 0;
  log.clear();
  if (program != nullptr && c.log_size(program, &bytes) == 0 && bytes > 0) {
    log.resize(bytes);
    c.log(program, log.data());
    log.resize(std::strlen(log.c_str()));
  }
  std::string code;
  if (error == 0 && (cubin ? c.cubin_size : c.ptx_size)(program, &bytes) == 0 && bytes > 0) {
    code.resize(bytes);
    if ((cubin ? c.cubin : c.ptx)(program, code.data()) != 0) code.clear();
  }
  if (code.empty() && (error == 0 || log.empty())) {
    log += error != 0 ? c.error_text(error) : "CUDA's run-time compiler gives no code";
  }
  return code;
}

CUresult load(_cl_program& program, const std::string& code) {
  const Current current(program.context);
  if (current.result() != kSuccess) return current.result();
  const CUresult result = driver()->module_load(&program.module, code.data());
  if (result != kSuccess) program.module = nullptr;
  return result;
}

/// Load a program from the cache, or compile and load it. @return CL_SUCCESS, or an error whose cause is in the log
cl_int build(_cl_program& program, const std::string& options) {
  const Compiler* c = compiler(&program.log);
  if (c == nullptr) return CL_COMPILER_NOT_AVAILABLE;
  CudaProgram text;
  try {
    text = translate(program.source, options);
  } catch (const oclspkt::BuildError& error) {
    program.log = error.what();
    return CL_BUILD_PROGRAM_FAILURE;
  }
  const Architecture architecture = architecture_of(*c, program.context->device, program.log);
  if (architecture.option.empty()) return CL_BUILD_PROGRAM_FAILURE;
  const oclspkt::ocl::ProgramCache cache;
  std::vector<std::string> parts{"CUDA", c->identity, architecture.option, text.text};
  parts.insert(parts.end(), text.options.begin(), text.options.end());
  const std::string key = oclspkt::ocl::ProgramCache::key(parts);
  std::string code = cache.find(key);
  if (!code.empty() && load(program, code) == kSuccess) return CL_SUCCESS;
  code = compile(*c, text, architecture, program.log);
  if (code.empty()) return CL_BUILD_PROGRAM_FAILURE;
  const CUresult result = load(program, code);
  if (result == kSuccess) {
    cache.keep(key, code);
    return CL_SUCCESS;
  }
  int version = 0;
  driver()->version(&version);
  program.log += failure("cuModuleLoadData", result) + ", for what CUDA's run-time compiler " +
                 c->identity.substr(0, c->identity.find(' ')) + " made; the driver is of CUDA " +
                 std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) +
                 ": if the compiler is newer, install an older one, or name its file in OCLSPKT_NVRTC";
  return code_of(result);
}

CUresult read_signature(const _cl_program& program, const char* name, KernelSignature* read) {
  const Driver& d = *driver();
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  CUresult result = d.module_global(&address, &bytes, program.module, signature_variable(name).c_str());
  if (result != kSuccess) return result;
  std::vector<int> numbers(bytes / sizeof(int));
  result = d.copy_down_now(numbers.data(), address, bytes);
  if (result == kSuccess) *read = signature(numbers);
  return result;
}

}  // namespace

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                     cl_int* code) {
  auto made = std::make_unique<_cl_program>();
  made->context = context;
  for (cl_uint i = 0; i < count; ++i) {
    const bool ends = lengths == nullptr || lengths[i] == 0;
    made->source += ends ? std::string(strings[i]) : std::string(strings[i], lengths[i]);
  }
  return with_code(code, CL_SUCCESS, made.release());
}

cl_program clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id*, const size_t*, const unsigned char**,
                                     cl_int*, cl_int* code) {
  return with_code<_cl_program>(code, CL_INVALID_BINARY);
}

cl_int clBuildProgram(cl_program program, cl_uint, const cl_device_id*, const char* options,
                      void (*)(cl_program, void*), void*) {
  if (program == nullptr) return CL_INVALID_PROGRAM;
  if (program->module != nullptr) return CL_INVALID_OPERATION;
  return build(*program, options != nullptr ? options : "");
}

cl_int clRetainProgram(cl_program program) { return retain(program, CL_INVALID_PROGRAM); }

cl_int clReleaseProgram(cl_program program) {
  return release(program, CL_INVALID_PROGRAM, [&] {
    if (program->module != nullptr) {
      const Current current(program->context);
      driver()->module_unload(program->module);
    }
    delete program;
  });
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id, cl_program_build_info what, size_t size, void* value,
                             size_t* size_ret) {
  if (what != CL_PROGRAM_BUILD_LOG) return CL_INVALID_VALUE;
  return Answer(size, value, size_ret)(program->log);
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void* value, size_t* size_ret) {
  if (program == nullptr) return CL_INVALID_PROGRAM;
  if (what == CL_PROGRAM_NUM_DEVICES) return Answer(size, value, size_ret)(cl_uint{1});
  return what == CL_PROGRAM_DEVICES ? Answer(size, value, size_ret)(program->context->device) : CL_INVALID_VALUE;
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* code) {
  if (program->module == nullptr) return with_code<_cl_kernel>(code, CL_INVALID_PROGRAM_EXECUTABLE);
  const Current current(program->context);
  CUfunction function = nullptr;
  KernelSignature signature;
  CUresult result = current.result();
  if (result == kSuccess) result = driver()->module_function(&function, program->module, name);
  if (result == kSuccess) result = read_signature(*program, name, &signature);
  if (result != kSuccess) return with_code<_cl_kernel>(code, code_of(result));
  auto made = std::make_unique<_cl_kernel>();
  made->program = program;
  made->function = function;
  std::copy(std::begin(signature.group), std::end(signature.group), made->group);
  for (const Parameter& parameter : signature.parameters) made->arguments.push_back({parameter.kind});
  for (auto& argument : made->arguments) made->pointers.push_back(argument.value);
  retain(program, CL_INVALID_PROGRAM);
  return with_code(code, CL_SUCCESS, made.release());
}

cl_int clRetainKernel(cl_kernel kernel) { return retain(kernel, CL_INVALID_KERNEL); }

cl_int clReleaseKernel(cl_kernel kernel) {
  return release(kernel, CL_INVALID_KERNEL, [&] {
    clReleaseProgram(kernel->program);
    delete kernel;
  });
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id, cl_kernel_work_group_info what, size_t size,
                                void* value, size_t* size_ret) {
  const Answer give(size, value, size_ret);
  const auto attribute = [&](int which) {
    return [kernel, which](int* number) {
      const Current current(kernel->program->context);
      if (current.result() != kSuccess) return current.result();
      return driver()->function_attribute(number, which, kernel->function);
    };
  };
  if (what == CL_KERNEL_WORK_GROUP_SIZE) return give.number<std::size_t>(attribute(kFunctionMaxThreads));
  if (what == CL_KERNEL_LOCAL_MEM_SIZE) return give.number<cl_ulong>(attribute(kFunctionSharedBytes));
  return what == CL_KERNEL_COMPILE_WORK_GROUP_SIZE ? give(kernel->group) : CL_INVALID_VALUE;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
  auto& argument = kernel->arguments[index];
  switch (argument.kind) {
    case ParameterKind::local:
      if (value != nullptr || size == 0) return CL_INVALID_ARG_VALUE;
      argument.local_bytes = size;
      break;
    case ParameterKind::buffer: {
      if (size != sizeof(void*) || value == nullptr) return CL_INVALID_ARG_SIZE;
      cl_mem memory = nullptr;
      std::memcpy(&memory, value, size);
      const CUdeviceptr address = memory != nullptr ? memory->address : 0;
      std::memcpy(argument.value, &address, sizeof address);
      break;
    }
    case ParameterKind::value:
      if (value == nullptr || size > sizeof argument.value) return CL_INVALID_ARG_SIZE;
      std::memcpy(argument.value, value, size);
      break;
  }
  argument.set = true;
  return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint waits, const cl_event* wait_list,
                              cl_event* event) {
  if (dimensions != 1 || offset != nullptr || local == nullptr) return CL_INVALID_WORK_DIMENSION;
  if (local[0] == 0 || global[0] % local[0] != 0) return CL_INVALID_WORK_GROUP_SIZE;
  if (global[0] / local[0] > std::numeric_limits<int>::max()) return CL_INVALID_GLOBAL_WORK_SIZE;
  std::size_t local_bytes = 0;
  for (const auto& argument : kernel->arguments) {
    if (!argument.set) return CL_INVALID_KERNEL_ARGS;
    local_bytes += argument.local_bytes;
  }
  return Command(queue, waits, wait_list, event).run([&](const Driver& d, CUstream stream) {
    return d.launch(kernel->function, static_cast<unsigned>(global[0] / local[0]), 1, 1,
                    static_cast<unsigned>(local[0]), 1, 1, static_cast<unsigned>(local_bytes), stream,
                    kernel->pointers.data(), nullptr);
  });
}
