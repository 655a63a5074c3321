// SPDX-License-Identifier: BSD-2-Clause
#include "objects.hpp"

using namespace oclspkt::cuda;

namespace {

using Kind = _cl_mem::Kind;

/// CUDA has one address space for host and cards.
CUdeviceptr address_of(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

CUresult allocate(_cl_mem& memory, void* host) {
  const Driver& d = *driver();
  if (memory.kind == Kind::device) return d.memory_alloc(&memory.address, memory.bytes);
  if (memory.kind == Kind::pinned) {
    if (const CUresult result = d.host_alloc(&memory.host, memory.bytes, kHostAllocPortable); result != kSuccess) {
      return result;
    }
  } else {
    memory.host = host;
    if (const CUresult result = d.host_register(host, memory.bytes, 0); result != kSuccess) return result;
  }
  memory.address = address_of(memory.host);
  return kSuccess;
}

/// Copy to new memory, and wait. Without the wait, a copy from pageable memory may go on after the call.
CUresult fill(const _cl_mem& memory, const void* host) {
  const Driver& d = *driver();
  const CUresult result = d.copy_up(memory.address, host, memory.bytes, nullptr);
  return result == kSuccess ? d.stream_synchronize(nullptr) : result;
}

void free_memory(const _cl_mem& memory) {
  const Current current(memory.context);
  if (memory.kind == Kind::device) driver()->memory_free(memory.address);
  if (memory.kind == Kind::pinned) driver()->host_free(memory.host);
  if (memory.kind == Kind::registered) driver()->host_unregister(memory.host);
}

bool fits(const _cl_mem& memory, size_t offset, size_t bytes) {
  return offset <= memory.bytes && bytes <= memory.bytes - offset;
}

}  // namespace

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* code) {
  if (context == nullptr) return with_code<_cl_mem>(code, CL_INVALID_CONTEXT);
  if (bytes == 0) return with_code<_cl_mem>(code, CL_INVALID_BUFFER_SIZE);
  const bool needs_host = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  if (needs_host && host == nullptr) return with_code<_cl_mem>(code, CL_INVALID_HOST_PTR);
  auto made = std::make_unique<_cl_mem>();
  made->kind = (flags & CL_MEM_USE_HOST_PTR) != 0     ? Kind::registered
               : (flags & CL_MEM_ALLOC_HOST_PTR) != 0 ? Kind::pinned
                                                      : Kind::device;
  made->context = context;
  made->flags = flags;
  made->bytes = bytes;
  const Current current(context);
  CUresult result = current.result();
  if (result == kSuccess) result = allocate(*made, host);
  if (result == kSuccess && (flags & CL_MEM_COPY_HOST_PTR) != 0) {
    result = fill(*made, host);
    if (result != kSuccess) free_memory(*made);
  }
  return with_code(code, code_of(result), result == kSuccess ? made.release() : nullptr);
}

cl_mem clCreateSubBuffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type, const void* info, cl_int* code) {
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  if (whole == nullptr || whole->kind == Kind::part) return with_code<_cl_mem>(code, CL_INVALID_MEM_OBJECT);
  if (region.size == 0 || !fits(*whole, region.origin, region.size)) return with_code<_cl_mem>(code, CL_INVALID_VALUE);
  auto* made = new _cl_mem;
  made->kind = Kind::part;
  made->context = whole->context;
  made->flags = flags != 0 ? flags : whole->flags;
  made->bytes = region.size;
  made->address = whole->address + region.origin;
  made->whole = whole;
  made->offset = region.origin;
  retain(whole, CL_INVALID_MEM_OBJECT);
  return with_code(code, CL_SUCCESS, made);
}

cl_int clRetainMemObject(cl_mem memory) { return retain(memory, CL_INVALID_MEM_OBJECT); }

cl_int clReleaseMemObject(cl_mem memory) {
  return release(memory, CL_INVALID_MEM_OBJECT, [&] {
    free_memory(*memory);
    if (memory->whole != nullptr) clReleaseMemObject(memory->whole);
    delete memory;
  });
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t size, void* value, size_t* size_ret) {
  if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
  const Answer give(size, value, size_ret);
  if (what == CL_MEM_TYPE) return give(cl_mem_object_type{CL_MEM_OBJECT_BUFFER});
  if (what == CL_MEM_FLAGS) return give(memory->flags);
  if (what == CL_MEM_SIZE) return give(memory->bytes);
  if (what == CL_MEM_CONTEXT) return give(memory->context);
  if (what == CL_MEM_ASSOCIATED_MEMOBJECT) return give(memory->whole);
  if (what == CL_MEM_OFFSET) return give(memory->offset);
  if (what != CL_MEM_HOST_PTR) return CL_INVALID_VALUE;
  // A caller's memory may begin at any address, like host memory.
  const bool callers =
      memory->kind == Kind::callers || (memory->kind == Kind::part && memory->whole->kind == Kind::callers);
  static_assert(sizeof memory->address == sizeof memory->host);
  return callers ? give(memory->address) : give(memory->host);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_bool blocking, size_t offset, size_t bytes, void* to,
                           cl_uint waits, const cl_event* wait_list, cl_event* event) {
  if (from == nullptr) return CL_INVALID_MEM_OBJECT;
  if (!fits(*from, offset, bytes)) return CL_INVALID_VALUE;
  return Command(queue, waits, wait_list, event)
      .run([&](const Driver& d, CUstream stream) { return d.copy_down(to, from->address + offset, bytes, stream); },
           blocking == CL_TRUE);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool blocking, size_t offset, size_t bytes,
                            const void* from, cl_uint waits, const cl_event* wait_list, cl_event* event) {
  if (to == nullptr) return CL_INVALID_MEM_OBJECT;
  if (!fits(*to, offset, bytes)) return CL_INVALID_VALUE;
  return Command(queue, waits, wait_list, event)
      .run([&](const Driver& d, CUstream stream) { return d.copy_up(to->address + offset, from, bytes, stream); },
           blocking == CL_TRUE);
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t bytes, cl_uint waits, const cl_event* wait_list, cl_event* event) {
  if (from == nullptr || to == nullptr) return CL_INVALID_MEM_OBJECT;
  if (!fits(*from, from_offset, bytes) || !fits(*to, to_offset, bytes)) return CL_INVALID_VALUE;
  return Command(queue, waits, wait_list, event).run([&](const Driver& d, CUstream stream) {
    return d.copy_on_device(to->address + to_offset, from->address + from_offset, bytes, stream);
  });
}

void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags, size_t offset,
                         size_t bytes, cl_uint waits, const cl_event* wait_list, cl_event* event, cl_int* code) {
  // Mapping copies nothing, so only host memory can be mapped. Memory of a card must be copied.
  if (memory == nullptr || memory->host == nullptr) return with_code<void>(code, CL_INVALID_MEM_OBJECT);
  if (!fits(*memory, offset, bytes)) return with_code<void>(code, CL_INVALID_VALUE);
  const cl_int result = Command(queue, waits, wait_list, event)
                            .run([](const Driver&, CUstream) { return kSuccess; }, blocking == CL_TRUE);
  return with_code<void>(code, result, result == CL_SUCCESS ? static_cast<char*>(memory->host) + offset : nullptr);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void*, cl_uint waits, const cl_event* wait_list,
                               cl_event* event) {
  if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
  // Staging releases its memory after this call. Therefore all commands that use the memory must have ended.
  return Command(queue, waits, wait_list, event).run([](const Driver&, CUstream) { return kSuccess; }, true);
}
