"""Clients that are killed: killed_client.py TARGET STAGE COUNT.

Forks COUNT processes that connect, get to a stage of their work and end with SIGKILL there,
a few at a time. Exits with 1 where one ends in another way. `killed_clients_test.py` runs it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

import numpy as np

import gpucall
from gpucall import _residents
from gpucall._deadline import Deadline

AT_ONCE = 3
MIB = 1 << 20
_residents.STRIPE_BYTES = MIB

Work = Callable[[gpucall.Client, random.Random], object]


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def die_within(seconds: float, chance: random.Random) -> None:
    threading.Timer(chance.random() * seconds, die).start()


def die_when_moved(part: float) -> Callable[[int, int], None]:
    """A progress callback."""

    def callback(done: int, in_all: int) -> None:
        if done >= part * in_all:
            die()

    return callback


def die_after_all(seconds: float, chance: random.Random) -> Callable[[int, int], None]:
    """A progress callback: dies within the time after all known of has been moved."""

    def callback(done: int, in_all: int) -> None:
        if done == in_all:
            die_within(seconds, chance)

    return callback


def bytes_of(count: int) -> np.ndarray:
    return np.ones(count, np.uint8)


# --- stages ---------------------------------------------------------------------------


def connected(client: gpucall.Client, _: random.Random) -> None:
    client.info()


def session(client: gpucall.Client, _: random.Random) -> None:
    """It has a session, and nothing in it."""
    client._session_id(Deadline(None))


def kept(client: gpucall.Client, _: random.Random) -> None:
    """It has arrays on the server: put in one message and in chunks, kept, a view."""
    arrays = client.put(bytes_of(1000)), client.put(bytes_of(3 * MIB))
    sum_of_both = client.keep.add(arrays[1], arrays[1])
    arrays[1][:1000].get()
    sum_of_both.get()


def put_in_one_message(client: gpucall.Client, chance: random.Random) -> None:
    remotes = [client.put(bytes_of(10))]
    die_within(0.01, chance)
    while True:
        remotes.append(client.put(bytes_of(MIB)))


def get_in_one_message(client: gpucall.Client, chance: random.Random) -> None:
    remote = client.put(bytes_of(MIB // 2))
    die_within(0.01, chance)
    while True:
        remote.get()


def put_in_chunks(client: gpucall.Client, chance: random.Random) -> None:
    """Any part has been given to gRPC: a chunk, all but the reply."""
    with gpucall.progress(die_when_moved(chance.random())):
        client.put(bytes_of(8 * MIB))


def put_until_the_reply(client: gpucall.Client, chance: random.Random) -> None:
    """All has been given to gRPC; then it lives a little longer."""
    with gpucall.progress(die_after_all(0.01, chance)):
        remotes = [client.put(bytes_of(8 * MIB))]
    while True:
        remotes[0].get()


def get_in_chunks(client: gpucall.Client, chance: random.Random) -> None:
    remote = client.put(bytes_of(8 * MIB))
    with gpucall.progress(die_when_moved(chance.random())):
        remote.get()


def stream(client: gpucall.Client, chance: random.Random) -> None:
    """In blocks: results come while inputs are sent."""
    x = np.ones(2 * MIB, np.float32)
    with gpucall.progress(die_when_moved(chance.random())):
        client.add(x, x)


def stream_in_one_block(client: gpucall.Client, chance: random.Random) -> None:
    """Results come when all inputs are there."""
    image = np.ones((1500, 1000), np.float32)
    part = chance.random()
    if part > 0.5:  # all is sent: it computes, or replies
        with gpucall.progress(die_after_all(0.1, chance)):
            client.gaussian(image, 2)
        die()
    with gpucall.progress(die_when_moved(part)):
        client.gaussian(image, 2)


def at_any_time(client: gpucall.Client, chance: random.Random) -> None:
    """Several threads do all of it."""
    x = np.ones(2 * MIB, np.float32)
    client.info()
    die_within(0.3, chance)

    def work() -> None:
        while True:
            remote = client.put(x)
            client.multiply(remote, x)
            client.add(x[:1000], 1)
            remote.get()

    for _ in range(2):
        threading.Thread(target=work, daemon=True).start()
    work()


def shared_memory(client: gpucall.Client, _: random.Random) -> None:
    """It has segments; the second is a large one."""
    client.empty(MIB, np.float32)
    client.empty(20 * MIB, np.float32)


STAGES: dict[str, Work] = {
    stage.__name__: stage
    for stage in (
        *(connected, session, kept, put_in_one_message, get_in_one_message),
        *(put_in_chunks, put_until_the_reply, get_in_chunks),
        *(stream, stream_in_one_block, at_any_time, shared_memory),
    )
}
# Those in which something is shared, where the target is a Unix socket.
SHARED = ("connected", "kept", "at_any_time", "shared_memory")


def child(target: str, stage: str, number: int) -> None:
    """Do the stage's work in this process; it ends with it."""
    chance = random.Random(f"{stage} {number}")
    client = gpucall.connect(target, connections=1 + number % 3)
    STAGES[stage](client, chance)
    die()


def reap(running: set[int]) -> None:
    pid, status = os.wait()
    running.discard(pid)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
        sys.exit(f"a client ended with status {status}")


def main() -> None:
    target, stage, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    running: set[int] = set()
    for number in range(count):
        if len(running) == AT_ONCE:
            reap(running)
        pid = os.fork()
        if pid == 0:
            child(target, stage, number)
        running.add(pid)
    while running:
        reap(running)


if __name__ == "__main__":
    main()
