#include "server/service/config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty())
      text = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  std::string text;
};

template <typename T>
absl::Status CheckAtMost(absl::string_view name, T value, T limit) {
  if (value <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": is ", value, ", allowed is up to ", limit));
}

// gRPC takes port 65537 for port 1.
absl::Status CheckListen(const std::string& listen) {
  int64_t port = 0;
  if (absl::StartsWith(listen, "unix:") ||
      !absl::SimpleAtoi(listen.substr(listen.rfind(':') + 1), &port) ||
      (port >= 0 && port <= 65535)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("listen: is '", listen, "', allowed are ports 0 to 65535"));
}

// Beside a Unix socket; none where the server listens on a port.
std::string DefaultSharedMemorySocket(absl::string_view listen) {
  if (!absl::ConsumePrefix(&listen, "unix:")) return "";
  absl::ConsumePrefix(&listen, "//");
  return absl::StrCat(listen, ".shm");
}

absl::Status CheckLogLevel(const std::string& level) {
  for (const char* allowed : {"debug", "info", "warning", "error"}) {
    if (level == allowed) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("log_level: is '", level, "', allowed are debug, info, warning, error"));
}

}  // namespace

absl::StatusOr<v1::ServerConfig> ReadConfig(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat("config: cannot read ", path));
  std::stringstream text;
  text << file.rdbuf();
  v1::ServerConfig config;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text.str(), &config)) {
    return absl::InvalidArgumentError(absl::StrCat("config: ", path, ", ", error.text));
  }
  return config;
}

absl::StatusOr<v1::ServerConfig> CompleteConfig(v1::ServerConfig config,
                                                const v1::ServerConfig& overrides) {
  config.MergeFrom(overrides);
  if (config.listen().empty()) config.set_listen("127.0.0.1:7625");
  if (config.device().empty()) config.set_device("auto");
  if (config.max_batch_tasks() == 0) config.set_max_batch_tasks(64);
  if (config.max_queue_tasks() == 0) config.set_max_queue_tasks(4096);
  if (config.max_queue_bytes() == 0) config.set_max_queue_bytes(uint64_t{2} << 30);
  if (config.max_message_bytes() == 0) config.set_max_message_bytes(uint64_t{160} << 20);
  if (config.drain_seconds() == 0) config.set_drain_seconds(30);
  if (config.resident_ttl_seconds() == 0) config.set_resident_ttl_seconds(600);
  if (config.session_grace_seconds() == 0) config.set_session_grace_seconds(30);
  if (config.shared_memory_socket().empty()) {
    config.set_shared_memory_socket(DefaultSharedMemorySocket(config.listen()));
  }
  if (config.max_segments() == 0) config.set_max_segments(64);
  if (config.max_segment_bytes() == 0) config.set_max_segment_bytes(uint64_t{16} << 30);
  if (config.log_level().empty()) config.set_log_level("info");
  GPUCALL_RETURN_IF_ERROR(CheckAtMost<uint64_t>("lanes", config.lanes(), 64));
  GPUCALL_RETURN_IF_ERROR(CheckAtMost<uint64_t>("max_batch_tasks", config.max_batch_tasks(), 1024));
  GPUCALL_RETURN_IF_ERROR(
      CheckAtMost<uint64_t>("max_queue_tasks", config.max_queue_tasks(), 1 << 20));
  GPUCALL_RETURN_IF_ERROR(
      CheckAtMost<uint64_t>("max_queue_bytes", config.max_queue_bytes(), uint64_t{1} << 40));
  GPUCALL_RETURN_IF_ERROR(
      CheckAtMost<uint64_t>("max_message_bytes", config.max_message_bytes(), 2'000'000'000));
  GPUCALL_RETURN_IF_ERROR(CheckAtMost<uint64_t>("drain_seconds", config.drain_seconds(), 3600));
  GPUCALL_RETURN_IF_ERROR(
      CheckAtMost<uint64_t>("max_resident_bytes", config.max_resident_bytes(), uint64_t{1} << 50));
  GPUCALL_RETURN_IF_ERROR(
      CheckAtMost<uint64_t>("resident_ttl_seconds", config.resident_ttl_seconds(), 1 << 30));
  GPUCALL_RETURN_IF_ERROR(
      CheckAtMost<uint64_t>("session_grace_seconds", config.session_grace_seconds(), 1 << 30));
  GPUCALL_RETURN_IF_ERROR(CheckAtMost<uint64_t>("max_segments", config.max_segments(), 1024));
  GPUCALL_RETURN_IF_ERROR(
      CheckAtMost<uint64_t>("max_segment_bytes", config.max_segment_bytes(), uint64_t{1} << 40));
  GPUCALL_RETURN_IF_ERROR(CheckListen(config.listen()));
  GPUCALL_RETURN_IF_ERROR(CheckLogLevel(config.log_level()));
  return config;
}

}  // namespace gpucall
