// What a server says about itself.
#ifndef GPUCALL_SERVER_INFO_H_
#define GPUCALL_SERVER_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gpucall/dtype.h"

namespace gpucall {
inline namespace client {

struct DeviceInfo {
  std::string id;    // "cpu", "cuda:0"
  std::string name;  // "NVIDIA H200"
  uint64_t memory_bytes = 0;
  uint32_t lanes = 0;              // batches it can run at once
  std::string compute_capability;  // "9.0"; empty for a CPU
};

struct Limits {
  uint64_t max_message_bytes = 0;
  uint64_t max_tensor_bytes = 0;  // of one inline tensor, and of one result
  uint32_t max_dimensions = 0;
  uint32_t max_operations = 0;   // in one Program
  uint32_t max_values = 0;       // inputs, and outputs, of one Program
  uint32_t max_batch_tasks = 0;  // calls that may run together
  uint32_t max_queue_tasks = 0;
  uint64_t max_queue_bytes = 0;
};

struct ServerInfo {
  std::string version;
  std::vector<DeviceInfo> devices;
  Limits limits;
  std::string device_choice;  // which device was chosen, and why
};

struct CatalogueEntry {
  std::string name;           // "add", "matmul", "gaussian"
  std::string kind;           // "elementwise", "matmul", "filter"
  uint32_t inputs = 0;        // how many it takes
  std::vector<DType> dtypes;  // accepted for the first
  std::string description;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_SERVER_INFO_H_
