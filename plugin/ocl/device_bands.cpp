// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstddef>
#include <span>

#include "device_state.hpp"
#include "page_locks.hpp"

namespace oclspkt::ocl {
namespace {

/// The bytes of places [first, end) of an array.
std::span<const std::byte> bytes_of(const void* array, std::int64_t word, const Chunk& places) {
  return {static_cast<const std::byte*>(array) + places.first * word, size(places.rows() * word)};
}

/// True if kernels work in host memory.
bool in_place(const Site& site) { return site.pipeline == nullptr; }

/// True if every pass copies the bands of its chunk again.
bool refilled(const Site& site) { return !in_place(site) && !site.layout.resident; }

}  // namespace

void DeviceBands::forget(bool in_place) {
  if (in_place) chunks_.clear();  // the buffers wrap host memory
  locks_.clear();
}

std::int64_t DeviceBands::make(const Site& site, Index block, const Placed& placed) {
  chunks_.resize(refilled(site) ? 1 : site.layout.band_chunks.size());
  if (in_place(site)) return 0;
  std::int64_t made = 0;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const Index rows = refilled(site) ? site.layout.longest : site.layout.band_chunks[i].rows();
    const auto fit = [&](Buffer& buffer, bool SecondBank::*array) {
      made += ensure(site.device, buffer, Access::read, round_up(rows, block) * arrays_.word, bank_of(placed, array));
    };
    ChunkBands& bands = chunks_[i];
    fit(bands.diag, &SecondBank::diag);
    fit(bands.upper, &SecondBank::upper);
    if (site.plan.symmetric()) {
      bands.lower = bands.upper;
    } else {
      if (same(bands.lower, bands.upper)) bands.lower = Buffer();
      fit(bands.lower, &SecondBank::lower);
    }
  }
  return made;
}

void DeviceBands::fill(const Site& site) {
  if (refilled(site)) return lock(site);
  for (std::size_t i = 0; i < site.layout.band_chunks.size(); ++i) {
    const Chunk& places = site.layout.band_chunks[i];
    if (in_place(site)) {
      const auto wrapped = [&](const void* array) {
        const auto bytes = bytes_of(array, arrays_.word, places);
        return wrap(site.device, bytes.data(), static_cast<Index>(bytes.size()));
      };
      const Buffer upper = wrapped(arrays_.upper);
      chunks_[i] = {site.plan.symmetric() ? upper : wrapped(arrays_.lower), wrapped(arrays_.diag), upper};
    } else {
      upload(site, chunks_[i], places);
    }
  }
  if (!in_place(site)) arrays_ = {.word = arrays_.word};
}

void DeviceBands::lock(const Site& site) {
  Index places = 0;
  for (const Chunk& chunk : site.layout.band_chunks) places = std::max(places, chunk.end);
  for (const void* array : {site.plan.symmetric() ? nullptr : arrays_.lower, arrays_.diag, arrays_.upper}) {
    if (array == nullptr) continue;
    locks_.push_back(lock_pages(site.device.info().index, array, places * arrays_.word));
  }
}

const ChunkBands& DeviceBands::give(const Site& site, std::size_t chunk) {
  const std::vector<Chunk>& places = site.layout.band_chunks;
  if (refilled(site)) upload(site, chunks_.front(), places[std::min(chunk, places.size() - 1)]);
  return chunks_[std::min(chunk, chunks_.size() - 1)];
}

void DeviceBands::upload(const Site& site, const ChunkBands& to, const Chunk& places) const {
  const auto bring = [&](const Buffer& buffer, const void* array) {
    const auto bytes = bytes_of(array, arrays_.word, places);
    site.pipeline->bring(bytes.data(), static_cast<std::int64_t>(bytes.size()), buffer, site.waiter, site.times);
  };
  if (!site.plan.symmetric()) bring(to.lower, arrays_.lower);
  bring(to.diag, arrays_.diag);
  bring(to.upper, arrays_.upper);
}

}  // namespace oclspkt::ocl
