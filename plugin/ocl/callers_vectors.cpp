// SPDX-License-Identifier: BSD-2-Clause
#include "callers_vectors.hpp"

#include "error_name.hpp"
#include "native.hpp"
#include "oclspkt/error.hpp"

namespace oclspkt::ocl {
namespace {

/// True if two buffers overlap. OpenCL does not define the result of kernels on overlapping sub-buffers, or on buffers
/// over overlapping host memory.
bool overlap(const BufferPlace& a, const BufferPlace& b) {
  if (a.whole == b.whole) return a.first < b.end && b.first < a.end;
  const auto end = [](const BufferPlace& of) { return of.address + (of.end - of.first); };
  return a.address != 0 && b.address != 0 && a.address < end(b) && b.address < end(a);
}

}  // namespace

void check_memory(const MemoryNeeds& needs, const char* name, const Buffer& buffer, cl_mem_flags unfit) {
  const auto refuse = [&](const std::string& why) { throw InvalidInput(std::string(name) + " " + why); };
  if (buffer.getInfo<CL_MEM_CONTEXT>()() != needs.context()) {
    refuse(std::string("belongs to another context: make it in the context ") + needs.of);
  }
  const auto bytes = static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>());
  if (bytes < needs.bytes) {
    refuse("holds " + std::to_string(bytes) + " bytes, " + needs.wanted() + " need " + std::to_string(needs.bytes) +
           ": make it larger");
  }
  if ((buffer.getInfo<CL_MEM_FLAGS>() & unfit) != 0) {
    refuse(unfit == CL_MEM_READ_ONLY ? "is CL_MEM_READ_ONLY, but kernels write it: make it with CL_MEM_READ_WRITE"
                                     : "is CL_MEM_WRITE_ONLY, but kernels read it: make it with CL_MEM_READ_WRITE");
  }
}

BufferPlace place_of(const Buffer& buffer) {
  cl_mem whole = nullptr;
  std::size_t offset = 0;
  clGetMemObjectInfo(buffer(), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(cl_mem), &whole, nullptr);
  clGetMemObjectInfo(buffer(), CL_MEM_OFFSET, sizeof offset, &offset, nullptr);
  if (whole == nullptr) whole = buffer();
  // Intel's driver reports a host address also for buffers that were only initialised from host memory.
  const bool over_memory = (buffer.getInfo<CL_MEM_FLAGS>() & CL_MEM_USE_HOST_PTR) != 0;
  const void* address = over_memory ? buffer.getInfo<CL_MEM_HOST_PTR>() : nullptr;
  return {whole, offset, offset + buffer.getInfo<CL_MEM_SIZE>(), reinterpret_cast<std::uintptr_t>(address)};
}

bool aligned(const Buffer& buffer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(buffer.getInfo<CL_MEM_HOST_PTR>()) % alignment == 0;
}

cl::Buffer memory_object(const char* what, cl_mem handle) {
  const auto refuse = [&](const std::string& why) { throw InvalidInput(std::string(what) + " " + why); };
  if (handle == nullptr) refuse("is a null handle: give a buffer of the context of device_handles()");
  cl_mem_object_type type = 0;
  const cl_int error = clGetMemObjectInfo(handle, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (error != CL_SUCCESS) refuse("is no memory object, " + error_name(error) + ": give one that clCreateBuffer made");
  if (type != CL_MEM_OBJECT_BUFFER) refuse("is an image or a pipe: give one that clCreateBuffer made");
  return cl::Buffer(handle, true);
}

void check_vectors(const cl::Context& context, const LineSet& lines, std::int64_t bytes, const VectorNames& names,
                   const Buffer& y, const Buffer& x) {
  const std::function<std::string()> wanted = [&] { return lines.describe(); };
  const MemoryNeeds needs{
      context, "of device_handles(), which a set_up for another device and release_devices() change", bytes, wanted};
  check_memory(needs, names.y, y, CL_MEM_WRITE_ONLY);
  check_memory(needs, names.x, x, CL_MEM_READ_ONLY);
  if (overlap(place_of(y), place_of(x))) {
    throw InvalidInput(std::string(names.both) + " overlap: use two separate buffers");
  }
}

}  // namespace oclspkt::ocl
