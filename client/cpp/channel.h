// The gRPC channel of a Client.
#ifndef GPUCALL_CLIENT_CPP_CHANNEL_H_
#define GPUCALL_CLIENT_CPP_CHANNEL_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gpucall/client.h"

namespace gpucall {
inline namespace client {

// The target with the default port, 7625, where it names only a host.
std::string FullTarget(absl::string_view target);

// True where the target names this host: a Unix socket, localhost or a loopback address.
bool IsThisHost(absl::string_view target);

// Channels to one target share one connection, but for those of different stripes.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& target, const ConnectOptions& options,
                                           int stripe = 0);

// Code and message as they came.
absl::Status ToAbsl(const grpc::Status& status);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_CHANNEL_H_
