// What a user's first program is: connect, call, use the result. Exits with 0 where all is right.
#include <cstdio>

#include "gpucall/client.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const absl::StatusOr<gpucall::Client> client =
      gpucall::Connect(argv[1], {.connect_deadline = absl::Seconds(10)});
  if (!client.ok()) {
    std::fprintf(stderr, "%s\n", client.status().ToString().c_str());
    return 1;
  }
  const gpucall::Tensor a = gpucall::Tensor::From<float>({1, 2, 3});
  const absl::StatusOr<gpucall::Tensor> sum = client->Add(a, gpucall::Tensor::Scalar(0.5f));
  if (!sum.ok()) {
    std::fprintf(stderr, "%s\n", sum.status().ToString().c_str());
    return 1;
  }
  const absl::Span<const float> elements = *sum->as<float>();
  std::printf("%g %g %g\n", elements[0], elements[1], elements[2]);
  return elements == absl::Span<const float>({1.5f, 2.5f, 3.5f}) ? 0 : 1;
}
