#include "server/service/server_service.h"

#include <string>

#include "server/program/catalogue.h"

namespace gpucall {
namespace {

const char* KindName(OperationKind kind) {
  switch (kind) {
    case OperationKind::kElementwise:
      return "elementwise";
    case OperationKind::kMatMul:
      return "matmul";
    case OperationKind::kFilter:
      return "filter";
    case OperationKind::kReduce:
      return "reduce";
    case OperationKind::kRearrange:
      return "rearrange";
    case OperationKind::kSort:
      return "sort";
    case OperationKind::kScan:
      return "scan";
    case OperationKind::kCreation:
      return "creation";
    case OperationKind::kNetwork:
      return "network";
    case OperationKind::kSignal:
      return "signal";
    case OperationKind::kTake:
      return "take";
    case OperationKind::kImage:
      return "image";
  }
  return "";
}

}  // namespace

v1::Catalogue MakeCatalogueMessage() {
  v1::Catalogue message;
  for (const CatalogueRow& row : Catalogue()) {
    v1::CatalogueEntry& entry = *message.add_operations();
    entry.set_name(std::string(row.name));
    entry.set_kind(KindName(row.kind));
    entry.set_inputs(row.inputs);
    for (DType dtype : row.dtypes) entry.add_dtypes(static_cast<v1::DType>(dtype));
    entry.set_description(std::string(row.description));
  }
  return message;
}

grpc::ServerUnaryReactor* ServerService::GetInfo(grpc::CallbackServerContext* context,
                                                 const v1::GetInfoRequest*, v1::ServerInfo* reply) {
  *reply = info_;
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* ServerService::GetCatalogue(grpc::CallbackServerContext* context,
                                                      const v1::GetCatalogueRequest*,
                                                      v1::Catalogue* reply) {
  *reply = catalogue_;
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* ServerService::GetStatistics(grpc::CallbackServerContext* context,
                                                       const v1::GetStatisticsRequest*,
                                                       v1::Statistics* reply) {
  const TensorStore::Statistics statistics = store_.statistics();
  v1::ResidentStatistics& resident = *reply->mutable_resident();
  resident.set_tensors(static_cast<uint64_t>(statistics.tensors));
  resident.set_size_bytes(static_cast<uint64_t>(statistics.size_bytes));
  resident.set_sessions(static_cast<uint64_t>(statistics.sessions));
  resident.set_callers(static_cast<uint64_t>(statistics.tenants));
  const PinnedMemory memory = device_.pinned_memory();
  v1::PinnedStatistics& pinned = *reply->mutable_pinned();
  pinned.set_size_bytes(static_cast<uint64_t>(memory.size_bytes));
  pinned.set_free_bytes(static_cast<uint64_t>(memory.free_bytes));
  pinned.set_fallbacks(static_cast<uint64_t>(memory.fallbacks));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace gpucall
