// The Compute service: bytes to Task and back. Decides nothing.
#ifndef GPUCALL_SERVER_SERVICE_COMPUTE_SERVICE_H_
#define GPUCALL_SERVER_SERVICE_COMPUTE_SERVICE_H_

#include <string>

#include "gpucall/v1/compute.grpc.pb.h"
#include "server/scheduler/batch_scheduler.h"

namespace gpucall {

struct ComputeLimits {
  int64_t max_tensor_bytes = 48'000'000;  // of one input or result; protobuf is slow past 50 MB
  int64_t max_message_bytes = int64_t{160} << 20;
};

// Requests arrive as bytes and are parsed here, so that a malformed one is answered with
// INVALID_ARGUMENT.
class ComputeService final
    : public v1::Compute::WithRawCallbackMethod_Elementwise<
          v1::Compute::WithRawCallbackMethod_MatMul<
              v1::Compute::WithRawCallbackMethod_Filter<v1::Compute::WithRawCallbackMethod_Reduce<
                  v1::Compute::WithRawCallbackMethod_Rearrange<
                      v1::Compute::WithRawCallbackMethod_Run<v1::Compute::Service>>>>>> {
 public:
  // `scheduler` outlives the gRPC server.
  ComputeService(BatchScheduler& scheduler, std::string device, const ComputeLimits& limits)
      : scheduler_(scheduler), device_(std::move(device)), limits_(limits) {}

  grpc::ServerUnaryReactor* Elementwise(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* MatMul(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Filter(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Reduce(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Rearrange(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;

  BatchScheduler& scheduler() const { return scheduler_; }
  const std::string& device() const { return device_; }
  const ComputeLimits& limits() const { return limits_; }

 private:
  BatchScheduler& scheduler_;
  const std::string device_;
  const ComputeLimits limits_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_COMPUTE_SERVICE_H_
