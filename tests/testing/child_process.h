// Programs run as child processes, and servers among them.
#ifndef GPUCALL_TESTS_TESTING_CHILD_PROCESS_H_
#define GPUCALL_TESTS_TESTING_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gpucall {

// Killed and reaped when destroyed, or when the thread that started it ends.
class ChildProcess {
 public:
  // `arguments` starts with the program's path. `environment` holds NAME=VALUE to add to this
  // process's. Standard output and error go to `log_path`. INTERNAL: cannot fork. A program that
  // cannot be run exits with 127.
  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& arguments,
                                            const std::vector<std::string>& environment,
                                            const std::string& log_path);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  // Blocks. The exit code; 128 + N where signal N ended it.
  int Wait();
  // False once it has ended.
  bool IsRunning();
  // Processor time used so far, user and system, of a running process.
  absl::Duration CpuTime() const;

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  void Stop();
  void Reap(int options);

  pid_t pid_ = 0;  // 0: moved from, or reaped
  int exit_code_ = 0;
};

// A program that serves at the address that it writes to its --port_file.
class ServerProcess {
 public:
  // Runs `arguments` with a --port_file added. Blocks until it serves. UNAVAILABLE, with what it
  // wrote: it ended, or does not serve within a minute.
  static absl::StatusOr<ServerProcess> Start(std::vector<std::string> arguments,
                                             const std::vector<std::string>& environment = {});
  ServerProcess(ServerProcess&&) = default;
  ServerProcess& operator=(ServerProcess&&) = default;
  ~ServerProcess();

  const std::string& address() const { return address_; }
  ChildProcess& process() { return process_; }
  const ChildProcess& process() const { return process_; }
  // Standard output and error so far.
  std::string Log() const;

 private:
  ServerProcess(ChildProcess process, std::string folder)
      : process_(std::move(process)), folder_(std::move(folder)) {}
  absl::Status WaitForAddress();

  ChildProcess process_;
  std::string folder_;  // temporary, of this object; empty: moved from
  std::string address_;
};

}  // namespace gpucall

#endif  // GPUCALL_TESTS_TESTING_CHILD_PROCESS_H_
