// Memory that is shared with a server on this host (proto/gpucall/v1/shared_memory.proto).
#ifndef GPUCALL_CLIENT_CPP_ARENA_H_
#define GPUCALL_CLIENT_CPP_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gpucall/v1/shared_memory.pb.h"
#include "gpucall/v1/tensor.pb.h"

namespace gpucall {
inline namespace client {

// Hands out parts of memfds that the server has mapped. Thread-safe. What is handed out keeps it.
class Arena : public std::enable_shared_from_this<Arena> {
 public:
  static constexpr size_t kAlignment = 64;

  // `path` is of the server's socket; where there is none, there is no room.
  explicit Arena(std::string path) : path_(std::move(path)) {}
  ~Arena();

  // `size_bytes`, more than 0, not set, aligned. Null: there is no room.
  std::shared_ptr<char> Take(size_t size_bytes);
  // Gives back all but the first `size_bytes` of what Take returned.
  void Trim(const char* data, size_t size_bytes);

  // Where in its segment `bytes` is; none where it is in no segment.
  std::optional<v1::Region> Find(absl::string_view bytes) const;

  // Places nothing new beside `data`, where a server may still write.
  void Retire(const char* data);
  // Registers all segments again, as with a server that has been restarted.
  void Renew();

 private:
  struct Segment {
    int fd = -1;
    char* data = nullptr;
    size_t size_bytes = 0;
    std::string id;  // empty: the server has none
    bool is_retired = false;
    std::map<size_t, size_t> taken, free;  // sizes by offset

    Segment() = default;
    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    bool Holds(const char* at) const { return at >= data && at < data + size_bytes; }
    char* Take(size_t wanted);
    void GiveBack(size_t offset, size_t size);
  };

  void GiveBack(const char* data);
  Segment* SegmentOf(const char* data);
  Segment* Grow(size_t size_bytes);
  static bool Map(size_t size_bytes, Segment& segment);
  void Register(Segment& segment);
  void Release(const Segment& segment);
  // The reply; none where there is no server. `fd` goes with it unless negative.
  std::optional<v1::SharedMemoryReply> Ask(const v1::SharedMemoryRequest& request, int fd);
  void Disconnect();

  const std::string path_;
  mutable std::mutex mutex_;  // of all below
  std::list<Segment> segments_;
  int socket_ = -1;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_ARENA_H_
