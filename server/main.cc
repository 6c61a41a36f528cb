// gpucall-server: reads its configuration, chooses a device, serves until SIGTERM or SIGINT,
// drains.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/device/blas_core.h"
#include "server/device/device_choice.h"
#include "server/scheduler/batch_scheduler.h"
#include "server/service/config.h"
#include "server/service/process_tuning.h"
#include "server/service/rpc_server.h"
#include "server/service/shared_memory_server.h"

ABSL_FLAG(std::string, config, "", "ServerConfig file (protobuf text format); flags override it");
ABSL_FLAG(std::string, listen, "",
          "address:port (0: any free port) or unix:/path; default 127.0.0.1:7625");
ABSL_FLAG(std::string, device, "", "auto, cpu, cuda or cuda:N; default auto");
ABSL_FLAG(uint32_t, lanes, 0, "batches at once; 0: the device's default");
ABSL_FLAG(uint32_t, max_batch_tasks, 0, "calls in one batch; 1: no batching; default 64");
ABSL_FLAG(uint32_t, max_queue_tasks, 0, "calls that may wait; default 4096");
ABSL_FLAG(uint64_t, max_queue_bytes, 0, "bytes of calls that may wait; default 2 GiB");
ABSL_FLAG(uint64_t, max_message_bytes, 0, "largest request or reply; default 160 MiB");
ABSL_FLAG(uint32_t, drain_seconds, 0, "how long SIGTERM waits for calls in flight; default 30");
ABSL_FLAG(uint64_t, max_resident_bytes, 0,
          "device memory that one caller's tensors may keep; default half of it");
ABSL_FLAG(uint32_t, resident_ttl_seconds, 0,
          "how long tensors without a session stay unused; default 600");
ABSL_FLAG(uint32_t, session_grace_seconds, 0,
          "how long a session's tensors stay after its connection is lost; default 30");
ABSL_FLAG(std::string, shared_memory_socket, "",
          "Unix socket where clients register shared memory; default: beside that of --listen");
ABSL_FLAG(uint32_t, max_segments, 0, "segments of shared memory of one connection; default 64");
ABSL_FLAG(uint64_t, max_segment_bytes, 0, "the same, in bytes together; default 16 GiB");
ABSL_FLAG(std::string, log_level, "", "debug, info, warning or error; default info");
ABSL_FLAG(std::string, port_file, "", "file to write the address in use to, once serving");
ABSL_FLAG(std::string, probe, "",
          "ask the server at this address for its health: exit code 0 if it is serving");

namespace gpucall {
namespace {

absl::StatusOr<v1::ServerConfig> ConfigFromFlags() {
  v1::ServerConfig file;
  if (const std::string path = absl::GetFlag(FLAGS_config); !path.empty()) {
    GPUCALL_ASSIGN_OR_RETURN(file, ReadConfig(path));
  }
  v1::ServerConfig flags;
  flags.set_listen(absl::GetFlag(FLAGS_listen));
  flags.set_device(absl::GetFlag(FLAGS_device));
  flags.set_lanes(absl::GetFlag(FLAGS_lanes));
  flags.set_max_batch_tasks(absl::GetFlag(FLAGS_max_batch_tasks));
  flags.set_max_queue_tasks(absl::GetFlag(FLAGS_max_queue_tasks));
  flags.set_max_queue_bytes(absl::GetFlag(FLAGS_max_queue_bytes));
  flags.set_max_message_bytes(absl::GetFlag(FLAGS_max_message_bytes));
  flags.set_drain_seconds(absl::GetFlag(FLAGS_drain_seconds));
  flags.set_max_resident_bytes(absl::GetFlag(FLAGS_max_resident_bytes));
  flags.set_resident_ttl_seconds(absl::GetFlag(FLAGS_resident_ttl_seconds));
  flags.set_session_grace_seconds(absl::GetFlag(FLAGS_session_grace_seconds));
  flags.set_shared_memory_socket(absl::GetFlag(FLAGS_shared_memory_socket));
  flags.set_max_segments(absl::GetFlag(FLAGS_max_segments));
  flags.set_max_segment_bytes(absl::GetFlag(FLAGS_max_segment_bytes));
  flags.set_log_level(absl::GetFlag(FLAGS_log_level));
  return CompleteConfig(std::move(file), flags);
}

TensorStore::Limits ResidentLimits(const v1::ServerConfig& config, const DeviceInfo& device) {
  TensorStore::Limits limits;
  limits.tenant.size_bytes = config.max_resident_bytes() != 0
                                 ? static_cast<int64_t>(config.max_resident_bytes())
                                 : device.memory_bytes / 2;
  limits.total_bytes = device.memory_bytes / 4 * 3;  // the rest is for calls
  limits.time_to_live = std::chrono::seconds(config.resident_ttl_seconds());
  limits.session_grace = std::chrono::seconds(config.session_grace_seconds());
  return limits;
}

v1::ServerInfo MakeInfo(const v1::ServerConfig& config, const DeviceChoice& choice, int lanes,
                        const ComputeLimits& limits) {
  v1::ServerInfo info;
  info.set_version(GPUCALL_VERSION);
  info.set_device_choice(choice.reason);
  const DeviceInfo& device = choice.device->info();
  v1::DeviceInfo& entry = *info.add_devices();
  entry.set_id(device.id);
  entry.set_name(device.name);
  entry.set_memory_bytes(device.memory_bytes);
  entry.set_lanes(lanes);
  entry.set_compute_capability(device.compute_capability);
  v1::Limits& shown = *info.mutable_limits();
  shown.set_max_message_bytes(limits.max_message_bytes);
  shown.set_max_tensor_bytes(limits.max_tensor_bytes);
  shown.set_max_dimensions(kMaxRank);
  shown.set_max_operations(kMaxOperations);
  shown.set_max_values(kMaxProgramValues);
  shown.set_max_batch_tasks(config.max_batch_tasks());
  shown.set_max_queue_tasks(config.max_queue_tasks());
  shown.set_max_queue_bytes(config.max_queue_bytes());
  shown.set_max_resident_bytes(static_cast<uint64_t>(limits.residents.tenant.size_bytes));
  shown.set_max_resident_tensors(static_cast<uint64_t>(limits.residents.tenant.tensors));
  shown.set_resident_ttl_seconds(config.resident_ttl_seconds());
  shown.set_session_grace_seconds(config.session_grace_seconds());
  return info;
}

// Written beside and renamed, so that a reader never sees half of it.
absl::Status WritePortFile(const std::string& path, const std::string& address) {
  const std::string part = path + ".part";
  std::ofstream(part) << address << "\n";
  if (std::rename(part.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("port_file: cannot write ", path));
}

// Where SIGTERM and SIGINT are written by their handler. Not sigwait: libraries start threads
// before main, which do not block signals, and one delivered there would end the process.
int stop_pipe[2] = {-1, -1};

void HandleStop(int signal) {
  const auto byte = static_cast<unsigned char>(signal);
  static_cast<void>(!write(stop_pipe[1], &byte, 1));
}

void CatchStopSignals() {
  if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action = {};
  action.sa_handler = HandleStop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

// Blocks until a stop signal has come, and returns it.
int WaitForStop() {
  unsigned char byte = 0;
  pollfd readable = {stop_pipe[0], POLLIN, 0};
  while (read(stop_pipe[0], &byte, 1) != 1) poll(&readable, 1, -1);
  return byte;
}

absl::Status Serve() {
  GPUCALL_ASSIGN_OR_RETURN(const v1::ServerConfig config, ConfigFromFlags());
  spdlog::set_level(spdlog::level::from_str(config.log_level()));
  GPUCALL_ASSIGN_OR_RETURN(DeviceChoice choice, ChooseDevice(config.device()));
  spdlog::info("device: {}", choice.reason);

  BatchQueue::Limits queue_limits;
  queue_limits.max_batch_tasks = config.max_batch_tasks();
  queue_limits.max_queue_tasks = config.max_queue_tasks();
  queue_limits.max_queue_bytes = static_cast<int64_t>(config.max_queue_bytes());
  GPUCALL_ASSIGN_OR_RETURN(
      auto scheduler,
      BatchScheduler::Make(*choice.device, static_cast<int>(config.lanes()), queue_limits));
  ComputeLimits limits;
  limits.max_message_bytes = static_cast<int64_t>(config.max_message_bytes());
  limits.max_streamed_bytes = choice.device->info().memory_bytes;
  limits.residents = ResidentLimits(config, choice.device->info());
  GPUCALL_ASSIGN_OR_RETURN(auto server,
                           RpcServer::Start(config.listen(), *scheduler, *choice.device, limits,
                                            MakeInfo(config, choice, scheduler->lanes(), limits)));
  std::unique_ptr<SharedMemoryServer> shared_memory;
  if (const std::string& path = config.shared_memory_socket(); !path.empty()) {
    const SegmentLimits segment_limits = {
        .max_segments = config.max_segments(),
        .max_bytes = static_cast<int64_t>(config.max_segment_bytes())};
    GPUCALL_ASSIGN_OR_RETURN(
        shared_memory,
        SharedMemoryServer::Start(path, segment_limits, *choice.device, server->segments()));
    spdlog::info("shared memory at {}", path);
  }
  if (const std::string path = absl::GetFlag(FLAGS_port_file); !path.empty()) {
    GPUCALL_RETURN_IF_ERROR(WritePortFile(path, server->address()));
  }
  spdlog::info("gpucall {} listening on {}", GPUCALL_VERSION, server->address());

  const int signal = WaitForStop();
  spdlog::info("{}: draining for up to {} s", strsignal(signal), config.drain_seconds());
  if (!server->Drain(std::chrono::seconds(config.drain_seconds()))) {
    return absl::DeadlineExceededError(
        "drain: calls were still in flight at the end, and were cancelled");
  }
  spdlog::info("drained");
  return absl::OkStatus();
}

int Main() {
  if (const std::string target = absl::GetFlag(FLAGS_probe); !target.empty()) {
    const absl::Status health = ProbeHealth(target, std::chrono::seconds(3));
    if (!health.ok()) std::cerr << health.message() << "\n";
    return health.ok() ? 0 : 1;
  }
  CatchStopSignals();
  const absl::Status status = Serve();
  if (!status.ok()) spdlog::error("{}", std::string(status.message()));
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace gpucall

int main(int argc, char** argv) {
  gpucall::RestartWithBlasCore(argv);
  gpucall::TuneProcess();
  absl::SetProgramUsageMessage("Serves array operations over gRPC, on a GPU or on the CPU.");
  absl::FlagsUsageConfig usage;
  usage.version_string = [] { return absl::StrCat("gpucall ", GPUCALL_VERSION, "\n"); };
  usage.contains_help_flags = [](absl::string_view file) {
    return absl::StrContains(file, "server/main.cc");
  };
  absl::SetFlagsUsageConfig(usage);
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    std::cerr << "unexpected argument '" << rest[1] << "'; see --help\n";
    return 1;
  }
  return gpucall::Main();
}
