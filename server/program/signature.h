// Which plans may share a batch.
#ifndef GPUCALL_SERVER_PROGRAM_SIGNATURE_H_
#define GPUCALL_SERVER_PROGRAM_SIGNATURE_H_

#include <string>

#include "server/program/plan.h"

namespace gpucall {

// Plan::signature of a plan that is otherwise made.
std::string MakeSignature(const Plan& plan);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_SIGNATURE_H_
