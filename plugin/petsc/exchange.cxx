// SPDX-License-Identifier: BSD-2-Clause
#include "exchange.hxx"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace oclspkt::petsc {
namespace {

/// The most scalars in one message, because MPI counts in int. A longer leg takes several messages.
constexpr Index kMostScalars = Index{1} << 30;

void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error("MPI: " + std::string(text, static_cast<std::size_t>(length)));
}

/// True until MPI_Finalize(), after which MPI must not free requests and types.
bool mpi_is_alive() {
  int finalized = 0;
  return MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

}  // namespace

/// PETSc's inner communicator of the caller's communicator, with a tag of this object. Objects share the communicator,
/// because MPI has few communicators and a multigrid has many preconditioners.
class MpiExchange::Communicator {
 public:
  explicit Communicator(MPI_Comm comm) {
    if (PetscCommDuplicate(comm, &comm_, &tag_) != PETSC_SUCCESS)
      throw Error("PETSc has no communicator for the lines");
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() {
    if (!PetscFinalizeCalled) (void)PetscCommDestroy(&comm_);  // PetscFinalize() frees it even if it is in use
  }
  MPI_Comm get() const { return comm_; }
  PetscMPIInt tag() const { return tag_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  PetscMPIInt tag_ = 0;
};

/// A channel with persistent requests. The first start makes the requests; a start with other buffers replaces them.
class MpiExchange::MpiChannel final : public Exchange::Channel {
 public:
  MpiChannel(std::shared_ptr<const Communicator> comm, std::vector<Leg> out, std::vector<Leg> in,
             std::size_t scalar_bytes)
      : comm_(std::move(comm)), out_(std::move(out)), in_(std::move(in)), bytes_(scalar_bytes) {
    check(MPI_Type_contiguous(static_cast<int>(bytes_), MPI_BYTE, &scalar_));
    const int code = MPI_Type_commit(&scalar_);
    if (code != MPI_SUCCESS) MPI_Type_free(&scalar_);
    check(code);
  }
  MpiChannel(const MpiChannel&) = delete;
  MpiChannel& operator=(const MpiChannel&) = delete;
  ~MpiChannel() override {
    if (!mpi_is_alive()) return;
    free_requests();
    MPI_Type_free(&scalar_);
  }

  void start(const void* out, void* in) override {
    if (out_.empty() && in_.empty()) return;
    if (out != out_buffer_ || in != in_buffer_) make_requests(out, in);
    check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()));  // starts receives before sends
  }
  void finish() override {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  }

 private:
  void make_requests(const void* out, void* in) {
    free_requests();
    const auto each = [&](const std::vector<Leg>& legs, const auto& make) {
      Index at = 0;
      for (const Leg& leg : legs) {
        for (Index sent = 0; sent < leg.count;) {
          const Index count = std::min(leg.count - sent, kMostScalars);
          MPI_Request request = MPI_REQUEST_NULL;
          check(make(static_cast<std::size_t>(at) * bytes_, static_cast<int>(count), leg.process, &request));
          requests_.push_back(request);
          sent += count;
          at += count;
        }
      }
    };
    each(in_, [&](std::size_t at, int count, int process, MPI_Request* request) {
      return MPI_Recv_init(static_cast<char*>(in) + at, count, scalar_, process, comm_->tag(), comm_->get(), request);
    });
    each(out_, [&](std::size_t at, int count, int process, MPI_Request* request) {
      return MPI_Send_init(static_cast<const char*>(out) + at, count, scalar_, process, comm_->tag(), comm_->get(),
                           request);
    });
    out_buffer_ = out;
    in_buffer_ = in;
  }
  void free_requests() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
    requests_.clear();
    out_buffer_ = in_buffer_ = nullptr;
  }

  std::shared_ptr<const Communicator> comm_;
  std::vector<Leg> out_, in_;
  std::size_t bytes_;
  MPI_Datatype scalar_ = MPI_DATATYPE_NULL;
  const void* out_buffer_ = nullptr;
  void* in_buffer_ = nullptr;
  std::vector<MPI_Request> requests_;
};

MpiExchange::MpiExchange(MPI_Comm comm) : comm_(std::make_shared<Communicator>(comm)) {
  check(MPI_Comm_rank(comm_->get(), &rank_));
  check(MPI_Comm_size(comm_->get(), &size_));
}

std::unique_ptr<Exchange::Channel> MpiExchange::open(std::vector<Leg> out, std::vector<Leg> in,
                                                     std::size_t scalar_bytes) {
  return std::make_unique<MpiChannel>(comm_, std::move(out), std::move(in), scalar_bytes);
}

/// MPI_MAX is undefined for NaN, so a second number marks each NaN.
void MpiExchange::largest(std::span<double> values) {
  const std::size_t count = values.size();
  std::vector<double> numbers(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool nan = std::isnan(values[i]);
    numbers[i] = nan ? -std::numeric_limits<double>::infinity() : values[i];
    numbers[count + i] = nan ? 1 : 0;
  }
  const auto all = static_cast<PetscMPIInt>(numbers.size());
  check(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), all, MPI_DOUBLE, MPI_MAX, comm_->get()));
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = numbers[count + i] > 0 ? std::numeric_limits<double>::quiet_NaN() : numbers[i];
  }
}

}  // namespace oclspkt::petsc
