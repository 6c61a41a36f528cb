// Measures how fast tensors move: the C++ client and a server of this build against controls, in
// one interleaved run. Every repetition measures ours and the control one after the other, and a
// ratio is of such a pair. Ours ends with the results in memory of their own.
//
//   unary   abs of 16 MiB of float32 in one message, against an echo of the same bytes
//   stream  abs of 256 MiB in chunks, against an echo of a stream of 1 MiB messages
//   plain   add of two 64 MiB tensors in chunks, against one unary call of protobuf messages in
//           processes with default settings
//   striped put of 256 MiB over eight connections, against one
//   table   abs of 1 KiB to 256 MiB: messages against chunks, and from where on chunks are faster
//
// Starts the servers itself. Exits with 1 where one does not start, answers wrongly or fails.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gpucall/client.h"
#include "server/service/process_tuning.h"
#include "tests/bench/echo_server.h"
#include "tests/bench/load.h"
#include "tests/bench/plain_add.h"
#include "tests/bench/report.h"
#include "tests/bench/statistics.h"
#include "tests/bench/transfer.h"
#include "tests/testing/child_process.h"

ABSL_FLAG(std::string, benchmark_filter, "", "measure only what has this in its name");
ABSL_FLAG(std::string, device, "auto", "of the server: auto, cpu, cuda or cuda:N");
ABSL_FLAG(double, seconds, 2, "of each measurement");
ABSL_FLAG(int, repetitions, 5, "measurements of each; figures are medians");
ABSL_FLAG(std::string, server_binary, "", "default: gpucall-server beside this program");
ABSL_FLAG(bool, echo_server, false, "be the echo (the benchmark starts it itself)");
ABSL_FLAG(bool, plain_server, false, "be the plain server (the benchmark starts it itself)");
ABSL_FLAG(std::string, plain_client, "", "be the plain client of the server at this address");
ABSL_FLAG(std::string, port_file, "", "of --echo_server and --plain_server");

#define RETURN_IF_ERROR(expr) \
  if (absl::Status status_ = (expr); !status_.ok()) return status_

namespace gpucall {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kPlainBytes = 64 * kMiB;
constexpr int64_t kMaxInlineBytes = 48'000'000;  // the server's limit of a tensor in a message
const int64_t kNeverStream = int64_t{1} << 40;

std::string ThisProgram() { return std::filesystem::read_symlink("/proc/self/exe"); }
absl::Duration Seconds() { return absl::Seconds(absl::GetFlag(FLAGS_seconds)); }

absl::StatusOr<ServerProcess> StartServer() {
  std::string binary = absl::GetFlag(FLAGS_server_binary);
  if (binary.empty()) {
    binary = std::filesystem::path(ThisProgram()).parent_path() / "gpucall-server";
  }
  return ServerProcess::Start(
      {binary, "--listen=127.0.0.1:0", absl::StrCat("--device=", absl::GetFlag(FLAGS_device))});
}
absl::StatusOr<ServerProcess> StartEcho() {
  return ServerProcess::Start({ThisProgram(), "--echo_server"});
}

// -1, 0.5, -1...
std::vector<float> Numbers(int64_t size_bytes) {
  std::vector<float> numbers(static_cast<size_t>(size_bytes) / sizeof(float), -1.0f);
  for (size_t i = 1; i < numbers.size(); i += 2) numbers[i] = 0.5f;
  return numbers;
}
absl::string_view BytesOf(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

// abs of the numbers; the last two of the result are checked.
absl::Status CallAbs(const Client& client, const std::vector<float>& numbers) {
  const absl::StatusOr<Tensor> result = client.Abs(TensorRef(absl::MakeConstSpan(numbers)));
  if (!result.ok()) return result.status();
  const absl::Span<const float> elements = *result->as<float>();
  for (size_t i = numbers.size() - 2; i < numbers.size(); ++i) {
    if (elements.at(i) != std::abs(numbers[i])) return absl::InternalError("abs is wrong");
  }
  return absl::OkStatus();
}

using Echo = absl::Status (*)(const std::shared_ptr<grpc::Channel>&, absl::string_view);

// Ours against an echo: speed, and what it costs the server.
absl::Status MeasureAgainstEcho(const std::string& name, int64_t size_bytes, int64_t stream_bytes,
                                Echo echo, const std::string& target) {
  const absl::StatusOr<ServerProcess> server = StartServer(), control = StartEcho();
  RETURN_IF_ERROR(server.status());
  RETURN_IF_ERROR(control.status());
  const Client client = *Connect(server->address(), {.stream_bytes = stream_bytes});
  const auto channel = MakeConnection(control->address());
  const std::vector<float> numbers = Numbers(size_bytes);
  Transfer ours, echoes;
  for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
    RETURN_IF_ERROR(ours.Measure(
        *server, [&] { return CallAbs(client, numbers); }, size_bytes, Seconds()));
    RETURN_IF_ERROR(echoes.Measure(
        *control, [&] { return echo(channel, BytesOf(numbers)); }, size_bytes, Seconds()));
  }
  Print({name + " / echo", "MB/s", ours.megabytes_per_second, echoes.megabytes_per_second, target});
  Print({name + " / echo", "server ms/GB", ours.server_cpu_ms_per_gb, echoes.server_cpu_ms_per_gb,
         "<= 1.3"});
  Print({name + " / echo", "client ms/GB", ours.client_cpu_ms_per_gb, echoes.client_cpu_ms_per_gb,
         ""});
  return absl::OkStatus();
}

absl::Status MeasureUnary() {
  return MeasureAgainstEcho("16 MiB abs, unary", 16 * kMiB, kNeverStream, EchoUnary, ">= 0.85");
}
absl::Status MeasureStream() {
  return MeasureAgainstEcho("256 MiB abs, stream", 256 * kMiB, 0, EchoStreamed, ">= 0.90");
}

// Seconds of a call by a plain client, a process of its own.
absl::StatusOr<double> RunPlainClient(const ServerProcess& server) {
  const std::string log = std::filesystem::temp_directory_path() /
                          absl::StrCat("gpucall-plain-", absl::GetCurrentTimeNanos());
  absl::StatusOr<ChildProcess> client =
      ChildProcess::Start({ThisProgram(), absl::StrCat("--plain_client=", server.address()),
                           absl::StrCat("--seconds=", absl::GetFlag(FLAGS_seconds))},
                          {"GRPC_EXPERIMENTS="}, log);
  RETURN_IF_ERROR(client.status());
  const int code = client->Wait();
  std::string text;
  std::getline(std::ifstream(log), text);
  std::filesystem::remove(log);
  double seconds = 0;
  if (code != 0 || !absl::SimpleAtod(text, &seconds)) {
    return absl::InternalError(absl::StrCat("the plain client failed: ", text));
  }
  return seconds;
}

absl::Status MeasurePlain() {
  const absl::StatusOr<ServerProcess> server = StartServer();
  RETURN_IF_ERROR(server.status());
  const absl::StatusOr<ServerProcess> plain =
      ServerProcess::Start({ThisProgram(), "--plain_server"}, {"GRPC_EXPERIMENTS="});
  RETURN_IF_ERROR(plain.status());
  const Client client = *Connect(server->address());
  const std::vector<float> a = Numbers(kPlainBytes), b = Numbers(kPlainBytes);
  const auto add = [&]() -> absl::Status {
    const absl::StatusOr<Tensor> sum =
        client.Add(TensorRef(absl::MakeConstSpan(a)), TensorRef(absl::MakeConstSpan(b)));
    if (!sum.ok()) return sum.status();
    return sum->as<float>()->back() == 1.0f ? absl::OkStatus() : absl::InternalError("wrong sum");
  };
  Transfer ours;
  std::vector<double> control;
  for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
    RETURN_IF_ERROR(ours.Measure(*server, add, kPlainBytes, Seconds()));
    const absl::StatusOr<double> seconds = RunPlainClient(*plain);
    RETURN_IF_ERROR(seconds.status());
    control.push_back(static_cast<double>(kPlainBytes) / *seconds / 1e6);
  }
  Print({"64 MiB add: stream / plain unary", "MB/s", ours.megabytes_per_second, control, ">= 6"});
  return absl::OkStatus();
}

absl::Status MeasureStriped() {
  const absl::StatusOr<ServerProcess> server = StartServer();
  RETURN_IF_ERROR(server.status());
  const Client eight = *Connect(server->address(), {.connections = 8});
  const Client one = *Connect(server->address(), {.connections = 1});
  constexpr int64_t kBytes = 256 * kMiB;
  const std::vector<float> numbers = Numbers(kBytes);
  Transfer ours, control;
  for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
    for (const auto& [client, transfer] : {std::pair(&eight, &ours), std::pair(&one, &control)}) {
      const auto put = [&, client = client] {
        return client->Put(TensorRef(absl::MakeConstSpan(numbers))).status();
      };
      RETURN_IF_ERROR(transfer->Measure(*server, put, kBytes, Seconds()));
    }
  }
  Print({"256 MiB put: 8 connections / 1", "MB/s", ours.megabytes_per_second,
         control.megabytes_per_second, ">= 3.5"});
  return absl::OkStatus();
}

absl::Status MeasureTable() {
  const absl::StatusOr<ServerProcess> server = StartServer();
  RETURN_IF_ERROR(server.status());
  const Client unary = *Connect(server->address(), {.stream_bytes = kNeverStream});
  const Client stream = *Connect(server->address(), {.stream_bytes = 0});
  std::printf("%12s %12s %12s %14s\n", "bytes", "message MB/s", "chunks MB/s", "chunks/message");
  int64_t crossover = 0;  // the first size from which on chunks are faster
  for (int64_t size_bytes = 1 << 10; size_bytes <= 256 * kMiB; size_bytes *= 2) {
    const std::vector<float> numbers = Numbers(size_bytes);
    const bool both = size_bytes <= kMaxInlineBytes;
    Transfer messages, chunks;
    for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
      const absl::Duration part = Seconds() / 4;
      if (both) {
        RETURN_IF_ERROR(messages.Measure(
            *server, [&] { return CallAbs(unary, numbers); }, size_bytes, part));
      }
      RETURN_IF_ERROR(chunks.Measure(
          *server, [&] { return CallAbs(stream, numbers); }, size_bytes, part));
    }
    const double message = Median(messages.megabytes_per_second);
    const double chunk = Median(chunks.megabytes_per_second);
    if (chunk <= message) crossover = 0;
    if (chunk > message && crossover == 0) crossover = size_bytes;
    std::printf("%12lld %12.1f %12.1f %14.2f\n", static_cast<long long>(size_bytes), message, chunk,
                both ? chunk / message : NAN);
    std::fflush(stdout);
  }
  std::printf("chunks are faster from %lld bytes on\n", static_cast<long long>(crossover));
  return absl::OkStatus();
}

absl::Status Measure() {
  const std::string filter = absl::GetFlag(FLAGS_benchmark_filter);
  const std::pair<const char*, absl::Status (*)()> all[] = {{"unary", MeasureUnary},
                                                            {"stream", MeasureStream},
                                                            {"plain", MeasurePlain},
                                                            {"striped", MeasureStriped},
                                                            {"table", MeasureTable}};
  std::printf("%u cores, device %s, %d x %g s\n", std::thread::hardware_concurrency(),
              absl::GetFlag(FLAGS_device).c_str(), absl::GetFlag(FLAGS_repetitions),
              absl::GetFlag(FLAGS_seconds));
  PrintHeader();
  for (const auto& [name, measure] : all) {
    if (absl::StrContains(name, filter)) RETURN_IF_ERROR(measure());
  }
  return absl::OkStatus();
}

int RunPlainClientHere(const std::string& address) {
  const absl::StatusOr<double> seconds = CallPlainAdd(address, kPlainBytes, Seconds());
  std::printf("%s\n",
              seconds.ok() ? absl::StrCat(*seconds).c_str() : seconds.status().ToString().c_str());
  return seconds.ok() ? 0 : 1;
}

}  // namespace
}  // namespace gpucall

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Measures how fast tensors move through a gpucall server.");
  absl::ParseCommandLine(argc, argv);
  const std::string port_file = absl::GetFlag(FLAGS_port_file);
  if (absl::GetFlag(FLAGS_plain_server)) return gpucall::ServePlainAdd(port_file);
  if (const std::string address = absl::GetFlag(FLAGS_plain_client); !address.empty()) {
    return gpucall::RunPlainClientHere(address);
  }
  gpucall::TuneProcess();
  if (absl::GetFlag(FLAGS_echo_server)) return gpucall::ServeEcho(port_file);
  const absl::Status status = gpucall::Measure();
  if (!status.ok()) std::fprintf(stderr, "transport_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
