"""The session that a client's arrays on the server belong to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import grpc

from gpucall import _wire
from gpucall._deadline import Deadline
from gpucall._error import Error, expired

_RESUME_ATTEMPTS, _RESUME_PAUSE = 60, 0.5  # seconds; the default grace time together
_RESUME_SECONDS = 5.0  # for an answer


class Session:
    """Opened with the first array that is kept; thread-safe.

    `id` raises grpc.RpcError where the server refuses, Error DEADLINE_EXCEEDED where it
    does not answer.

    Attributes
    ----------
    is_closed : bool
    """

    def __init__(self, channel: grpc.Channel) -> None:
        self._open = channel.unary_stream(_wire.OPEN_SESSION, None, None)
        self._end = channel.unary_unary(_wire.END_SESSION, None, None)
        self._lock = threading.Lock()
        self._call: Any = None
        self._id = b""
        self.is_closed = False

    def id(self, deadline: Deadline) -> bytes:
        """The session's id. One whose connection was lost is resumed, or begun anew."""
        left = deadline.left()
        if not self._lock.acquire(timeout=-1 if left is None else left):
            raise expired(left)
        try:
            if self._call is None or not self._call.is_active():
                self._id = self._connect(self._id, deadline)
            return self._id
        finally:
            self._lock.release()

    def close(self) -> None:
        """Free all that belongs to it, where the server still answers."""
        self.is_closed = True
        with self._lock:
            if self._call is None:
                return
            request = _wire.EndSessionRequest(session=self._id)
            try:
                self._end(request.SerializeToString(), timeout=5)
            except grpc.RpcError:
                pass  # its tensors go when the grace time is over
            self._call.cancel()
            self._call = None

    def _connect(self, resume: bytes, deadline: Deadline) -> bytes:
        request = _wire.OpenSessionRequest(resume=resume)
        left = deadline.left()
        call: Any = self._open(request.SerializeToString())
        # A timeout of the call itself would end the session with it.
        giving_up = threading.Timer(left or 0, call.cancel)
        if left is not None:
            giving_up.start()
        try:
            reply = _wire.Session.FromString(next(call))
        except grpc.RpcError as error:
            deadline.left()  # raises where it is why
            if resume and error.code() is grpc.StatusCode.NOT_FOUND:
                return self._connect(b"", deadline)
            raise
        finally:
            giving_up.cancel()
        self._call = call
        call.add_callback(self._lost)
        return bytes(reply.id)

    def _lost(self) -> None:
        """On a thread of gRPC: the call is over."""
        if not self.is_closed:
            threading.Thread(
                target=self._resume, name="gpucall-resume", daemon=True
            ).start()

    def _resume(self) -> None:
        """Before the grace time is over, though the client makes no call."""
        for _ in range(_RESUME_ATTEMPTS):
            if self.is_closed:
                return
            try:
                self.id(Deadline(_RESUME_SECONDS))
                return
            except (Error, grpc.RpcError, ValueError):
                time.sleep(_RESUME_PAUSE)


class Releaser:
    """Frees handles from a thread of its own, several at once."""

    def __init__(self, free: Callable[[list[bytes]], None]) -> None:
        self._free = free
        self._handles: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, where it has not."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="gpucall-free", daemon=True
                )
                self._thread.start()

    def release(self, handle: bytes) -> None:
        """Free it soon. The garbage collector may call this."""
        self._handles.put(handle)

    def stop(self) -> None:
        self._handles.put(None)

    def _run(self) -> None:
        while True:
            handles = [self._handles.get()]
            while not self._handles.empty() and len(handles) < 1000:
                handles.append(self._handles.get())
            named = [handle for handle in handles if handle is not None]
            try:
                self._free(named)
            except (grpc.RpcError, ValueError):  # the latter from a closed channel
                pass  # freed already, or the connection is gone and they go with it
            if None in handles:
                return
