#include "tests/bench/plain_add.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "gpucall/v1/compute.grpc.pb.h"

namespace gpucall {
namespace {

class Adder final : public v1::Compute::Service {
  grpc::Status Elementwise(grpc::ServerContext*, const v1::ElementwiseRequest* request,
                           v1::ComputeReply* reply) override {
    v1::Tensor& output = *reply->mutable_output();
    output.set_dtype(request->inputs(0).dtype());
    *output.mutable_shape() = request->inputs(0).shape();
    std::string& sums = *output.mutable_data();
    sums.resize(request->inputs(0).data().size());
    const auto* a = reinterpret_cast<const float*>(request->inputs(0).data().data());
    const auto* b = reinterpret_cast<const float*>(request->inputs(1).data().data());
    auto* sum = reinterpret_cast<float*>(sums.data());
    for (size_t i = 0; i < sums.size() / sizeof(float); ++i) sum[i] = a[i] + b[i];
    return grpc::Status::OK;
  }
};

void SetTensor(const std::vector<float>& elements, v1::Tensor& tensor) {
  tensor.set_dtype(v1::DTYPE_FLOAT32);
  tensor.add_shape(static_cast<int64_t>(elements.size()));
  tensor.set_data(elements.data(), elements.size() * sizeof(float));
}

absl::Status CallOnce(v1::Compute::Stub& stub, const std::vector<float>& a,
                      const std::vector<float>& b, std::vector<float>& sums) {
  v1::ElementwiseRequest request;
  request.set_op(v1::ELEMENTWISE_OP_ADD);
  SetTensor(a, *request.add_inputs());
  SetTensor(b, *request.add_inputs());
  grpc::ClientContext context;
  v1::ComputeReply reply;
  const grpc::Status status = stub.Elementwise(&context, request, &reply);
  if (!status.ok()) return absl::InternalError(status.error_message());
  const std::string& data = reply.output().data();
  if (data.size() != sums.size() * sizeof(float)) return absl::InternalError("another size");
  data.copy(reinterpret_cast<char*>(sums.data()), data.size());
  if (sums.back() != a.back() + b.back()) return absl::InternalError("a wrong sum");
  return absl::OkStatus();
}

}  // namespace

int ServePlainAdd(const std::string& port_file) {
  Adder adder;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(&adder);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  const std::string part = port_file + ".part";
  std::ofstream(part) << "127.0.0.1:" << port << "\n";
  if (std::rename(part.c_str(), port_file.c_str()) != 0) return 1;
  server->Wait();
  return 0;
}

absl::StatusOr<double> CallPlainAdd(const std::string& address, int64_t size_bytes,
                                    absl::Duration duration) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  v1::Compute::Stub stub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  const size_t count = static_cast<size_t>(size_bytes) / sizeof(float);
  const std::vector<float> a(count, 0.5f), b(count, 0.25f);
  std::vector<float> sums(count);
  if (absl::Status status = CallOnce(stub, a, b, sums); !status.ok()) return status;
  const absl::Time begin = absl::Now();
  int calls = 0;
  do {
    if (absl::Status status = CallOnce(stub, a, b, sums); !status.ok()) return status;
    ++calls;
  } while (absl::Now() - begin < duration);
  return absl::ToDoubleSeconds(absl::Now() - begin) / calls;
}

}  // namespace gpucall
