"""Fixtures: a server for the session, a client of it, raw calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import gpucall
from server_process import ServerProcess

settings.register_profile(
    "gpucall",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("gpucall")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all tests that do not stop it; it must live to the end."""
    process = ServerProcess(tmp_path_factory.mktemp("server"))
    yield process
    process.check_alive()
    assert process.stop() == 0, process.log()


@pytest.fixture(scope="session")
def one_lane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose only lane can be kept busy, so that what follows shares a batch."""
    process = ServerProcess(tmp_path_factory.mktemp("one_lane"), "--lanes=1")
    yield process
    process.check_alive()
    assert process.stop() == 0, process.log()


@pytest.fixture(scope="session")
def c(server: ServerProcess) -> Iterator[gpucall.Client]:
    """A blocking client of the session's server."""
    with gpucall.connect(server.address, timeout=60) as client:
        yield client


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Starts servers with flags; those still running at the end are killed."""
    started: list[ServerProcess] = []

    def start(*flags: str) -> ServerProcess:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(ServerProcess(folder, *flags))
        return started[-1]

    yield start
    for process in started:
        process.process.kill()
        process.process.wait()
