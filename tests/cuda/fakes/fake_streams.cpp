// SPDX-License-Identifier: BSD-2-Clause
// Streams of the fake cards, and events.
#include <chrono>

#include "fake_state.hpp"

using namespace oclspkt::cuda;
using namespace fake_driver;

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned /*flags*/) {
  IN_CONTEXT(cuStreamCreate);
  *stream = new CUstream_st{std::make_shared<Stream>(Stream{stack.back(), {}})};
  fake().streams.insert(*stream);
  return kSuccess;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  IN_CONTEXT(cuStreamDestroy_v2);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  finish(*at);
  fake().streams.erase(stream);
  delete stream;
  return kSuccess;
}
CUresult cuStreamSynchronize(CUstream stream) {
  IN_CONTEXT(cuStreamSynchronize);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  finish(*at);
  return kSuccess;
}
CUresult cuStreamQuery(CUstream stream) {
  IN_CONTEXT(cuStreamQuery);
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  if (at->done == at->work.size()) return kSuccess;
  work_until(*at, at->done + 1);
  return kNotReady;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  CALL(cuStreamGetCtx, stream == nullptr);
  if (stream == nullptr) {
    *context = stack.back();
    return kSuccess;
  }
  const StreamAt at = stream_at(stream);
  if (at == nullptr) return kInvalidHandle;
  *context = at->context;
  return kSuccess;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned /*flags*/) {
  IN_CONTEXT(cuStreamWaitEvent);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || fake().events.count(event) == 0) return wrong("waiting for no event", kInvalidHandle);
  if (event->stream) enqueue(at, [of = event->stream, place = event->place] { work_until(*of, place); });
  return kSuccess;
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  IN_CONTEXT(cuEventCreate);
  *event = new CUevent_st{(flags & kEventDisableTiming) == 0, nullptr, 0, nullptr};
  fake().events.insert(*event);
  return kSuccess;
}
CUresult cuEventDestroy_v2(CUevent event) {
  CALL(cuEventDestroy_v2, false);
  if (fake().events.erase(event) == 0) return wrong("destroying no event", kInvalidHandle);
  delete event;
  return kSuccess;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  IN_CONTEXT(cuEventRecord);
  const StreamAt at = stream_at(stream);
  if (at == nullptr || fake().events.count(event) == 0) return wrong("recording no event", kInvalidHandle);
  event->stream = at;
  event->place = at->work.size() + 1;
  event->time = std::make_shared<double>(0);
  enqueue(at, [time = event->time] { *time = seconds_now(); });
  return kSuccess;
}
CUresult cuEventQuery(CUevent event) {
  CALL(cuEventQuery, false);
  if (fake().events.count(event) == 0) return wrong("asking no event", kInvalidHandle);
  if (!event->stream || event->stream->done >= event->place) return kSuccess;
  work_until(*event->stream, event->stream->done + 1);
  return kNotReady;
}
CUresult cuEventSynchronize(CUevent event) {
  CALL(cuEventSynchronize, false);
  if (fake().events.count(event) == 0) return wrong("waiting for no event", kInvalidHandle);
  if (event->stream) work_until(*event->stream, event->place);
  return kSuccess;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  CALL(cuEventElapsedTime, false);
  for (CUevent event : {begin, end}) {
    if (fake().events.count(event) == 0 || !event->timed || !event->stream)
      return wrong("a time of none", kInvalidHandle);
    if (event->stream->done < event->place) return kNotReady;
  }
  *milliseconds = static_cast<float>((*end->time - *begin->time) * 1e3);
  return kSuccess;
}

}  // extern "C"
