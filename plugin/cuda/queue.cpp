// SPDX-License-Identifier: BSD-2-Clause
// Contexts, command queues (CUDA streams) and events.
#include "objects.hpp"

namespace oclspkt::cuda {
namespace {

// look() returns the state of an event, wait_for() waits for the event. An event of a caller's queue has no CUDA event.
// Both functions then query the whole stream.
CUresult look(const _cl_event& event) {
  return event.end != nullptr ? driver()->event_query(event.end) : driver()->stream_query(event.queue->stream);
}
CUresult wait_for(const _cl_event& event) {
  return event.end != nullptr ? driver()->event_synchronize(event.end)
                              : driver()->stream_synchronize(event.queue->stream);
}

}  // namespace

CUresult IdleEvents::take(CUevent* event) {
  const std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    *event = idle_.back();
    idle_.pop_back();
    return kSuccess;
  }
  idle_.reserve(made_ + 1);
  const CUresult result = driver()->event_create(event, flags_);
  if (result == kSuccess) ++made_;
  return result;
}

void IdleEvents::give_back(CUevent event) noexcept {
  if (event == nullptr) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(event);  // idle_ has room for every event that was made
}

void IdleEvents::destroy() noexcept {
  const std::lock_guard lock(mutex_);
  for (const CUevent event : idle_) driver()->event_destroy(event);
  made_ -= idle_.size();
  idle_.clear();
}

cl_context context_of(cl_device_id card, CUresult* result) {
  static auto* mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  *result = kSuccess;
  if (card->context != nullptr) return card->context;
  auto made = std::make_unique<_cl_context>();
  made->device = card;
  made->references = 0;
  *result = driver()->primary_retain(&made->handle, card->handle);
  if (*result == kSuccess) card->context = made.release();
  return card->context;
}

Command::Command(cl_command_queue queue, cl_uint waits, const cl_event* wait_list, cl_event* event)
    : queue_(queue), event_(event), current_(queue->context), result_(current_.result()) {
  for (cl_uint i = 0; i < waits && result_ == kSuccess; ++i) {
    const cl_event before = wait_list[i];
    if (before->queue == queue) continue;  // the queue executes commands in order
    result_ = before->end != nullptr ? driver()->stream_wait(queue->stream, before->end, 0) : wait_for(*before);
  }
}

void Command::begin() {
  if (event_ == nullptr) return;
  auto made = std::make_unique<_cl_event>();
  made->queue = queue_;
  retain(queue_, CL_INVALID_COMMAND_QUEUE);
  made_.reset(made.release());
  if (queue_->callers) return;
  result_ = queue_->context->events(queue_->times).take(&made_->end);
  if (!queue_->times || result_ != kSuccess) return;
  result_ = queue_->context->timed.take(&made_->begin);
  if (result_ == kSuccess) result_ = driver()->event_record(made_->begin, queue_->stream);
}

void Command::end(bool blocking) {
  if (made_ && made_->end != nullptr) result_ = driver()->event_record(made_->end, queue_->stream);
  if (blocking && result_ == kSuccess) result_ = driver()->stream_synchronize(queue_->stream);
  if (made_ && result_ == kSuccess) *event_ = made_.release();
}

}  // namespace oclspkt::cuda

using namespace oclspkt::cuda;

cl_context clCreateContext(const cl_context_properties*, cl_uint count, const cl_device_id* devices,
                           void (*)(const char*, const void*, size_t, void*), void*, cl_int* code) {
  if (count != 1) return with_code<_cl_context>(code, CL_INVALID_VALUE);
  CUresult result = kSuccess;
  const cl_context context = context_of(devices[0], &result);
  if (context != nullptr) clRetainContext(context);
  return with_code(code, code_of(result), context);
}

cl_int clRetainContext(cl_context context) { return retain(context, CL_INVALID_CONTEXT); }

cl_int clReleaseContext(cl_context context) {
  return release(context, CL_INVALID_CONTEXT, [&] {
    const Current current(context);
    context->timed.destroy();
    context->plain.destroy();
  });
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id, cl_command_queue_properties properties,
                                      cl_int* code) {
  auto made = std::make_unique<_cl_command_queue>();
  made->context = context;
  made->times = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  const Current current(context);
  CUresult result = current.result();
  if (result == kSuccess) result = driver()->stream_create(&made->stream, kStreamNonBlocking);
  return with_code(code, code_of(result), result == kSuccess ? made.release() : nullptr);
}

cl_int clRetainCommandQueue(cl_command_queue queue) { return retain(queue, CL_INVALID_COMMAND_QUEUE); }

cl_int clReleaseCommandQueue(cl_command_queue queue) {
  return release(queue, CL_INVALID_COMMAND_QUEUE, [&] {
    if (!queue->callers) {
      const Current current(queue->context);
      driver()->stream_destroy(queue->stream);
    }
    delete queue;
  });
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t size, void* value,
                             size_t* size_ret) {
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  const Answer give(size, value, size_ret);
  if (what == CL_QUEUE_CONTEXT) return give(queue->context);
  if (what == CL_QUEUE_DEVICE) return give(queue->context->device);
  if (what != CL_QUEUE_PROPERTIES) return CL_INVALID_VALUE;
  return give(cl_command_queue_properties{queue->times ? CL_QUEUE_PROFILING_ENABLE : 0U});
}

cl_int clFlush(cl_command_queue) { return CL_SUCCESS; }

cl_int clFinish(cl_command_queue queue) {
  const Current current(queue->context);
  if (current.result() != kSuccess) return code_of(current.result());
  // The caller may have destroyed its stream.
  return code_of(queue->callers ? driver()->context_synchronize() : driver()->stream_synchronize(queue->stream));
}

cl_int clRetainEvent(cl_event event) { return retain(event, CL_INVALID_EVENT); }

cl_int clReleaseEvent(cl_event event) {
  return release(event, CL_INVALID_EVENT, [&] {
    event->queue->context->timed.give_back(event->begin);
    event->queue->context->events(event->queue->times).give_back(event->end);
    clReleaseCommandQueue(event->queue);
    delete event;
  });
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void* value, size_t* size_ret) {
  if (event == nullptr) return CL_INVALID_EVENT;
  if (what != CL_EVENT_COMMAND_EXECUTION_STATUS) return CL_INVALID_VALUE;
  const Current current(event->queue->context);
  CUresult result = current.result();
  if (result == kSuccess) result = look(*event);
  const cl_int status = result == kSuccess ? CL_COMPLETE : result == kNotReady ? CL_RUNNING : code_of(result);
  return Answer(size, value, size_ret)(status);
}

cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  for (cl_uint i = 0; i < count; ++i) {
    const cl_event event = events[i];
    const Current current(event->queue->context);
    CUresult result = current.result();
    if (result == kSuccess) result = wait_for(*event);
    if (result != kSuccess) return code_of(result);
  }
  return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void* value, size_t* size_ret) {
  if (event == nullptr) return CL_INVALID_EVENT;
  if (event->begin == nullptr) return CL_PROFILING_INFO_NOT_AVAILABLE;
  const Answer give(size, value, size_ret);
  if (what == CL_PROFILING_COMMAND_START) return give(cl_ulong{0});
  if (what != CL_PROFILING_COMMAND_END) return CL_INVALID_VALUE;
  const Current current(event->queue->context);
  float milliseconds = 0;
  const CUresult result = driver()->event_elapsed(&milliseconds, event->begin, event->end);
  if (result != kSuccess) return CL_PROFILING_INFO_NOT_AVAILABLE;
  return give(static_cast<cl_ulong>(static_cast<double>(milliseconds) * 1e6));
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event* wait_list, cl_event* event) {
  return Command(queue, waits, wait_list, event).run([](const Driver&, CUstream) { return kSuccess; });
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event* wait_list, cl_event* event) {
  return clEnqueueMarkerWithWaitList(queue, waits, wait_list, event);
}
