#include "server/service/decode_lines.h"

namespace gpucall {

SortAttributes DecodeSort(const v1::Sort& sort) {
  SortAttributes attributes = {.descending = sort.descending(), .indices = sort.indices()};
  if (sort.has_axis()) attributes.axis = sort.axis();
  if (sort.has_count()) attributes.count = sort.count();
  return attributes;
}

}  // namespace gpucall
