#include "server/device/cuda_disk_cache.h"

#include <cstdlib>
#include <fstream>

#include "gtest/gtest.h"

namespace gpucall {
namespace {

namespace fs = std::filesystem;

class KernelDiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(::testing::TempDir()) / "kernels-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The only file in the cache's folder.
  static fs::path File(const fs::path& folder) {
    const fs::directory_iterator files(folder);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    return fs::directory_iterator(folder)->path();
  }

  fs::path folder_;
};

TEST_F(KernelDiskCacheTest, GivesBackWhatWasWritten) {
  const KernelDiskCache cache(folder_ / "new" / "folder");
  const std::string code("\0binary\xff", 8);
  EXPECT_EQ(cache.Read("key"), std::nullopt);
  cache.Write("key", code);
  EXPECT_EQ(cache.Read("key"), code);
  EXPECT_EQ(cache.Read("another key"), std::nullopt);
  cache.Write("key", "other");
  EXPECT_EQ(cache.Read("key"), "other");
}

TEST_F(KernelDiskCacheTest, DoesNotGiveOutDamagedFiles) {
  const KernelDiskCache cache(folder_);
  cache.Write("key", "some code");
  const fs::path file = File(folder_);
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_EQ(cache.Read("key"), std::nullopt);
  fs::resize_file(file, 0);
  EXPECT_EQ(cache.Read("key"), std::nullopt);
  cache.Write("key", "some code");
  EXPECT_EQ(cache.Read("key"), "some code");
}

TEST_F(KernelDiskCacheTest, LivesWithoutAFolder) {
  std::ofstream(folder_ / "file") << "not a folder";
  for (const KernelDiskCache& cache :
       {KernelDiskCache(folder_ / "file"), KernelDiskCache(fs::path())}) {
    cache.Write("key", "code");
    EXPECT_EQ(cache.Read("key"), std::nullopt);
  }
}

TEST_F(KernelDiskCacheTest, FindsItsFolderInTheEnvironment) {
  setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  KernelDiskCache::FromEnvironment().Write("key", "code");
  EXPECT_EQ(KernelDiskCache(folder_ / "gpucall").Read("key"), "code");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", folder_.c_str(), 1);
  KernelDiskCache::FromEnvironment().Write("key", "code");
  EXPECT_EQ(KernelDiskCache(folder_ / ".cache" / "gpucall").Read("key"), "code");
}

}  // namespace
}  // namespace gpucall
