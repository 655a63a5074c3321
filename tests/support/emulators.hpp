// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace oclspkt::test {

/// Whether emulators run the kernels of T that were made for GPUs, too. Of each there are dozens of programs, and an
/// emulator takes longer to build them than all other devices together, by the compiler of the same vendor's run-time
/// for CPUs, which builds them as well; what the host does is the same for every device. In double of quick builds they
/// do; kernels made for CPUs run on emulators in all builds.
template <typename T>
inline constexpr bool kEmulatesGpus =
#ifdef NDEBUG
    sizeof(T) == sizeof(double);
#else
    false;
#endif

}  // namespace oclspkt::test
