// Measures a server of this build against controls, in one interleaved run: every repetition
// measures ours and the control one after the other, and a ratio is of such a pair.
//
//   latency   one caller: a 1 KiB add against an empty call to the same server
//   batching  many callers: 64x64 matmuls against the same with batching off, and against echoes
//   large     4 callers: adds of 4 MiB against the same server with gRPC's own read settings
//
// Starts the servers itself. Exits with 1 where one does not start, answers wrongly or fails.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gpucall/client.h"
#include "server/service/process_tuning.h"
#include "tests/bench/echo_server.h"
#include "tests/bench/load.h"
#include "tests/bench/methods.h"
#include "tests/bench/report.h"
#include "tests/bench/statistics.h"
#include "tests/testing/child_process.h"

ABSL_FLAG(std::string, benchmark_filter, "", "measure only what has this in its name");
ABSL_FLAG(std::string, device, "auto", "of the servers: auto, cpu, cuda or cuda:N");
ABSL_FLAG(int, lanes, 0, "of the servers; 0: the device's default");
ABSL_FLAG(int, callers, 256, "calls in flight when measuring batching");
ABSL_FLAG(int, channels, 8, "connections that callers share");
ABSL_FLAG(double, seconds, 2, "of each measurement of calls per second");
ABSL_FLAG(int, latency_calls, 2000, "calls of each measurement of latency");
ABSL_FLAG(int, repetitions, 5, "measurements of each; figures are medians");
ABSL_FLAG(std::string, server_binary, "", "default: gpucall-server beside this program");
ABSL_FLAG(bool, echo_server, false, "be the control server (the benchmark starts it itself)");
ABSL_FLAG(std::string, port_file, "", "of --echo_server");

#define RETURN_IF_ERROR(expr) \
  if (absl::Status status_ = (expr); !status_.ok()) return status_

namespace gpucall {
namespace {

constexpr int kAddElements = 256;  // 1 KiB
constexpr int kMatMulSize = 64;
constexpr int kEchoBytes = 4096;
constexpr int kLargeElements = 1 << 20;  // 4 MiB
constexpr int kBlocks = 10;              // a latency repetition alternates between ours and control

std::string ThisProgram() { return std::filesystem::read_symlink("/proc/self/exe"); }

absl::StatusOr<ServerProcess> StartServer(const std::vector<std::string>& flags,
                                          const std::vector<std::string>& environment = {}) {
  std::string binary = absl::GetFlag(FLAGS_server_binary);
  if (binary.empty()) {
    binary = std::filesystem::path(ThisProgram()).parent_path() / "gpucall-server";
  }
  std::vector<std::string> arguments = {binary, "--listen=127.0.0.1:0",
                                        absl::StrCat("--device=", absl::GetFlag(FLAGS_device)),
                                        absl::StrCat("--lanes=", absl::GetFlag(FLAGS_lanes))};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return ServerProcess::Start(arguments, environment);
}

// A load on one server and what it gave, repetition by repetition.
struct Series {
  std::string name;
  const ServerProcess& server;
  Method method;
  std::vector<LoadResult> results = {};

  absl::Status Measure(const LoadOptions& options) {
    absl::StatusOr<LoadResult> result = RunLoad(server, method, options);
    if (!result.ok()) return result.status();
    results.push_back(*result);
    return absl::OkStatus();
  }
  std::vector<double> Rates() const {
    std::vector<double> rates;
    for (const LoadResult& result : results) rates.push_back(result.calls_per_second);
    return rates;
  }
  double MedianOf(const std::function<double(const LoadResult&)>& figure) const {
    std::vector<double> figures;
    for (const LoadResult& result : results) figures.push_back(figure(result));
    return Median(figures);
  }
};

// The median repetition's load, and what it cost.
void PrintLoad(const Series& series) {
  const auto cpu_us = [](absl::Duration cpu, const LoadResult& result) {
    return absl::ToDoubleMicroseconds(cpu) /
           (result.calls_per_second * absl::GetFlag(FLAGS_seconds));
  };
  std::printf("  %-22s %9.0f calls/s  p50 %8.0f us  p99 %8.0f us", series.name.c_str(),
              series.MedianOf([](const LoadResult& r) { return r.calls_per_second; }),
              series.MedianOf([](const LoadResult& r) { return r.p50_us; }),
              series.MedianOf([](const LoadResult& r) { return r.p99_us; }));
  std::printf(
      "  server CPU %.2f s, %.1f us/call  client CPU %.1f us/call",
      series.MedianOf([](const LoadResult& r) { return absl::ToDoubleSeconds(r.server_cpu); }),
      series.MedianOf([&](const LoadResult& r) { return cpu_us(r.server_cpu, r); }),
      series.MedianOf([&](const LoadResult& r) { return cpu_us(r.client_cpu, r); }));
  const double batch = series.MedianOf([](const LoadResult& r) { return r.mean_batch; });
  if (batch > 0) std::printf("  mean batch %.1f", batch);
  std::printf("\n");
}

absl::Status Append(absl::StatusOr<std::vector<double>> more, std::vector<double>& values) {
  if (!more.ok()) return more.status();
  values.insert(values.end(), more->begin(), more->end());
  return absl::OkStatus();
}

absl::Status MeasureLatency() {
  const absl::StatusOr<ServerProcess> server = StartServer({});
  RETURN_IF_ERROR(server.status());
  RETURN_IF_ERROR(CheckAdd(*server, kAddElements));
  RETURN_IF_ERROR(CheckEmpty(*server));
  const auto channel = MakeConnection(server->address());
  const Method add = AddMethod(kAddElements), empty = EmptyMethod();
  const int calls = absl::GetFlag(FLAGS_latency_calls) / kBlocks;
  RETURN_IF_ERROR(TimeCalls(channel, add, calls).status());
  RETURN_IF_ERROR(TimeCalls(channel, empty, calls).status());
  Comparison p50{"latency p50: 1 KiB add / empty call", "us", {}, {}, "<= 2"};
  Comparison p99{"latency p99: 1 KiB add / empty call", "us", {}, {}, ""};
  for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
    std::vector<double> ours, control;
    for (int block = 0; block < kBlocks; ++block) {
      RETURN_IF_ERROR(Append(TimeCalls(channel, add, calls), ours));
      RETURN_IF_ERROR(Append(TimeCalls(channel, empty, calls), control));
    }
    p50.ours.push_back(Median(ours));
    p50.control.push_back(Median(control));
    p99.ours.push_back(Quantile(ours, 0.99));
    p99.control.push_back(Quantile(control, 0.99));
  }
  Print(p50);
  Print(p99);
  return absl::OkStatus();
}

absl::Status MeasureBatching() {
  const absl::StatusOr<ServerProcess> batched = StartServer({});
  RETURN_IF_ERROR(batched.status());
  const absl::StatusOr<ServerProcess> single = StartServer({"--max_batch_tasks=1"});
  RETURN_IF_ERROR(single.status());
  const absl::StatusOr<ServerProcess> echo = ServerProcess::Start({ThisProgram(), "--echo_server"});
  RETURN_IF_ERROR(echo.status());
  RETURN_IF_ERROR(CheckMatMul(*batched, kMatMulSize));
  RETURN_IF_ERROR(CheckMatMul(*single, kMatMulSize));
  RETURN_IF_ERROR(CheckEcho(*echo, kEchoBytes));
  LoadOptions options;
  options.callers = absl::GetFlag(FLAGS_callers);
  options.channels = absl::GetFlag(FLAGS_channels);
  options.duration = absl::Seconds(absl::GetFlag(FLAGS_seconds));
  Series on{"batched", *batched, MatMulMethod(kMatMulSize)};
  Series off{"--max_batch_tasks=1", *single, MatMulMethod(kMatMulSize)};
  Series echoes{"empty 4 KiB echo", *echo, EchoMethod(kEchoBytes)};
  for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
    for (Series* series : {&on, &off, &echoes}) RETURN_IF_ERROR(series->Measure(options));
  }
  Print({"64x64 matmul: batched / batching off", "calls/s", on.Rates(), off.Rates(), ">= 1.5"});
  Print({"64x64 matmul / empty 4 KiB echo", "calls/s", on.Rates(), echoes.Rates(), ">= 0.5"});
  for (const Series* series : {&on, &off, &echoes}) PrintLoad(*series);
  return absl::OkStatus();
}

absl::Status MeasureLarge() {
  const absl::StatusOr<ServerProcess> tuned = StartServer({});
  RETURN_IF_ERROR(tuned.status());
  const absl::StatusOr<ServerProcess> plain = StartServer({}, {"GRPC_EXPERIMENTS="});
  RETURN_IF_ERROR(plain.status());
  RETURN_IF_ERROR(CheckAdd(*tuned, kLargeElements));
  RETURN_IF_ERROR(CheckAdd(*plain, kLargeElements));
  LoadOptions options;
  options.callers = options.channels = 4;
  options.duration = absl::Seconds(absl::GetFlag(FLAGS_seconds));
  Series ours{"4 MiB add", *tuned, AddMethod(kLargeElements)};
  Series control{"gRPC's read settings", *plain, AddMethod(kLargeElements)};
  for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
    for (Series* series : {&ours, &control}) RETURN_IF_ERROR(series->Measure(options));
  }
  Print(
      {"4 MiB add: server's read settings / gRPC's", "calls/s", ours.Rates(), control.Rates(), ""});
  for (const Series* series : {&ours, &control}) PrintLoad(*series);
  return absl::OkStatus();
}

absl::Status PrintMachine() {
  const absl::StatusOr<ServerProcess> server = StartServer({});
  RETURN_IF_ERROR(server.status());
  const absl::StatusOr<Client> client = Connect(server->address());
  RETURN_IF_ERROR(client.status());
  const absl::StatusOr<ServerInfo> info = client->Info();
  RETURN_IF_ERROR(info.status());
  const DeviceInfo& device = info->devices.front();
  std::printf(
      "gpucall %s on %s (%s), %u lanes, %u cores; %d callers on %d connections; %d x %g s\n",
      info->version.c_str(), device.id.c_str(), device.name.c_str(), device.lanes,
      std::thread::hardware_concurrency(), absl::GetFlag(FLAGS_callers),
      absl::GetFlag(FLAGS_channels), absl::GetFlag(FLAGS_repetitions),
      absl::GetFlag(FLAGS_seconds));
  return absl::OkStatus();
}

absl::Status Measure() {
  const std::string filter = absl::GetFlag(FLAGS_benchmark_filter);
  const std::map<std::string, absl::Status (*)()> all = {
      {"latency", MeasureLatency}, {"batching", MeasureBatching}, {"large", MeasureLarge}};
  bool first = true;
  for (const auto& [name, measure] : all) {
    if (!absl::StrContains(name, filter)) continue;
    if (first) {
      RETURN_IF_ERROR(PrintMachine());
      PrintHeader();
    }
    first = false;
    RETURN_IF_ERROR(measure());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace gpucall

int main(int argc, char** argv) {
  gpucall::TuneProcess();
  absl::SetProgramUsageMessage("Measures a gpucall server against controls.");
  absl::ParseCommandLine(argc, argv);
  if (absl::GetFlag(FLAGS_echo_server)) {
    return gpucall::ServeEcho(absl::GetFlag(FLAGS_port_file));
  }
  const absl::Status status = gpucall::Measure();
  if (!status.ok()) std::fprintf(stderr, "server_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
