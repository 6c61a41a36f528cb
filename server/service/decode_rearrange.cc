#include "server/service/decode_rearrange.h"

namespace gpucall {
namespace {

template <typename Numbers>
absl::InlinedVector<int64_t, 8> ListOf(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

template <typename Message>
std::optional<Axes> AxesOf(const Message& message) {
  if (!message.has_axes()) return std::nullopt;
  return ListOf(message.axes().axis());
}

RearrangeAttributes::Range RangeOf(const v1::Rearrange::Slice::Range& from) {
  RearrangeAttributes::Range range;
  if (from.has_start()) range.start = from.start();
  if (from.has_stop()) range.stop = from.stop();
  if (from.has_step()) range.step = from.step();
  range.drop = from.drop();
  return range;
}

RearrangeAttributes DecodePad(const v1::Rearrange::Pad& pad) {
  return {.kind = RearrangeKind::kPad,
          .before = ListOf(pad.before()),
          .after = ListOf(pad.after()),
          .value = pad.value()};
}

RearrangeAttributes DecodeSlice(const v1::Rearrange::Slice& slice) {
  RearrangeAttributes attributes = {.kind = RearrangeKind::kSlice};
  for (const v1::Rearrange::Slice::Range& range : slice.ranges())
    attributes.ranges.push_back(RangeOf(range));
  return attributes;
}

RearrangeAttributes DecodeRepeat(const v1::Rearrange::Repeat& repeat) {
  RearrangeAttributes attributes = {.kind = RearrangeKind::kRepeat,
                                    .sizes = ListOf(repeat.repeats())};
  if (repeat.has_axis()) attributes.axes = Axes{repeat.axis()};
  return attributes;
}

}  // namespace

absl::StatusOr<RearrangeAttributes> DecodeRearrange(const v1::Rearrange& rearrange) {
  switch (rearrange.kind_case()) {
    case v1::Rearrange::kReshape:
      return RearrangeAttributes{.kind = RearrangeKind::kReshape,
                                 .sizes = ListOf(rearrange.reshape().shape())};
    case v1::Rearrange::kTranspose:
      return RearrangeAttributes{.kind = RearrangeKind::kTranspose,
                                 .axes = AxesOf(rearrange.transpose())};
    case v1::Rearrange::kConcatenate:
      return RearrangeAttributes{.kind = RearrangeKind::kConcatenate,
                                 .axes = Axes{rearrange.concatenate().axis()}};
    case v1::Rearrange::kStack:
      return RearrangeAttributes{.kind = RearrangeKind::kStack,
                                 .axes = Axes{rearrange.stack().axis()}};
    case v1::Rearrange::kSlice:
      return DecodeSlice(rearrange.slice());
    case v1::Rearrange::kPad:
      return DecodePad(rearrange.pad());
    case v1::Rearrange::kFlip:
      return RearrangeAttributes{.kind = RearrangeKind::kFlip, .axes = AxesOf(rearrange.flip())};
    case v1::Rearrange::kTile:
      return RearrangeAttributes{.kind = RearrangeKind::kTile,
                                 .sizes = ListOf(rearrange.tile().repetitions())};
    case v1::Rearrange::kBroadcastTo:
      return RearrangeAttributes{.kind = RearrangeKind::kBroadcastTo,
                                 .sizes = ListOf(rearrange.broadcast_to().shape())};
    case v1::Rearrange::kRoll:
      return RearrangeAttributes{.kind = RearrangeKind::kRoll,
                                 .axes = AxesOf(rearrange.roll()),
                                 .sizes = ListOf(rearrange.roll().shift())};
    case v1::Rearrange::kExpandDims:
      return RearrangeAttributes{.kind = RearrangeKind::kExpandDims,
                                 .axes = AxesOf(rearrange.expand_dims())};
    case v1::Rearrange::kSqueeze:
      return RearrangeAttributes{.kind = RearrangeKind::kSqueeze,
                                 .axes = AxesOf(rearrange.squeeze())};
    case v1::Rearrange::kMoveaxis:
      return RearrangeAttributes{.kind = RearrangeKind::kMoveAxis,
                                 .axes = ListOf(rearrange.moveaxis().source().axis()),
                                 .sizes = ListOf(rearrange.moveaxis().destination().axis())};
    case v1::Rearrange::kRepeat:
      return DecodeRepeat(rearrange.repeat());
    case v1::Rearrange::kUnstack:
      return RearrangeAttributes{
          .kind = RearrangeKind::kUnstack,
          .axes = Axes{rearrange.unstack().axis()},
          .sizes = {rearrange.unstack().index(), rearrange.unstack().count()}};
    case v1::Rearrange::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "rearrange: kind is not set, allowed are reshape, transpose, concatenate, stack, slice, pad, "
      "flip, tile, broadcast_to, roll, expand_dims, squeeze, moveaxis, repeat, unstack");
}

}  // namespace gpucall
