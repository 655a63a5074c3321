// SPDX-License-Identifier: BSD-2-Clause
// The recording driver's programs, kernels and events. Kernels do not run, commands have ended when they are given.

#include "hash.hpp"
#include "recording_objects.hpp"

namespace oclspkt::freeze {

void give_event(Queue* queue, cl_event* to) {
  if (to == nullptr) return;
  auto* event = new Event;
  event->queue = queue;
  *to = as<_cl_event>(event);
}

cl_int done(cl_command_queue queue, const std::string& line, cl_event* to) {
  log_command(*as<Queue>(queue), line);
  give_event(as<Queue>(queue), to);
  return CL_SUCCESS;
}

namespace {

/// By the device's clock, in ns; every command takes as long.
constexpr cl_ulong kBegin = 1'000'000, kEnd = 1'100'000;

cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** texts, const std::size_t* lengths,
                                      cl_int* error) {
  auto* program = new Program;
  program->device = as<Context>(context)->device;
  for (cl_uint i = 0; i < count; ++i) {
    const bool ends = lengths == nullptr || lengths[i] == 0;
    program->source += ends ? std::string(texts[i]) : std::string(texts[i], lengths[i]);
  }
  return made<cl_program>(program, error);
}

cl_int CL_API_CALL build(cl_program of, cl_uint /*count*/, const cl_device_id* /*devices*/, const char* options,
                         void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  as<Program>(of)->options = options != nullptr ? options : "";
  if (notify != nullptr) notify(of, data);
  return CL_SUCCESS;
}

cl_int CL_API_CALL program_info(cl_program of, cl_program_info what, std::size_t room, void* to, std::size_t* size) {
  if (what == CL_PROGRAM_NUM_DEVICES) return give(cl_uint{1}, room, to, size);
  if (what == CL_PROGRAM_DEVICES) return give(as<_cl_device_id>(as<Program>(of)->device), room, to, size);
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL build_info(cl_program of, cl_device_id /*device*/, cl_program_build_info what, std::size_t room,
                              void* to, std::size_t* size) {
  if (what == CL_PROGRAM_BUILD_STATUS) return give(cl_build_status{CL_BUILD_SUCCESS}, room, to, size);
  return give_text(what == CL_PROGRAM_BUILD_OPTIONS ? as<Program>(of)->options : "", room, to, size);
}

cl_kernel CL_API_CALL create_kernel(cl_program of, const char* name, cl_int* error) {
  const Program& program = *as<Program>(of);
  auto* kernel = new Kernel;
  kernel->name = name;
  kernel->source_hash = hash_of(program.source);
  kernel->options = program.options;
  return made<cl_kernel>(kernel, error);
}

/// A buffer is known by its address, which no number is.
cl_int CL_API_CALL set_argument(cl_kernel of, cl_uint index, std::size_t bytes, const void* value) {
  Kernel::Argument argument;
  argument.bytes = bytes;
  argument.local = value == nullptr;
  if (value != nullptr) argument.bits.assign(static_cast<const char*>(value), bytes);
  void* handle = nullptr;
  if (value != nullptr && bytes == sizeof handle) std::memcpy(&handle, value, bytes);
  if (handle != nullptr && is_memory(handle)) argument.memory = static_cast<Memory*>(handle);
  as<Kernel>(of)->arguments[index] = argument;
  return CL_SUCCESS;
}

cl_int CL_API_CALL group_info(cl_kernel /*of*/, cl_device_id on, cl_kernel_work_group_info what, std::size_t room,
                              void* to, std::size_t* size) {
  struct Sizes {
    std::size_t of[3];
  };
  if (what == CL_KERNEL_WORK_GROUP_SIZE) return give(as<Device>(on)->figures.group_items, room, to, size);
  if (what == CL_KERNEL_COMPILE_WORK_GROUP_SIZE) return give(Sizes{{0, 0, 0}}, room, to, size);
  if (what == CL_KERNEL_LOCAL_MEM_SIZE || what == CL_KERNEL_PRIVATE_MEM_SIZE) return give(cl_ulong{0}, room, to, size);
  return CL_INVALID_VALUE;
}

/// Factors that a device makes in memory of the caller are all 0, or that would be logged as it was allocated.
void make_no_factors(Kernel& kernel) {
  if (kernel.name != "interleaved_factor") return;
  constexpr cl_uint kFirst = 3, kLast = 5;
  for (cl_uint i = kFirst; i <= kLast; ++i) {
    if (Memory* made = kernel.arguments[i].memory) std::memset(made->data, 0, made->bytes);
  }
}

cl_int CL_API_CALL launch(cl_command_queue on, cl_kernel of, cl_uint /*dimensions*/, const std::size_t* offset,
                          const std::size_t* global, const std::size_t* local, cl_uint /*waits*/,
                          const cl_event* /*for_what*/, cl_event* event) {
  Kernel& kernel = *as<Kernel>(of);
  make_no_factors(kernel);
  log_launch(*as<Queue>(on), kernel, offset != nullptr ? *offset : 0, *global, local != nullptr ? *local : 0);
  give_event(as<Queue>(on), event);
  return CL_SUCCESS;
}

cl_int CL_API_CALL marker(cl_command_queue on, cl_uint /*waits*/, const cl_event* /*for_what*/, cl_event* event) {
  return done(on, "marker", event);
}
cl_int CL_API_CALL barrier(cl_command_queue on, cl_uint waits, const cl_event* /*for_what*/, cl_event* event) {
  return done(on, "barrier for " + std::to_string(waits), event);
}

cl_int CL_API_CALL wait(cl_uint /*count*/, const cl_event* /*events*/) { return CL_SUCCESS; }
cl_int CL_API_CALL event_info(cl_event of, cl_event_info what, std::size_t room, void* to, std::size_t* size) {
  if (what == CL_EVENT_COMMAND_EXECUTION_STATUS) return give(cl_int{CL_COMPLETE}, room, to, size);
  if (what == CL_EVENT_COMMAND_QUEUE) return give(as<_cl_command_queue>(as<Event>(of)->queue), room, to, size);
  return CL_INVALID_VALUE;
}
cl_int CL_API_CALL event_times(cl_event /*of*/, cl_profiling_info what, std::size_t room, void* to, std::size_t* size) {
  return give(what == CL_PROFILING_COMMAND_END ? kEnd : kBegin, room, to, size);
}

}  // namespace

void fill_kernel_functions(cl_icd_dispatch& to) {
  to.clCreateProgramWithSource = create_program;
  to.clBuildProgram = build;
  to.clGetProgramInfo = program_info;
  to.clGetProgramBuildInfo = build_info;
  to.clRetainProgram = retain<Program>;
  to.clReleaseProgram = release<Program>;
  to.clCreateKernel = create_kernel;
  to.clRetainKernel = retain<Kernel>;
  to.clReleaseKernel = release<Kernel>;
  to.clSetKernelArg = set_argument;
  to.clGetKernelWorkGroupInfo = group_info;
  to.clEnqueueNDRangeKernel = launch;
  to.clEnqueueMarkerWithWaitList = marker;
  to.clEnqueueBarrierWithWaitList = barrier;
  to.clWaitForEvents = wait;
  to.clRetainEvent = retain<Event>;
  to.clReleaseEvent = release<Event>;
  to.clGetEventInfo = event_info;
  to.clGetEventProfilingInfo = event_times;
}

}  // namespace oclspkt::freeze
