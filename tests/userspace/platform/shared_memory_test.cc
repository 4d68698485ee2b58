#include "userspace/platform/shared_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

char* Bytes(const SharedMemory& memory) { return static_cast<char*>(memory.data()); }

TEST(SharedMemoryTest, IsZeroed) {
  const SharedMemory memory = SharedMemory::Create("test", 10000).value();
  EXPECT_EQ(memory.size_bytes(), 10000u);
  EXPECT_TRUE(std::all_of(Bytes(memory), Bytes(memory) + 10000, [](char c) { return c == 0; }));
}

TEST(SharedMemoryTest, AMappingSeesTheOthersWrites) {
  const SharedMemory mine = SharedMemory::Create("test", 100).value();
  const SharedMemory theirs = SharedMemory::Map(UniqueFd(dup(mine.fd()))).value();
  EXPECT_EQ(theirs.size_bytes(), 100u);
  Bytes(mine)[99] = 'x';
  EXPECT_EQ(Bytes(theirs)[99], 'x');
  Bytes(theirs)[0] = 'y';
  EXPECT_EQ(Bytes(mine)[0], 'y');
}

TEST(SharedMemoryTest, AMappingOutlivesTheFirst) {
  SharedMemory theirs;
  {
    const SharedMemory mine = SharedMemory::Create("test", 100).value();
    theirs = SharedMemory::Map(UniqueFd(dup(mine.fd()))).value();
    Bytes(mine)[7] = 'x';
  }
  EXPECT_EQ(Bytes(theirs)[7], 'x');
}

TEST(SharedMemoryTest, MovesWithItsMapping) {
  SharedMemory first = SharedMemory::Create("test", 100).value();
  Bytes(first)[0] = 'x';
  const SharedMemory second = std::move(first);
  EXPECT_EQ(Bytes(second)[0], 'x');
}

TEST(SharedMemoryTest, IsNotInheritedAcrossExec) {
  const SharedMemory memory = SharedMemory::Create("test", 100).value();
  EXPECT_NE(fcntl(memory.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SharedMemoryTest, NothingCannotBeMapped) {
  EXPECT_FALSE(SharedMemory::Create("test", 0).ok());
  EXPECT_FALSE(SharedMemory::Map(UniqueFd()).ok());
}

TEST(SharedMemoryTest, MoreThanThereIsIsAnError) {
  EXPECT_FALSE(SharedMemory::Create("test", size_t{1} << 62).ok());
}

TEST(SharedMemoryTest, AFewPagesCanBeLocked) {
  const SharedMemory memory = SharedMemory::Create("test", 4096).value();
  EXPECT_THAT(memory.Lock(), IsOk());
}

}  // namespace
}  // namespace whylate
