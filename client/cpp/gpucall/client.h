// Calling a gpucall server.
//
//   absl::StatusOr<gpucall::Client> client = gpucall::Connect("localhost");
//   absl::StatusOr<gpucall::Tensor> sum = client->Add(a, b);
//   absl::StatusOr<gpucall::Tensor> blurred = client->Gaussian(image, {.sigma = 2});
//
// Every call fails with the code and message of the server (docs/api.md), or with UNAVAILABLE (no
// connection), DEADLINE_EXCEEDED, CANCELLED, or INTERNAL (the reply makes no sense). Nothing is
// retried. After fork() a child must not use a Client of its parent.
#ifndef GPUCALL_CLIENT_H_
#define GPUCALL_CLIENT_H_

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gpucall/operations.h"
#include "gpucall/program.h"
#include "gpucall/request.h"
#include "gpucall/server_info.h"
#include "gpucall/tensor.h"
#include "gpucall/tensor_handle.h"

namespace gpucall {
inline namespace client {

struct ConnectOptions {
  // Larger reply messages fail with RESOURCE_EXHAUSTED; those in chunks are many small ones.
  int64_t max_reply_bytes = 256 << 20;
  // Calls whose inputs have more bytes together go in chunks, through RunStream: of any size, past
  // 2 GiB too. So do those whose results the server finds too large for one message.
  int64_t stream_bytes = 4 << 20;
  // Large tensors that are put and got move over up to so many connections at a time, at least one:
  // one connection is the work of one thread of the server.
  int connections = 4;
  // Waited for the connection; zero: Connect returns at once and the first call connects.
  absl::Duration connect_deadline = absl::ZeroDuration();
};

// What a call cost. Times are of the whole batch that it ran in.
struct Receipt {
  absl::Duration queue;     // from acceptance to the start of its batch
  absl::Duration copy_in;   // host to device
  absl::Duration compute;   // kernels
  absl::Duration copy_out;  // device to host
  uint32_t batch_size = 0;  // calls that ran together, this one included
  std::string device;       // "cpu", "cuda:0"
};

struct CallOptions {
  // From now, carried to the server, which does not start work that is late.
  absl::Duration deadline = absl::InfiniteDuration();
  // A request to stop cancels the call: std::stop_source::request_stop() of any thread.
  std::stop_token stop = {};
  // Set when the call succeeds. Must live until then.
  Receipt* receipt = nullptr;
  // Of calls, puts and gets that go in chunks: every chunk, both ways, has a CRC-32 that the
  // receiver checks. A wrong one is DATA_LOSS.
  bool checksums = false;
  // Of the same: bytes of elements moved, and in all, both ways; results count once their size is
  // known. Runs on other threads, one at a time: it must not block. Not any more after the call has
  // ended.
  std::function<void(int64_t bytes_done, int64_t bytes_in_all)> progress = {};
};

struct Connection;

// Thread-safe and cheap to copy: copies share one channel, and channels to one target share one
// connection. Calls that have started outlive the Client.
class Client {
 public:
  using Reply = absl::StatusOr<std::vector<Tensor>>;
  using Callback = absl::AnyInvocable<void(Reply)>;

  // One operation each. These block, and send the caller's elements without copying them. (A call
  // that ends early, by its deadline or by a request to stop, returns once the connection has let
  // go of them: at once, but where the network has stalled, when the connection fails, after 20 s.)
  absl::StatusOr<Tensor> Elementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs,
                                     const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Cast(const TensorRef& x, DType dtype,
                              const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> MatMul(const TensorRef& a, const TensorRef& b,
                                const MatMulOptions& matmul = {},
                                const CallOptions& options = {}) const;
  // Of a, b, and the addend and the bias that the options ask for.
  absl::StatusOr<Tensor> MatMul(absl::Span<const TensorRef> operands, const MatMulOptions& matmul,
                                const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Gaussian(const TensorRef& image, const GaussianOptions& filter = {},
                                  const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Box(const TensorRef& image, const BoxOptions& filter = {},
                             const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Sobel(const TensorRef& image, const SobelOptions& filter = {},
                               const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Laplacian(const TensorRef& image, const LaplacianOptions& filter = {},
                                   const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Median(const TensorRef& image, const MedianOptions& filter = {},
                                const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Correlate(const TensorRef& image, const TensorRef& kernel,
                                   const CorrelateOptions& filter = {},
                                   const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Convolve(const TensorRef& image, const TensorRef& kernel,
                                  const ConvolveOptions& filter = {},
                                  const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Correlate1d(const TensorRef& image, const Correlate1dOptions& filter,
                                     const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Convolve1d(const TensorRef& image, const Convolve1dOptions& filter,
                                    const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> BinaryMorphology(const TensorRef& image,
                                          const BinaryMorphologyOptions& filter,
                                          const CallOptions& options = {}) const;

  absl::StatusOr<Tensor> Sort(const TensorRef& x, const SortOptions& sort = {},
                              const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Scan(const TensorRef& x, const ScanOptions& scan,
                              const CallOptions& options = {}) const;
  absl::StatusOr<Tensor> Take(const TensorRef& x, const TensorRef& indices,
                              const TakeOptions& take = {}, const CallOptions& options = {}) const;
  // Of (x), or of convolutions (x, weights) and then a bias.
  absl::StatusOr<Tensor> Network(absl::Span<const TensorRef> operands,
                                 const NetworkOptions& network,
                                 const CallOptions& options = {}) const;
  // The `k` largest elements of each line, the largest first, and their int64 indices.
  struct TopKTensors {
    Tensor values, indices;
  };
  absl::StatusOr<TopKTensors> TopK(const TensorRef& x, int64_t k, const TopKOptions& top_k = {},
                                   const CallOptions& options = {}) const;

  // One function for each elementwise operation: Exp(x), Add(a, b), Where(condition, x, y).
#define GPUCALL_ARITY_1(Function)                                                              \
  absl::StatusOr<Tensor> Function(const TensorRef& x, const CallOptions& options = {}) const { \
    return Elementwise(ElementwiseOp::k##Function, {x}, options);                              \
  }
#define GPUCALL_ARITY_2(Function)                                          \
  absl::StatusOr<Tensor> Function(const TensorRef& a, const TensorRef& b,  \
                                  const CallOptions& options = {}) const { \
    return Elementwise(ElementwiseOp::k##Function, {a, b}, options);       \
  }
#define GPUCALL_ARITY_3(Function)                                                             \
  absl::StatusOr<Tensor> Function(const TensorRef& a, const TensorRef& b, const TensorRef& c, \
                                  const CallOptions& options = {}) const {                    \
    return Elementwise(ElementwiseOp::k##Function, {a, b, c}, options);                       \
  }
#define GPUCALL_ELEMENTWISE_CAST(...)
#define GPUCALL_ELEMENTWISE(Function, name, arity, ...) GPUCALL_ARITY_##arity(Function)
#include "gpucall/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
#undef GPUCALL_ARITY_1
#undef GPUCALL_ARITY_2
#undef GPUCALL_ARITY_3

  // The Program's outputs, in order. Blocks.
  Reply Run(const Program& program, absl::Span<const TensorRef> inputs,
            const CallOptions& options = {}) const;

  // Any call. A verb gives one Tensor. Blocks.
  Reply Call(const Request& request, const CallOptions& options = {}) const;
  // Returns at once; the Request owns the elements. `callback` runs exactly once, on a thread of
  // gRPC: it must not block.
  void Start(const Request& request, Callback callback, const CallOptions& options = {}) const;
  // The same as a future.
  std::future<Reply> Future(const Request& request, const CallOptions& options = {}) const;

  // Tensors that stay on the server (tensor_handle.h), in a session that lasts as long as this
  // Client and its handles; where a call ends early and the server's answer with a handle is lost,
  // so does what it stands for. These block. RESOURCE_EXHAUSTED: more than the server keeps for one
  // caller, or its device has no memory.
  absl::StatusOr<TensorHandle> Put(const TensorRef& tensor, const CallOptions& options = {}) const;
  // NOT_FOUND: the server has it no more.
  absl::StatusOr<Tensor> Get(const TensorHandle& handle, const CallOptions& options = {}) const;
  // As Call, with outputs that stay on the server.
  absl::StatusOr<std::vector<TensorHandle>> CallAndKeep(const Request& request,
                                                        const CallOptions& options = {}) const;

  // A Tensor whose elements are still to be set. Where the target is a Unix socket they are in
  // memory shared with the server, so that calls on it copy nothing here; so are large results.
  // Other tensors are then copied once. Errors: Tensor::Uninitialized's.
  absl::StatusOr<Tensor> SharedTensor(DType dtype, Shape shape) const;

  // What the server is, and every operation that it offers. These block.
  absl::StatusOr<ServerInfo> Info(const CallOptions& options = {}) const;
  absl::StatusOr<std::vector<CatalogueEntry>> Catalogue(const CallOptions& options = {}) const;

 private:
  friend absl::StatusOr<Client> Connect(absl::string_view target, const ConnectOptions& options);
  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  std::shared_ptr<Connection> connection_;
};

// `target` is "host:port", "host" (port 7625), "unix:/path", or another gRPC name. An HTTP proxy of
// the environment is not used for this host. INVALID_ARGUMENT: an empty target. UNAVAILABLE: not
// connected within connect_deadline.
absl::StatusOr<Client> Connect(absl::string_view target, const ConnectOptions& options = {});

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_H_
