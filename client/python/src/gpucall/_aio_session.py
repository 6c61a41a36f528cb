"""The session that an asyncio client's arrays on the server belong to."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio

from gpucall import _wire
from gpucall._deadline import Deadline
from gpucall._error import expired


class Session:
    """The session that a client's arrays on the server belong to."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._open = channel.unary_stream(_wire.OPEN_SESSION, None, None)
        self._end = channel.unary_unary(_wire.END_SESSION, None, None)
        self._lock = asyncio.Lock()
        self._call: Any = None
        self._id = b""
        self.is_closed = False

    async def id(self, deadline: Deadline) -> bytes:
        """Its id. One whose connection was lost is resumed, or begun anew."""
        left = deadline.left()
        try:
            return await asyncio.wait_for(self._opened(), left)
        except asyncio.TimeoutError:
            raise expired(left) from None

    async def _opened(self) -> bytes:
        async with self._lock:
            if self._call is None or self._call.done():
                self._id = await self._connect(self._id)
            return self._id

    async def close(self) -> None:
        """Free all that belongs to it, where the server still answers."""
        self.is_closed = True
        if self._call is None:
            return
        request = _wire.EndSessionRequest(session=self._id)
        try:
            await self._end(request.SerializeToString(), timeout=5)
        except grpc.RpcError:
            pass  # its tensors go when the grace time is over
        self._call.cancel()
        self._call = None

    async def _connect(self, resume: bytes) -> bytes:
        call = self._open(_wire.OpenSessionRequest(resume=resume).SerializeToString())
        try:
            reply = _wire.Session.FromString(await call.read())
        except grpc.RpcError as error:
            if resume and error.code() is grpc.StatusCode.NOT_FOUND:
                return await self._connect(b"")
            raise
        self._call = call
        return bytes(reply.id)
