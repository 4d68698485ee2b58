#include "userspace/platform/channel.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::_;
using testing::Eq;
using testing::HasSubstr;
using testing::Optional;

class ChannelTest : public testing::Test {
 protected:
  std::pair<Channel, Channel> ends_ = Channel::CreatePair().value();
};

TEST_F(ChannelTest, CarriesMessagesBothWays) {
  ASSERT_THAT(ends_.first.Send("ping"), IsOk());
  ASSERT_THAT(ends_.second.Send("pong"), IsOk());
  EXPECT_THAT(ends_.second.Receive(), IsOkAndHolds("ping"));
  EXPECT_THAT(ends_.first.Receive(), IsOkAndHolds("pong"));
}

TEST_F(ChannelTest, KeepsMessagesApart) {
  ASSERT_THAT(ends_.first.Send("one"), IsOk());
  ASSERT_THAT(ends_.first.Send("two"), IsOk());
  EXPECT_THAT(ends_.second.Receive(), IsOkAndHolds("one"));
  EXPECT_THAT(ends_.second.Receive(), IsOkAndHolds("two"));
}

TEST_F(ChannelTest, CarriesAnyByte) {
  const std::string message("a\0\n\xff", 4);
  ASSERT_THAT(ends_.first.Send(message), IsOk());
  EXPECT_THAT(ends_.second.Receive(), IsOkAndHolds(message));
}

TEST_F(ChannelTest, CarriesTheLongestMessageWhole) {
  const std::string message(Channel::kMaxMessageBytes, 'x');
  ASSERT_THAT(ends_.first.Send(message), IsOk());
  EXPECT_THAT(ends_.second.Receive(), IsOkAndHolds(message));
}

// The other side would get a part of it, or take it for the end.
TEST_F(ChannelTest, RefusesWhatCannotArriveWhole) {
  EXPECT_THAT(ends_.first.Send(std::string(Channel::kMaxMessageBytes + 1, 'x')),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("65537 bytes")));
  EXPECT_FALSE(ends_.first.Send("").ok());
  EXPECT_THAT(ends_.second.ReceiveNow(), IsOkAndHolds(Eq(std::nullopt)));
}

TEST_F(ChannelTest, ReceiveNowDoesNotWait) {
  EXPECT_THAT(ends_.second.ReceiveNow(), IsOkAndHolds(Eq(std::nullopt)));
  ASSERT_THAT(ends_.first.Send("now"), IsOk());
  EXPECT_THAT(ends_.second.ReceiveNow(), IsOkAndHolds(Optional(Eq("now"))));
}

TEST_F(ChannelTest, TheOthersEndIsSeen) {
  ends_.first.Close();
  EXPECT_THAT(ends_.second.Receive(), StatusIs(absl::StatusCode::kOutOfRange, _));
  EXPECT_THAT(ends_.second.ReceiveNow(), StatusIs(absl::StatusCode::kOutOfRange, _));
}

TEST_F(ChannelTest, WhatWasSentBeforeTheEndArrives) {
  ASSERT_THAT(ends_.first.Send("last words"), IsOk());
  ends_.first.Close();
  EXPECT_THAT(ends_.second.Receive(), IsOkAndHolds("last words"));
  EXPECT_THAT(ends_.second.Receive(), StatusIs(absl::StatusCode::kOutOfRange, _));
}

TEST_F(ChannelTest, TheEndIsSeenWhereOurMessagesWereNotRead) {
  ASSERT_THAT(ends_.second.Send("never read"), IsOk());
  ends_.first.Close();
  EXPECT_THAT(ends_.second.Receive(), StatusIs(absl::StatusCode::kOutOfRange, _));
}

// A SIGPIPE would end the test.
TEST_F(ChannelTest, SendingToNobodyIsAnError) {
  ends_.first.Close();
  EXPECT_FALSE(ends_.second.Send("anyone?").ok());
}

}  // namespace
}  // namespace whylate
