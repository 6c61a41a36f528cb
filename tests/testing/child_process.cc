#include "tests/testing/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

extern char** environ;

namespace gpucall {
namespace {

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  return pointers;
}

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(const std::vector<std::string>& arguments,
                                                 const std::vector<std::string>& environment,
                                                 const std::string& log_path) {
  // All that allocates comes before fork: other threads of this process may hold malloc's lock.
  std::vector<char*> argv = Pointers(arguments);
  argv.push_back(nullptr);
  std::vector<char*> envp = Pointers(environment);  // the first of equal names counts
  for (char** variable = environ; *variable != nullptr; ++variable) envp.push_back(*variable);
  envp.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return absl::InternalError("cannot fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int log = open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  return ChildProcess(pid);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), exit_code_(other.exit_code_) {}
ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  Stop();
  pid_ = std::exchange(other.pid_, 0);
  exit_code_ = other.exit_code_;
  return *this;
}
ChildProcess::~ChildProcess() { Stop(); }

void ChildProcess::Stop() {
  Signal(SIGKILL);
  Wait();
}

void ChildProcess::Signal(int signal) const {
  if (pid_ != 0) kill(pid_, signal);
}

int ChildProcess::Wait() {
  Reap(0);
  return exit_code_;
}

bool ChildProcess::IsRunning() {
  Reap(WNOHANG);
  return pid_ != 0;
}

void ChildProcess::Reap(int options) {
  int status = 0;
  if (pid_ == 0 || waitpid(pid_, &status, options) != pid_) return;
  pid_ = 0;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

absl::Duration ChildProcess::CpuTime() const {
  // proc(5): the name, in parentheses, may hold spaces; utime and stime are fields 12 and 13 after
  // it.
  const std::string stat = ReadFile(absl::StrCat("/proc/", pid_, "/stat"));
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(stat.rfind(')') + 1), ' ');
  if (fields.size() < 14) return absl::ZeroDuration();
  const double ticks = std::stod(fields[12]) + std::stod(fields[13]);
  return absl::Seconds(ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

absl::StatusOr<ServerProcess> ServerProcess::Start(std::vector<std::string> arguments,
                                                   const std::vector<std::string>& environment) {
  std::string folder = std::filesystem::temp_directory_path() / "gpucall-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::InternalError(absl::StrCat("cannot make the folder ", folder));
  }
  arguments.push_back(absl::StrCat("--port_file=", folder, "/port"));
  absl::StatusOr<ChildProcess> process =
      ChildProcess::Start(arguments, environment, folder + "/log");
  if (!process.ok()) return process.status();
  ServerProcess server(*std::move(process), folder);
  if (const absl::Status status = server.WaitForAddress(); !status.ok()) return status;
  return server;
}

absl::Status ServerProcess::WaitForAddress() {
  const std::string port_file = folder_ + "/port";
  const absl::Time end = absl::Now() + absl::Minutes(1);
  while (!std::filesystem::exists(port_file)) {
    if (!process_.IsRunning() || absl::Now() > end) {
      return absl::UnavailableError(absl::StrCat("the server does not serve: ", Log()));
    }
    absl::SleepFor(absl::Milliseconds(10));
  }
  address_ = ReadFile(port_file);
  while (!address_.empty() && address_.back() == '\n') address_.pop_back();
  return absl::OkStatus();
}

std::string ServerProcess::Log() const { return ReadFile(folder_ + "/log"); }

ServerProcess::~ServerProcess() {
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

}  // namespace gpucall
