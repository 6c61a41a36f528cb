// Owns a file descriptor.
#ifndef GPUCALL_SERVER_BASE_UNIQUE_FD_H_
#define GPUCALL_SERVER_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace gpucall {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) static_cast<void>(close(fd_));
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_BASE_UNIQUE_FD_H_
