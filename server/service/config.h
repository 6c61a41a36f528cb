// The server's configuration: a file, overridden by flags.
#ifndef GPUCALL_SERVER_SERVICE_CONFIG_H_
#define GPUCALL_SERVER_SERVICE_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "gpucall/v1/config.pb.h"

namespace gpucall {

// Reads a ServerConfig in protobuf text format. NOT_FOUND: cannot be read. INVALID_ARGUMENT: line,
// column and cause.
absl::StatusOr<v1::ServerConfig> ReadConfig(const std::string& path);

// Fields set in `overrides` replace those of `config`; fields set in neither get their defaults.
// INVALID_ARGUMENT: a value out of range, named with what is allowed.
absl::StatusOr<v1::ServerConfig> CompleteConfig(v1::ServerConfig config,
                                                const v1::ServerConfig& overrides);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_CONFIG_H_
