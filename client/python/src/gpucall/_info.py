"""What a server is, and what a call cost, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any

from gpucall._tensors import dtype_names


@dataclass(frozen=True)
class Receipt:
    """What a call cost; times are nanoseconds of the whole batch the call ran in.

    Attributes
    ----------
    queue_ns : int
        From acceptance to the start of its batch.
    copy_in_ns, compute_ns, copy_out_ns : int
        Host to device, kernels, device to host.
    batch_size : int
        Calls that ran together, this one included.
    device : str
        "cpu", "cuda:0".
    """

    queue_ns: int
    copy_in_ns: int
    compute_ns: int
    copy_out_ns: int
    batch_size: int
    device: str


@dataclass(frozen=True)
class Device:
    """A device of a server; `memory_bytes` is its total, `lanes` the batches at once."""

    id: str
    name: str
    memory_bytes: int
    lanes: int
    compute_capability: str


@dataclass(frozen=True)
class Limits:
    """A server's limits; `max_tensor_bytes` is of one tensor sent, and of one result."""

    max_message_bytes: int
    max_tensor_bytes: int
    max_dimensions: int
    max_operations: int
    max_batch_tasks: int
    max_queue_tasks: int
    max_queue_bytes: int
    max_values: int
    max_resident_bytes: int
    max_resident_tensors: int
    resident_ttl_seconds: int
    session_grace_seconds: int


@dataclass(frozen=True)
class ServerInfo:
    """A server; `device_choice` says which device it chose and why."""

    version: str
    devices: tuple[Device, ...]
    limits: Limits
    device_choice: str


@dataclass(frozen=True)
class Statistics:
    """What a server holds now.

    Attributes
    ----------
    resident_tensors, resident_bytes : int
        Of arrays that stay on it.
    sessions, callers : int
    pinned_bytes, pinned_free_bytes : int
        Page-locked host memory that copies to and from a GPU pass through.
    pinned_fallbacks : int
        How often since the start all of it was in use, and ordinary memory was taken.
    """

    resident_tensors: int
    resident_bytes: int
    sessions: int
    callers: int
    pinned_bytes: int
    pinned_free_bytes: int
    pinned_fallbacks: int


@dataclass(frozen=True)
class OperationInfo:
    """An operation that a server offers; `dtypes` are those of its first input."""

    name: str
    kind: str
    inputs: int
    dtypes: tuple[str, ...]
    description: str


_RECEIPTS: ContextVar[list[Receipt] | None] = ContextVar(
    "gpucall_receipts", default=None
)


@contextmanager
def receipts() -> Iterator[list[Receipt]]:
    """Collect a Receipt of each call made in the block, by this thread or asyncio task.

    Examples
    --------
    >>> with gpucall.receipts() as costs:
    ...     y = c.add(np.float32([1, 2]), 3)
    >>> costs[0].batch_size
    1
    """
    collected: list[Receipt] = []
    token = _RECEIPTS.set(collected)
    try:
        yield collected
    finally:
        _RECEIPTS.reset(token)


def collector() -> list[Receipt] | None:
    """Where the caller wants receipts, if it does."""
    return _RECEIPTS.get()


def collect(message: Any) -> None:
    """Give the caller a receipt, where it wants one and there is one."""
    collected = collector()
    if collected is not None and message is not None:
        collected.append(receipt(message))


def statistics(message: Any) -> Statistics:
    resident, pinned = message.resident, message.pinned
    return Statistics(
        resident_tensors=resident.tensors,
        resident_bytes=resident.size_bytes,
        sessions=resident.sessions,
        callers=resident.callers,
        pinned_bytes=pinned.size_bytes,
        pinned_free_bytes=pinned.free_bytes,
        pinned_fallbacks=pinned.fallbacks,
    )


def receipt(message: Any) -> Receipt:
    return Receipt(**_plain(Receipt, message))


def server_info(message: Any) -> ServerInfo:
    return ServerInfo(
        version=message.version,
        devices=tuple(Device(**_plain(Device, device)) for device in message.devices),
        limits=Limits(**_plain(Limits, message.limits)),
        device_choice=message.device_choice,
    )


def operations(catalogue: Any) -> list[OperationInfo]:
    return [
        OperationInfo(
            **_plain(OperationInfo, entry) | {"dtypes": dtype_names(entry.dtypes)}
        )
        for entry in catalogue.operations
    ]


def _plain(kind: type, message: Any) -> dict[str, Any]:
    return {field.name: getattr(message, field.name) for field in fields(kind)}
