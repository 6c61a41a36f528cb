// Compares protobuf messages with their text.
#ifndef GPUCALL_TESTS_CLIENT_PROTO_MATCHER_H_
#define GPUCALL_TESTS_CLIENT_PROTO_MATCHER_H_

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>

namespace gpucall {

// A function, not a gMock matcher: gtest's printer of messages does not compile without warnings
// on GCC 12.
template <typename Message>
testing::AssertionResult EqualsText(const Message& message, const std::string& text) {
  Message expected;
  if (!google::protobuf::TextFormat::ParseFromString(text, &expected)) {
    return testing::AssertionFailure() << "the expected text does not parse: " << text;
  }
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  if (differencer.Compare(expected, message)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << difference;
}

}  // namespace gpucall

#endif  // GPUCALL_TESTS_CLIENT_PROTO_MATCHER_H_
