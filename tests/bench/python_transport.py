"""GB/s of the Python client by size and path, beside raw grpcio sending the same bytes.

usage: python_transport.py [--device cuda|cpu] [--largest MIB] [--seconds S] [--json FILE]

Each figure is the bytes of one direction over the median time of a call that sends an
array and gets one of the same size (negative of float32). Raw grpcio: the same number of
bytes to and from a server that does nothing (server_bench --echo_server), in one message,
and, from 1 MiB on, in the same chunks over a stream. Ours and raw alternate.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np

import gpucall
from gpucall import _request

OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]
BIN = Path(os.environ.get("GPUCALL_SERVER_BINARY", "build/cuda/bin/gpucall-server"))


class Server:
    """A server process and its address."""

    def __init__(self, *command: str) -> None:
        folder = tempfile.mkdtemp()
        port = Path(folder) / "port"
        self.process = subprocess.Popen([*command, f"--port_file={port}"])
        while not port.exists():
            time.sleep(0.02)
        self.address = port.read_text().strip()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def seconds_of(call: Callable[[Any], Any], x: Any, budget: float) -> float:
    """Median time of a call; at least three, for `budget` seconds."""
    call(x)
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 1000):
        start = time.perf_counter()
        call(x)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def chunks(payload: bytes) -> Iterator[bytes]:
    view = memoryview(payload)
    for at in range(0, len(payload), _request.CHUNK_BYTES):
        yield bytes(view[at : at + _request.CHUNK_BYTES])


def paths(client: gpucall.Client, echo: grpc.Channel) -> dict[str, Any]:
    """What each path does with an array."""
    unary = echo.unary_unary("/gpucall.v1.Compute/Elementwise", None, None)
    stream = echo.stream_stream("/gpucall.v1.Compute/RunStream", None, None)

    def through(limit: int) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            _request.MAX_UNARY_BYTES = limit
            return client.negative(x)

        return call

    def raw_stream(x: Any) -> Any:
        result = np.empty(x.nbytes, np.uint8)
        view, at = memoryview(result.data), 0
        for chunk in stream(chunks(x.tobytes())):
            view[at : at + len(chunk)] = chunk
            at += len(chunk)
        return result

    return {
        "unary": through(1 << 40),
        "raw unary": lambda x: np.frombuffer(unary(x.tobytes()), np.float32).copy(),
        "stream": through(-1),
        "raw stream": raw_stream,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="auto")
    parser.add_argument("--largest", type=int, default=1024, help="MiB")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each figure")
    parser.add_argument("--json")
    args = parser.parse_args()
    server = Server(str(BIN), "--listen=127.0.0.1:0", f"--device={args.device}")
    echo = Server(str(BIN.parent / "server_bench"), "--echo_server")
    rows = []
    with gpucall.connect(server.address) as client:
        channel = grpc.insecure_channel(echo.address, OPTIONS)
        ways = paths(client, channel)
        print(f"{'bytes':>12}" + "".join(f"{name:>12}" for name in ways) + "   GB/s")
        size = 1 << 10
        while size <= args.largest << 20:
            x = np.random.default_rng(0).random(size // 4, np.float32)
            row: dict[str, Any] = {"bytes": size}
            for name, call in ways.items():
                unary = name.endswith("unary")
                if (unary and size > 32 << 20) or (not unary and size < 1 << 18):
                    continue
                row[name] = size / seconds_of(call, x, args.seconds) / 1e9
            rows.append(row)
            print(
                f"{size:>12}"
                + "".join(
                    f"{row[name]:12.3f}" if name in row else f"{'':>12}"
                    for name in ways
                ),
                flush=True,
            )
            size *= 4
    server.stop()
    echo.stop()
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
