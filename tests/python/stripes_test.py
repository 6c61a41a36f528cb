"""Large arrays over several connections, with faults in one of them; progress."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest

import gpucall
from gpucall import _residents
from gpucall._channel import connection_count
from gpucall._residents import parts_of
from proxy import Proxy
from server_process import ServerProcess

Code = grpc.StatusCode
MIB = 1 << 20


@pytest.fixture(autouse=True)
def small_stripes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_residents, "STRIPE_BYTES", 2 * MIB)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that no other test leaves arrays on."""
    folder = tmp_path_factory.mktemp("own")
    process = ServerProcess(folder, "--session_grace_seconds=1")
    yield process
    process.check_alive()
    assert process.stop() == 0, process.log()


def random_bytes(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def await_nothing_left(server: ServerProcess) -> None:
    deadline = time.monotonic() + 30
    with gpucall.connect(server.address) as client:
        while (left := client.statistics()).resident_bytes or left.resident_tensors:
            assert time.monotonic() < deadline, left
            time.sleep(0.02)


def await_no_tensors(server: ServerProcess) -> None:
    deadline = time.monotonic() + 30
    with gpucall.connect(server.address) as client:
        while client.statistics().resident_tensors:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def through(address: str) -> str:
    """The same port under a name that does not tell that it is on this host."""
    return "0.0.0.0:" + address.rsplit(":", 1)[1]


def test_parts_are_whole_chunks_and_all_of_it() -> None:
    for size in (0, 1, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 123_456_789):
        for connections in (1, 2, 3, 8, 64):
            parts = parts_of(size, connections)
            assert 1 <= len(parts) <= connections
            assert sum(part[1] for part in parts) == size
            at = 0
            for first, length in parts:
                assert first == at and first % MIB == 0
                assert len(parts) == 1 or 0 < length
                at += length
    assert len(parts_of(4 * MIB - 1, 4)) == 1
    assert len(parts_of(8 * MIB, 4)) == 4


@pytest.mark.parametrize("connections", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((9 * MIB + 1,), "uint8"), ((1001, 2003), "float64"), ((7, 0, 3), "int32")],
)
def test_what_is_put_comes_back(
    own: ServerProcess, connections: int, shape: tuple[int, ...], dtype: str
) -> None:
    array = np.random.default_rng(1).integers(0, 200, shape).astype(dtype)
    with Proxy(own.address) as proxy:
        with gpucall.connect(proxy.address, connections=connections) as client:
            remote = client.put(array)
            got = remote.get()
            np.testing.assert_array_equal(got, array)
            np.testing.assert_array_equal(client.put(array.T).get(), array.T)
            assert (got.dtype, got.shape) == (array.dtype, shape)
        used = connections if array.size else 1
        assert proxy.accepted == min(used, array.nbytes // (2 * MIB) or 1)


def test_several_connections_carry_more(own: ServerProcess) -> None:
    """Where each is held to 10 MB/s; one alone is the control."""
    x = random_bytes(12 * MIB)
    put, get = {}, {}
    with Proxy(own.address, rate=10e6) as proxy:
        for connections in (1, 4):
            with gpucall.connect(proxy.address, connections=connections) as client:
                client.put(x[: 9 * MIB])  # opens the connections
                began = time.monotonic()
                remote = client.put(x)
                put[connections] = time.monotonic() - began
                began = time.monotonic()
                got = remote.get()
                get[connections] = time.monotonic() - began
                np.testing.assert_array_equal(got, x)
    assert put[4] < put[1] / 2 and get[4] < get[1] / 2, (put, get)


def test_calls_that_gain_are_striped(own: ServerProcess) -> None:
    """Those whose arrays would take longer one after the other over one connection."""
    x = np.random.default_rng(2).random(3 * MIB, np.float32)
    for is_far, connections, accepted in [(False, 4, 1), (True, 1, 1), (True, 4, 4)]:
        # One each: a client may take over the connection that one before has just left.
        with Proxy(own.address) as proxy:
            target = through(proxy.address) if is_far else proxy.address
            with gpucall.connect(target, connections=connections) as client:
                with gpucall.receipts() as receipts:
                    np.testing.assert_array_equal(client.add(x, x), x + x)
                    np.testing.assert_array_equal(client.negative(x), -x)
                    np.testing.assert_array_equal(client.max(x), x.max())
                assert len(receipts) == 3
            assert proxy.accepted == accepted
    await_nothing_left(own)


def test_a_striped_call_without_room_is_streamed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    server = ServerProcess(
        tmp_path_factory.mktemp("small"), "--max_resident_bytes=20000000"
    )
    x = np.ones(3 * MIB, np.float32)
    with Proxy(server.address) as proxy:
        target = through(proxy.address)
        with gpucall.connect(target, connections=4) as client:
            np.testing.assert_array_equal(client.add(x, x), x + x)  # 3 x 12 MiB
            assert proxy.accepted == 4  # it was tried
    await_nothing_left(server)
    assert server.stop() == 0


@pytest.mark.parametrize("connection", [0, 1, 3])
def test_a_connection_that_is_cut(own: ServerProcess, connection: int) -> None:
    """The others, which would wait for ever, are given up at once."""
    x = random_bytes(16 * MIB)
    limits = {number: (2 * MIB, "stall") for number in (1, 2, 3)}
    limits[connection] = 2 * MIB, "cut"
    with (
        Proxy(own.address, limits=limits) as proxy,
        gpucall.connect(proxy.address, connections=4) as client,
    ):
        with pytest.raises(gpucall.Error) as raised:
            client.put(x, timeout=60)
        assert raised.value.code is Code.UNAVAILABLE
        assert not stripe_threads()
        held = raised.value  # the error itself does not keep the array
        # The server cannot know yet that nothing more comes to those that stall, so its
        # memory goes with them.
        await_no_tensors(own)
        assert held.message
    await_nothing_left(own)


def test_a_connection_that_is_cut_is_made_again(own: ServerProcess) -> None:
    x = random_bytes(16 * MIB)
    with (
        Proxy(own.address, limits={1: (2 * MIB, "cut")}) as proxy,
        gpucall.connect(proxy.address, connections=4, timeout=60) as client,
    ):
        with pytest.raises(gpucall.Error) as raised:
            client.put(x)
        assert raised.value.code is Code.UNAVAILABLE
        await_nothing_left(own)
        np.testing.assert_array_equal(client.put(x).get(), x)
    await_nothing_left(own)


@pytest.mark.parametrize("connection", [0, 2])
def test_a_connection_that_stalls(own: ServerProcess, connection: int) -> None:
    """The deadline is the whole put's, and none of its parts goes on after it."""
    x = random_bytes(16 * MIB)
    with (
        Proxy(own.address, limits={connection: (2 * MIB, "stall")}) as proxy,
        gpucall.connect(proxy.address, connections=4) as client,
    ):
        began = time.monotonic()
        with pytest.raises(gpucall.Error) as raised:
            client.put(x, timeout=1)
        assert raised.value.code is Code.DEADLINE_EXCEEDED
        assert 0.9 < time.monotonic() - began < 4
        assert not stripe_threads()
        if connection:  # else nothing reaches the server
            await_nothing_left(own)
    await_nothing_left(own)


def test_a_server_that_opens_no_session(own: ServerProcess) -> None:
    """The deadline is also that of what a put does first."""
    stall = 0, "stall"

    async def put(target: str) -> None:
        async with gpucall.aio.connect(target) as client:
            await client.put(np.zeros(10), timeout=0.5)

    with Proxy(own.address, limits={0: stall, 1: stall}) as proxy:
        client = gpucall.connect(proxy.address)
        for attempt in (
            lambda: client.put(np.zeros(10), timeout=0.5),
            lambda: client.keep.add(1, 2, timeout=0.5),
            lambda: asyncio.run(put(proxy.address)),
        ):
            began = time.monotonic()
            with pytest.raises(gpucall.Error) as raised:
                attempt()
            assert raised.value.code is Code.DEADLINE_EXCEEDED
            assert 0.4 < time.monotonic() - began < 5
    client.close()


def test_the_servers_refusal_is_the_error(own: ServerProcess) -> None:
    with gpucall.connect(own.address, connections=4) as client:
        remote = client.put(random_bytes(12 * MIB))
        twin = gpucall.RemoteArray(client, remote.handle, (12 * MIB,), np.uint8)
        remote.free()
        with pytest.raises(gpucall.Error) as raised:
            twin.get()
        assert raised.value.code is Code.NOT_FOUND
        assert remote.handle.hex() in raised.value.message
    assert not stripe_threads()


def test_connections_that_lead_to_another_server(
    own: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As through a load balancer: the first one then carries everything."""
    other = ServerProcess(tmp_path_factory.mktemp("other"))
    x = random_bytes(12 * MIB)

    def choose(number: int) -> str:
        return own.address if number == 0 else other.address

    async def with_asyncio(target: str) -> None:
        async with gpucall.aio.connect(target, connections=4) as client:
            for _ in range(2):
                remote = await client.put(x)
                np.testing.assert_array_equal(await remote.get(), x)

    with Proxy("", choose=choose) as proxy:
        with gpucall.connect(proxy.address, connections=4) as client:
            for _ in range(2):
                np.testing.assert_array_equal(client.put(x).get(), x)
        assert proxy.accepted == 4
    with Proxy("", choose=choose) as proxy:
        asyncio.run(with_asyncio(proxy.address))
    await_nothing_left(own)
    await_nothing_left(other)
    assert other.stop() == 0


def stripe_threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("gpucall-stripe")]


def test_threads_are_bounded(own: ServerProcess) -> None:
    x = random_bytes(16 * MIB)
    with gpucall.connect(own.address, connections=3) as client:

        def work(_: int) -> None:
            for _ in range(3):
                np.testing.assert_array_equal(client.put(x).get(), x)

        most = 0
        with ThreadPoolExecutor(8) as pool:
            works = [pool.submit(work, i) for i in range(8)]
            while not all(w.done() for w in works):
                most = max(most, len(stripe_threads()))
                time.sleep(0.002)
            for finished in works:
                finished.result()
        assert 1 < most <= 3
    assert not stripe_threads()


def test_closing_ends_what_is_under_way(own: ServerProcess) -> None:
    x = random_bytes(32 * MIB)
    with Proxy(own.address, rate=5e6) as proxy, ThreadPoolExecutor(1) as pool:
        client = gpucall.connect(proxy.address, connections=4)
        put = pool.submit(client.put, x)
        time.sleep(0.5)
        client.close()
        error = put.exception(timeout=5)
        assert isinstance(error, gpucall.Error) and error.code is Code.CANCELLED
    await_nothing_left(own)


def test_connections_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for processors, here, elsewhere in [(1, 1, 1), (2, 1, 2), (6, 3, 4), (64, 4, 4)]:
        monkeypatch.setattr("os.cpu_count", lambda n=processors: n)
        assert connection_count("localhost:7625", None) == here
        assert connection_count("unix:/run/gpucall", None) == here
        assert connection_count("gpu-host:7625", None) == elsewhere
    assert connection_count("localhost:7625", 7) == 7


def test_wrong_numbers_of_connections() -> None:
    with pytest.raises(ValueError, match="connections is 0"):
        gpucall.connect("localhost", connections=0)


# --- asyncio --------------------------------------------------------------------------


def test_asyncio(own: ServerProcess) -> None:
    x, y = random_bytes(9 * MIB + 1), random_bytes(7 * MIB, 1)

    async def main(target: str) -> None:
        async with gpucall.aio.connect(target, connections=4) as client:
            remotes = await asyncio.gather(*(client.put(a) for a in (x, y, x)))
            got = await asyncio.gather(*(remote.get() for remote in remotes))
            for array, wanted in zip(got, (x, y, x), strict=True):
                np.testing.assert_array_equal(array, wanted)

    with Proxy(own.address) as proxy:
        asyncio.run(main(proxy.address))
        assert proxy.accepted == 4
    await_nothing_left(own)


def test_asyncio_faults(own: ServerProcess) -> None:
    """A stripe that is cut, one that stalls, a task that is cancelled."""
    x = random_bytes(16 * MIB)

    async def put(target: str, timeout: float | None) -> None:
        async with gpucall.aio.connect(target, connections=4) as client:
            await client.put(x, timeout=timeout)

    async def cancelled(target: str) -> None:
        async with gpucall.aio.connect(target, connections=4) as client:
            task = asyncio.ensure_future(client.put(x))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            for _ in range(100):
                if (await client.statistics()).resident_bytes == 0:
                    return
                await asyncio.sleep(0.05)
            raise AssertionError("what was half written is still there")

    with Proxy(own.address, limits={2: (2 * MIB, "cut")}) as proxy:
        with pytest.raises(gpucall.Error) as raised:
            asyncio.run(put(proxy.address, 30))
        assert raised.value.code is Code.UNAVAILABLE
    with Proxy(own.address, limits={2: (2 * MIB, "stall")}) as proxy:
        with pytest.raises(gpucall.Error) as raised:
            asyncio.run(put(proxy.address, 1))
        assert raised.value.code is Code.DEADLINE_EXCEEDED
    with Proxy(own.address, rate=5e6) as proxy:
        asyncio.run(cancelled(proxy.address))
    await_nothing_left(own)


# --- progress -------------------------------------------------------------------------


class Seen:
    """A callback that keeps what it is told, and what is wrong about it."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []
        self._inside = threading.Lock()

    def __call__(self, done: int, in_all: int) -> None:
        assert self._inside.acquire(blocking=False), "called twice at once"
        self.calls.append((done, in_all))
        self._inside.release()

    def check(self, in_all: int) -> None:
        assert self.calls[-1] == (in_all, in_all)
        done = [call[0] for call in self.calls]
        assert done == sorted(done) and all(d <= a for d, a in self.calls)


def test_progress(own: ServerProcess) -> None:
    x = np.ones(3 * MIB, np.float32)
    with gpucall.connect(own.address, connections=4) as client:
        acts: list[tuple[Callable[[], object], int]] = [
            (lambda: client.put(x), 1),
            (lambda: client.put(x).get(), 2),
            (lambda: client.add(x, x), 3),
            (lambda: client.run(three_results(), x), 4),
        ]
        for act, moved in acts:
            seen = Seen()
            with gpucall.progress(seen):
                act()
            seen.check(moved * x.nbytes)
            told = len(seen.calls)
            act()  # outside of the block
            assert len(seen.calls) == told
        with gpucall.progress(seen):
            client.add(x[:10], 1)  # too small to count
        assert len(seen.calls) == told


def three_results() -> gpucall.Program:
    program = gpucall.Program()
    x = program.input()
    program.output(x + x, -x, x * x)
    return program


def test_progress_with_asyncio(own: ServerProcess) -> None:
    x = np.ones(3 * MIB, np.float32)

    async def main() -> None:
        async with gpucall.aio.connect(own.address, connections=4) as client:
            seen = Seen()
            with gpucall.progress(seen):
                await client.add(x, x)
                remote = await client.put(x)
                await remote.get()
            seen.check(5 * x.nbytes)

    asyncio.run(main())


class Enough(Exception):
    """What a callback raises to end a transfer."""


@pytest.mark.parametrize("after", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("connections", [1, 4])
def test_what_a_progress_callback_raises_ends_the_transfer(
    own: ServerProcess, connections: int, after: float
) -> None:
    x = np.ones(3 * MIB, np.float32)

    def callback(done: int, in_all: int) -> None:
        if done > after * in_all:
            raise Enough

    acts: list[Callable[[gpucall.Client, gpucall.RemoteArray], object]] = [
        lambda client, _: client.put(x),
        lambda _, remote: remote.get(),
        lambda client, _: client.add(x, x),
    ]
    with gpucall.connect(own.address, connections=connections) as client:
        with client.put(x) as remote:
            for act in acts:
                with gpucall.progress(callback), pytest.raises(Enough):
                    act(client, remote)
            np.testing.assert_array_equal(remote.get(), x)
        assert not stripe_threads()
    await_nothing_left(own)
