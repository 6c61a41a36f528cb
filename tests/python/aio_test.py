"""The asyncio client: the same answers, many calls in bounded memory, cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import grpc
import numpy as np
import pytest

import gpucall
from batches import SLOW_STEPS
from server_process import ServerProcess

X = np.float32([1, 2])
IMAGE = np.zeros((1400, 512), np.float32)

Body = Callable[[gpucall.aio.Client], Coroutine[Any, Any, None]]


def run(server: ServerProcess, body: Body, **options: Any) -> None:
    async def main() -> None:
        async with gpucall.aio.connect(server.address, timeout=60, **options) as client:
            await body(client)

    asyncio.run(main())
    server.check_alive()


async def slow(client: gpucall.aio.Client) -> Any:
    """Medians of 15 x 15, one after the other: a call of some tens of milliseconds."""
    p = gpucall.Program()
    value = p.input()
    for _ in range(SLOW_STEPS):
        value = p.median(value, 15)
    p.output(value)
    return await client.run(p, IMAGE)


def test_has_every_method_of_the_blocking_client() -> None:
    def names(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert names(gpucall.aio.Client) == names(gpucall.Client)


def test_operations(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        np.testing.assert_array_equal(await client.add(X, 1), [2, 3])
        np.testing.assert_array_equal(
            await client.matmul([X], [X], transpose_b=True), [[5]]
        )
        image = np.eye(4, dtype=np.uint8) * 9
        np.testing.assert_array_equal(await client.box(image, 1), image)
        assert await client.otsu(image) == 0
        kept = await client.keep.resize(image, (2, 2), interpolation="nearest")
        np.testing.assert_array_equal(await kept.get(), np.eye(2) * 9)
        values, indices = await client.top_k(X, 1)
        assert values == 2 and indices == 1
        kept, where = await client.keep.top_k(X, 1, largest=False)
        assert await kept.get() == 1 and await where.get() == 0
        p = gpucall.Program()
        x = p.input()
        p.output(x * 2, -x)
        twice, minus = await client.run(p, X)
        np.testing.assert_array_equal(twice, [2, 4])
        np.testing.assert_array_equal(minus, [-1, -2])
        assert (await client.info()).devices
        assert {"add", "matmul", "sobel"} <= {op.name for op in await client.ops()}

    run(server, body)


def test_large_arrays(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        x = np.arange(3_000_000, dtype=np.float32)
        results = await asyncio.gather(*(client.add(x, i) for i in range(4)))
        for i, result in enumerate(results):
            np.testing.assert_array_equal(result, x + np.float32(i))
        rows = np.arange(4000, dtype=np.float32)
        table = await client.multiply(rows[:, np.newaxis], rows[np.newaxis])
        np.testing.assert_array_equal(table, np.multiply.outer(rows, rows))

    run(server, body)


def test_many_calls_at_once(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        with gpucall.receipts() as receipts:
            results = await asyncio.gather(*(client.add(X, i) for i in range(500)))
        for i, result in enumerate(results):
            np.testing.assert_array_equal(result, X + np.float32(i))
        assert len(receipts) == 500

    run(server, body)


def test_errors(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        with pytest.raises(gpucall.Error) as raised:
            await client.add(X, np.zeros(3))
        assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
        with pytest.raises(TypeError, match="datetime64"):
            await client.abs(np.array(["2020"], "datetime64[D]"))
        with pytest.raises(gpucall.Error, match="nearest"):
            await client.box(IMAGE, mode="no")

    run(server, body)


def test_streams_that_are_refused_while_they_are_sent(server: ServerProcess) -> None:
    """The server's status is raised, whatever grpc.aio makes of the writes that fail."""
    x = np.zeros(30_000_000, np.uint8)

    async def body(client: gpucall.aio.Client) -> None:
        for _ in range(30):
            with pytest.raises(gpucall.Error) as raised:
                await client.add(x, x[:-1])
            assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
            assert "30000000" in raised.value.message

    run(server, body)


def test_one_place_for_two_calls(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        first = asyncio.create_task(slow(client))
        await asyncio.sleep(0)
        with pytest.raises(gpucall.Error) as raised:
            await client.add(X, 1, timeout=0.01)
        assert raised.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
        assert "0.01" in raised.value.message
        assert first.done() and first.result().shape == IMAGE.shape

    run(server, body, max_in_flight=1)


def test_cancelling_a_task(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        tasks = [asyncio.create_task(slow(client)) for _ in range(4)]
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(result) for result in results} == {asyncio.CancelledError}
        np.testing.assert_array_equal(await client.add(X, 1), [2, 3])

    run(server, body, max_in_flight=2)


def test_a_closed_client(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        await client.close()
        with pytest.raises(gpucall.Error) as raised:
            await client.info()
        assert raised.value.code is grpc.StatusCode.CANCELLED

    run(server, body)


def test_two_loops_one_after_the_other(server: ServerProcess) -> None:
    async def body(client: gpucall.aio.Client) -> None:
        np.testing.assert_array_equal(await client.add(X, 1), [2, 3])

    run(server, body)
    run(server, body)
