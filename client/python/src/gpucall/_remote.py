"""Arrays that stay on a server."""

from __future__ import annotations

import math
import weakref
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt


# What the operations of a client take.
ArrayOrRemote: TypeAlias = "npt.ArrayLike | RemoteArray"


class Holder(ABC):
    """What a RemoteArray needs of the client that it came from."""

    target: str

    @abstractmethod
    def _get(self, array: RemoteArray, timeout: float | None) -> npt.NDArray[Any]: ...

    @abstractmethod
    def _free(self, handle: bytes, timeout: float | None) -> None: ...

    @abstractmethod
    def _release(self, handle: bytes) -> None:
        """Free it soon. Called by the garbage collector: takes no lock, never fails."""


class RemoteArray:
    """An array on a server, usable wherever a client or a Program takes one.

    Made by `Client.put`, `Client.keep` and `Client.run(..., keep=True)`. The server frees
    it when this object is garbage, when `free` is called, when the client is closed, and
    some time after the client is lost.

    Attributes
    ----------
    handle : bytes
        Its name on the server.
    shape : tuple of int
    dtype : dtype
    device : str
        Where it is: the server's target.

    Examples
    --------
    >>> x = c.put(np.float32([1, 4, 9]))
    >>> c.sqrt(x)
    array([1., 2., 3.], dtype=float32)
    >>> with c.keep.sqrt(x) as y:
    ...     c.add(x, y)
    array([ 2.,  6., 12.], dtype=float32)
    >>> x.shape, x.dtype
    ((3,), dtype('float32'))
    """

    def __init__(
        self, holder: Holder, handle: bytes, shape: tuple[int, ...], dtype: Any
    ) -> None:
        self.handle = handle
        self.shape = shape
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.device = holder.target
        self._holder = holder
        self._finalizer = weakref.finalize(self, holder._release, handle)
        self._finalizer.atexit = False  # the session ends with the process

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def is_freed(self) -> bool:
        return not self._finalizer.alive

    def get(self, *, timeout: float | None = None) -> npt.NDArray[Any]:
        """The elements, as a new NumPy array.

        Examples
        --------
        >>> c.put(np.int32([1, 2])).get()
        array([1, 2], dtype=int32)
        """
        return self._holder._get(self, timeout)

    def free(self, *, timeout: float | None = None) -> None:
        """Free it now; the second time nothing happens.

        Examples
        --------
        >>> x = c.put(np.int32([1, 2]))
        >>> x.free()
        >>> x.is_freed
        True
        """
        if self._finalizer.detach() is not None:
            self._holder._free(self.handle, timeout)

    def __enter__(self) -> RemoteArray:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.free()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d RemoteArray")
        return self.shape[0]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a RemoteArray has no elements here; get() fetches them")

    def __repr__(self) -> str:
        state = ", freed" if self.is_freed else ""
        return (
            f"RemoteArray(shape={self.shape}, dtype={self.dtype}, "
            f"device={self.device!r}{state})"
        )
