// SPDX-License-Identifier: BSD-2-Clause
#include "write_bands.hpp"

#include "parallel.hpp"

namespace oclspkt {

template <typename T>
void close_lines(const LineSet& lines, const BandsPart<T>& part, Index first, Index end) {
  if (lines.contiguous()) {
    for (Index l = lines.line_of(first); l < lines.count() && lines.first(l) < end; ++l) {
      const Index top = lines.first(l), bottom = top + lines.length(l) - 1;
      if (top >= first && bottom >= top) part.lower[top - first] = T(0);
      if (bottom >= first && bottom < end) part.upper[bottom - first] = T(0);
    }
    return;
  }
  const Index block = lines.block_extent(), last_row = block - lines.block_lines();
  for (Index at = first; at < end;) {
    const Index start = at - at % block, stop = std::min(end, start + block);
    const Index top_end = std::min(stop, start + lines.block_lines()), bottom = std::max(at, start + last_row);
    if (at < top_end) std::fill(part.lower + (at - first), part.lower + (top_end - first), T(0));
    if (bottom < stop) std::fill(part.upper + (bottom - first), part.upper + (stop - first), T(0));
    at = stop;
  }
}

template <typename T>
void write_bands(Bands<T>& bands, const BandsFill<T>& fill) {
  for_pieces(bands.lines().extent(), kPieceRows, [&](Index first, Index end) {
    write_piece(bands, fill, first, end, [](const BandsPart<T>&, Index, Index) {});
  });
}

#define OCLSPKT_INSTANTIATE(T)                                                  \
  template void close_lines(const LineSet&, const BandsPart<T>&, Index, Index); \
  template void write_bands(Bands<T>&, const BandsFill<T>&);
OCLSPKT_INSTANTIATE(float)
OCLSPKT_INSTANTIATE(double)

}  // namespace oclspkt
