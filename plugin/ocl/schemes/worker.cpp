// SPDX-License-Identifier: BSD-2-Clause
#include "schemes/worker.hpp"

#include <algorithm>

#include "parallel.hpp"
#include "scalars.hpp"
#include "schemes/scheme.hpp"

namespace oclspkt::ocl {

template <typename T>
Stored Worker<T>::store(const Plan& plan, const LineSet&, const BandsView<T>& bands, bool) {
  return plan.narrow ? keep_narrow({bands.lower, bands.diag, bands.upper}, plan.n) : stored(bands);
}

template <typename T>
std::int64_t Worker<T>::host_bytes() const {
  std::int64_t bytes = 0;
  for (const AlignedArray<float>& array : narrow_) bytes += array.bytes();
  return bytes;
}

template <typename T>
void Worker<T>::rehearse(const Site& site) {
  const Chunk nothing;
  for (int pass = 0; pass < site.layout.needs.passes; ++pass) {
    site.waiter.wait(enqueue(site, {site.bands.front(), site.scratch, site.scratch, nothing, pass}));
  }
  site.earlier.clear();
}

template <typename T>
Stored Worker<T>::keep_narrow(const std::array<const T*, 3>& from, Index n) {
  for (std::size_t k = 0; k < from.size(); ++k) {
    narrow_[k].resize(n);
    for_pieces(n, kPieceRows,
               [&](Index begin, Index end) { std::copy(from[k] + begin, from[k] + end, &narrow_[k][begin]); });
  }
  return {narrow_[0].data(), narrow_[1].data(), narrow_[2].data(), sizeof(float)};
}

template <typename T>
std::int64_t Worker<T>::bring_array(const Site& site, Buffer& buffer, const AlignedArray<T>& array) const {
  const std::int64_t bytes = array.size() * static_cast<Index>(sizeof(T));
  if (bytes == 0) return 0;
  buffer = make_buffer(site.device, Access::read, bytes);
  site.pipeline->bring(array.data(), bytes, buffer, site.waiter, site.times);
  return bytes;
}

template <typename T>
void Worker<T>::make(const Site& site, Kernel& kernel, const char* name, const std::string& options, bool is_double) {
  if (kernel.handle() != nullptr && kernel.name == name && kernel.options == options) return;
  const Kernels kind = scheme_of(site.plan).nature().kernels;
  const int lanes = kind == Kernels::groups ? 1 : kind == Kernels::task ? kOneTask : site.plan.lanes;
  kernel = site.device.kernel(name, is_double, lanes, options, nullptr, site.files);
}

template <typename T>
void Worker<T>::make_from(const Site& site, Kernel& kernel, const char* name, const std::string& text) {
  if (kernel.handle() != nullptr) return;
  constexpr bool kDouble = sizeof(T) == sizeof(double);
  kernel = site.device.kernel(name, kDouble, 1, "", (scalar_text(kDouble) + text).c_str(), site.files);
}

template <typename T>
Stored FactorWorker<T>::store(const Plan& plan, const LineSet& lines, const BandsView<T>& bands, bool) {
  factors_.factor(lines, bands, plan.form, Order::down, 0, plan.narrow);
  return plan.narrow ? stored(factors_.narrow_view()) : stored(factors_.view());
}

#define OCLSPKT_INSTANTIATE(T) \
  template class Worker<T>;    \
  template class FactorWorker<T>;
OCLSPKT_REALS(OCLSPKT_INSTANTIATE)

}  // namespace oclspkt::ocl
