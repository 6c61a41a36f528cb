"""Arrays that stay on a server."""

from __future__ import annotations

import math
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gpucall._index import full_shape, slice_bounds

if TYPE_CHECKING:
    from typing_extensions import Self

# What the operations of a client take.
ArrayOrRemote: TypeAlias = "npt.ArrayLike | RemoteRef"


class RemoteRef:
    """What names an array on a server; `release` frees it, once this object is garbage.

    `release` is called by the garbage collector: it takes no lock and never fails.
    """

    def __init__(
        self,
        target: str,
        release: Callable[[bytes], None],
        handle: bytes,
        shape: tuple[int, ...],
        dtype: Any,
    ) -> None:
        self.handle = handle
        self.shape = shape
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.device = target
        self._finalizer = weakref.finalize(self, release, handle)
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

    def _discard(self) -> None:
        """Free it soon, though it is no garbage yet."""
        self._finalizer()

    def _reshape(self, shape: tuple[Any, ...]) -> dict[str, Any]:
        """The kind of view, for ViewRequest."""
        wanted = full_shape(self.size, tuple(int(n) for n in _sequence(shape)))
        return {"reshape": {"shape": wanted}}

    def _transpose(self, axes: tuple[Any, ...]) -> dict[str, Any]:
        order = list(_sequence(axes)) or range(self.ndim)[::-1]
        return {"transpose": {"axes": [axis % max(self.ndim, 1) for axis in order]}}

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a RemoteArray has no elements here; get() fetches them")

    def __repr__(self) -> str:
        state = ", freed" if self.is_freed else ""
        return (
            f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype}, "
            f"device={self.device!r}{state})"
        )


def _sequence(arguments: tuple[Any, ...]) -> Iterable[Any]:
    """f(1, 2) and f((1, 2)) alike."""
    one = len(arguments) == 1 and not hasattr(arguments[0], "__index__")
    return arguments[0] if one else arguments


class Holder(ABC):
    """What a RemoteArray needs of the client that it came from."""

    target: str

    @abstractmethod
    def _get(self, array: RemoteArray, timeout: float | None) -> npt.NDArray[Any]: ...

    @abstractmethod
    def _free(self, handle: bytes, timeout: float | None) -> None: ...

    @abstractmethod
    def _view(self, array: RemoteArray, **kind: Any) -> RemoteArray:
        """Another array on the same elements: `reshape`, `slice` or `transpose`."""

    @abstractmethod
    def _release(self, handle: bytes) -> None:
        """Free it soon. Called by the garbage collector: takes no lock, never fails."""


class RemoteArray(RemoteRef):
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
        super().__init__(holder.target, holder._release, handle, shape, dtype)
        self._holder = holder

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

    def reshape(self, *shape: Any) -> RemoteArray:
        """The same elements in another shape, sharing memory.

        Examples
        --------
        >>> c.put(np.int32([1, 2, 3, 4])).reshape(2, -1).get()
        array([[1, 2],
               [3, 4]], dtype=int32)
        """
        return self._holder._view(self, **self._reshape(shape))

    def transpose(self, *axes: Any) -> RemoteArray:
        """The axes in another order, where that moves no elements; sharing memory.

        Raises
        ------
        Error
            UNIMPLEMENTED: elements would move.

        Examples
        --------
        >>> c.put(np.zeros((1, 3))).transpose().shape
        (3, 1)
        """
        return self._holder._view(self, **self._transpose(axes))

    def __getitem__(self, key: Any) -> RemoteArray:
        """Part of the array, on the server: basic indexing without steps.

        Memory is shared where the part begins at a multiple of 256 bytes, else copied.
        Error UNIMPLEMENTED: its elements do not lie together.

        Examples
        --------
        >>> x = c.put(np.int32([[1, 2], [3, 4]]))
        >>> x[1].get()
        array([3, 4], dtype=int32)
        """
        start, stop, shape = slice_bounds(self.shape, key)
        part = self._holder._view(self, slice={"start": start, "stop": stop})
        return part if part.shape == shape else part.reshape(shape)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.free()
