"""Clients killed at every stage of their work leave nothing on the server.

GPUCALL_TEST_KILLS says how many at each stage; 10000 takes hours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpucall
from killed_client import SHARED, STAGES
from server_process import ServerProcess, UnixServer, holds_nothing

KILLS = int(os.environ.get("GPUCALL_TEST_KILLS", "50"))
WARM_UP_KILLS = 10

# What the server may have more of than before, beside 5 %: arrays of those killed in the
# grace time, of whom there may be some more at once than while it warmed up, and the blocks
# that the CPU device keeps for later (CpuBlockPool::kMaxKeptBytes).
SPARE_BYTES = (64 + 256) << 20


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("k")
    server = ServerProcess(folder, "--session_grace_seconds=1")
    yield server
    assert server.stop() == 0, server.log()


@pytest.fixture(scope="module")
def unix_victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnixServer]:
    folder = tmp_path_factory.mktemp("k")
    server = UnixServer(folder, "--session_grace_seconds=1")
    yield server
    assert server.stop() == 0, server.log()


def kill(server: ServerProcess, stage: str, count: int) -> None:
    script = Path(__file__).with_name("killed_client.py")
    done = subprocess.run(
        [sys.executable, str(script), server.address, stage, str(count)],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr


def await_nothing_left(server: ServerProcess, held: tuple[int, int]) -> None:
    deadline = time.monotonic() + 60
    with gpucall.connect(server.address) as client:
        while not holds_nothing(client):
            assert time.monotonic() < deadline, client.statistics()
            time.sleep(0.05)
    server.await_held(held)


def check(server: ServerProcess, stage: str) -> None:
    held = server.settled()
    kill(server, stage, WARM_UP_KILLS)
    await_nothing_left(server, held)
    before = server.resident_bytes()
    kill(server, stage, KILLS)
    await_nothing_left(server, held)
    server.check_alive()
    if "ASAN_OPTIONS" not in os.environ:  # it keeps what is freed
        assert server.resident_bytes() < 1.05 * before + SPARE_BYTES


@pytest.mark.parametrize("stage", [s for s in STAGES if s != "shared_memory"])
def test_over_tcp(victim: ServerProcess, stage: str) -> None:
    check(victim, stage)


@pytest.mark.parametrize("stage", SHARED)
def test_over_a_unix_socket(unix_victim: UnixServer, stage: str) -> None:
    check(unix_victim, stage)
