"""GB/s of the Python client by size and path, beside raw grpcio sending the same bytes.

usage: python_transport.py [--device cuda|cpu] [--largest MIB] [--seconds S] [--connections N]
                           [--rate MB] [--json FILE] [--svg FILE]

Each figure is the bytes of one direction over the shortest time of a call: machines do
other work meanwhile. "there and back": a call sends an array and gets one of the same size
(negative of float32); raw grpcio sends the same number of bytes to a server that does
nothing (server_bench --echo_server) and back, in one message, and, from 256 KiB on, in the
same chunks over a stream. "one way": put, and get, over one connection and over several.
The paths of one size take turns.

"one way" is measured a second time with each direction of each connection held to --rate MB
a second, as a network may do. At the end it prints from which size on one path is faster
than another.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from curve import Line, plot

import gpucall
from gpucall import _request, _residents

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from proxy import Proxy

OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]
BIN = Path(os.environ.get("GPUCALL_SERVER_BINARY", "build/cuda/bin/gpucall-server"))
LARGEST_MESSAGE = 32 << 20
SMALLEST_STREAM = 1 << 18

# From some size on the second is faster than the first.
CROSSOVERS = (
    ("unary", "stream"),
    ("unary", "shared memory"),
    ("put", "striped put"),
    ("get", "striped get"),
)

Way = Callable[[Any], Any]
Row = dict[str, Any]


class Server:
    """A server process and its address."""

    def __init__(self, *command: str) -> None:
        port = Path(tempfile.mkdtemp()) / "port"
        self.process = subprocess.Popen([*command, f"--port_file={port}"])
        while not port.exists():
            time.sleep(0.02)
        self.address = port.read_text().strip()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def chunks(payload: bytes) -> Iterator[bytes]:
    view = memoryview(payload)
    for at in range(0, len(payload), _request.CHUNK_BYTES):
        yield bytes(view[at : at + _request.CHUNK_BYTES])


def raw_paths(echo: grpc.Channel) -> dict[str, Way]:
    """What grpcio does with the same bytes."""
    unary = echo.unary_unary("/gpucall.v1.Compute/Elementwise", None, None)
    stream = echo.stream_stream("/gpucall.v1.Compute/RunStream", None, None)

    def raw_stream(x: Any) -> Any:
        result = np.empty(x.nbytes, np.uint8)
        view, at = memoryview(result.data), 0
        for chunk in stream(chunks(x.tobytes())):
            view[at : at + len(chunk)] = chunk
            at += len(chunk)
        return result

    return {
        "raw unary": lambda x: np.frombuffer(unary(x.tobytes()), np.float32).copy(),
        "raw stream": raw_stream,
    }


def call_paths(client: gpucall.Client) -> dict[str, Way]:
    """A call in one message, and as a stream."""

    def through(limit: int) -> Way:
        def call(x: Any) -> Any:
            chosen, _request.MAX_UNARY_BYTES = _request.MAX_UNARY_BYTES, limit
            try:
                return client.negative(x)
            finally:
                _request.MAX_UNARY_BYTES = chosen

        return call

    return {"unary": through(1 << 40), "stream": through(-1)}


def shared_path(client: gpucall.Client) -> Way:
    """A call on an array in shared memory, filled once."""
    arrays: dict[int, Any] = {}

    def call(x: Any) -> Any:
        if x.size not in arrays:
            arrays.clear()
            arrays[x.size] = client.empty(x.shape, x.dtype)
            arrays[x.size][:] = x
        return client.negative(arrays[x.size])

    return call


class OneWay:
    """put and get by one client; each get fetches what was put before."""

    def __init__(self, client: gpucall.Client) -> None:
        self._client = client
        self._remote: Any = None

    def put(self, x: Any) -> None:
        self._remote = self._client.put(x)

    def get(self, x: Any) -> Any:
        return self._remote.get()


def applies(name: str, size: int) -> bool:
    if name.endswith("unary"):
        return size <= LARGEST_MESSAGE
    if name.endswith("stream"):
        return size >= SMALLEST_STREAM
    return not name.startswith("striped") or size >= 2 * _residents.STRIPE_BYTES


def measure(ways: dict[str, Way], size: int, seconds: float) -> Row:
    """GB/s of each way; they take turns, each at least three times."""
    x = np.random.default_rng(0).random(size // 4, np.float32)
    ways = {name: way for name, way in ways.items() if applies(name, size)}
    times: dict[str, list[float]] = {name: [] for name in ways}
    end = time.perf_counter() + seconds * len(ways)
    turns = 0
    while turns < 4 or (time.perf_counter() < end and turns < 1000):
        for name, way in ways.items():
            start = time.perf_counter()
            way(x)
            times[name].append(time.perf_counter() - start)
        turns += 1
    return {"bytes": size} | {n: size / min(t[1:]) / 1e9 for n, t in times.items()}


def crossover(rows: list[Row], slower: str, faster: str) -> int | None:
    """The size from which on `faster` is the faster one."""
    both = [row for row in rows if slower in row and faster in row]
    found = None
    for row in reversed(both):
        if row[faster] <= row[slower]:
            break
        found = row["bytes"]
    return found


def lines(rows: list[Row]) -> list[Line]:
    names = dict.fromkeys(name for row in rows for name in row if name != "bytes")
    return [
        Line(name, [(row["bytes"], row[name]) for row in rows if name in row])
        for name in names
    ]


def table(ways: dict[str, Way], sizes: list[int], seconds: float) -> list[Row]:
    """Measure the ways, and print their figures."""
    print(f"{'bytes':>12}" + "".join(f"{name:>14}" for name in ways) + "   GB/s")
    rows = []
    for size in sizes:
        rows.append(measure(ways, size, seconds))
        cells = (f"{rows[-1][n]:14.3f}" if n in rows[-1] else " " * 14 for n in ways)
        print(f"{size:>12}" + "".join(cells), flush=True)
    return rows


def one_way(address: str, connections: int, clients: ExitStack) -> dict[str, Way]:
    """put and get over one connection and over several."""
    connect = gpucall.connect
    alone = OneWay(clients.enter_context(connect(address, connections=1)))
    several = connect(address, connections=connections)
    striped = OneWay(clients.enter_context(several))
    return {
        "put": alone.put,
        "striped put": striped.put,
        "get": alone.get,
        "striped get": striped.get,
    }


def doubling(first: int, last: int) -> list[int]:
    return [1 << power for power in range(first.bit_length() - 1, last.bit_length())]


def run(args: argparse.Namespace) -> dict[str, list[Row]]:
    _residents.STRIPE_BYTES = 1 << 20  # also where the client would not
    folder = tempfile.mkdtemp()
    server = Server(str(BIN), "--listen=127.0.0.1:0", f"--device={args.device}")
    local = Server(str(BIN), f"--listen=unix:{folder}/s", f"--device={args.device}")
    echo = Server(str(BIN.parent / "server_bench"), "--echo_server")
    sizes = doubling(1 << 10, args.largest << 20)
    tables = {}
    with ExitStack() as clients:
        client = clients.enter_context(gpucall.connect(server.address))
        shared = clients.enter_context(gpucall.connect(local.address))
        calls = call_paths(client)
        raw = raw_paths(grpc.insecure_channel(echo.address, OPTIONS))
        ways = {
            "unary": calls["unary"],
            "raw unary": raw["raw unary"],
            "stream": calls["stream"],
            "raw stream": raw["raw stream"],
            "shared memory": shared_path(shared),
        }
        tables["there and back"] = table(ways, sizes, args.seconds)
        ways = one_way(server.address, args.connections, clients)
        name = f"one way; striped: {args.connections} connections"
        tables[name] = table(ways, sizes, args.seconds)
        if args.rate:
            proxy = clients.enter_context(Proxy(server.address, rate=args.rate * 1e6))
            ways = one_way(proxy.address, args.connections, clients)
            name = f"one way, {args.rate:g} MB/s a connection"
            tables[name] = table(ways, doubling(1 << 20, 64 << 20), args.seconds)
    for process in (server, local, echo):
        process.stop()
    return tables


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="auto")
    parser.add_argument("--largest", type=int, default=1024, help="MiB")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each figure")
    parser.add_argument("--connections", type=int, default=4, help="of striped ones")
    parser.add_argument("--rate", type=float, default=50, help="MB/s; 0: leave it out")
    parser.add_argument("--json")
    parser.add_argument("--svg", help="the curves, as a picture")
    args = parser.parse_args()
    tables = run(args)
    for name, rows in tables.items():
        for slower, faster in CROSSOVERS:
            if slower in rows[0] and any(faster in row for row in rows):
                size = crossover(rows, slower, faster)
                after = "never" if size is None else f"from {size:,} bytes on"
                print(f"{name}: {faster} is faster than {slower}: {after}")
    if args.json:
        Path(args.json).write_text(json.dumps(tables, indent=1))
    if args.svg:
        Path(args.svg).write_text(plot({n: lines(rows) for n, rows in tables.items()}))


if __name__ == "__main__":
    main()
