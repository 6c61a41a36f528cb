"""The blocking client's connections: targets, proxies, sharing, timeouts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import numpy as np
import pytest

import gpucall
from gpucall._channel import channel_options, full_target
from server_process import ServerProcess

StartServer = Callable[..., ServerProcess]
NOWHERE = "127.0.0.1:1"  # nothing listens there: a call that is made fails


def test_nobody_there() -> None:
    began = time.monotonic()
    with pytest.raises(gpucall.Error) as raised, gpucall.connect(NOWHERE) as nowhere:
        nowhere.add(np.float32([1]), 1)
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert NOWHERE in raised.value.message
    assert time.monotonic() - began < 5


def test_timeouts(server: ServerProcess) -> None:
    image = np.zeros((2000, 2000), np.float32)
    with gpucall.connect(server.address, timeout=0.02) as hasty:
        for call in (
            lambda: hasty.median(image, 15),
            lambda: hasty.median(image, 15, timeout=0.01),
            lambda: hasty.info(timeout=0),
        ):
            with pytest.raises(gpucall.Error) as raised:
                call()
            assert raised.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
        assert hasty.median(image[:200, :200], 9, timeout=30).shape == (200, 200)
    server.check_alive()


def test_a_closed_client(server: ServerProcess) -> None:
    client = gpucall.connect(server.address)
    client.info()
    client.close()
    client.close()
    with pytest.raises(gpucall.Error) as raised:
        client.info()
    assert raised.value.code is grpc.StatusCode.CANCELLED


def connections_to(port: int) -> int:
    """Established TCP connections of this process to a port here."""
    mine = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            mine.add(os.readlink(f"/proc/self/fd/{fd}"))
        except FileNotFoundError:
            pass
    count = 0
    for table in ("tcp", "tcp6"):  # a socket of either may hold an IPv4 connection
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            _, _, remote, state, *_, inode = line.split()[:10]
            here = remote.endswith(f"0100007F:{port:04X}") and state == "01"
            count += here and f"socket:[{inode}]" in mine
    return count


def test_clients_share_a_connection(start_server: StartServer) -> None:
    server = start_server()
    port = int(server.address.rsplit(":", 1)[1])
    clients = [gpucall.connect(server.address) for _ in range(8)]
    for client in clients:
        client.info()
    assert connections_to(port) == 1
    for client in clients[1:]:
        client.close()
    clients[0].info()  # closing the others leaves it be
    assert server.stop() == 0


def test_threads_share_a_client(c: gpucall.Client) -> None:
    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(20):
            x = rng.standard_normal((int(rng.integers(1, 50)), 8), np.float32)
            np.testing.assert_array_equal(c.multiply(x, seed), x * np.float32(seed))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))


@pytest.mark.parametrize("variable", ["http_proxy", "HTTPS_PROXY", "grpc_proxy"])
def test_proxies_do_not_come_between(variable: str, server: ServerProcess) -> None:
    code = (
        "import gpucall, numpy, sys; c = gpucall.connect(sys.argv[1], timeout=10);"
        "print(c.add(numpy.int32([1, 2]), 3))"
    )
    port = server.address.rsplit(":", 1)[1]
    for host in ("localhost", "127.0.0.1"):
        run = subprocess.run(
            [sys.executable, "-c", code, f"{host}:{port}"],
            check=False,
            env=os.environ | {variable: "http://127.0.0.1:9", "no_proxy": ""},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert run.stdout == "[4 5]\n", run.stderr


def test_targets() -> None:
    assert full_target("gpu-host") == "gpu-host:7625"
    assert full_target("gpu-host:1234") == "gpu-host:1234"
    assert full_target("unix:/run/gpucall") == "unix:/run/gpucall"
    assert full_target("dns:///gpu-host:1234") == "dns:///gpu-host:1234"
    assert full_target("[::1]:1234") == "[::1]:1234"
    for here in (
        "localhost:1",
        "127.0.0.1:1",
        "[::1]:1",
        "dns:///localhost:1",
        "unix:/x",
    ):
        assert ("grpc.enable_http_proxy", 0) in channel_options(here)
    for there in ("gpu-host:1", "localhost.example.org:1", "10.127.0.1:1"):
        assert ("grpc.enable_http_proxy", 0) not in channel_options(there)


def test_unix_sockets(tmp_path: Path, start_server: StartServer) -> None:
    target = f"unix:{tmp_path}/socket"
    server = start_server(f"--listen={target}")
    with gpucall.connect(target, timeout=10) as client:
        np.testing.assert_array_equal(client.add(np.int32([1]), 1), [2])
    assert server.stop() == 0


def test_after_fork(server: ServerProcess) -> None:
    """A process made by fork may connect for itself."""
    code = (
        "import gpucall, numpy, os, sys\n"
        "x = numpy.int32([1])\n"
        "child = os.fork()\n"
        "got = gpucall.connect(sys.argv[1], timeout=10).add(x, 1)\n"
        "if child: os.waitpid(child, 0)\n"
        "print(got)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, server.address],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.stdout == "[2]\n[2]\n", run.stderr
