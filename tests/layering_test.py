"""Reads every #include line of server/, kernels/ and client/cpp, and holds it to who may include whom.

Headers live in /usr/include all together, so no build target can stop a wrong include: this test does.
"""

from __future__ import annotations

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What a file of each part may include besides its own part and the C++ and C libraries.
ALLOWED: dict[str, set[str]] = {
    "base": {"absl", "tables"},
    "program": {"base", "absl", "tables"},
    "device": {"program", "base", "kernels", "kernels/cpu", "absl"},
    "device/cuda_*": {
        "device",
        "program",
        "base",
        "kernels",
        "kernels/cuda",
        "absl",
        "cuda",
    },
    "store": {"device", "program", "base", "absl"},
    "scheduler": {"program", "device", "base", "absl"},
    "telemetry": {"base", "absl", "spdlog"},
    "service": {
        "scheduler",
        "device",
        "program",
        "store",
        "telemetry",
        "base",
        "proto",
        "grpc",
        "absl",
        "spdlog",
        "zlib",
    },
    "main": {
        *("base", "program", "device", "store", "scheduler", "telemetry", "service"),
        *("proto", "grpc", "absl", "spdlog"),
    },
    "kernels": set(),
    "kernels/cpu": {"kernels", "tables", "blas"},
    "kernels/cuda": {"kernels", "tables", "cuda"},
    "client": {"client/api", "proto", "grpc", "absl", "zlib", "tables"},
    "client/api": {"absl", "tables"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cc", ".cu", ".cuh"}

# The part that an include belongs to, by the first pattern that matches its path.
PARTS = [
    (r"server/([a-z]+)/cuda_(?!module\.h)", r"\1/cuda_*"),
    (r"server/([a-z]+)/", r"\1"),
    (r"(kernels|gpucall)/(\w+\.def|elementwise_rules\.h)$", "tables"),
    (r"kernels/(cpu|cuda)/", r"kernels/\1"),
    (r"kernels/", "kernels"),
    (r"client/cpp/", "client"),
    (r"gpucall/v1/", "proto"),
    (r"gpucall/[a-z_]+\.h$", "client/api"),
    (r"(grpcpp|grpc|google/protobuf)/", "grpc"),
    (r"absl/", "absl"),
    (r"spdlog/", "spdlog"),
    (r"zlib\.h", "zlib"),
    (r"(cblas|openblas.*|lapacke?)\.h$", "blas"),
    (r"(cuda|cub|thrust|cooperative_groups)/", "cuda"),
    (
        r"(cuda|cublas|cuComplex|nvrtc|vector_types|driver_types|cooperative_groups|mma|library_types)",
        "cuda",
    ),
    (r"[a-z0-9_/]+$", "std"),  # <vector>
    (r"((sys|linux)/)?[a-z0-9_]+\.h$", "std"),  # <math.h>, <dlfcn.h>, <sys/stat.h>
]


def part_of_include(path: str) -> str:
    for pattern, part in PARTS:
        if match := re.match(pattern, path):
            return match.expand(part)
    return path


def part_of_file(path: str) -> str:
    """The row of ALLOWED for a source file; path is relative to the root."""
    if path.startswith("server/main"):
        return "main"
    if path.startswith("server/device/cuda_") and not path.startswith(
        "server/device/cuda_module."
    ):
        return "device/cuda_*"
    folder = path.rsplit("/", 1)[0]
    others = {
        "client/cpp": "client",
        "client/cpp/gpucall": "client/api",
        "kernels/cpu/loops": "kernels/cpu",
    }
    return others.get(folder, folder.removeprefix("server/"))


def violations(path: str, text: str) -> list[str]:
    part = part_of_file(path)
    if part not in ALLOWED:
        return [f"{path}: no row of ALLOWED says what this folder may include"]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := INCLUDE.match(line):
            quote, target = match.groups()
            included = part_of_include(target)
            known = included == "std" and quote == "<"
            if not known and included != part and included not in ALLOWED[part]:
                found.append(
                    f"{path}:{number}: {part} may not include {target} ({included})"
                )
    return found


class LayeringTest(unittest.TestCase):
    def test_every_include_is_allowed(self) -> None:
        files = [
            p
            for f in ("server", "kernels", "client/cpp")
            for p in (ROOT / f).rglob("*")
        ]
        files = [p for p in files if p.suffix in SUFFIXES or p.suffix == ".def"]
        self.assertGreater(len(files), 10)
        found = [
            v
            for p in sorted(files)
            for v in violations(str(p.relative_to(ROOT)), p.read_text())
        ]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_wrong_includes_are_found(self) -> None:
        for path, line in [
            ("server/base/shape.h", '#include "server/program/plan.h"'),
            ("server/base/shape.h", "#include <grpcpp/grpcpp.h>"),
            ("server/program/plan.cc", '#include "kernels/elementwise_functions.h"'),
            ("server/program/plan.cc", '#include "gpucall/v1/tensor.pb.h"'),
            ("server/scheduler/queue.cc", "#  include <grpcpp/alarm.h>"),
            ("server/scheduler/queue.cc", '#include "server/service/convert.h"'),
            ("server/scheduler/queue.cc", '#include "server/device/cuda_lane.h"'),
            ("server/device/cpu_device.cc", "#include <cuda_runtime.h>"),
            ("server/device/cpu_device.cc", '#include "kernels/cuda/filter.h"'),
            ("server/device/cuda_module.cc", "#include <cuda_runtime_api.h>"),
            ("server/device/cuda_lane.cc", "#include <google/protobuf/message.h>"),
            ("server/service/handler.cc", "#include <cblas.h>"),
            ("kernels/cpu/filter.cc", '#include "absl/types/span.h"'),
            ("kernels/cuda/filter.cu", '#include "server/base/dtype.h"'),
            ("client/cpp/client.cc", '#include "server/base/dtype.h"'),
            ("client/cpp/client.cc", '#include "stray.h"'),
            ("client/cpp/gpucall/client.h", "#include <grpcpp/channel.h>"),
            ("client/cpp/gpucall/client.h", '#include "gpucall/v1/compute.pb.h"'),
            ("client/cpp/gpucall/client.h", '#include "client/cpp/wire.h"'),
            ("server/service/handler.cc", '#include "gpucall/client.h"'),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(len(violations(path, line)), 1)

    def test_right_includes_pass(self) -> None:
        for path, line in [
            ("server/base/mutex.h", "#include <condition_variable>"),
            ("server/program/program.h", '#include "kernels/elementwise_ops.def"'),
            ("server/device/cuda_lane.cc", "#include <cuda_runtime.h>"),
            ("server/device/cuda_module.cc", "#include <dlfcn.h>"),
            ("server/device/cpu_device.cc", '#include "kernels/cpu/matmul.h"'),
            ("server/service/handler.cc", "#include <grpcpp/server_builder.h>"),
            ("server/main.cc", '#include "server/service/compute_service.h"'),
            ("client/cpp/client.cc", '#include "gpucall/client.h"'),
            ("client/cpp/gpucall/client.h", '#include "gpucall/elementwise_ops.def"'),
            ("kernels/cuda/filter.cu", "#include <cub/block/block_reduce.cuh>"),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(violations(path, line), [])


if __name__ == "__main__":
    unittest.main()
