// SPDX-License-Identifier: BSD-2-Clause
// The log of the recording driver, and the functions by which a program reads it.
#include <algorithm>
#include <mutex>
#include <set>

#include "hash.hpp"
#include "recording_driver.hpp"
#include "recording_objects.hpp"

namespace oclspkt::freeze {
namespace {

struct Stream {
  std::string text;
  bool launches = false;
};

std::mutex mutex;
std::map<const Queue*, Stream> streams;
std::string memory_text;
std::uint64_t recording = 0;
int arguments = 0;
std::set<const void*> memories;
std::string taken[2];

std::string hex(const std::string& bits) {
  std::string text;
  char digits[3];
  for (auto byte = bits.rbegin(); byte != bits.rend(); ++byte) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(*byte));
    text += digits;
  }
  return text;
}

/// What a kernel gets: a local size, the bits of a scalar, or a buffer. Memory of the caller is in its final state when
/// a kernel is launched, so that its contents are logged; others get theirs by commands.
std::string argument_text(const Kernel::Argument& argument) {
  if (argument.local) return " local" + std::to_string(argument.bytes);
  if (argument.memory == nullptr) return " " + hex(argument.bits);
  Memory& root = argument.memory->root();
  if (root.recording != recording) {
    root.recording = recording;
    root.number = ++arguments;
  }
  std::string text = " b" + std::to_string(root.number) + ":" + std::to_string(argument.memory->bytes);
  if (argument.memory->offset > 0) text += "@" + std::to_string(argument.memory->offset);
  if ((root.flags & CL_MEM_USE_HOST_PTR) != 0) text += "=" + hash_of(argument.memory->data, argument.memory->bytes);
  return text;
}

/// All streams that launch kernels, or all that do not; by their texts, as the order of queues means nothing.
std::string joined(bool launches) {
  std::vector<std::string> texts;
  for (const auto& [queue, stream] : streams) {
    if (stream.launches == launches && !stream.text.empty()) texts.push_back("queue\n" + stream.text);
  }
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

}  // namespace

void log_command(const Queue& queue, const std::string& line) {
  const std::lock_guard lock(mutex);
  if (recording > 0) streams[&queue].text += line + "\n";
}

void log_launch(const Queue& queue, const Kernel& kernel, std::size_t offset, std::size_t global, std::size_t local) {
  const std::lock_guard lock(mutex);
  if (recording == 0) return;
  Stream& stream = streams[&queue];
  stream.launches = true;
  stream.text += "launch " + kernel.name + " [" + kernel.options + "] source " + kernel.source_hash + " global " +
                 std::to_string(global) + " local " + std::to_string(local) + " offset " + std::to_string(offset) + ":";
  for (const auto& [index, argument] : kernel.arguments) stream.text += argument_text(argument);
  stream.text += "\n";
}

void log_memory(const std::string& line) {
  const std::lock_guard lock(mutex);
  if (recording > 0) memory_text += line + "\n";
}

bool is_memory(const void* handle) {
  const std::lock_guard lock(mutex);
  return memories.contains(handle);
}
void note_memory(Memory* memory) {
  const std::lock_guard lock(mutex);
  memories.insert(memory);
}
void forget_memory(Memory* memory) {
  const std::lock_guard lock(mutex);
  memories.erase(memory);
}

}  // namespace oclspkt::freeze

using namespace oclspkt::freeze;

extern "C" __attribute__((visibility("default"))) void oclspkt_recording_start() {
  static std::uint64_t last = 0;
  const std::lock_guard lock(mutex);
  recording = ++last;
  arguments = 0;
  streams.clear();
  memory_text.clear();
}

extern "C" __attribute__((visibility("default"))) RecordedTexts oclspkt_recording_stop() {
  const std::lock_guard lock(mutex);
  taken[0] = joined(true);
  taken[1] = joined(false);
  if (!memory_text.empty()) taken[1] += "memory\n" + memory_text;
  recording = 0;
  streams.clear();
  return {taken[0].c_str(), taken[1].c_str()};
}
