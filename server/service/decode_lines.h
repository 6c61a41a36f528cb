// Operations along one axis, from the wire.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_LINES_H_
#define GPUCALL_SERVER_SERVICE_DECODE_LINES_H_

#include "gpucall/v1/sort.pb.h"
#include "server/program/program.h"

namespace gpucall {

SortAttributes DecodeSort(const v1::Sort& sort);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_LINES_H_
