#include "client/cpp/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gpucall {
inline namespace client {

std::string FullTarget(absl::string_view target) {
  for (absl::string_view scheme : {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:", "xds:"}) {
    if (absl::StartsWith(target, scheme)) return std::string(target);
  }
  uint32_t port = 0;
  const size_t colon = target.rfind(':');
  if (colon != target.npos && absl::SimpleAtoi(target.substr(colon + 1), &port)) {
    return std::string(target);
  }
  return absl::StrCat(target, ":7625");
}

bool IsThisHost(absl::string_view target) {
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) return true;
  for (absl::string_view scheme : {"dns:", "ipv4:", "ipv6:"}) absl::ConsumePrefix(&target, scheme);
  target.remove_prefix(target.rfind('/') + 1);  // npos + 1 is 0; "//authority/" comes before names
  return target == "localhost" || absl::StartsWith(target, "localhost:") ||
         absl::StartsWith(target, "127.") || absl::StartsWith(target, "[::1]");
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& target, const ConnectOptions& options,
                                           int stripe) {
  grpc::ChannelArguments arguments;
  // Channels with unlike arguments share no connection.
  if (stripe != 0) arguments.SetInt("gpucall.stripe", stripe);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<int64_t>(options.max_reply_bytes, std::numeric_limits<int>::max())));
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A connection on which sent bytes are not acknowledged for so long fails (TCP_USER_TIMEOUT).
  // Pings are rarer than servers tolerate by default.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 600'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  if (IsThisHost(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

absl::Status ToAbsl(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace client
}  // namespace gpucall
