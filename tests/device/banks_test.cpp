// SPDX-License-Identifier: BSD-2-Clause
// Banks of a board's memory: what each vendor's run-time is told, by a driver that is not there, and that Intel's FPGA
// emulator is told it and solves as without.
#include "banks.hpp"

#include <CL/cl_icd.h>

#include <cstring>
#include <map>
#include <tuple>

#include "devices.hpp"
#include "schemes/fpga/task_form.hpp"
#include "schemes/fpga/task_plan.hpp"

namespace oclspkt::test {
namespace {

using ocl::bank_vendor;
using ocl::BankVendor;

/// The vendor of boards of a platform.
const BankVendor* vendor_of(const char* platform) {
  DeviceInfo info;
  info.type = DeviceType::fpga;
  info.platform = platform;
  return bank_vendor(info);
}

/// What a driver was asked for.
struct AskedBuffer {
  cl_mem_flags flags;
  std::size_t bytes;
  void* host;
};
std::vector<AskedBuffer> asked_buffers;

/// Any object of OpenCL begins with the table of its driver's functions.
struct Dispatched {
  const cl_icd_dispatch* table;
};

/// A pointer of AMD's, as it was given: the driver reads it while it is asked.
struct AskedPointer {
  unsigned flags;
  void *host, *parameter;
} asked_pointer;

cl_mem CL_API_CALL fake_buffer(cl_context, cl_mem_flags flags, std::size_t bytes, void* host, cl_int* error) {
  asked_buffers.push_back({flags, bytes, host});
  if (host != nullptr) std::memcpy(&asked_pointer, host, sizeof asked_pointer);
  *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return nullptr;
}

/// Ask a driver that is not there for buffers of 640 bytes on both banks.
void ask_for_both(const BankVendor& vendor) {
  cl_icd_dispatch table{};
  table.clCreateBuffer = fake_buffer;
  Dispatched context{&table};
  asked_buffers.clear();
  for (const int bank : {1, 2}) {
    cl_int error = CL_SUCCESS;
    vendor.create(reinterpret_cast<cl_context>(&context), CL_MEM_READ_ONLY, 640, bank, &error);
    EXPECT_EQ(error, CL_MEM_OBJECT_ALLOCATION_FAILURE) << "what the driver says";
  }
  ASSERT_EQ(asked_buffers.size(), 2U);
  for (const AskedBuffer& asked : asked_buffers) EXPECT_EQ(asked.bytes, 640U);
}

TEST(Banks, AreBitsOfTheFlagsOnIntelsBoards) {
  ask_for_both(*vendor_of("Intel(R) FPGA SDK for OpenCL(TM)"));
  EXPECT_EQ(asked_buffers[0].flags, CL_MEM_READ_ONLY | cl_mem_flags{1} << 16);
  EXPECT_EQ(asked_buffers[1].flags, CL_MEM_READ_ONLY | cl_mem_flags{2} << 16);
  EXPECT_EQ(asked_buffers[1].host, nullptr);
}

TEST(Banks, AreNamedBehindAPointerOnAmdsBoards) {
  ask_for_both(*vendor_of("Xilinx"));
  for (const AskedBuffer& asked : asked_buffers) {
    EXPECT_EQ(asked.flags, CL_MEM_READ_ONLY | cl_mem_flags{1} << 31);
    EXPECT_NE(asked.host, nullptr);
  }
  EXPECT_EQ(asked_pointer.flags, 2U) << "bit 1: the second bank, asked for last";
  EXPECT_EQ(asked_pointer.host, nullptr);
  EXPECT_EQ(asked_pointer.parameter, nullptr);
}

TEST(Banks, BelongToDevicesWithFpgasOfVendorsThatAreKnown) {
  EXPECT_EQ(vendor_of("Another"), nullptr);
  DeviceInfo info;
  info.platform = "Intel(R) FPGA";
  info.type = DeviceType::cpu;
  EXPECT_EQ(bank_vendor(info), nullptr);
}

cl_icd_dispatch recording;
cl_mem(CL_API_CALL* create_buffer)(cl_context, cl_mem_flags, std::size_t, void*, cl_int*);

cl_mem CL_API_CALL record_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host, cl_int* error) {
  asked_buffers.push_back({flags, bytes, host});
  return create_buffer(context, flags, bytes, host, error);
}

/// As long as it lives, buffers of a context are asked for by record_buffer().
class Recording {
 public:
  explicit Recording(_cl_context* context) : context_(reinterpret_cast<Dispatched*>(context)), table_(context_->table) {
    recording = *table_;
    create_buffer = recording.clCreateBuffer;
    recording.clCreateBuffer = record_buffer;
    context_->table = &recording;
    asked_buffers.clear();
  }
  ~Recording() { context_->table = table_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Dispatched* context_;
  const cl_icd_dispatch* table_;
};

/// Buffers on the device of so many bytes, by the bank that the flags of Intel's run-time name.
std::map<cl_mem_flags, int> buffers_by_bank(std::size_t bytes) {
  std::map<cl_mem_flags, int> count;
  for (const AskedBuffer& asked : asked_buffers) {
    const bool pinned = (asked.flags & CL_MEM_ALLOC_HOST_PTR) != 0;  // memory of the host, for copies
    if (asked.bytes == bytes && !pinned) ++count[asked.flags >> 16];
  }
  return count;
}

TEST(Banks, OfIntelsEmulatorAreToldAndChangeNoBit) {
  const Index n = 32 * 97;
  const auto bands = closed(random_symmetric<float>(LineSet::one(n), 10.0));
  const auto y = random_vector<float>(n);
  const std::size_t array = static_cast<std::size_t>(n) * sizeof(float);
  int emulators = 0;
  on_every_device<float>([&](const DeviceInfo& info) {
    const DeviceSettings none{.variant = Variant::fpga},
        spread{.variant = Variant::fpga, .use = {.fpga_banks = "spread"}};
    const DeviceTraits traits = module().traits(info.index, false, none);
    Plan spike = make_task_plan(n, kTaskRows, "fpga-spkjac", sizeof(float), traits), symmetric = spike;
    symmetric.form = Form::symmetric;
    Plan tdma = make_tdma_plan(n, 0, sizeof(float), traits);
    tdma.made_by = "fpga-tdma";
    const bool emulator = info.emulated && info.platform.find("Intel") != std::string::npos;
    emulators += emulator ? 1 : 0;
    const auto solver = make_solver<float>(info.index, spread);
    for (const auto& [plan, first, second] :
         {std::tuple(spike, 3, 2), std::tuple(symmetric, 2, 2), std::tuple(tdma, 3, 3), std::tuple(spike, 3, 2)}) {
      const auto expected = solve_by_plan(info.index, plan, bands, y, none);
      const auto opened = make_solver<float>(info.index, none);
      opened->set_up(plan, bands);
      const Recording recorded(opened->handles().context);
      const auto fresh = make_solver<float>(info.index, spread);
      fresh->set_up(plan, bands);
      std::map<cl_mem_flags, int> wanted{{1, first}, {2, second}};
      if (!emulator) wanted = {{0, first + second}};
      EXPECT_EQ(buffers_by_bank(array), wanted) << plan.made_by;
      std::vector<float> x(y.size());
      fresh->apply(y.data(), x.data());
      EXPECT_EQ(x, expected);
      // Buffers of another plan on other banks are made anew.
      solver->set_up(plan, bands);
      solver->apply(y.data(), x.data());
      EXPECT_EQ(x, expected);
    }
  });
  if (emulators == 0) GTEST_SKIP() << "Intel's FPGA emulator is not there";
}

}  // namespace
}  // namespace oclspkt::test
