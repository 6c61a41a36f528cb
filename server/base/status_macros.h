// Early return on a failed absl::Status, and the one way errors are worded.
#ifndef GPUCALL_SERVER_BASE_STATUS_MACROS_H_
#define GPUCALL_SERVER_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define GPUCALL_RETURN_IF_ERROR(expr)                                                         \
  do {                                                                                        \
    if (absl::Status gpucall_status_ = (expr); !gpucall_status_.ok()) return gpucall_status_; \
  } while (false)

#define GPUCALL_CONCAT_INNER_(a, b) a##b
#define GPUCALL_CONCAT_(a, b) GPUCALL_CONCAT_INNER_(a, b)
#define GPUCALL_ASSIGN_OR_RETURN(lhs, expr) \
  GPUCALL_ASSIGN_OR_RETURN_IMPL_(GPUCALL_CONCAT_(gpucall_statusor_, __LINE__), lhs, expr)
#define GPUCALL_ASSIGN_OR_RETURN_IMPL_(temporary, lhs, expr) \
  auto temporary = (expr);                                   \
  if (!temporary.ok()) return std::move(temporary).status(); \
  lhs = *std::move(temporary)

#endif  // GPUCALL_SERVER_BASE_STATUS_MACROS_H_
