"""Arrays that stay on the server."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import grpc
import numpy as np
import pytest

import gpucall
from gpucall import _wire
from gpucall._request import StreamReply
from gpucall._tensors import encode_chunk
from raw import tensor
from server_process import ServerProcess, holds_nothing

StartServer = Callable[..., ServerProcess]
Code = grpc.StatusCode

# (put as one message, put in chunks)
SIZES = [(3, 5), (1000, 1500)]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that keeps 1 MB for a caller, for a second."""
    process = ServerProcess(
        tmp_path_factory.mktemp("small"),
        "--max_resident_bytes=1000000",
        "--resident_ttl_seconds=1",
        "--session_grace_seconds=1",
    )
    yield process
    process.check_alive()
    assert process.stop() == 0, process.log()


def unary(
    server: ServerProcess, path: str, message: Any = None, **fields: object
) -> bytes:
    request = message or getattr(_wire, path.rsplit("/", 1)[1] + "Request")(**fields)
    call = server.channel.unary_unary(path, None, None)
    reply: bytes = call(request.SerializeToString(), timeout=30)
    return reply


def refused(call: Callable[[], object]) -> tuple[Code, str]:
    with pytest.raises((gpucall.Error, grpc.RpcError)) as raised:
        call()
    error = raised.value
    if isinstance(error, gpucall.Error):
        return error.code, error.message
    return error.code(), error.details()  # type: ignore[attr-defined]


def eventually(condition: Callable[[], bool], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 5), *SIZES, (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32", "float64"])
def test_what_is_put_comes_back(
    c: gpucall.Client, shape: tuple[int, ...], dtype: str
) -> None:
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    with c.put(array) as remote:
        assert (remote.shape, remote.dtype) == (array.shape, array.dtype)
        assert (remote.nbytes, remote.size, remote.ndim) == (
            array.nbytes,
            array.size,
            array.ndim,
        )
        got = remote.get()
        assert got.dtype == array.dtype
        np.testing.assert_array_equal(got, array)
    assert remote.is_freed


def test_large_arrays(c: gpucall.Client) -> None:
    """Larger than a message may be: put, kept, used and fetched."""
    x = np.random.default_rng(1).standard_normal(13_000_000, np.float32)
    remote = c.put(x)
    np.testing.assert_array_equal(remote.get(), x)
    with c.keep.add(remote, 1) as kept:
        np.testing.assert_array_equal(kept.get(), x + np.float32(1))
    np.testing.assert_array_equal(c.multiply(remote, remote), x * x)
    with c.keep.multiply(remote, x) as kept:
        np.testing.assert_array_equal(kept.get(), x * x)
    remote.free()


@pytest.mark.parametrize("shape", SIZES)
def test_inputs_of_every_kind_of_call(
    c: gpucall.Client, shape: tuple[int, int]
) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(shape, np.float32)
    weights = rng.standard_normal((3, 3), np.float32)
    rx, rweights = c.put(x), c.put(weights)
    for call in (
        lambda a, w: c.sqrt(c.abs(a)),
        lambda a, w: c.add(a, 2),
        lambda a, w: c.add(a, a),
        lambda a, w: c.where(a, a, 0),
        lambda a, w: c.matmul(a, a, transpose_b=True),
        lambda a, w: c.gaussian(a, 1),
        lambda a, w: c.correlate(a, w),
    ):
        np.testing.assert_array_equal(call(rx, rweights), call(x, weights))
        np.testing.assert_array_equal(call(rx, weights), call(x, weights))


def test_dtypes_of_remote_arrays_count(c: gpucall.Client) -> None:
    ints, floats = np.int32([1, 2]), np.float32([0.5, 1.5])
    for a, b in [(ints, floats), (ints, 2), (ints, 2.5), (floats, 2)]:
        remote = [c.put(o) if isinstance(o, np.ndarray) else o for o in (a, b)]
        got = c.multiply(*remote)
        assert got.dtype == c.multiply(a, b).dtype
        np.testing.assert_array_equal(got, c.multiply(a, b))


def test_programs(c: gpucall.Client) -> None:
    x = np.float32([1, 4, 9])
    remote, constant = c.put(x), c.put(np.float32([10, 20, 30]))
    p = gpucall.Program()
    v = p.input()
    root = np.sqrt(v)
    p.output(root, root * 2 + constant, v)
    for given in (x, remote):
        got = c.run(p, given)
        for a, b in zip(
            got, (np.sqrt(x), np.sqrt(x) * 2 + [10, 20, 30], x), strict=True
        ):
            np.testing.assert_array_equal(a, b)
        kept = c.run(p, given, keep=True)
        assert all(isinstance(k, gpucall.RemoteArray) for k in kept)
        for a, k in zip(got, kept, strict=True):
            np.testing.assert_array_equal(k.get(), a)


def test_pinned_memory_is_counted(c: gpucall.Client) -> None:
    statistics = c.statistics()
    on_gpu = c.info().devices[0].id.startswith("cuda")
    assert (statistics.pinned_bytes > 0) == on_gpu
    assert 0 <= statistics.pinned_free_bytes <= statistics.pinned_bytes
    assert statistics.pinned_fallbacks >= 0


def test_an_output_that_is_a_resident_input_shares_its_memory(
    start_server: StartServer,
) -> None:
    x = np.arange(6, dtype=np.float32)
    p = gpucall.Program()
    v = p.input()
    p.output(np.sqrt(v), v * 2, v)
    with gpucall.connect(start_server().address) as client:
        remote = client.put(x)
        shared = client.run(p, remote, keep=True)
        assert client.statistics().resident_bytes == 3 * x.nbytes
        remote.free()
        np.testing.assert_array_equal(shared[2].get(), x)


def test_chains_stay_on_the_server(c: gpucall.Client) -> None:
    x = np.random.default_rng(3).standard_normal((64, 64), np.float32)
    wanted, y = x, c.put(x)
    for i in range(5):
        wanted = wanted * np.float32(0.5) + np.float32(i)
        y = c.keep.add(c.keep.multiply(y, 0.5), i)
    np.testing.assert_array_equal(y.get(), wanted)


def test_garbage_is_freed(start_server: StartServer) -> None:
    server = start_server()
    with gpucall.connect(server.address) as client:
        kept = client.put(np.zeros(100, np.uint8))
        for _ in range(300):
            client.put(np.zeros(1000, np.uint8))
        gc.collect()
        eventually(lambda: client.statistics().resident_bytes == 100)
        assert client.statistics().resident_tensors == 1
        del kept
    with gpucall.connect(server.address) as other:
        assert other.statistics().resident_bytes == 0
        assert other.statistics().sessions == 0
    assert server.stop() == 0


def test_freed_handles(c: gpucall.Client) -> None:
    remote = c.put(np.float32([1, 2]))
    handle = remote.handle
    remote.free()
    remote.free()
    assert "freed" in repr(remote)
    for call in (remote.get, lambda: c.add(remote, 1), lambda: c.keep.add(remote, 1)):
        assert refused(call) == (
            Code.NOT_FOUND,
            refused(call)[1],
        )
        assert handle.hex() in refused(call)[1]


def test_freed_while_used(one_lane: ServerProcess) -> None:
    image = np.random.default_rng(4).standard_normal((700, 700)).astype(np.float32)
    with gpucall.connect(one_lane.address) as client:
        wanted = client.median(image, 9)
        remote = client.put(image)
        with ThreadPoolExecutor() as pool:
            slow = pool.submit(client.median, remote, 9)
            time.sleep(0.05)
            remote.free()
            np.testing.assert_array_equal(slow.result(), wanted)
        eventually(lambda: client.statistics().resident_bytes == 0)


@pytest.mark.parametrize(
    ("handle", "code"),
    [(os.urandom(16), Code.NOT_FOUND), (b"short", Code.INVALID_ARGUMENT)],
    ids=["guessed", "short"],
)
def test_handles_that_are_none(
    server: ServerProcess, handle: bytes, code: Code
) -> None:
    request = _wire.ElementwiseRequest(
        op=_wire.ELEMENTWISE_OPS["abs"], inputs=[_wire.Tensor(handle=handle)]
    )
    stat = _wire.StatRequest(handle=handle)
    for call in (
        lambda: unary(server, _wire.ELEMENTWISE, request),
        lambda: unary(server, _wire.GET, handle=handle),
        lambda: unary(server, _wire.FREE, handles=[handle]),
        lambda: unary(server, "/gpucall.v1.Tensors/Stat", stat),
    ):
        got, message = refused(call)
        assert got is code, message
        assert "handle" in message
    server.check_alive()


def test_types_that_are_not_the_tensors(
    c: gpucall.Client, server: ServerProcess
) -> None:
    remote = c.put(np.float32([[1, 2]]))
    for fields, code in [
        ({"dtype": _wire.DTYPES["int32"]}, Code.INVALID_ARGUMENT),
        ({"shape": [2]}, Code.INVALID_ARGUMENT),
        ({"dtype": _wire.DTYPES["float32"], "shape": [1, 2]}, None),
    ]:
        request = _wire.PutRequest(tensor=_wire.Tensor(handle=remote.handle, **fields))
        if code is None:
            unary(server, _wire.PUT, request)
        else:
            got, message = refused(partial(unary, server, _wire.PUT, request))
            assert got is code and "float32 (1, 2)" in message


def test_keeping_outputs_that_are_none(server: ServerProcess) -> None:
    request = _wire.ElementwiseRequest(
        op=_wire.ELEMENTWISE_OPS["abs"],
        inputs=[tensor([1])],
        options=_wire.CallOptions(keep_outputs=[1]),
    )
    code, message = refused(lambda: unary(server, _wire.ELEMENTWISE, request))
    assert code is Code.INVALID_ARGUMENT and "the call has 1 outputs" in message


def test_quota(small: ServerProcess) -> None:
    with gpucall.connect(small.address) as client:
        first = client.put(np.zeros(600_000, np.uint8))
        for call in (
            lambda: client.put(np.zeros(400_001, np.uint8)),
            lambda: client.put(np.zeros(5_000_000, np.uint8)),
            lambda: client.keep.add(first, first),
        ):
            code, message = refused(call)
            assert code is Code.RESOURCE_EXHAUSTED
            assert "600000 bytes are kept" in message and "1000000" in message
        first.free()
        client.put(np.zeros(1_000_000, np.uint8)).free()
        eventually(lambda: client.statistics().resident_bytes == 0)


def test_device_memory_exhausted(start_server: StartServer) -> None:
    server = start_server(f"--max_resident_bytes={1 << 49}")

    def call() -> bytes:
        return unary(server, _wire.CREATE, dtype=_wire.DTYPES["uint8"], shape=[1 << 48])

    code, message = refused(call)
    assert code is Code.RESOURCE_EXHAUSTED and str(1 << 48) in message
    server.check_alive()
    assert server.stop() == 0


def test_unused_tensors_expire(small: ServerProcess) -> None:
    request = _wire.PutRequest(tensor=tensor([1, 2]))
    reply = unary(small, _wire.PUT, request)
    handle = _wire.RunReply.FromString(reply).outputs[0].handle
    began = time.monotonic()
    while time.monotonic() < began + 2:  # used, it stays
        unary(small, _wire.GET, handle=handle)
        time.sleep(0.2)
    while time.monotonic() < began + 4:
        unary(small, _wire.KEEP_ALIVE, _wire.KeepAliveRequest(handles=[handle]))
        time.sleep(0.2)
    with gpucall.connect(small.address) as client:
        eventually(lambda: client.statistics().resident_tensors == 0)
    assert refused(lambda: unary(small, _wire.GET, handle=handle))[0] is Code.NOT_FOUND


def test_tensors_of_a_lost_client_go_after_the_grace(small: ServerProcess) -> None:
    """The client is killed; what it kept is freed."""
    code = (
        "import gpucall, numpy, sys, time\n"
        "c = gpucall.connect(sys.argv[1])\n"
        "x = c.put(numpy.zeros(1000, numpy.uint8))\n"
        "print('kept', flush=True)\n"
        "time.sleep(60)"
    )
    with gpucall.connect(small.address) as client:
        eventually(lambda: client.statistics().resident_bytes == 0)
        child = subprocess.Popen(
            [sys.executable, "-c", code, small.address],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None and child.stdout.readline() == "kept\n"
        assert client.statistics().resident_bytes == 1000
        time.sleep(2.5)  # a session that lives does not expire
        assert client.statistics().resident_bytes == 1000
        child.send_signal(signal.SIGKILL)
        child.wait()
        eventually(lambda: client.statistics().resident_bytes == 0)
        assert client.statistics().sessions == 0


def test_sessions_are_resumed(small: ServerProcess) -> None:
    open_session: Any = small.channel.unary_stream(_wire.OPEN_SESSION, None, None)
    stream = open_session(_wire.OpenSessionRequest().SerializeToString())
    session = _wire.Session.FromString(next(stream)).id
    options = _wire.CallOptions(session=session)
    reply = unary(
        small, _wire.PUT, _wire.PutRequest(tensor=tensor([1]), options=options)
    )
    handle = _wire.RunReply.FromString(reply).outputs[0].handle
    stream.cancel()
    resume = _wire.OpenSessionRequest(resume=session).SerializeToString()
    again = open_session(resume)
    assert _wire.Session.FromString(next(again)).id == session
    time.sleep(2.5)
    unary(small, _wire.GET, handle=handle)
    unary(small, _wire.END_SESSION, session=session)
    assert refused(lambda: unary(small, _wire.GET, handle=handle))[0] is Code.NOT_FOUND
    again.cancel()
    assert refused(lambda: next(open_session(resume)))[0] is Code.NOT_FOUND
    request = _wire.PutRequest(tensor=tensor([1]), options=options)
    code, message = refused(lambda: unary(small, _wire.PUT, request))
    assert code is Code.NOT_FOUND and session.hex() in message


def test_a_thousand_sessions_leave_nothing(small: ServerProcess) -> None:
    """Clients that go without a word: half free nothing, half do not even read."""
    open_session: Any = small.channel.unary_stream(_wire.OPEN_SESSION, None, None)

    def one(number: int) -> None:
        stream = open_session(_wire.OpenSessionRequest().SerializeToString())
        if number % 4 != 0:
            options = _wire.CallOptions(
                session=_wire.Session.FromString(next(stream)).id
            )
            request = _wire.PutRequest(tensor=tensor(np.zeros(100)), options=options)
            unary(small, _wire.PUT, request)
        stream.cancel()

    with gpucall.connect(small.address) as client:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(one, range(1000)))
        eventually(lambda: holds_nothing(client))
        small.check_alive()


# --- writing and reading in parts -----------------------------------------------------


def create(server: ServerProcess, count: int) -> bytes:
    reply = unary(server, _wire.CREATE, dtype=_wire.DTYPES["uint8"], shape=[count])
    handle: bytes = _wire.ResidentTensor.FromString(reply).handle
    return handle


def start(handle: bytes, **fields: int) -> bytes:
    message = _wire.WriteRequest(start=_wire.WriteStart(handle=handle, **fields))
    data: bytes = message.SerializeToString()
    return data


def chunk(offset: int, data: bytes) -> bytes:
    return encode_chunk(0, offset, memoryview(data))


def write(server: ServerProcess, *messages: bytes) -> bool:
    """Whether the tensor is readable afterwards."""
    call = server.channel.stream_unary(_wire.WRITE, None, None)
    reply = call(iter(messages), timeout=30)
    readable: bool = _wire.ResidentTensor.FromString(reply).readable
    return readable


def test_parts_written_over_several_streams(
    c: gpucall.Client, server: ServerProcess
) -> None:
    data = np.random.default_rng(5).integers(0, 256, 10_000_000, np.uint8).tobytes()
    handle = create(server, len(data))
    size = 2_500_000
    assert (
        refused(lambda: unary(server, _wire.GET, handle=handle))[0]
        is Code.FAILED_PRECONDITION
    )

    def part(first: int) -> bool:
        chunks = [
            chunk(at, data[at : min(at + 700_000, first + size)])
            for at in range(first, first + size, 700_000)
        ]
        return write(server, start(handle, offset=first, size_bytes=size), *chunks)

    with ThreadPoolExecutor() as pool:
        assert any(pool.map(part, range(0, len(data), size)))
    remote = gpucall.RemoteArray(c, handle, (len(data),), np.uint8)
    assert remote.get().tobytes() == data
    read: Any = server.channel.unary_stream(_wire.READ, None, None)
    request = _wire.ReadRequest(handle=handle, offset=1_234_567, size_bytes=3_000_001)
    got = b""
    for message in read(request.SerializeToString()):
        reply = _wire.ReadReply.FromString(message)
        assert reply.chunk.offset == 1_234_567 + len(got)
        got += reply.chunk.data
    assert got == data[1_234_567 : 1_234_567 + 3_000_001]
    remote.free()


def test_wrong_writes(c: gpucall.Client, server: ServerProcess) -> None:
    handle = create(server, 100)
    ten = b"0123456789"
    for messages, part in [
        ([], "start is missing"),
        ([chunk(0, ten)], "start must be the first"),
        ([start(handle), start(handle)], "start must be the first"),
        ([b"\xff\xff"], "not a valid"),
        ([start(b"x")], "has 1 bytes"),
        ([start(handle, offset=101)], "the tensor has 100"),
        ([start(handle, offset=1 << 63)], "the tensor has 100"),
        ([start(handle, offset=10, size_bytes=(1 << 64) - 1)], "the tensor has 100"),
        ([start(handle, offset=50, size_bytes=51)], "the tensor has 100"),
        ([start(handle, size_bytes=0)], "the tensor has 100"),
        ([start(handle)], "ended after 0 of 100"),
        ([start(handle), chunk(0, ten)], "ended after 10 of 100"),  # missing
        ([start(handle), chunk(0, ten), chunk(0, ten)], "the next is 10"),  # repeated
        ([start(handle), chunk(10, ten)], "the next is 0"),  # out of order
        ([start(handle, offset=90), chunk(0, ten)], "the next is 90"),
        (
            [start(handle, offset=95), chunk(95, ten)],
            "5 are left of 100",
        ),  # past the end
        ([start(handle, size_bytes=5), chunk(0, ten)], "5 are left of 5"),
        ([start(handle), chunk(0, b"")], "data has 0 bytes"),
    ]:
        code, message = refused(partial(write, server, *messages))
        assert code is Code.INVALID_ARGUMENT and part in message, (messages, message)
    assert refused(lambda: write(server, start(os.urandom(16))))[0] is Code.NOT_FOUND
    wrong = _wire.WriteRequest(chunk=_wire.Chunk(data=ten, crc32=1)).SerializeToString()
    assert refused(lambda: write(server, start(handle), wrong))[0] is Code.DATA_LOSS
    # None of them has left a trace: all of the tensor can be written.
    assert not write(server, start(handle, size_bytes=10), chunk(0, ten))
    code, message = refused(lambda: write(server, start(handle, offset=5)))
    assert code is Code.INVALID_ARGUMENT and "overlap bytes 0 to 10" in message
    assert write(server, start(handle, offset=10), chunk(10, ten * 9))
    assert refused(lambda: write(server, start(handle)))[0] is Code.FAILED_PRECONDITION
    assert gpucall.RemoteArray(c, handle, (100,), np.uint8).get().tobytes() == ten * 10
    server.check_alive()


def test_wrong_reads(c: gpucall.Client, server: ServerProcess) -> None:
    remote = c.put(np.arange(100, dtype=np.uint8))
    read: Any = server.channel.unary_stream(_wire.READ, None, None)

    def reading(**fields: int) -> bytes:
        request = _wire.ReadRequest(handle=remote.handle, **fields).SerializeToString()
        return b"".join(_wire.ReadReply.FromString(m).chunk.data for m in read(request))

    for fields in [
        {"offset": 101},
        {"offset": 50, "size_bytes": 51},
        {"offset": 1 << 63},
        {"offset": 1, "size_bytes": (1 << 64) - 1},
    ]:
        code, message = refused(partial(reading, **fields))
        assert code is Code.INVALID_ARGUMENT and "the tensor has 100" in message
    assert reading(offset=100) == b""
    assert reading(offset=99) == b"c"
    assert reading(size_bytes=0) == b""
    server.check_alive()


def test_streams_closed_half_way(start_server: StartServer) -> None:
    server = start_server()
    handle = create(server, 64 << 20)
    stream: Any = server.channel.stream_unary(_wire.WRITE, None, None)
    for _ in range(20):
        endless = (
            start(handle) if i == 0 else chunk((i - 1) << 20, bytes(1 << 20))
            for i in range(30)
        )

        def stalling(messages: Iterator[bytes] = endless) -> Iterator[bytes]:
            yield from messages
            time.sleep(0.2)

        call = stream.future(stalling())
        time.sleep(0.05)
        call.cancel()
    with gpucall.connect(server.address) as client:
        # The part is free again as soon as the server has seen the end.
        eventually(lambda: can_write(server, handle))
        remote = gpucall.RemoteArray(client, handle, (64 << 20,), np.uint8)
        read: Any = server.channel.unary_stream(_wire.READ, None, None)
        for _ in range(20):
            call = read(_wire.ReadRequest(handle=handle).SerializeToString())
            next(call)
            call.cancel()
        remote.free()
        eventually(lambda: client.statistics().resident_bytes == 0)
    server.check_alive()
    assert server.stop() == 0


def can_write(server: ServerProcess, handle: bytes) -> bool:
    chunks = (chunk(i << 20, bytes(1 << 20)) for i in range(64))
    try:
        return write(server, start(handle), *chunks)
    except grpc.RpcError as error:
        assert "overlap" in (error.details() or "")
        return False


def test_streams_take_handles_and_keep_results(
    c: gpucall.Client, server: ServerProcess
) -> None:
    """RunStream on a resident tensor and a streamed one, in one block and in several."""
    rng = np.random.default_rng(7)
    stream: Any = server.channel.stream_stream(_wire.RUN_STREAM, None, None)
    for count in (1000, 3_000_000):
        x, y = rng.standard_normal((2, count), np.float32)
        remote = c.put(x)
        operation = _wire.Operation(
            elementwise=_wire.ELEMENTWISE_OPS["add"], inputs=[0, 1]
        )
        inputs = [
            _wire.Tensor(handle=remote.handle),
            _wire.Tensor(
                dtype=_wire.DTYPES["float32"], shape=[count], streamed=_wire.Streamed()
            ),
        ]
        for keep in ([], [0]):
            start = _wire.RunStreamStart(
                program=_wire.Program(operations=[operation]),
                inputs=inputs,
                options=_wire.CallOptions(keep_outputs=keep),
            )
            first = _wire.RunStreamRequest(start=start).SerializeToString()
            data = y.tobytes()
            chunks = [
                encode_chunk(1, at, memoryview(data)[at : at + (1 << 20)])
                for at in range(0, len(data), 1 << 20)
            ]
            reply = StreamReply()
            handle = b""
            for message in stream(iter([first, *chunks]), timeout=60):
                result = _wire.RunStreamReply.FromString(message).result
                if keep and result.outputs:
                    handle = result.outputs[0].handle
                reply.add(message)
            if keep:
                kept = gpucall.RemoteArray(c, handle, (count,), np.float32)
                np.testing.assert_array_equal(kept.get(), x + y)
            else:
                np.testing.assert_array_equal(reply.arrays[0], x + y)


def test_a_lost_connection_is_taken_up_again(small: ServerProcess) -> None:
    with gpucall.connect(small.address) as client:
        remote = client.put(np.float32([1, 2]))
        client._session._call.cancel()  # as if the network had lost it
        time.sleep(2.5)  # more than the grace time
        np.testing.assert_array_equal(remote.get(), [1, 2])


# --- views ----------------------------------------------------------------------------


def test_views(c: gpucall.Client) -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    remote = c.put(x)
    for view, wanted in [
        (remote.reshape(2, 12), x.reshape(2, 12)),
        (remote.reshape((3, 2, -1)), x.reshape(3, 2, -1)),
        (remote[1:3], x[1:3]),
        (remote[2], x[2]),
        (remote[-1, 2:4], x[-1, 2:4]),
        (remote[1, 5], x[1, 5]),
        (remote[3:1], x[3:1]),
        (remote[...], x),
        (remote[None, 1], x[None, 1]),
        (remote[1].reshape(1, 6).transpose(), x[1].reshape(1, 6).T),
    ]:
        assert view.shape == wanted.shape
        np.testing.assert_array_equal(view.get(), wanted)
        np.testing.assert_array_equal(c.add(view, 1), wanted + np.float32(1))
    for call in (lambda: remote.transpose(), lambda: remote[:, 1:3]):
        assert refused(call)[0] is Code.UNIMPLEMENTED
    with pytest.raises(IndexError):
        remote[4]
    with pytest.raises(IndexError):
        remote[::2]
    assert refused(lambda: remote.reshape(5))[0] is Code.INVALID_ARGUMENT


def test_views_share_memory_and_outlive_their_array(
    start_server: StartServer,
) -> None:
    c = gpucall.connect(start_server().address)  # where nothing else comes and goes
    x = np.arange(1 << 16, dtype=np.float32).reshape(64, 1024)
    remote = c.put(x)
    before = c.statistics().resident_bytes
    rows = remote[10:20]
    assert c.statistics().resident_bytes == before
    remote.free()
    assert c.statistics().resident_bytes == before
    np.testing.assert_array_equal(rows.get(), x[10:20])
    rows.free()
    # The call that read the rows may hold them a moment longer than its client waits.
    eventually(lambda: c.statistics().resident_bytes == before - x.nbytes)
    c.close()


# --- asyncio --------------------------------------------------------------------------


def test_asyncio(server: ServerProcess) -> None:
    x = np.float32([[1, 4], [9, 16]])
    large = np.random.default_rng(6).standard_normal(13_000_000, np.float32)

    async def main() -> None:
        async with gpucall.aio.connect(server.address, timeout=60) as client:
            remote = await client.put(x)
            np.testing.assert_array_equal(await client.sqrt(remote), np.sqrt(x))
            kept = await client.keep.sqrt(remote)
            assert isinstance(kept, gpucall.aio.RemoteArray)
            np.testing.assert_array_equal(await kept.get(), np.sqrt(x))
            row = await kept.part(1)
            np.testing.assert_array_equal(await row.get(), np.sqrt(x)[1])
            flat = await kept.reshape(-1)
            np.testing.assert_array_equal(await flat.get(), np.sqrt(x).ravel())
            p = gpucall.Program()
            v = p.input()
            p.output(v + 1, v * 2)
            both = await client.run(p, remote, keep=True)
            np.testing.assert_array_equal(await both[1].get(), x * 2)
            async with await client.put(large) as big:
                np.testing.assert_array_equal(await big.get(), large)
                np.testing.assert_array_equal(
                    await client.add(big, large), large + large
                )
                doubled = await client.keep.add(big, large)
                np.testing.assert_array_equal(await doubled.get(), large + large)
            assert big.is_freed
            with pytest.raises(gpucall.Error) as raised:
                await client.add(big, 1)
            assert raised.value.code is Code.NOT_FOUND
            results = await asyncio.gather(
                *(client.keep.add(remote, i) for i in range(50))
            )
            for i, result in enumerate(results):
                np.testing.assert_array_equal(await result.get(), x + np.float32(i))

    asyncio.run(main())


def test_asyncio_garbage_is_freed(start_server: StartServer) -> None:
    server = start_server()

    async def main() -> None:
        async with gpucall.aio.connect(server.address, timeout=60) as client:
            for _ in range(100):
                await client.put(np.zeros(1000, np.uint8))
            gc.collect()
            for _ in range(500):
                if (await client.statistics()).resident_bytes == 0:
                    break
                await asyncio.sleep(0.02)
            assert (await client.statistics()).resident_tensors == 0
            kept = await client.put(np.zeros(1000, np.uint8))
        assert not kept.is_freed
        async with gpucall.aio.connect(server.address) as other:
            assert (await other.statistics()).resident_tensors == 0

    asyncio.run(main())
    assert server.stop() == 0
