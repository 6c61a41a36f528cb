// The outputs of a call that stay on the server.
#ifndef GPUCALL_SERVER_SERVICE_KEPT_OUTPUTS_H_
#define GPUCALL_SERVER_SERVICE_KEPT_OUTPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/scheduler/task.h"
#include "server/store/tensor_store.h"

namespace gpucall {

// Of one call: Reserve before its task is scheduled, Keep when that is done.
class KeptOutputs {
 public:
  // Reserves the bytes of the outputs that task.keep_outputs names; those of outputs that are one
  // value, as it is or reshaped, once; none where that is a resident tensor, which is charged
  // already and whose memory they share. Errors: TensorStore::Reserve's.
  absl::Status Reserve(TensorStore& store, const Caller& caller, const Task& task);

  // Puts them into the store, where the task has a result. Handles by output, as bytes; empty for
  // those that are not kept. NOT_FOUND: the session has ended. RESOURCE_EXHAUSTED: too many
  // tensors. Then none is kept.
  absl::StatusOr<std::vector<std::string>> Keep(TensorStore& store, const Plan& plan,
                                                const TaskResult& result);

 private:
  Caller caller_;
  std::vector<bool> kept_;       // by output
  std::vector<Charge> charges_;  // the same; no bytes where memory is shared
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_KEPT_OUTPUTS_H_
