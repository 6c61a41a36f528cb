// A server in this process that records what it was asked and answers as it is told.
#ifndef GPUCALL_TESTS_CLIENT_FAKE_SERVER_H_
#define GPUCALL_TESTS_CLIENT_FAKE_SERVER_H_

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "gpucall/v1/compute.grpc.pb.h"
#include "gpucall/v1/server.grpc.pb.h"

namespace gpucall {

// Set `answer`, make calls (also from many threads, if `answer` can), then read the last requests.
class FakeServer final : public v1::Compute::Service, public v1::Server::Service {
 public:
  // Fills the reply of any call; a verb's reply is the first output.
  using Answer = std::function<grpc::Status(grpc::ServerContext&, v1::RunReply&)>;

  // Serves RunStream.
  using Stream = grpc::ServerReaderWriter<v1::RunStreamReply, v1::RunStreamRequest>;
  using StreamAnswer = std::function<grpc::Status(grpc::ServerContext&, Stream&)>;

  FakeServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.SetMaxReceiveMessageSize(-1);
    builder.RegisterService(static_cast<v1::Compute::Service*>(this));
    builder.RegisterService(static_cast<v1::Server::Service*>(this));
    server_ = builder.BuildAndStart();
  }
  ~FakeServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  std::string target() const { return absl::StrCat("127.0.0.1:", port_); }

  Answer answer = [](grpc::ServerContext&, v1::RunReply&) { return grpc::Status::OK; };
  StreamAnswer stream_answer = [](grpc::ServerContext&, Stream&) {
    return grpc::Status(grpc::UNIMPLEMENTED, "no streams");
  };
  v1::ElementwiseRequest elementwise;
  v1::MatMulRequest matmul;
  v1::FilterRequest filter;
  v1::RunRequest run;
  v1::ServerInfo info;
  v1::Catalogue catalogue;

 private:
  template <typename Request>
  void Record(const Request& request, Request& last) {
    const std::lock_guard<std::mutex> lock(mutex_);
    last = request;
  }
  grpc::Status Verb(grpc::ServerContext& context, v1::ComputeReply& reply) {
    v1::RunReply outputs;
    const grpc::Status status = answer(context, outputs);
    if (outputs.outputs_size() > 0) *reply.mutable_output() = outputs.outputs(0);
    if (outputs.has_receipt()) *reply.mutable_receipt() = outputs.receipt();
    return status;
  }

  grpc::Status Elementwise(grpc::ServerContext* context, const v1::ElementwiseRequest* request,
                           v1::ComputeReply* reply) override {
    Record(*request, elementwise);
    return Verb(*context, *reply);
  }
  grpc::Status MatMul(grpc::ServerContext* context, const v1::MatMulRequest* request,
                      v1::ComputeReply* reply) override {
    Record(*request, matmul);
    return Verb(*context, *reply);
  }
  grpc::Status Filter(grpc::ServerContext* context, const v1::FilterRequest* request,
                      v1::ComputeReply* reply) override {
    Record(*request, filter);
    return Verb(*context, *reply);
  }
  grpc::Status Run(grpc::ServerContext* context, const v1::RunRequest* request,
                   v1::RunReply* reply) override {
    Record(*request, run);
    return answer(*context, *reply);
  }
  grpc::Status RunStream(grpc::ServerContext* context, Stream* stream) override {
    return stream_answer(*context, *stream);
  }
  grpc::Status GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*,
                       v1::ServerInfo* reply) override {
    *reply = info;
    return grpc::Status::OK;
  }
  grpc::Status GetCatalogue(grpc::ServerContext*, const v1::GetCatalogueRequest*,
                            v1::Catalogue* reply) override {
    *reply = catalogue;
    return grpc::Status::OK;
  }

  std::mutex mutex_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace gpucall

#endif  // GPUCALL_TESTS_CLIENT_FAKE_SERVER_H_
