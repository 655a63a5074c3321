// SPDX-License-Identifier: BSD-2-Clause
// The recording driver's buffers, and the commands that copy.
#include <algorithm>
#include <cstdlib>

#include "hash.hpp"
#include "recording_objects.hpp"

namespace oclspkt::freeze {
namespace {

constexpr std::size_t kAlignment = 4096;
/// Bytes of the longest buffer that has memory. Longer ones are for kernels alone, which do not run.
constexpr std::size_t kMostHeld = std::size_t{1} << 30;

std::string place(const Memory& memory, std::size_t offset, std::size_t bytes) {
  return std::to_string(bytes) + "@" + std::to_string(memory.offset + offset) + " of " +
         std::to_string(const_cast<Memory&>(memory).root().bytes);
}

const char* flags_text(cl_mem_flags flags) {
  return (flags & CL_MEM_READ_ONLY) != 0 ? "read-only" : (flags & CL_MEM_WRITE_ONLY) != 0 ? "write-only" : "read-write";
}

cl_mem CL_API_CALL create_buffer(cl_context of, cl_mem_flags flags, std::size_t bytes, void* host, cl_int* error) {
  auto* memory = new Memory;
  memory->context = as<Context>(of);
  memory->flags = flags;
  memory->bytes = bytes;
  memory->owned = (flags & CL_MEM_USE_HOST_PTR) == 0;
  std::string line = std::string("buffer ") + flags_text(flags) + " " + std::to_string(bytes);
  if (memory->owned && bytes <= kMostHeld) {
    const std::size_t room = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    memory->data = static_cast<char*>(std::aligned_alloc(kAlignment, room));
    std::fill_n(reinterpret_cast<std::uint32_t*>(memory->data), room / sizeof kUnwritten, kUnwritten);
  } else if (!memory->owned) {
    memory->data = static_cast<char*>(host);
    line += " of the caller";
  }
  if ((flags & CL_MEM_COPY_HOST_PTR) != 0) {
    std::memcpy(memory->data, host, bytes);
    line += " copied " + hash_of(host, bytes);
  }
  if ((flags & CL_MEM_ALLOC_HOST_PTR) != 0) line += " for the host";
  log_memory(line);
  note_memory(memory);
  return made<cl_mem>(memory, error);
}

cl_mem CL_API_CALL create_part(cl_mem of, cl_mem_flags flags, cl_buffer_create_type /*type*/, const void* region,
                               cl_int* error) {
  Memory* whole = as<Memory>(of);
  const auto& wanted = *static_cast<const cl_buffer_region*>(region);
  auto* memory = new Memory;
  memory->context = whole->context;
  memory->whole = whole;
  memory->flags = flags != 0 ? flags : whole->flags;
  memory->bytes = wanted.size;
  memory->offset = wanted.origin;
  memory->data = whole->data + wanted.origin;
  retain<Memory>(of);
  log_memory("part " + place(*memory, 0, wanted.size));
  note_memory(memory);
  return made<cl_mem>(memory, error);
}

cl_int CL_API_CALL release_memory(cl_mem handle) {
  Memory* memory = as<Memory>(handle);
  if (--memory->count > 0) return CL_SUCCESS;
  forget_memory(memory);
  if (memory->owned) std::free(memory->data);
  if (memory->whole != nullptr) release_memory(as<_cl_mem>(memory->whole));
  delete memory;
  return CL_SUCCESS;
}

cl_int CL_API_CALL memory_info(cl_mem of, cl_mem_info what, std::size_t room, void* to, std::size_t* size) {
  if (!is_memory(of)) return CL_INVALID_MEM_OBJECT;
  const Memory& memory = *as<Memory>(of);
  const bool of_caller = (memory.flags & CL_MEM_USE_HOST_PTR) != 0;
  if (what == CL_MEM_TYPE) return give(cl_mem_object_type{CL_MEM_OBJECT_BUFFER}, room, to, size);
  if (what == CL_MEM_FLAGS) return give(memory.flags, room, to, size);
  if (what == CL_MEM_SIZE) return give(memory.bytes, room, to, size);
  if (what == CL_MEM_HOST_PTR) return give(static_cast<void*>(of_caller ? memory.data : nullptr), room, to, size);
  if (what == CL_MEM_CONTEXT) return give(as<_cl_context>(memory.context), room, to, size);
  if (what == CL_MEM_ASSOCIATED_MEMOBJECT) return give(as<_cl_mem>(memory.whole), room, to, size);
  if (what == CL_MEM_OFFSET) return give(memory.offset, room, to, size);
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem to, cl_bool /*blocking*/, std::size_t offset,
                                std::size_t bytes, const void* from, cl_uint /*waits*/, const cl_event* /*for_what*/,
                                cl_event* event) {
  Memory& memory = *as<Memory>(to);
  if (memory.data == nullptr || offset + bytes > memory.bytes) return CL_INVALID_VALUE;
  std::memcpy(memory.data + offset, from, bytes);
  return done(queue, "write " + place(memory, offset, bytes) + " " + hash_of(from, bytes), event);
}

cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem from, cl_bool /*blocking*/, std::size_t offset,
                               std::size_t bytes, void* to, cl_uint /*waits*/, const cl_event* /*for_what*/,
                               cl_event* event) {
  const Memory& memory = *as<Memory>(from);
  if (memory.data == nullptr || offset + bytes > memory.bytes) return CL_INVALID_VALUE;
  std::memcpy(to, memory.data + offset, bytes);
  return done(queue, "read " + place(memory, offset, bytes), event);
}

cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                               std::size_t to_offset, std::size_t bytes, cl_uint /*waits*/,
                               const cl_event* /*for_what*/, cl_event* event) {
  const Memory& source = *as<Memory>(from);
  Memory& memory = *as<Memory>(to);
  if (from_offset + bytes > source.bytes || to_offset + bytes > memory.bytes) return CL_INVALID_VALUE;
  std::memcpy(memory.data + to_offset, source.data + from_offset, bytes);
  return done(queue, "copy " + place(source, from_offset, bytes) + " to " + place(memory, to_offset, bytes), event);
}

cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem to, const void* pattern, std::size_t pattern_bytes,
                               std::size_t offset, std::size_t bytes, cl_uint /*waits*/, const cl_event* /*for_what*/,
                               cl_event* event) {
  Memory& memory = *as<Memory>(to);
  if (offset + bytes > memory.bytes) return CL_INVALID_VALUE;
  for (std::size_t i = 0; i < bytes; i += pattern_bytes) std::memcpy(memory.data + offset + i, pattern, pattern_bytes);
  return done(queue, "fill " + place(memory, offset, bytes) + " " + hash_of(pattern, pattern_bytes), event);
}

void* CL_API_CALL map_buffer(cl_command_queue queue, cl_mem of, cl_bool /*blocking*/, cl_map_flags flags,
                             std::size_t offset, std::size_t bytes, cl_uint /*waits*/, const cl_event* /*for_what*/,
                             cl_event* event, cl_int* error) {
  const Memory& memory = *as<Memory>(of);
  const bool fits = offset + bytes <= memory.bytes;
  if (error != nullptr) *error = fits ? CL_SUCCESS : CL_INVALID_VALUE;
  if (!fits) return nullptr;
  const char* how = (flags & CL_MAP_WRITE) != 0 ? "to write " : "to read ";
  done(queue, std::string("map ") + how + place(memory, offset, bytes), event);
  return memory.data + offset;
}

cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem of, void* /*mapped*/, cl_uint /*waits*/,
                         const cl_event* /*for_what*/, cl_event* event) {
  return done(queue, "unmap of " + std::to_string(as<Memory>(of)->root().bytes), event);
}

}  // namespace

void fill_memory_functions(cl_icd_dispatch& to) {
  to.clCreateBuffer = create_buffer;
  to.clCreateSubBuffer = create_part;
  to.clRetainMemObject = retain<Memory>;
  to.clReleaseMemObject = release_memory;
  to.clGetMemObjectInfo = memory_info;
  to.clEnqueueWriteBuffer = write_buffer;
  to.clEnqueueReadBuffer = read_buffer;
  to.clEnqueueCopyBuffer = copy_buffer;
  to.clEnqueueFillBuffer = fill_buffer;
  to.clEnqueueMapBuffer = map_buffer;
  to.clEnqueueUnmapMemObject = unmap;
}

}  // namespace oclspkt::freeze
