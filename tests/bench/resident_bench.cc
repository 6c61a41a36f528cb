// Five elementwise operations, one after the other, on a tensor of 64 MiB, in four forms: five
// calls that each send the tensor and get it back (the control), calls whose results stay on the
// server, the same on a tensor that is there already with a result that stays, and one Program.
// Times in one interleaved run, and the bytes that each form moves.
//
// Starts the server itself. Exits with 1 where it does not start, fails, or forms differ in a bit.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gpucall/client.h"
#include "server/service/process_tuning.h"
#include "tests/bench/report.h"
#include "tests/bench/statistics.h"
#include "tests/testing/child_process.h"

ABSL_FLAG(std::string, device, "auto", "of the server: auto, cpu, cuda or cuda:N");
ABSL_FLAG(int, mebibytes, 64, "of the tensor");
ABSL_FLAG(int, repetitions, 5, "measurements of each form; figures are medians");
ABSL_FLAG(std::string, server_binary, "", "default: gpucall-server beside this program");

#define RETURN_IF_ERROR(expr) \
  if (absl::Status status_ = (expr); !status_.ok()) return status_

namespace gpucall {
namespace {

// One step of the chain on tensors of any kind.
template <typename X, typename Scalars, typename Unary, typename Binary>
auto Step(int step, const X& x, const Scalars& scalars, Unary unary, Binary binary) {
  switch (step) {
    case 0:
      return binary(ElementwiseOp::kMultiply, x, scalars[0]);
    case 1:
      return binary(ElementwiseOp::kAdd, x, scalars[1]);
    case 2:
      return unary(ElementwiseOp::kTanh, x);
    case 3:
      return unary(ElementwiseOp::kSquare, x);
    default:
      return binary(ElementwiseOp::kSubtract, x, scalars[0]);
  }
}
constexpr int kSteps = 5;

class Chain {
 public:
  Chain(const Client& client, const TensorRef& x) : client_(client), x_(x) {}

  absl::StatusOr<Tensor> Calls() const {
    absl::StatusOr<Tensor> y = Call(0, x_);
    for (int step = 1; y.ok() && step < kSteps; ++step) y = Call(step, *y);
    return y;
  }

  absl::StatusOr<Tensor> Resident() const {
    const absl::StatusOr<TensorHandle> x = client_.Put(x_);
    if (!x.ok()) return x.status();
    const absl::StatusOr<TensorHandle> y = Kept(*x, kSteps - 1);
    if (!y.ok()) return y.status();
    return Call(kSteps - 1, *y);
  }

  // All steps but none of the transfers.
  absl::StatusOr<TensorHandle> StayingResident(const TensorHandle& x) const {
    return Kept(x, kSteps);
  }

  absl::StatusOr<Tensor> OneProgram() const {
    Program program(3);
    Program::Value y = program.input(0);
    const Program::Value scalars[] = {program.input(1), program.input(2)};
    for (int step = 0; step < kSteps; ++step) {
      y = Step(
          step, y, scalars,
          [&](ElementwiseOp op, Program::Value v) { return program.Elementwise(op, {v}); },
          [&](ElementwiseOp op, Program::Value v, Program::Value w) {
            return program.Elementwise(op, {v, w});
          });
    }
    Client::Reply reply = client_.Run(program, {x_, scalars_[0], scalars_[1]});
    if (!reply.ok()) return reply.status();
    return std::move(reply->front());
  }

 private:
  absl::StatusOr<Tensor> Call(int step, const TensorRef& x) const {
    return Step(
        step, x, scalars_,
        [&](ElementwiseOp op, const TensorRef& v) { return client_.Elementwise(op, {v}); },
        [&](ElementwiseOp op, const TensorRef& v, const TensorRef& w) {
          return client_.Elementwise(op, {v, w});
        });
  }

  absl::StatusOr<TensorHandle> Kept(TensorHandle y, int steps) const {
    for (int step = 0; step < steps; ++step) {
      const Request request = Step(
          step, TensorRef(y), scalars_,
          [](ElementwiseOp op, const TensorRef& v) { return Request::Elementwise(op, {v}); },
          [](ElementwiseOp op, const TensorRef& v, const TensorRef& w) {
            return Request::Elementwise(op, {v, w});
          });
      auto kept = client_.CallAndKeep(request);
      if (!kept.ok()) return kept.status();
      y = kept->front();
    }
    return y;
  }

  const Client& client_;
  const TensorRef x_;
  const Tensor scalars_[2] = {Tensor::Scalar(0.5f), Tensor::Scalar(1.0f)};
};

// Bytes that the loopback interface has carried so far: of every program of this machine.
double LoopbackBytes() {
  double bytes = 0;
  std::ifstream("/sys/class/net/lo/statistics/tx_bytes") >> bytes;
  return bytes;
}

struct Form {
  const char* name;
  std::function<absl::Status()> run;
  std::vector<double> milliseconds = {}, mebibytes = {};

  absl::Status Measure() {
    const double bytes = LoopbackBytes();
    const absl::Time start = absl::Now();
    RETURN_IF_ERROR(run());
    milliseconds.push_back(absl::ToDoubleMilliseconds(absl::Now() - start));
    mebibytes.push_back((LoopbackBytes() - bytes) / (1 << 20));
    return absl::OkStatus();
  }
};

absl::Status Measure() {
  std::string binary = absl::GetFlag(FLAGS_server_binary);
  if (binary.empty()) {
    binary = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "gpucall-server";
  }
  const absl::StatusOr<ServerProcess> server = ServerProcess::Start(
      {binary, "--listen=127.0.0.1:0", absl::StrCat("--device=", absl::GetFlag(FLAGS_device))});
  RETURN_IF_ERROR(server.status());
  const absl::StatusOr<Client> client = Connect(server->address());
  RETURN_IF_ERROR(client.status());

  std::vector<float> elements(static_cast<size_t>(absl::GetFlag(FLAGS_mebibytes)) << 18);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 4096) / 1024;
  const Chain chain(*client, TensorRef(absl::MakeConstSpan(elements)));
  const absl::StatusOr<TensorHandle> x = client->Put(TensorRef(absl::MakeConstSpan(elements)));
  RETURN_IF_ERROR(x.status());
  const absl::StatusOr<Tensor> wanted = chain.Calls();
  RETURN_IF_ERROR(wanted.status());
  const auto check = [&](const absl::StatusOr<Tensor>& got) {
    if (!got.ok()) return got.status();
    if (got->bytes() == wanted->bytes()) return absl::OkStatus();
    return absl::InternalError("two forms of the chain differ");
  };
  const absl::StatusOr<TensorHandle> stayed = chain.StayingResident(*x);
  RETURN_IF_ERROR(stayed.status());
  RETURN_IF_ERROR(check(client->Get(*stayed)));
  RETURN_IF_ERROR(check(chain.Resident()));
  RETURN_IF_ERROR(check(chain.OneProgram()));

  Form calls{"5 calls", [&] { return chain.Calls().status(); }};
  std::vector<Form> forms = {{"results stay", [&] { return chain.Resident().status(); }},
                             {"one Program", [&] { return chain.OneProgram().status(); }},
                             {"all stays", [&] { return chain.StayingResident(*x).status(); }}};
  PrintHeader();
  for (int i = 0; i < absl::GetFlag(FLAGS_repetitions); ++i) {
    for (Form& form : forms) {
      // Each beside a control of its own.
      RETURN_IF_ERROR(form.Measure());
      RETURN_IF_ERROR(calls.Measure());
    }
  }
  for (size_t f = 0; f < forms.size(); ++f) {
    Comparison comparison = {
        absl::StrCat(forms[f].name, " / ", calls.name), "chains/s", {}, {}, ">= 4"};
    for (size_t i = 0; i < forms[f].milliseconds.size(); ++i) {
      comparison.ours.push_back(1000 / forms[f].milliseconds[i]);
      comparison.control.push_back(1000 / calls.milliseconds[i * forms.size() + f]);
    }
    Print(comparison);
  }
  forms.push_back(calls);
  for (const Form& form : forms) {
    std::printf("  %-14s %8.1f ms %8.1f MiB over the network\n", form.name,
                Median(form.milliseconds), Median(form.mebibytes));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace gpucall

int main(int argc, char** argv) {
  gpucall::TuneProcess();
  absl::SetProgramUsageMessage("Measures chains of operations on tensors that stay on a server.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = gpucall::Measure();
  if (!status.ok()) std::fprintf(stderr, "resident_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
