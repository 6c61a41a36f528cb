"""Arrays that a client shares with a server on its host."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import grpc
import numpy as np
import pytest

import gpucall
from gpucall import _wire
from gpucall._arena import Arena, Segment
from raw import refused, send, tensor
from server_process import UnixServer

PAGE = os.sysconf("SC_PAGE_SIZE")
COUNT = 100_000  # elements, more than what goes in messages


@pytest.fixture(scope="module")
def unix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnixServer]:
    server = UnixServer(tmp_path_factory.mktemp("u"))
    yield server
    assert server.process.poll() is None, server.log()
    assert server.stop() == 0, server.log()


@pytest.fixture
def shared(unix: UnixServer) -> Iterator[gpucall.Client]:
    with gpucall.connect(unix.address, timeout=60) as client:
        yield client


class Peer:
    """The plain socket, without the client's own checks."""

    def __init__(self, server: UnixServer) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        self.socket.connect(f"{server.path}.shm")

    def register(self, *files: int) -> Any:
        request = _wire.SharedMemoryRequest(register_segment=_wire.RegisterSegment())
        socket.send_fds(self.socket, [request.SerializeToString()], files)
        return _wire.SharedMemoryReply.FromString(self.socket.recv(4096))

    def segment(self, size: int = 16 * PAGE) -> Segment:
        segment = Segment(size)
        segment.id = self.register(segment.fd).segment
        assert len(segment.id) == 16
        return segment

    def close(self) -> None:
        self.socket.close()


def in_arena(client: gpucall.Client, array: np.ndarray) -> bool:
    return client._arena is not None and client._arena.region(array) is not None


def shared_tensor(segment: bytes, offset: int, count: int) -> object:
    region = _wire.Region(segment=segment, offset=offset)
    return _wire.Tensor(dtype=_wire.DTYPES["float32"], shape=[count], region=region)


def negative(operand: object, area: object = None) -> Any:
    return _wire.ElementwiseRequest(
        op=_wire.ELEMENTWISE_OPS["negative"],
        inputs=[operand],
        options=_wire.CallOptions(output_area=area),
    )


def test_results_and_arguments_are_shared(shared: gpucall.Client) -> None:
    x = shared.empty((COUNT, 2), np.float32)
    assert in_arena(shared, x)
    x[:] = np.arange(2 * COUNT, dtype=np.float32).reshape(COUNT, 2)
    y = shared.multiply(x, 3)
    assert in_arena(shared, y)
    np.testing.assert_array_equal(y, x * np.float32(3))
    z = shared.subtract(y[5:-5], x[5:-5])  # parts, where they lie
    np.testing.assert_array_equal(z, x[5:-5] * np.float32(2))
    y[:] = 1  # a result is the caller's to write
    np.testing.assert_array_equal(shared.add(y, y), np.full_like(y, 2))


def test_ordinary_arrays_are_copied_once(shared: gpucall.Client) -> None:
    x = np.random.default_rng(1).random((300, 400), np.float32)
    for array in (x, x.T, x[::2], x[:, 3:]):
        np.testing.assert_array_equal(shared.add(array, array), array + array)
    big_endian = x.astype(">f4")
    np.testing.assert_array_equal(shared.add(big_endian, 1), x + np.float32(1))


def test_every_kind_of_call(shared: gpucall.Client, c: gpucall.Client) -> None:
    x = np.random.default_rng(2).random((257, 301), np.float32)
    small = x[:3, :3].copy()
    p = gpucall.Program()
    a = p.input()
    p.output(a + 1, p.gaussian(a, sigma=1), a, p.matmul(a, a, transpose_b=True))
    for client_calls in (
        lambda k: [k.matmul(x, x, transpose_b=True)],
        lambda k: [k.gaussian(x, sigma=2), k.median(x, size=3)],
        lambda k: [k.sobel((x * 255).astype(np.uint8), axis=0)],
        lambda k: [k.correlate(x, small), k.divide((x * 9).astype(np.int32), 2)],
        lambda k: [k.add(x[:, None, :40], x[None, :100, :40])],
        lambda k: k.run(p, x),
    ):
        for got, wanted in zip(client_calls(shared), client_calls(c), strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


def test_tensors_larger_than_messages_may_be(shared: gpucall.Client) -> None:
    x = shared.empty(20_000_000, np.float32)  # 80 MB
    x[:] = 2
    y = shared.add(x, x)
    assert in_arena(shared, y)
    assert y.min() == y.max() == 4


def test_small_and_empty_arrays(shared: gpucall.Client) -> None:
    assert shared.empty(0).shape == (0,)
    assert shared.empty((2, 3), np.int32).dtype == np.int32
    np.testing.assert_array_equal(shared.add(np.float32([1]), 2), [3])
    assert shared.add(shared.empty((0, 7), np.float32), 1).shape == (0, 7)


def test_results_of_unexpected_size(shared: gpucall.Client) -> None:
    """Where the client reserved too little, results are in the reply."""
    p = gpucall.Program()
    a, b = p.input(), p.input()
    p.output(p.matmul(a, b))
    x = np.ones((20_000, 1), np.float32)
    np.testing.assert_array_equal(shared.run(p, x, x[:50].T), np.ones((20_000, 50)))


def test_receipts(shared: gpucall.Client) -> None:
    with gpucall.receipts() as receipts:
        shared.negative(shared.empty(COUNT, np.float32))
    assert receipts[0].batch_size >= 1


def test_an_array_lives_as_long_as_any_view(
    unix: UnixServer, shared: gpucall.Client
) -> None:
    """Its memory is given to nobody else, and the server's mapping stays."""
    x = shared.empty((COUNT, 2), np.float32)
    x[:] = 5
    views = [x[::2, 1], x.T, x.reshape(-1)[7:8], memoryview(x[3:]), x.view(np.uint8)]
    del x
    gc.collect()
    for _ in range(5):
        for array in [shared.empty((COUNT, 2), np.float32) for _ in range(3)]:
            array[:] = 7
        assert all(
            (np.asarray(view).view(np.float32) == 5).all() for view in views[1:4]
        )
    np.testing.assert_array_equal(shared.add(views[0], 1), np.full(COUNT // 2, 6))
    assert in_arena(shared, views[2]) and in_arena(shared, views[4])


def test_memory_comes_back_with_the_last_view(shared: gpucall.Client) -> None:
    x = shared.empty(12_000_000, np.float32)  # more than half of a segment
    address, view = x.ctypes.data, x[5:10]
    del x
    assert shared.empty(12_000_000, np.float32).ctypes.data != address
    del view
    assert shared.empty(12_000_000, np.float32).ctypes.data == address


def test_arrays_that_stay(shared: gpucall.Client, monkeypatch: Any) -> None:
    """They are put from shared memory, used beside it, and fetched into it."""
    monkeypatch.setattr(shared._stripes, "write", None)
    monkeypatch.setattr(shared._stripes, "read", None)
    x = shared.empty(15_000_000, np.float32)  # 60 MB
    x[:] = np.arange(15_000_000)
    remote = shared.put(x)
    got = remote.get()
    assert in_arena(shared, got)
    np.testing.assert_array_equal(got, x)
    wanted = x + x
    y = shared.add(remote, x)
    assert in_arena(shared, y)
    np.testing.assert_array_equal(y, wanted)
    with shared.keep.add(x, remote) as kept:
        np.testing.assert_array_equal(kept.get(), wanted)
    ordinary = np.random.default_rng(5).random((700, 300), np.float32)
    for array in (ordinary, ordinary.T, ordinary[0, 0], ordinary[:0]):
        np.testing.assert_array_equal(shared.put(array).get(), array)
    x[:] = 0  # what was put stays as it was
    np.testing.assert_array_equal(remote.get(), got)


def test_many_threads(shared: gpucall.Client) -> None:
    def work(seed: int) -> None:
        for i in range(20):
            x = np.full(COUNT, seed * 100 + i, np.float32)
            if (shared.add(x, 1) != seed * 100 + i + 1).any():
                wrong.append(seed)

    wrong: list[int] = []
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_asyncio(unix: UnixServer) -> None:
    async def main() -> None:
        async with gpucall.aio.connect(unix.address, timeout=60) as client:
            x = client.empty(COUNT, np.float32)
            x[:] = np.arange(COUNT)
            results = await asyncio.gather(*(client.add(x, i) for i in range(50)))
            for i, result in enumerate(results):
                assert client._arena is not None and client._arena.region(result)
                np.testing.assert_array_equal(result, x + np.float32(i))
            remote = await client.put(x)
            x[:] = 0
            fetched = await remote.get()
            assert client._arena is not None and client._arena.region(fetched)
            np.testing.assert_array_equal(fetched, np.arange(COUNT))
            kept = await client.keep.add(remote, fetched)
            np.testing.assert_array_equal(await kept.get(), fetched + fetched)
            sum_of_both = await client.add(remote, x)
            np.testing.assert_array_equal(sum_of_both, fetched)

    asyncio.run(main())


def test_memory_is_used_again(unix: UnixServer, shared: gpucall.Client) -> None:
    x = np.ones(4_000_000, np.float32)
    shared.add(x, 1)
    before = unix.settled()
    for _ in range(50):
        y = shared.add(x, 1)
    assert unix.held() == before
    assert y[0] == 2


def test_arrays_outlive_their_client(unix: UnixServer) -> None:
    before = unix.settled()
    with gpucall.connect(unix.address, timeout=60) as client:
        x = client.empty(COUNT, np.float32)
        x[:] = 5
        y = client.add(x, 1)
    gc.collect()
    assert (x == 5).all() and (y == 6).all()
    del client
    unix.await_held(before)
    with gpucall.connect(unix.address, timeout=60) as other:  # to which it is ordinary
        np.testing.assert_array_equal(other.add(y, 1), np.full(COUNT, 7))


def test_a_forked_child_shares_nothing(shared: gpucall.Client) -> None:
    assert shared._arena is not None
    x = shared.empty(COUNT, np.float32)
    shared._arena._process -= 1  # as a child sees it
    assert not in_arena(shared, shared.empty(COUNT, np.float32))
    shared._arena._process += 1
    assert in_arena(shared, x)


def test_without_the_other_socket(
    unix: UnixServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A container may be given only the first one: calls work as over TCP."""
    link = tmp_path_factory.mktemp("l") / "s"
    link.symlink_to(unix.path)
    with gpucall.connect(f"unix:{link}", timeout=60) as client:
        x = client.empty(3_000_000, np.float32)
        x[:] = 1
        np.testing.assert_array_equal(client.add(x, 1), np.full(3_000_000, 2))
        assert not in_arena(client, x)


def test_only_the_folder_is_shared(
    unix: UnixServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As between containers: another path leads to the folder of the sockets."""
    link = tmp_path_factory.mktemp("l") / "f"
    link.symlink_to(unix.folder)
    with gpucall.connect(f"unix://{link}/s", timeout=60) as client:
        assert in_arena(client, client.add(np.ones(COUNT, np.float32), 1))


def test_another_server_in_its_place(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("r")
    first = UnixServer(folder)
    with gpucall.connect(first.address, timeout=60) as client:
        x = client.empty(COUNT, np.float32)
        x[:] = 1
        client.add(x, 1)
        first.stop()
        (folder / "address").unlink()
        second = UnixServer(folder)
        deadline = time.monotonic() + 30
        while True:
            try:
                y = client.add(x, 2)
                break
            except gpucall.Error as error:  # gRPC's pause before it connects again
                assert error.code is grpc.StatusCode.UNAVAILABLE
                assert time.monotonic() < deadline
                time.sleep(0.2)
        np.testing.assert_array_equal(y, np.full(COUNT, 3))
        assert in_arena(client, client.add(x, 1))  # registered again
    assert second.stop() == 0


def test_a_call_given_up_writes_to_no_later_array(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    server = UnixServer(tmp_path_factory.mktemp("g"), "--lanes=1")
    with gpucall.connect(server.address, timeout=60) as client:
        x = client.empty((2000, 2000), np.float32)
        x[:] = 1
        p = gpucall.Program()
        value = p.input()
        for _ in range(3):
            value = p.matmul(value, value)
        p.output(value)
        client.add(x, 1)
        with pytest.raises(gpucall.Error) as given_up:
            client.run(p, x, timeout=0.05)
        assert given_up.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
        later = [client.empty((2000, 2000), np.float32) for _ in range(4)]
        for array in later:
            array[:] = 7
        client.run(p, x[:100, :100].copy())  # the lane is past the call given up
        assert all((array == 7).all() for array in later)
    assert server.stop() == 0


class TestRegions:
    """What a client can say of regions and areas."""

    @pytest.fixture
    def peer(self, unix: UnixServer) -> Iterator[Peer]:
        peer = Peer(unix)
        yield peer
        peer.close()

    def test_bounds(self, unix: UnixServer, peer: Peer) -> None:
        segment = peer.segment(4 * PAGE)
        whole = shared_tensor(segment.id, 0, PAGE)
        np.testing.assert_array_equal(
            send(unix.channel, negative(whole))[0], -np.zeros(PAGE, np.float32)
        )
        for offset, count in [
            (4, PAGE),
            (4 * PAGE, 1),
            (2**64 - 4, 1),
            (2**64 - 1, PAGE),
            (2**63, 1),
        ]:
            code, message = refused(
                unix.channel, negative(shared_tensor(segment.id, offset, count))
            )
            assert code is grpc.StatusCode.INVALID_ARGUMENT
            assert "inputs[0]" in message and str(offset) in message

    def test_areas(self, unix: UnixServer, peer: Peer) -> None:
        segment = peer.segment(4 * PAGE)
        x = tensor([1, 2, 3])
        for offset, size, part in [
            (0, 4 * PAGE + 1, "past the segment"),
            (2**64 - 64, 128, "past the segment"),
            (64, 2**64 - 1, "past the segment"),
            (4, 64, "multiples of 64"),
        ]:
            area = _wire.Area(segment=segment.id, offset=offset, size_bytes=size)
            code, message = refused(unix.channel, negative(x, area))
            assert code is grpc.StatusCode.INVALID_ARGUMENT
            assert "output_area" in message and part in message
        small = _wire.Area(segment=segment.id, offset=64, size_bytes=11)
        np.testing.assert_array_equal(
            send(unix.channel, negative(x, small))[0], [-1, -2, -3]
        )

    def test_unknown_segments(self, unix: UnixServer, peer: Peer) -> None:
        segment = peer.segment()
        x = tensor([1, 2, 3])
        for wrong in (b"", b"x" * 16, segment.id[:-1], segment.id + b"\0"):
            area = _wire.Area(segment=wrong, offset=0, size_bytes=64)
            for request in (negative(shared_tensor(wrong, 0, 1)), negative(x, area)):
                code, message = refused(unix.channel, request)
                assert code is grpc.StatusCode.NOT_FOUND
                assert "segment" in message

    def test_gone_with_their_connection(self, unix: UnixServer, peer: Peer) -> None:
        id = peer.segment().id
        send(unix.channel, negative(shared_tensor(id, 0, 1)))
        peer.close()
        deadline = time.monotonic() + 20
        while True:
            try:
                send(unix.channel, negative(shared_tensor(id, 0, 1)))
            except grpc.RpcError as error:
                assert error.code() is grpc.StatusCode.NOT_FOUND
                return
            assert time.monotonic() < deadline

    def test_overlap_of_inputs_and_results(self, unix: UnixServer, peer: Peer) -> None:
        """Any elements, but no crash; just in place they are right."""
        segment = peer.segment(64 * PAGE)
        count = 20 * PAGE // 4
        for offset in (0, 64, 4096):
            area = _wire.Area(
                segment=segment.id, offset=offset, size_bytes=20 * PAGE + 64
            )
            unary = unix.channel.unary_unary(_wire.ELEMENTWISE, None, None)
            request = negative(shared_tensor(segment.id, 0, count), area)
            unary(request.SerializeToString(), timeout=60)

    def test_wrong_memfds(self, unix: UnixServer, peer: Peer) -> None:
        bare = os.memfd_create("bare", os.MFD_ALLOW_SEALING)
        os.ftruncate(bare, PAGE)
        reply = peer.register(bare)
        assert reply.code == 3 and "F_SEAL_SHRINK" in reply.message
        os.ftruncate(bare, PAGE - 1)  # truncated
        fcntl.fcntl(bare, 1033, 2)
        reply = peer.register(bare)
        assert reply.code == 3 and "4095 bytes" in reply.message
        os.close(bare)
        assert peer.segment().id


def test_values_changed_during_calls(unix: UnixServer, shared: gpucall.Client) -> None:
    """Whatever a client writes meanwhile, the server goes on."""
    rng = np.random.default_rng(3)
    image = shared.empty((500, 600), np.uint8)
    real = shared.empty((500, 600), np.float32)
    exponents = shared.empty((500, 600), np.int32)
    kernel = real[:5, :5]
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            image[:] = rng.integers(0, 256, image.shape, np.uint8)
            real[:] = rng.random(real.shape, np.float32)
            real[rng.integers(0, 500)] = np.nan
            exponents[:] = 1
            exponents[rng.integers(0, 500)] = -1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(10):
            for array in (image, real):
                shared.median(array, size=3)
                shared.median(array, size=21)
                shared.minimum_filter(array, size=9)
                shared.rank_filter(array, 2, size=5)
            shared.correlate(image, kernel)
            shared.where(image, real, 1)
            try:
                shared.power(exponents, exponents)
            except gpucall.Error as error:
                assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    finally:
        done.set()
        writer.join()
    unix.check_alive()


def test_limits(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Past them arrays go in messages and streams."""
    server = UnixServer(
        tmp_path_factory.mktemp("m"),
        "--max_segments=2",
        f"--max_segment_bytes={160 << 20}",
    )
    with gpucall.connect(server.address, timeout=60) as client:
        arrays = [client.empty(12 << 20, np.float32) for _ in range(4)]  # 48 MiB
        assert [in_arena(client, array) for array in arrays] == [
            True,
            True,
            False,
            False,
        ]
        for array in arrays:
            array[:] = 1
        for array in arrays:
            assert client.add(array, 1)[-1] == 2
    assert server.stop() == 0


def test_the_socket_may_be_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("e")
    server = UnixServer(folder, f"--shared_memory_socket={folder}/other")
    assert sorted(p.name for p in folder.iterdir() if p.is_socket()) == ["other", "s"]
    arena = Arena(f"{folder}/other")
    assert arena.take(PAGE) is not None
    assert server.stop() == 0
    assert not (folder / "other").exists()


# Starts a process for each stage, over and over, that gets there and is killed. It prints
# the ids of segments that are registered, for calls that use them then.
KILLER = """
import fcntl, os, random, signal, socket, sys, time
path, rounds, register = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3])
STAGES = "nothing", "connected", "sent", "half", "registered", "twice"


def child(stage, ready):
    fd = os.memfd_create("x", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 1 << 20)
    fcntl.fcntl(fd, 1033, 2)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if stage != "nothing":
        s.connect(path)
    if stage == "half":
        s.send(register[:1])
    if stage in ("sent", "registered", "twice"):
        socket.send_fds(s, [register], [fd])
    reply = b"" if stage not in ("registered", "twice") else s.recv(4096)
    if stage == "twice":
        socket.send_fds(s, [register], [fd])
    os.write(ready, reply[-16:] or b"-")
    signal.pause()


for i in range(rounds):
    for stage in STAGES:
        out, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            child(stage, ready)
        id = os.read(out, 16)
        if len(id) == 16:
            print(id.hex(), flush=True)
            time.sleep(random.random() * 0.002)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(out)
        os.close(ready)
"""


def test_clients_killed_at_every_stage_a_thousand_times(unix: UnixServer) -> None:
    """Their memory goes with them, also that of calls in flight."""
    before = unix.settled()
    register = _wire.SharedMemoryRequest(register_segment=_wire.RegisterSegment())
    killer = subprocess.Popen(
        [
            *(sys.executable, "-c", KILLER, f"{unix.path}.shm"),
            *("1000", register.SerializeToString().hex()),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    call = unix.channel.unary_unary(_wire.ELEMENTWISE, None, None)
    answers = []
    assert killer.stdout is not None
    for line in killer.stdout:
        id = bytes.fromhex(line)
        area = _wire.Area(segment=id, offset=1 << 19, size_bytes=1 << 19)
        message = negative(shared_tensor(id, 0, 1 << 17), area).SerializeToString()
        answers.append(call.future(message, timeout=60))
    assert killer.wait() == 0
    codes = {answer.code() for answer in answers}
    assert len(answers) == 2000
    assert codes <= {grpc.StatusCode.OK, grpc.StatusCode.NOT_FOUND}
    unix.await_held(before)
    unix.check_alive()


KILLED = """
import sys, gpucall, numpy as np
client = gpucall.connect(sys.argv[1], timeout=60)
image = client.empty((1024, 1024), np.float32)
image[:] = 1
client.gaussian(image, sigma=3)
print("ready", flush=True)
while True:
    client.gaussian(image, sigma=3)
"""


def test_whole_clients_killed_while_they_call(unix: UnixServer) -> None:
    before = unix.settled()
    for i in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, unix.address],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(0.003 * i)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    unix.await_held(before)
    unix.check_alive()


def test_sockets_dropped_a_thousand_times(unix: UnixServer) -> None:
    """At each stage of the socket's protocol, and while calls use the memory."""
    with gpucall.connect(unix.address, timeout=60) as client:
        client.add(np.ones(COUNT, np.float32), 1)
        before = unix.settled()
        call = unix.channel.unary_unary(_wire.ELEMENTWISE, None, None)
        request = _wire.SharedMemoryRequest(register_segment=_wire.RegisterSegment())
        segment = Segment(64 * PAGE)
        answers = []
        for _ in range(1000):
            Peer(unix).close()
            sent = Peer(unix)
            socket.send_fds(sent.socket, [request.SerializeToString()], [segment.fd])
            sent.close()
            peer = Peer(unix)
            id = peer.register(segment.fd).segment
            area = _wire.Area(segment=id, offset=32 * PAGE, size_bytes=32 * PAGE)
            operand = shared_tensor(id, 0, 32 * PAGE // 4)
            message = negative(operand, area).SerializeToString()
            answers.append(call.future(message, timeout=60))
            peer.close()
        for answer in answers:
            assert answer.code() in (grpc.StatusCode.OK, grpc.StatusCode.NOT_FOUND)
        unix.await_held(before)
    unix.check_alive()
