"""A TCP proxy before a server, that slows connections down, cuts them or misleads them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

BLOCK = 1 << 16


class Proxy:
    """Passes connections on to `address`, or for the k-th, from 0, to `choose(k)`.

    Each direction of each connection moves at most `rate` bytes a second. `limits` has, by
    k, after how many bytes from the client a connection does what: "cut" ends it, "stall"
    moves nothing more.

    Attributes
    ----------
    address : str
    accepted : int
        Connections so far.
    """

    def __init__(
        self,
        address: str,
        *,
        rate: float = 0,
        choose: Callable[[int], str] | None = None,
        limits: dict[int, tuple[int, str]] | None = None,
    ) -> None:
        self._choose = choose or (lambda _: address)
        self._rate = rate
        self.limits = limits or {}
        self.accepted = 0
        self._open: list[socket.socket] = []
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._listener.getsockname())
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._open:
            _hang_up(end)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
                number, self.accepted = self.accepted, self.accepted + 1
                host, port = self._choose(number).rsplit(":", 1)
                server = socket.create_connection((host, int(port)))
            except OSError:
                return
            self._open += [client, server]
            limit = self.limits.get(number)
            for ends in ((client, server, limit), (server, client, None)):
                threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(
        self,
        source: socket.socket,
        target: socket.socket,
        limit: tuple[int, str] | None,
    ) -> None:
        due, moved = 0.0, 0
        try:
            while block := source.recv(BLOCK):
                moved += len(block)
                if limit is not None and moved > limit[0]:
                    if limit[1] == "stall":
                        self._closed.wait()
                    return
                target.sendall(block)
                if self._rate:
                    due = max(due, time.monotonic() - 0.01) + len(block) / self._rate
                    time.sleep(max(due - time.monotonic(), 0))
        except OSError:
            pass
        finally:
            _hang_up(source)
            _hang_up(target)


def _hang_up(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has been already
