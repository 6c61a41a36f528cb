#include "server/store/tensor_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "absl/strings/str_replace.h"
#include "server/device/cpu_device.h"
#include "server/store/held_buffer.h"
#include "server/store/views.h"

namespace gpucall {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr int64_t kQuota = 10'000;

class TensorStoreTest : public ::testing::Test {
 protected:
  static TensorStore::Limits Limits() {
    return {.tenant = {kQuota, 50},
            .total_bytes = 25'000,
            .time_to_live = seconds(100),
            .session_grace = seconds(10)};
  }

  static TensorStore::Time At(int64_t second) { return TensorStore::Time(seconds(second)); }

  absl::StatusOr<StoredTensor> Make(const Caller& caller, int64_t count) {
    absl::StatusOr<Charge> charge = store_.Reserve(caller, count);
    if (!charge.ok()) return charge.status();
    return StoredTensor{{DType::kUint8, {count}},
                        Hold(*device_->Allocate(count), *std::move(charge))};
  }
  Handle Put(const Caller& caller, int64_t count, int64_t second = 0) {
    return *store_.Add(caller, *Make(caller, count), At(second));
  }
  Handle Create(const Caller& caller, int64_t count) {
    return *store_.Create(caller, *Make(caller, count), At(0));
  }
  bool Has(const std::string& tenant, const Handle& handle) {
    return store_.Stat(tenant, handle).ok();
  }
  int64_t held_bytes() const { return store_.statistics().size_bytes; }

  template <typename T>
  static absl::Status StatusOf(const absl::StatusOr<T>& result) {
    return result.status();
  }
  static absl::Status StatusOf(const absl::Status& status) { return status; }
  template <typename R>
  static void ExpectError(const R& result, absl::StatusCode code, const std::string& part) {
    EXPECT_EQ(StatusOf(result).code(), code) << StatusOf(result);
    EXPECT_THAT(std::string(StatusOf(result).message()), HasSubstr(part));
  }

  const std::unique_ptr<Device> device_ = MakeCpuDevice();
  const Caller alice_ = {"alice"}, bob_ = {"bob"};
  TensorStore store_{Limits()};
};

TEST_F(TensorStoreTest, HandlesAreRandomAndWhole) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(Handle::Random().bytes());
  EXPECT_EQ(seen.size(), 1000u);
  for (const std::string& bytes : seen) {
    EXPECT_EQ(bytes.size(), Handle::kBytes);
    EXPECT_EQ(Handle::FromBytes("handle", bytes)->bytes(), bytes);
  }
  for (const size_t size : {0, 1, 15, 17, 1000}) {
    ExpectError(Handle::FromBytes("handle", std::string(size, 'x')),
                absl::StatusCode::kInvalidArgument, "a handle has 16");
  }
}

TEST_F(TensorStoreTest, WhatIsAddedIsFoundUntilItIsFreed) {
  const Handle handle = Put(alice_, 100);
  const StoredTensor found = *store_.Find("alice", handle, At(1));
  EXPECT_EQ(found.type, (TensorType{DType::kUint8, {100}}));
  EXPECT_EQ(found.buffer->size_bytes(), 100);
  const TensorStore::Info info = *store_.Stat("alice", handle);
  EXPECT_TRUE(info.readable);
  EXPECT_EQ(info.expires, At(101));
  EXPECT_TRUE(store_.Free("alice", handle).ok());
  ExpectError(store_.Find("alice", handle, At(1)), absl::StatusCode::kNotFound, "no tensor");
}

TEST_F(TensorStoreTest, AnotherTenantsTensorDoesNotExist) {
  const Handle handle = Put(alice_, 100);
  const Handle guessed = Handle::Random();
  const auto message = [](const absl::Status& status, const Handle& named) {
    return absl::StrReplaceAll(status.message(), {{named.ToString(), "X"}});
  };
  const absl::Status theirs = store_.Find("bob", handle, At(0)).status();
  const absl::Status nobodys = store_.Find("bob", guessed, At(0)).status();
  EXPECT_EQ(theirs.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(theirs.code(), nobodys.code());
  EXPECT_EQ(message(theirs, handle), message(nobodys, guessed));
  ExpectError(store_.Free("bob", handle), absl::StatusCode::kNotFound, "");
  ExpectError(store_.Stat("bob", handle), absl::StatusCode::kNotFound, "");
  ExpectError(store_.KeepAlive("bob", handle, At(0)), absl::StatusCode::kNotFound, "");
  ExpectError(store_.BeginWrite("bob", handle, 0, 1), absl::StatusCode::kNotFound, "");
  EXPECT_TRUE(store_.List("bob", std::nullopt, 10).empty());
  const Handle session = store_.OpenSession("alice");
  ExpectError(store_.ResumeSession("bob", session), absl::StatusCode::kNotFound, "");
  ExpectError(store_.EndSession("bob", session), absl::StatusCode::kNotFound, "");
  ExpectError(store_.Reserve({"bob", session}, 1), absl::StatusCode::kNotFound, "");
  EXPECT_TRUE(Has("alice", handle));
}

TEST_F(TensorStoreTest, FreedTwice) {
  const Handle handle = Put(alice_, 100);
  EXPECT_TRUE(store_.Free("alice", handle).ok());
  ExpectError(store_.Free("alice", handle), absl::StatusCode::kNotFound, handle.ToString());
}

TEST_F(TensorStoreTest, FreedWhileUsed) {
  const Handle handle = Put(alice_, 100);
  StoredTensor used = *store_.Find("alice", handle, At(0));
  ASSERT_TRUE(store_.Free("alice", handle).ok());
  used.buffer->data()[99] = std::byte{1};
  EXPECT_EQ(held_bytes(), 100);  // the memory is still taken
  EXPECT_EQ(store_.statistics().tensors, 0);
  used.buffer.reset();
  EXPECT_EQ(held_bytes(), 0);
}

TEST_F(TensorStoreTest, QuotaOfBytes) {
  Put(alice_, 6000);
  ExpectError(Make(alice_, 4001), absl::StatusCode::kResourceExhausted,
              "6000 bytes are kept for this caller, 4001 more are asked for, allowed are 10000");
  const Handle rest = Put(alice_, 4000);
  ExpectError(Make(alice_, 1), absl::StatusCode::kResourceExhausted, "quota");
  Put(bob_, 9000);  // each has its own
  EXPECT_TRUE(store_.Free("alice", rest).ok());
  EXPECT_TRUE(Make(alice_, 4000).ok());
  ExpectError(Make(alice_, std::numeric_limits<int64_t>::max()),
              absl::StatusCode::kResourceExhausted, "quota");
}

TEST_F(TensorStoreTest, QuotaOfAllTenants) {
  Put(alice_, 10'000);
  const Handle handle = Put(bob_, 10'000);
  ExpectError(Make({"carol"}, 5001), absl::StatusCode::kResourceExhausted,
              "20000 bytes are kept for all callers, 5001 more are asked for, allowed are 25000");
  ASSERT_TRUE(store_.Free("bob", handle).ok());
  EXPECT_TRUE(Make({"carol"}, 5001).ok());
}

TEST_F(TensorStoreTest, QuotaOfTensors) {
  for (int i = 0; i < 50; ++i) Put(alice_, 0);
  ExpectError(store_.Add(alice_, *Make(alice_, 0), At(0)), absl::StatusCode::kResourceExhausted,
              "50 tensors");
  EXPECT_EQ(store_.statistics().tensors, 50);
}

TEST_F(TensorStoreTest, ReservedBytesAreGivenBack) {
  {
    const Charge charge = *store_.Reserve(alice_, kQuota);
    ExpectError(store_.Reserve(alice_, 1), absl::StatusCode::kResourceExhausted, "quota");
  }
  EXPECT_TRUE(store_.Reserve(alice_, kQuota).ok());
  EXPECT_EQ(held_bytes(), 0);
}

TEST_F(TensorStoreTest, UnusedTensorsExpire) {
  const Handle used = Put(alice_, 1), kept = Put(alice_, 2), left = Put(alice_, 4);
  ASSERT_TRUE(store_.Find("alice", used, At(60)).ok());
  ASSERT_TRUE(store_.KeepAlive("alice", kept, At(70)).ok());
  EXPECT_EQ(store_.Reap(At(99)), 0u);
  EXPECT_EQ(store_.Reap(At(100)), 1u);
  EXPECT_FALSE(Has("alice", left));
  EXPECT_EQ(store_.Reap(At(160)), 1u);
  EXPECT_FALSE(Has("alice", used));
  EXPECT_TRUE(Has("alice", kept));
  EXPECT_EQ(store_.Reap(At(10'000)), 1u);
  EXPECT_EQ(held_bytes(), 0);
}

TEST_F(TensorStoreTest, ASessionsTensorsStayWhileItHasAStream) {
  const Handle session = store_.OpenSession("alice");
  const Handle handle = Put({"alice", session}, 100);
  EXPECT_EQ(store_.Stat("alice", handle)->expires, TensorStore::Time::max());
  EXPECT_EQ(store_.Reap(At(1'000'000)), 0u);
  store_.LoseStream("alice", session, At(1'000'000));
  EXPECT_EQ(store_.Reap(At(1'000'009)), 0u);
  EXPECT_TRUE(Has("alice", handle));
  EXPECT_EQ(store_.Reap(At(1'000'010)), 1u);
  EXPECT_EQ(held_bytes(), 0);
  EXPECT_EQ(store_.statistics().sessions, 0);
  ExpectError(store_.Add({"alice", session}, *Make(alice_, 1), At(0)), absl::StatusCode::kNotFound,
              session.ToString());
}

TEST_F(TensorStoreTest, ASessionIsResumedWithinItsGrace) {
  const Handle session = store_.OpenSession("alice");
  const Handle handle = Put({"alice", session}, 100);
  store_.LoseStream("alice", session, At(0));
  ASSERT_TRUE(store_.ResumeSession("alice", session).ok());
  EXPECT_EQ(store_.Reap(At(1000)), 0u);
  // A second stream holds it as well.
  ASSERT_TRUE(store_.ResumeSession("alice", session).ok());
  store_.LoseStream("alice", session, At(1000));
  EXPECT_EQ(store_.Reap(At(2000)), 0u);
  store_.LoseStream("alice", session, At(2000));
  EXPECT_EQ(store_.Reap(At(2010)), 1u);
  EXPECT_FALSE(Has("alice", handle));
  ExpectError(store_.ResumeSession("alice", session), absl::StatusCode::kNotFound, "");
}

TEST_F(TensorStoreTest, EndedSessions) {
  const Handle session = store_.OpenSession("alice");
  Put({"alice", session}, 100);
  const Handle other = Put(alice_, 50);
  ASSERT_TRUE(store_.EndSession("alice", session).ok());
  EXPECT_EQ(held_bytes(), 50);
  EXPECT_TRUE(Has("alice", other));
  store_.LoseStream("alice", session, At(0));  // its stream ends afterwards
  EXPECT_EQ(store_.Reap(At(50)), 0u);
  ExpectError(store_.EndSession("alice", session), absl::StatusCode::kNotFound, "");
}

TEST_F(TensorStoreTest, EmptySessionsEndWithTheirStream) {
  for (int i = 0; i < 1000; ++i) {
    const Handle session = store_.OpenSession("alice");
    ASSERT_TRUE(store_.Free("alice", Put({"alice", session}, 10)).ok());
    store_.LoseStream("alice", session, At(0));
  }
  EXPECT_EQ(store_.statistics().sessions, 0);
  EXPECT_EQ(held_bytes(), 0);
}

TEST_F(TensorStoreTest, ListsInPages) {
  std::set<std::string> handles;
  for (int i = 0; i < 25; ++i) handles.insert(Put(alice_, i).bytes());
  Put(bob_, 1);
  std::set<std::string> listed;
  std::optional<Handle> after;
  for (const size_t wanted : {10, 10, 5, 0}) {
    const std::vector<TensorStore::Info> page = store_.List("alice", after, 10);
    ASSERT_EQ(page.size(), wanted);
    for (const TensorStore::Info& info : page) listed.insert(info.handle.bytes());
    if (!page.empty()) after = page.back().handle;
  }
  EXPECT_EQ(listed, handles);
}

TEST_F(TensorStoreTest, CreatedTensorsAreReadableOnceWritten) {
  const Handle handle = Create(alice_, 100);
  EXPECT_FALSE(store_.Stat("alice", handle)->readable);
  ExpectError(store_.Find("alice", handle, At(0)), absl::StatusCode::kFailedPrecondition,
              "not all bytes");
  const auto rest = *store_.BeginWrite("alice", handle, 30, std::nullopt);
  EXPECT_EQ(rest.size_bytes, 70);
  const auto first = *store_.BeginWrite("alice", handle, 0, 30);
  using Outcome = TensorStore::Outcome;
  EXPECT_TRUE(store_.EndWrite("alice", rest, Outcome::kWritten, At(0)).ok());
  EXPECT_TRUE(store_.EndWrite("alice", first, Outcome::kGivenUp, At(0)).ok());
  EXPECT_FALSE(store_.Stat("alice", handle)->readable);
  const auto again = *store_.BeginWrite("alice", handle, 0, 30);
  EXPECT_TRUE(store_.EndWrite("alice", again, Outcome::kWritten, At(0)).ok());
  EXPECT_TRUE(store_.Find("alice", handle, At(0)).ok());
  ExpectError(store_.BeginWrite("alice", handle, 0, 1), absl::StatusCode::kFailedPrecondition,
              "have come already");
}

TEST_F(TensorStoreTest, FreedWhileWritten) {
  const Handle handle = Create(alice_, 100);
  const auto writing = *store_.BeginWrite("alice", handle, 0, std::nullopt);
  ASSERT_TRUE(store_.Free("alice", handle).ok());
  writing.buffer->data()[99] = std::byte{1};
  ExpectError(store_.EndWrite("alice", writing, TensorStore::Outcome::kWritten, At(0)),
              absl::StatusCode::kNotFound, "");
}

TEST_F(TensorStoreTest, SlowWritersKeepTheirTensor) {
  const Handle handle = Create(alice_, 100);
  const auto writing = *store_.BeginWrite("alice", handle, 0, std::nullopt);
  EXPECT_EQ(store_.Reap(At(5000)), 0u);
  ASSERT_TRUE(store_.EndWrite("alice", writing, TensorStore::Outcome::kGivenUp, At(5000)).ok());
  EXPECT_EQ(store_.Reap(At(5100)), 1u);
}

TEST_F(TensorStoreTest, CreatedTensorsWithoutElementsAreReadable) {
  EXPECT_TRUE(store_.Find("alice", Create(alice_, 0), At(0)).ok());
}

TEST_F(TensorStoreTest, ViewsShareOrCopy) {
  const Handle handle = Put(alice_, 1000);
  const StoredTensor whole = *store_.Find("alice", handle, At(0));
  for (int i = 0; i < 1000; ++i) whole.buffer->data()[i] = static_cast<std::byte>(i % 251);
  const auto view_of = [&](int64_t start, int64_t stop) {
    const ViewType view = *SliceView(whole.type, {start}, {stop});
    const Handle made = *AddView(store_, *device_, alice_, whole, view, At(0));
    return *store_.Find("alice", made, At(0));
  };
  const StoredTensor shared = view_of(512, 600);
  EXPECT_EQ(shared.buffer->data(), whole.buffer->data() + 512);
  EXPECT_EQ(held_bytes(), 1000);
  const StoredTensor copied = view_of(513, 600);
  EXPECT_EQ(held_bytes(), 1087);
  EXPECT_EQ(std::memcmp(copied.buffer->data(), whole.buffer->data() + 513, 87), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copied.buffer->data()) % 64, 0u);
  EXPECT_EQ(view_of(999, 999).buffer->size_bytes(), 0);
}

TEST_F(TensorStoreTest, ViewsOutliveTheirTensor) {
  const Handle handle = Put(alice_, 1000);
  StoredTensor whole = *store_.Find("alice", handle, At(0));
  StoredTensor view = {{DType::kUint8, {488}}, PartOf(whole.buffer, 512, 488)};
  whole.buffer->data()[999] = std::byte{7};
  ASSERT_TRUE(store_.Free("alice", handle).ok());
  whole.buffer.reset();
  // Parts of parts keep the whole, not each other.
  const std::weak_ptr<DeviceBuffer> first = view.buffer;
  for (int64_t size = 487; size > 8; --size) view.buffer = PartOf(view.buffer, 1, size);
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(view.buffer->data()[8], std::byte{7});
  EXPECT_EQ(held_bytes(), 1000);
  view.buffer.reset();
  EXPECT_EQ(held_bytes(), 0);
}

TEST_F(TensorStoreTest, CopiedViewsAreHeldToTheQuota) {
  const Handle handle = Put(alice_, 6000);
  const StoredTensor whole = *store_.Find("alice", handle, At(0));
  const ViewType view = *SliceView(whole.type, {1}, {6000});
  ExpectError(AddView(store_, *device_, alice_, whole, view, At(0)),
              absl::StatusCode::kResourceExhausted, "6000 bytes are kept");
  EXPECT_EQ(held_bytes(), 6000);
}

}  // namespace
}  // namespace gpucall
