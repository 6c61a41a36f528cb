#include "server/service/rpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gpucall {
namespace {

// Room in a message beside the tensors' elements.
constexpr int64_t kMessageOverhead = int64_t{1} << 20;

// How long a drained server goes on refusing calls with UNAVAILABLE. Once gRPC shuts down it resets
// what still arrives as CANCELLED, which no client retries; by then every caller has been told.
constexpr std::chrono::milliseconds kRefusing(500);

}  // namespace

RpcServer::RpcServer(BatchScheduler& scheduler, Device& device, const ComputeLimits& limits,
                     v1::ServerInfo info)
    : scheduler_(scheduler),
      store_(limits.residents),
      compute_(scheduler, device, store_, segments_, limits),
      tensors_(compute_),
      server_(store_, device, std::move(info)),
      reaper_(store_, [this, &device] { WarnOfFallbacks(device.pinned_memory()); }) {}

void RpcServer::WarnOfFallbacks(const PinnedMemory& pinned) {
  if (pinned.fallbacks < next_warning_) return;
  next_warning_ = 2 * pinned.fallbacks;
  spdlog::warn(
      "pinned memory: all {} bytes were in use, {} blocks so far were of ordinary memory, copies "
      "through them are slower",
      pinned.size_bytes, pinned.fallbacks);
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(const std::string& listen,
                                                            BatchScheduler& scheduler,
                                                            Device& device,
                                                            const ComputeLimits& limits,
                                                            v1::ServerInfo info) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  std::unique_ptr<RpcServer> server(new RpcServer(scheduler, device, limits, std::move(info)));
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits.max_message_bytes));
  builder.SetMaxSendMessageSize(static_cast<int>(limits.max_message_bytes + kMessageOverhead));
  // A second server on the same port must fail, not share its connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // A session whose client has vanished without a word is noticed within half a minute.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.RegisterService(&server->compute_);
  builder.RegisterService(&server->tensors_);
  builder.RegisterService(&server->server_);
  server->rpc_ = builder.BuildAndStart();
  if (server->rpc_ == nullptr) {
    return absl::UnavailableError(absl::StrCat("listen: cannot listen on ", listen,
                                               "; allowed is a free address:port, or unix:/path"));
  }
  const bool unix_socket = absl::StartsWith(listen, "unix:");
  server->address_ =
      unix_socket ? listen : absl::StrCat(listen.substr(0, listen.rfind(':')), ":", port);
  grpc::HealthCheckServiceInterface* health = server->rpc_->GetHealthCheckService();
  for (const char* name : {"", "gpucall.v1.Compute", "gpucall.v1.Tensors", "gpucall.v1.Server"}) {
    health->SetServingStatus(name, true);
  }
  return server;
}

bool RpcServer::Drain(std::chrono::seconds timeout) {
  rpc_->GetHealthCheckService()->SetServingStatus(false);
  const SteadyTime deadline = std::chrono::steady_clock::now() + timeout;
  const bool done = scheduler_.Drain(deadline) && compute_.streams().Await(deadline);
  std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(timeout, kRefusing));
  // Health watchers never end by themselves: they, and calls still unfinished, are cancelled after
  // a moment.
  rpc_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  return done;
}

absl::Status ProbeHealth(const std::string& target, std::chrono::seconds timeout) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  grpc::GenericStub stub(
      grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  const grpc::Slice empty;  // an empty HealthCheckRequest: the server as a whole
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check",
                                          grpc::ByteBuffer(&empty, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) return absl::UnavailableError(absl::StrCat("health: ", status.error_message()));
  // HealthCheckResponse{status: SERVING} is field 1, varint 1.
  grpc::Slice slice;
  if (!reply.DumpToSingleSlice(&slice).ok() || slice.size() != 2 || slice.begin()[0] != 8 ||
      slice.begin()[1] != 1) {
    return absl::UnavailableError("health: NOT_SERVING");
  }
  return absl::OkStatus();
}

}  // namespace gpucall
