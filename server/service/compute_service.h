// The Compute service: bytes to Task and back. Decides nothing.
#ifndef GPUCALL_SERVER_SERVICE_COMPUTE_SERVICE_H_
#define GPUCALL_SERVER_SERVICE_COMPUTE_SERVICE_H_

#include "gpucall/v1/compute.grpc.pb.h"
#include "server/scheduler/batch_scheduler.h"
#include "server/service/active_calls.h"
#include "server/store/segment_table.h"
#include "server/store/tensor_store.h"

namespace gpucall {

struct ComputeLimits {
  int64_t max_tensor_bytes = 48'000'000;  // of one input or result; protobuf is slow past 50 MB
  int64_t max_message_bytes = int64_t{160} << 20;
  // Of one tensor that goes in chunks or stays on the server, and of one result that does.
  int64_t max_streamed_bytes = int64_t{1} << 40;
  TensorStore::Limits residents;
};

// Requests arrive as bytes and are parsed here, so that a malformed one is answered with
// INVALID_ARGUMENT.
class ComputeService final
    : public v1::Compute::WithRawCallbackMethod_Elementwise<
          v1::Compute::WithRawCallbackMethod_MatMul<
              v1::Compute::WithRawCallbackMethod_Filter<v1::Compute::WithRawCallbackMethod_Reduce<
                  v1::Compute::WithRawCallbackMethod_Rearrange<
                      v1::Compute::WithRawCallbackMethod_Sort<
                          v1::Compute::WithRawCallbackMethod_Scan<
                              v1::Compute::WithRawCallbackMethod_Take<
                                  v1::Compute::WithRawCallbackMethod_Image<
                                      v1::Compute::WithRawCallbackMethod_Network<
                                          v1::Compute::WithRawCallbackMethod_Run<
                                              v1::Compute::WithRawCallbackMethod_RunStream<
                                                  v1::Compute::Service>>>>>>>>>>>> {
 public:
  // `scheduler`, which runs on `device`, `store` and `segments` outlive the gRPC server.
  ComputeService(BatchScheduler& scheduler, Device& device, TensorStore& store,
                 const SegmentTable& segments, const ComputeLimits& limits)
      : scheduler_(scheduler),
        device_(device),
        store_(store),
        segments_(segments),
        limits_(limits) {}

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
  grpc::ServerUnaryReactor* Sort(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Scan(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Network(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Take(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Image(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* RunStream(
      grpc::CallbackServerContext* context) override;

  BatchScheduler& scheduler() const { return scheduler_; }
  Device& device() const { return device_; }
  TensorStore& store() const { return store_; }
  const SegmentTable& segments() const { return segments_; }
  const ComputeLimits& limits() const { return limits_; }
  // Of all methods that stream tensors.
  ActiveCalls& streams() const { return streams_; }

 private:
  BatchScheduler& scheduler_;
  Device& device_;
  TensorStore& store_;
  const SegmentTable& segments_;
  const ComputeLimits limits_;
  mutable ActiveCalls streams_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_COMPUTE_SERVICE_H_
