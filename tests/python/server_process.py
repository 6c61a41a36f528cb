"""A real gpucall-server, started for a test."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import grpc
import numpy as np

import gpucall

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
DEVICE = os.environ.get("GPUCALL_TEST_DEVICE", "cpu")


def binary() -> str:
    """GPUCALL_SERVER_BINARY, else the newest gpucall-server of this checkout's builds."""
    named = os.environ.get("GPUCALL_SERVER_BINARY")
    if named:
        return named
    built = sorted(ROOT.glob("build/*/bin/gpucall-server"), key=os.path.getmtime)
    if not built:
        raise FileNotFoundError(
            "no gpucall-server: build it (./dev test does), or name it in GPUCALL_SERVER_BINARY"
        )
    return str(built[-1])


class ServerProcess:
    """A server on a free port; `stop` ends it with SIGTERM and gives its exit code."""

    def __init__(self, folder: Path, *flags: str) -> None:
        port_file = folder / "address"
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    binary(),
                    "--listen=127.0.0.1:0",
                    f"--device={DEVICE}",
                    f"--port_file={port_file}",
                    *flags,
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError(f"the server did not start: {self.log()}")
            time.sleep(0.02)
        self.address = port_file.read_text().strip()
        self.channel = grpc.insecure_channel(
            self.address,
            [
                ("grpc.max_send_message_length", -1),
                ("grpc.max_receive_message_length", -1),
            ],
        )
        self._client = gpucall.connect(self.address)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def resident_bytes(self) -> int:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def held(self) -> tuple[int, int]:
        """Its open files, and mappings of clients' memory."""
        process = Path(f"/proc/{self.process.pid}")
        maps = (process / "maps").read_text().count("/memfd:")
        return len(list((process / "fd").iterdir())), maps

    def settled(self) -> tuple[int, int]:
        """The same, once clients that have left are gone, and its own are connected."""
        grpc.channel_ready_future(self.channel).result(timeout=20)
        self.check_alive()
        seen = [self.held()]
        while len(seen) < 10 or len(set(seen[-10:])) > 1:
            time.sleep(0.02)
            seen.append(self.held())
        return seen[-1]

    def await_held(self, wanted: tuple[int, int]) -> None:
        deadline = time.monotonic() + 20
        while self.held() != wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.held() == wanted

    def check_alive(self) -> None:
        """The canary: the process lives, and answers on an old and on a new connection."""
        assert self.process.poll() is None, self.log()
        fresh = [("canary", os.urandom(4).hex())]  # no channel shared with another
        with grpc.insecure_channel(self.address, fresh) as channel:
            grpc.channel_ready_future(channel).result(timeout=10)
        x, y = np.int32([1, 2]), np.int32([3, 4])
        with gpucall.connect(self.address) as client:
            np.testing.assert_array_equal(client.add(x, y, timeout=1), [4, 6])
        np.testing.assert_array_equal(self._client.add(x, y, timeout=1), [4, 6])

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        self.terminate()
        self.channel.close()
        self._client.close()
        try:
            return self.process.wait(timeout=60)
        finally:
            self.process.kill()


class UnixServer(ServerProcess):
    """A server on a Unix socket in a folder of its own, short enough for one."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.path = folder / "s"
        super().__init__(folder, *flags, f"--listen=unix:{self.path}")


def holds_nothing(client: gpucall.Client) -> bool:
    """Whether no caller has anything on the server."""
    held = client.statistics()
    return not (
        held.resident_tensors or held.resident_bytes or held.sessions or held.callers
    )
