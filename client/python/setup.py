"""Adds the wire contract, compiled from proto/, to the package (see pyproject.toml)."""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
PROTO = HERE.parent.parent / "proto"
DESCRIPTORS = HERE / "src" / "gpucall" / "wire.binpb"


def compile_wire() -> None:
    """Write the descriptors of proto/gpucall/v1; in an sdist they are there already.

    Descriptors, unlike generated Python, load with any protobuf runtime.
    """
    sources = sorted(str(path) for path in PROTO.glob("gpucall/v1/*.proto"))
    if not sources:
        if not DESCRIPTORS.exists():
            raise SystemExit(f"neither {PROTO} nor {DESCRIPTORS} exists")
        return
    installed = shutil.which("protoc")
    protoc = [installed] if installed else [sys.executable, "-m", "grpc_tools.protoc"]
    subprocess.run(
        [*protoc, f"-I{PROTO}", f"--descriptor_set_out={DESCRIPTORS}", *sources],
        check=True,
    )


class BuildPy(build_py):  # type: ignore[misc]
    def run(self) -> None:
        compile_wire()
        super().run()


class Sdist(sdist):  # type: ignore[misc]
    def run(self) -> None:
        compile_wire()
        super().run()


setup(cmdclass={"build_py": BuildPy, "sdist": Sdist})
