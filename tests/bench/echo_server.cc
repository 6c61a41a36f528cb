#include "tests/bench/echo_server.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdio>
#include <fstream>

#include "gpucall/v1/compute.grpc.pb.h"

namespace gpucall {
namespace {

// Sends each message back before it reads the next.
class EchoStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  EchoStream() { StartRead(&message_); }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    StartWrite(&message_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) StartRead(&message_);
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer message_;
};

class Echo final : public v1::Compute::WithRawCallbackMethod_Elementwise<
                       v1::Compute::WithRawCallbackMethod_RunStream<v1::Compute::Service>> {
 public:
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* RunStream(
      grpc::CallbackServerContext*) override {
    return new EchoStream();  // deletes itself in OnDone
  }
  grpc::ServerUnaryReactor* Elementwise(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    *reply = *request;
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int ServeEcho(const std::string& port_file) {
  Echo echo;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(160 << 20);
  builder.RegisterService(&echo);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  const std::string part = port_file + ".part";
  std::ofstream(part) << "127.0.0.1:" << port << "\n";
  if (std::rename(part.c_str(), port_file.c_str()) != 0) return 1;
  server->Wait();
  return 0;
}

}  // namespace gpucall
