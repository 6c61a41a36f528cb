// Batches through a CUDA lane: copies, launches and hand-over of many small calls.
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/device/cuda_module.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

struct LaneCase {
  const char* name;
  Program program;
  std::vector<TensorType> types;
};

// Inputs and outputs as a client shares them.
struct SharedMemory {
  explicit SharedMemory(Device& device) {
    data = static_cast<std::byte*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::memset(data, 1, kBytes);
    auto locked = device.LockHostMemory(data, kBytes);
    Check(locked.ok(), locked.status().ToString().c_str());
    lock = *std::move(locked);
  }
  ~SharedMemory() {
    lock.reset();
    munmap(data, kBytes);
  }
  static constexpr int64_t kBytes = int64_t{1} << 30;
  std::byte* data;
  std::shared_ptr<const void> lock;
};

// `shared`: null for inputs and outputs of messages.
void TimeBatches(Lane& lane, const LaneCase& c, size_t batch_size, SharedMemory* shared = nullptr) {
  absl::StatusOr<Plan> plan = MakePlan(c.program, c.types, int64_t{1} << 34);
  Check(plan.ok(), plan.status().ToString().c_str());
  std::vector<std::vector<std::byte>> memory;
  std::vector<Storage> inputs;
  int64_t used = 0;
  for (const TensorType& type : c.types) {
    const int64_t size_bytes = type.size_bytes();
    memory.emplace_back(static_cast<size_t>(size_bytes));
    for (size_t i = 0; i < memory.back().size(); ++i) memory.back()[i] = std::byte(i % 61);
    if (shared == nullptr) {
      inputs.push_back({HostBytes(memory.back().data(), size_bytes)});
      continue;
    }
    std::memcpy(shared->data + used, memory.back().data(), static_cast<size_t>(size_bytes));
    inputs.emplace_back().host.Add({shared->data + used, size_bytes, shared->lock, true});
    used += (size_bytes + 63) / 64 * 64;
  }
  HostTarget target;
  if (shared != nullptr) target = {shared->data + used, shared->lock, true};
  std::vector<Execution> batch(batch_size);
  for (Execution& execution : batch) {
    execution.plan = &*plan;
    execution.inputs = inputs;
    execution.targets = absl::MakeConstSpan(&target, 1);
  }
  BatchTiming timing;
  std::vector<double> us;
  for (int i = 0; i < 210; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const absl::Status status = lane.Execute(absl::MakeSpan(batch), timing);
    const auto end = std::chrono::steady_clock::now();
    Check(status.ok(), status.ToString().c_str());
    if (i >= 10) us.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  std::sort(us.begin(), us.end());
  std::printf(
      "lane: %-28s %-7s batch of %4zu  p50 %9.1f us  p99 %9.1f us  (copy in %.1f, compute %.1f, "
      "copy out %.1f us)\n",
      c.name, shared == nullptr ? "message" : "shared", batch_size, us[us.size() / 2],
      us[us.size() * 99 / 100], absl::ToDoubleMicroseconds(timing.copy_in),
      absl::ToDoubleMicroseconds(timing.compute), absl::ToDoubleMicroseconds(timing.copy_out));
}

Program ProgramOf(const decltype(Operation::attributes)& attributes) {
  Program program;
  program.input_count = std::holds_alternative<FilterAttributes>(attributes) ? 1 : 2;
  program.operations = {{attributes, program.input_count == 1
                                         ? absl::InlinedVector<uint32_t, 3>{0}
                                         : absl::InlinedVector<uint32_t, 3>{0, 1}}};
  program.outputs = {program.input_count};
  return program;
}

void BenchLane() {
  auto device = LoadCudaDevice(0);
  Check(device.ok(), device.status().ToString().c_str());
  auto lane = (*device)->MakeLane();
  Check(lane.ok(), lane.status().ToString().c_str());
  FilterAttributes gaussian;
  gaussian.sigma = {1, 1};
  const auto floats = [](Shape shape) { return TensorType{DType::kFloat32, shape}; };
  const LaneCase add = {
      "add of 1024 floats", ProgramOf(ElementwiseOp::kAdd), {floats({1024}), floats({1024})}};
  const LaneCase matmul = {
      "matmul 64x64", ProgramOf(MatMulAttributes{}), {floats({64, 64}), floats({64, 64})}};
  const LaneCase filter = {"gaussian 64x64", ProgramOf(gaussian), {floats({64, 64})}};
  for (const LaneCase& c : {add, matmul, filter}) {
    for (const size_t batch_size : {1, 64, 512}) TimeBatches(**lane, c, batch_size);
  }
  SharedMemory shared(**device);
  for (const int64_t side : {64, 256, 1024, 4096}) {
    const TensorType square = floats({side, side});
    const std::string size = absl::StrCat(" ", side, "x", side);
    for (const auto& [name, attributes] :
         {std::pair<std::string, decltype(Operation::attributes)>{"add", ElementwiseOp::kAdd},
          {"gaussian", gaussian},
          {"matmul", MatMulAttributes{}}}) {
      const std::string title = name + size;
      LaneCase c = {title.c_str(), ProgramOf(attributes), {square, square}};
      c.types.resize(c.program.input_count);
      TimeBatches(**lane, c, 1);
      TimeBatches(**lane, c, 1, &shared);
    }
  }
}

}  // namespace
}  // namespace gpucall

int main() { gpucall::BenchLane(); }
