"""Deadlines, cancellation, health, other protocols on the port, draining."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import gpucall
from batches import finish, slow_request, start
from server_process import ServerProcess

StartServer = Callable[..., ServerProcess]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
SERVICES = ["", "gpucall.v1.Compute", "gpucall.v1.Server"]

X, Y = np.int32([1, 2]), np.int32([3, 4])


def test_deadline_while_waiting(server: ServerProcess, c: gpucall.Client) -> None:
    slow = [start(server.channel, *slow_request()) for _ in range(8)]
    time.sleep(0.05)  # until they are there
    began = time.monotonic()
    with pytest.raises(gpucall.Error) as raised:
        c.add(X, Y, timeout=0.002)
    assert raised.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - began < 0.5
    assert all(finish(call).error is None for call in slow)
    server.check_alive()


def alone_seconds(server: ServerProcess) -> float:
    """How long a slow call takes when nothing else runs."""
    times = []
    for _ in range(3):
        began = time.monotonic()
        assert finish(start(server.channel, *slow_request())).error is None
        times.append(time.monotonic() - began)
    return min(times)


def test_expired_work_is_not_run(start_server: StartServer) -> None:
    server = start_server("--lanes=1", "--max_batch_tasks=1")
    one = alone_seconds(server)
    first = start(server.channel, *slow_request())
    expired = [start(server.channel, *slow_request(), one / 4) for _ in range(20)]
    for call in expired:
        error = finish(call).error
        assert error is not None and error[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    assert finish(first).error is None
    began = time.monotonic()
    assert finish(start(server.channel, *slow_request())).error is None
    assert time.monotonic() - began < 10 * one, "the expired calls were run"
    assert server.stop() == 0


def test_cancelled_work_is_not_run(start_server: StartServer) -> None:
    server = start_server("--lanes=1", "--max_batch_tasks=1")
    one = alone_seconds(server)
    calls = [start(server.channel, *slow_request()) for _ in range(25)]
    time.sleep(one / 4)
    for call in calls:
        call.cancel()
    codes = [call.code() for call in calls]
    assert codes.count(grpc.StatusCode.CANCELLED) >= 20  # some may have been quicker
    began = time.monotonic()
    assert finish(start(server.channel, *slow_request())).error is None
    assert time.monotonic() - began < 10 * one, "the cancelled calls were run"
    server.check_alive()
    assert server.stop() == 0


KILLED_CLIENT = """
import sys, numpy, gpucall
client = gpucall.connect(sys.argv[1])
client.info()
print("ready", flush=True)
client.median(numpy.zeros((3000, 1000), numpy.float32), 15)
"""


def test_clients_killed_in_a_call(server: ServerProcess) -> None:
    for wait in (0, 0.02, 0.1):
        command = [sys.executable, "-c", KILLED_CLIENT, server.address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            time.sleep(wait)
            child.kill()
        server.check_alive()
    assert finish(start(server.channel, *slow_request())).error is None


def test_half_a_request_then_gone(server: ServerProcess) -> None:
    opening = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0" + bytes(5)
    for _ in range(20):
        with socket.create_connection(_host_port(server)) as connection:
            reset = struct.pack("ii", 1, 0)  # closes without a goodbye
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            connection.sendall(opening)
    server.check_alive()


@pytest.mark.parametrize("service", SERVICES)
def test_health_check(service: str, server: ServerProcess) -> None:
    stub = health_pb2_grpc.HealthStub(server.channel)
    reply = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
    assert reply.status == SERVING


def test_health_of_an_unknown_service(server: ServerProcess) -> None:
    stub = health_pb2_grpc.HealthStub(server.channel)
    request = health_pb2.HealthCheckRequest(service="gpucall.v1.Nothing")
    with pytest.raises(grpc.RpcError) as raised:
        stub.Check(request, timeout=10)
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND
    watch = stub.Watch(request, timeout=10)
    assert next(watch).status == SERVICE_UNKNOWN
    watch.cancel()


@pytest.mark.parametrize("service", SERVICES)
def test_health_watch_sees_the_drain(service: str, start_server: StartServer) -> None:
    server = start_server("--lanes=1")
    stub = health_pb2_grpc.HealthStub(server.channel)
    watch = stub.Watch(health_pb2.HealthCheckRequest(service=service), timeout=60)
    assert next(watch).status == SERVING
    slow = start(server.channel, *slow_request(4000))
    time.sleep(0.05)
    server.terminate()
    assert next(watch).status == NOT_SERVING
    assert finish(slow).error is None
    assert server.process.wait(timeout=60) == 0


def test_second_sigterm_changes_nothing(start_server: StartServer) -> None:
    server = start_server("--lanes=1")
    slow = start(server.channel, *slow_request(4000))
    time.sleep(0.05)
    server.terminate()
    time.sleep(0.05)
    server.terminate()
    assert finish(slow).error is None
    assert server.process.wait(timeout=60) == 0


def test_drain_under_load(start_server: StartServer) -> None:
    server = start_server()
    codes: list[set[str]] = [set() for _ in range(16)]
    counts = [0] * 16
    drained = threading.Event()

    def load(caller: int) -> None:
        with gpucall.connect(server.address, timeout=30) as client:
            while not drained.is_set():
                try:
                    x = np.full((caller + 1, 64), caller, np.float32)
                    np.testing.assert_array_equal(client.add(x, 1), x + 1)
                    counts[caller] += 1
                except gpucall.Error as error:
                    codes[caller].add(error.code.name)
                    return

    callers = [threading.Thread(target=load, args=(i,)) for i in range(16)]
    for caller in callers:
        caller.start()
    time.sleep(0.5)
    slow = slow_request(rows=100, repeat=40)  # little to send, long to compute
    in_flight = [start(server.channel, *slow) for _ in range(4)]
    time.sleep(0.3)
    server.terminate()
    replies = [finish(call) for call in in_flight]
    exit_code = server.process.wait(timeout=60)
    drained.set()
    for caller in callers:
        caller.join()
    assert exit_code == 0, server.log()
    assert [reply.error for reply in replies] == [None] * 4
    assert set().union(*codes) <= {"UNAVAILABLE"}
    assert min(counts) > 0
    with (
        pytest.raises(gpucall.Error) as raised,
        gpucall.connect(server.address) as late,
    ):
        late.add(X, Y)
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE


def test_drain_when_idle_is_quick(start_server: StartServer) -> None:
    server = start_server()
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 3


def test_sigint_drains_too(start_server: StartServer) -> None:
    server = start_server()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=30) == 0


def _host_port(server: ServerProcess) -> tuple[str, int]:
    host, port = server.address.rsplit(":", 1)
    return host, int(port)


STRANGERS = {
    "HTTP/1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "TLS hello": bytes.fromhex("16030100c8010000c40303") + bytes(193),
    "random": np.random.default_rng(7).bytes(4096),
    "bad frame": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 64,
    "text": b"hello, is anybody there? " * 10,
}


@pytest.mark.parametrize("data", STRANGERS.values(), ids=STRANGERS.keys())
def test_strangers_are_hung_up_on(data: bytes, server: ServerProcess) -> None:
    with socket.create_connection(_host_port(server), timeout=10) as connection:
        connection.sendall(data)
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
    server.check_alive()


def test_a_silent_stranger_harms_nobody(server: ServerProcess) -> None:
    with socket.create_connection(_host_port(server), timeout=10):
        server.check_alive()
