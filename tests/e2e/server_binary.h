// The server that end-to-end tests start.
#ifndef GPUCALL_TESTS_E2E_SERVER_BINARY_H_
#define GPUCALL_TESTS_E2E_SERVER_BINARY_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/testing/child_process.h"

namespace gpucall {

// $GPUCALL_SERVER_BINARY, else the one beside this program.
inline std::string ServerBinary() {
  if (const char* binary = getenv("GPUCALL_SERVER_BINARY"); binary != nullptr) return binary;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "gpucall-server";
}

// The command line of a CPU server on a free port; later flags override.
inline std::vector<std::string> ServerCommand(const std::vector<std::string>& flags = {}) {
  std::vector<std::string> command = {ServerBinary(), "--listen=127.0.0.1:0", "--device=cpu"};
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}
inline absl::StatusOr<ServerProcess> StartServer(const std::vector<std::string>& flags = {}) {
  return ServerProcess::Start(ServerCommand(flags));
}

}  // namespace gpucall

#endif  // GPUCALL_TESTS_E2E_SERVER_BINARY_H_
