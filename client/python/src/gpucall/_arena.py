"""Arrays in memory that is shared with a server on this host.

proto/gpucall/v1/shared_memory.proto says how a server is told of the memory.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import socket
import threading
from bisect import insort
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpucall import _wire
from gpucall._tensors import Array

ALIGNMENT = 64
SEGMENT_BYTES = 64 << 20  # at least
REGISTER_SECONDS = 30


class Segment:
    """One memfd that the server has mapped, and which of its bytes are free."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.id = b""
        self.fd = os.memfd_create("gpucall", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW  # type: ignore[attr-defined,unused-ignore]
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)  # type: ignore[attr-defined,unused-ignore]
        self._memory = mmap.mmap(self.fd, size)
        self.address = np.frombuffer(self._memory, np.uint8).ctypes.data
        self.free = [(0, size)]  # (offset, size), in order, never adjacent
        self.retired = False  # nothing new is placed here

    def __del__(self) -> None:
        if hasattr(self, "fd"):
            os.close(self.fd)

    @property
    def is_unused(self) -> bool:
        return self.free == [(0, self.size)]

    def take(self, size: int) -> int | None:
        """The offset of `size` bytes, a multiple of ALIGNMENT; None: no room."""
        for i, (offset, available) in enumerate(self.free):
            if available >= size:
                self.free[i] = offset + size, available - size
                if available == size:
                    del self.free[i]
                return offset
        return None

    def give_back(self, offset: int, size: int) -> None:
        insort(self.free, (offset, size))
        at = self.free.index((offset, size))
        for i in (at, at - 1):  # joins the one after it, then the one before
            if 0 <= i < len(self.free) - 1 and sum(self.free[i]) == self.free[i + 1][0]:
                offset, size = self.free[i]
                self.free[i : i + 2] = [(offset, size + self.free[i + 1][1])]


Freed = deque[tuple[Segment, int, int]]  # segment, offset, size


class Block:
    """Bytes of a segment, which go to `freed` once no array uses them."""

    def __init__(self, segment: Segment, offset: int, size: int, freed: Freed) -> None:
        self.segment = segment
        self.offset = offset
        self.size = size
        self._freed = freed
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (size,),
            "data": (segment.address + offset, False),
        }

    def __del__(self) -> None:
        # From any thread, at any time: only an append, which takes no lock.
        if self.size:
            self._freed.append((self.segment, self.offset, _aligned(self.size)))

    def array(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """The array at its start, which keeps the block."""
        size = math.prod(shape) * dtype.itemsize
        elements: Array = np.asarray(self)[:size].view(dtype).reshape(shape)
        return elements

    def split(self, parts: Sequence[tuple[int, int]]) -> list[Block]:
        """Blocks for (offset in the segment, size) of parts; frees what is after them.

        Parts follow each other, at multiples of ALIGNMENT, from this block's start. The
        block is used up.
        """
        blocks = [Block(self.segment, *part, self._freed) for part in parts]
        end = parts[-1][0] + _aligned(parts[-1][1]) if parts else self.offset
        self.size -= min(end - self.offset, self.size)
        self.offset = end
        return blocks


class Arena:
    """The segments of one client. Thread-safe.

    Without a server at `path`, or where it takes no more, there is no room in it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._freed: Freed = deque()
        self._segments: list[Segment] = []
        self._server: socket.socket | None = None
        self._process = os.getpid()  # a child's memory would be its parent's too
        self._closed = False

    def take(self, size: int) -> Block | None:
        """`size` bytes, more than 0, not set; None: there is no room."""
        with self._lock:
            if self._closed or os.getpid() != self._process:
                return None
            self._collect()
            for segment in self._segments:
                if segment.retired:
                    continue
                offset = segment.take(_aligned(size))
                if offset is not None:
                    return Block(segment, offset, size, self._freed)
            self._drop([s for s in self._segments if s.is_unused])
            grown = self._grow(_aligned(size))
            if grown is None:
                return None
            return Block(grown, grown.take(_aligned(size)) or 0, size, self._freed)

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array | None:
        """An array, its elements not set; None: there is no room, or it has none."""
        size = math.prod(shape) * dtype.itemsize
        block = self.take(size) if size else None
        return None if block is None else block.array(shape, dtype)

    def region(self, array: Array) -> Any:
        """The Region message of a C-contiguous array; None: it is not in the arena."""
        address = array.__array_interface__["data"][0]
        with self._lock:
            for segment in self._segments:
                offset = address - segment.address
                if 0 <= offset and offset + array.nbytes <= segment.size and segment.id:
                    return _wire.Region(segment=segment.id, offset=offset)
        return None

    def retire(self, block: Block) -> None:
        """Place nothing new beside `block`: a server may still write to it."""
        with self._lock:
            block.segment.retired = True

    def renew(self) -> None:
        """Register all segments again, as with a server that has been restarted."""
        with self._lock:
            self._disconnect()
            for segment in self._segments:
                segment.id = self._register(segment) or b""
                segment.retired |= not segment.id

    def close(self) -> None:
        """The server gives its mappings up; arrays stay as they are."""
        with self._lock:
            self._closed = True
            self._disconnect()
            self._segments.clear()

    def _collect(self) -> None:
        while self._freed:
            segment, offset, size = self._freed.popleft()
            segment.give_back(offset, size)
            if segment.retired and segment.is_unused:
                self._drop([segment])

    def _drop(self, segments: list[Segment]) -> None:
        for segment in segments:
            if segment in self._segments:
                self._segments.remove(segment)
                if segment.id:
                    release = _wire.ReleaseSegment(segment=segment.id)
                    self._ask(_wire.SharedMemoryRequest(release_segment=release))

    def _grow(self, size: int) -> Segment | None:
        pages = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE * mmap.PAGESIZE
        try:
            segment = Segment(max(pages, SEGMENT_BYTES))
        except (OSError, ValueError, OverflowError):
            return None  # the system has no memory, or no memfd
        segment.id = self._register(segment) or b""
        if not segment.id:
            return None
        self._segments.append(segment)
        return segment

    def _register(self, segment: Segment) -> bytes | None:
        register = _wire.RegisterSegment()
        request = _wire.SharedMemoryRequest(register_segment=register)
        reply = self._ask(request, [segment.fd])
        return reply.segment if reply is not None and reply.code == 0 else None

    def _ask(self, request: Any, files: Sequence[int] = ()) -> Any:
        """The reply; None: there is no server."""
        try:
            if self._server is None:
                self._server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self._server.settimeout(REGISTER_SECONDS)
                self._server.connect(self._path)
            socket.send_fds(self._server, [request.SerializeToString()], files)
            reply = self._server.recv(4096)
        except OSError:
            reply = b""
        if not reply:
            self._disconnect()
            return None
        return _wire.SharedMemoryReply.FromString(reply)

    def _disconnect(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


def _aligned(size: int) -> int:
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
