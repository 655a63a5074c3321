// SPDX-License-Identifier: BSD-2-Clause
// Arrays of more than 2^31 places: what kernels are told, by a driver that records it and runs none. Buffers of that
// length have no memory there.
#include <dlfcn.h>

#include <cstdint>
#include <sstream>

#include "recording_driver.hpp"
#include "space_cases.hpp"

namespace oclspkt::test {
namespace {

constexpr Index kPlaces = (Index{1} << 31) + 5;
constexpr const char* kPlacesInHex = " 0000000080000005 ";

template <typename F>
F of_recorder(const char* name) {
  static void* const driver = dlopen(OCLSPKT_RECORDING_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return driver != nullptr ? reinterpret_cast<F>(dlsym(driver, name)) : nullptr;
}

/// What f() launches, a line each.
template <typename F>
std::vector<std::string> launches_of(const F& f) {
  of_recorder<freeze::StartRecording>(freeze::kStartRecording)();
  f();
  std::istringstream text(of_recorder<freeze::StopRecording>(freeze::kStopRecording)().launches);
  std::vector<std::string> launches;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("launch ")) launches.push_back(line + " ");
  }
  return launches;
}

std::int64_t number_behind(const std::string& line, const std::string& word) {
  return std::stoll(line.substr(line.find(word) + word.size()));
}

/// A launch names all places, its work-groups take all of them, and no driver counts more work-items than it can.
void expect_all_places(const std::string& launch) {
  const std::size_t at = launch.find(kPlacesInHex);
  ASSERT_NE(at, std::string::npos) << launch;
  std::istringstream behind(launch.substr(at + std::string(kPlacesInHex).size()));
  std::string word;
  do behind >> word;
  while (word.size() != 16 && !behind.eof());  // a number of 32 bits may lie between
  const std::int64_t global = number_behind(launch, " global "), local = number_behind(launch, " local ");
  const std::int64_t run = std::stoll(word, nullptr, 16), groups = global / local;
  EXPECT_LE(global, INT32_MAX) << launch;
  EXPECT_GE(groups * run, kPlaces) << launch;
  EXPECT_LT((groups - 1) * run, kPlaces) << launch;
}

template <typename T>
void launch_everything(Space<T>& space) {
  const auto x = space.make(kPlaces), z = space.make(kPlaces);
  const Term<T> term{T(2), x.get()};
  space.fill(*z, T(1));
  space.combine(*z, T(1), {&term, 1});
  space.pointwise(Pointwise::multiply, *z, *x, z.get(), T(0));
  space.put(Merge::insert, *x, {}, *z, {}, kPlaces);
  const std::vector<SumOf<T>> sums{{SumKind::dot, x.get(), z.get()},
                                   {SumKind::norm2, x.get()},
                                   {SumKind::sum, x.get()},
                                   {SumKind::greatest, x.get()}};
  std::vector<SumValue<T>> values(sums.size());
  space.sums(sums, values);
  SparseForm form;
  form.format = SparseFormat::dia;
  form.rows = form.columns = form.entries = form.places = kPlaces;
  form.slice = space.slice_rows();
  form.wide = true;
  form.diagonals = {0};
  space.product(*space.make_matrix(form), *x, nullptr, *z);
}

template <typename T>
class LongArrays : public testing::Test {};

SCALAR_TEST(LongArrays, HaveAllTheirPlacesInEveryLaunch) {
  int devices = 0;
  on_every_device<T>([&](const DeviceInfo& info) {
    if (info.platform != "Recording platform" || info.type == DeviceType::fpga) return;
    ++devices;
    const auto space = make_space<T>(info.index);
    const std::vector<std::string> launches = launches_of([&] { launch_everything(*space); });
    EXPECT_EQ(launches.size(), 9U);
    for (const std::string& launch : launches) expect_all_places(launch);
  });
  EXPECT_EQ(devices, sizeof(T) == sizeof(float) ? 4 : 3);
}

}  // namespace
}  // namespace oclspkt::test
