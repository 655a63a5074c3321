// SPDX-License-Identifier: BSD-2-Clause
// What the recording driver's handles point to, and its log.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl_icd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace oclspkt::freeze {

extern cl_icd_dispatch table;

/// The ICD loader reads the first word of every handle.
struct Object {
  const cl_icd_dispatch* dispatch = &table;
  std::atomic<int> count{1};
};

struct DeviceFigures {
  const char* name;
  cl_device_type type;
  cl_uint units;
  cl_ulong memory, allocation, cache, local;
  std::size_t group_items;
  cl_uint lanes_float, lanes_double;
  bool fp64, unified;
};
struct Device : Object {
  explicit Device(const DeviceFigures& f) : figures(f) {}
  DeviceFigures figures;
};

struct Context : Object {
  Device* device = nullptr;
};
struct Queue : Object {
  Context* context = nullptr;
};
struct Event : Object {
  Queue* queue = nullptr;
};
struct Program : Object {
  Device* device = nullptr;
  std::string source, options;
};
struct Kernel : Object {
  std::string name, source_hash, options;
  struct Argument;
  std::map<cl_uint, Argument> arguments;
};

/// A buffer, or a part of one.
struct Memory : Object {
  Context* context = nullptr;
  Memory* whole = nullptr;  ///< null: it is no part
  cl_mem_flags flags = 0;
  std::size_t bytes = 0, offset = 0;
  char* data = nullptr;
  bool owned = false;
  std::uint64_t recording = 0;  ///< in which `number` was given
  int number = 0;               ///< in the order in which kernels take buffers
  Memory& root() { return whole != nullptr ? *whole : *this; }
};

struct Kernel::Argument {
  std::size_t bytes = 0;
  bool local = false;
  std::string bits;  ///< of a scalar
  Memory* memory = nullptr;
};

/// The log of a recording: what each queue was told, in order, and the memory that was asked for. Commands of one queue
/// keep their order in every run, those of different queues do not where threads copy.
void log_command(const Queue& queue, const std::string& line);
void log_launch(const Queue& queue, const Kernel& kernel, std::size_t offset, std::size_t global, std::size_t local);
void log_memory(const std::string& line);

/// True if a handle is a buffer of this driver.
bool is_memory(const void* handle);
void note_memory(Memory* memory);
void forget_memory(Memory* memory);

/// What every buffer holds before anybody writes: 1 in float, 1/128 in double, so that no sum of it is 0.
inline constexpr std::uint32_t kUnwritten = 0x3f800000;

void fill_device_functions(cl_icd_dispatch& to);
void fill_memory_functions(cl_icd_dispatch& to);
void fill_kernel_functions(cl_icd_dispatch& to);

template <typename V>
cl_int give(const V& value, std::size_t room, void* to, std::size_t* size) {
  if (size != nullptr) *size = sizeof value;
  if (to == nullptr) return CL_SUCCESS;
  if (room < sizeof value) return CL_INVALID_VALUE;
  *static_cast<V*>(to) = value;
  return CL_SUCCESS;
}
cl_int give_text(const std::string& text, std::size_t room, void* to, std::size_t* size);

/// Log a command, and give an event that has ended if the caller wants one.
cl_int done(cl_command_queue queue, const std::string& line, cl_event* to);
void give_event(Queue* queue, cl_event* to);

template <typename T, typename Handle>
T* as(Handle handle) {
  return reinterpret_cast<T*>(handle);
}
template <typename T, typename Handle>
cl_int CL_API_CALL retain(Handle handle) {
  ++as<T>(handle)->count;
  return CL_SUCCESS;
}
template <typename T, typename Handle>
cl_int CL_API_CALL release(Handle handle) {
  if (--as<T>(handle)->count == 0) delete as<T>(handle);
  return CL_SUCCESS;
}
/// For objects that others point to.
template <typename T, typename Handle>
cl_int CL_API_CALL release_and_keep(Handle handle) {
  --as<T>(handle)->count;
  return CL_SUCCESS;
}
/// The handle of what was made.
template <typename Handle, typename T>
Handle made(T* object, cl_int* error) {
  if (error != nullptr) *error = CL_SUCCESS;
  return reinterpret_cast<Handle>(object);
}

}  // namespace oclspkt::freeze
