// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

// What tests tell the fake in front of libOpenCL, and ask it. It makes of PoCL's processor the first of the fake cards,
// which imports memory of CUDA's: all other calls go on to the loader. Tests are linked with it, so our module finds it
// before libOpenCL.
namespace oclspkt::test::fake::opencl {

/// Forget counts, mistakes and settings; objects stay.
void restart();
/// Imported buffers that were not given back.
int imported();
/// Times that imported buffers were acquired; each release has to follow one.
int acquisitions();
/// Take the mistakes since the last call.
std::vector<std::string> mistakes();

/// Let the card lack the extension. To be said before the first look at devices.
void hide_extension();
/// What imports answer; 0: they go well.
void refuse_imports(int code);
/// Have imports find other memory than was meant.
void mislead_imports(bool misled);
/// What acquiring answers; 0: it goes well.
void refuse_acquisitions(int code);
/// The largest buffer that the card has memory for.
void set_memory_left(long long bytes);

}  // namespace oclspkt::test::fake::opencl
