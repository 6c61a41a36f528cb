"""Many matrix products in one request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpucall import _wire
from gpucall._matmul import product_shape
from gpucall._program import Program
from gpucall._remote import ArrayOrRemote, RemoteRef
from gpucall._tensors import Array, as_array

Empty = Callable[[Sequence[int], npt.DTypeLike], Array]
Pair = tuple[ArrayOrRemote, ArrayOrRemote]

_MAX_PRODUCTS = 16  # of a Program, which has 64 inputs at most: up to four each


class MatMulMany(ABC):
    """For a client that waits."""

    @abstractmethod
    def run(
        self, program: Program, /, *inputs: Any, timeout: float | None = None
    ) -> Any: ...
    @abstractmethod
    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike = float) -> Array: ...

    def matmul_many(
        self,
        pairs: Sequence[Pair],
        /,
        *,
        timeout: float | None = None,
        **options: Any,
    ) -> list[Array]:
        """The product of each pair, in one request.

        Pairs of like shapes and dtypes are one batched product; an operand that all of
        them share is sent once. Over 16 kinds of pairs are several requests, each with
        `timeout`.

        Parameters
        ----------
        pairs : sequence of (array_like, array_like)
        **options
            Those of `matmul`.

        Returns
        -------
        list of arrays, in the order of the pairs

        Raises
        ------
        Error
            As `matmul`; none of the products is returned.

        Examples
        --------
        >>> a, b = np.float32([[1, 2]]), np.float32([[3], [4]])
        >>> c.matmul_many([(a, b), (b, a), (2 * a, b)])[0]
        array([[11.]], dtype=float32)
        """
        results: list[Any] = [None] * len(pairs)
        for part in programs(pairs, options, self.empty):
            part.put(self.run(part.program, *part.inputs, timeout=timeout), results)
        return results


class AsyncMatMulMany(ABC):
    """For a client whose calls are awaited."""

    @abstractmethod
    async def run(
        self, program: Program, /, *inputs: Any, timeout: float | None = None
    ) -> Any: ...
    @abstractmethod
    def empty(self, shape: Sequence[int], dtype: npt.DTypeLike = float) -> Array: ...

    async def matmul_many(
        self,
        pairs: Sequence[Pair],
        /,
        *,
        timeout: float | None = None,
        **options: Any,
    ) -> list[Array]:
        """The product of each pair, in one request.

        As Client.matmul_many.
        """
        results: list[Any] = [None] * len(pairs)
        for part in programs(pairs, options, self.empty):
            made = await self.run(part.program, *part.inputs, timeout=timeout)
            part.put(made, results)
        return results


@dataclass
class Part:
    """A Program of some of the products.

    Attributes
    ----------
    places : list of (list of int, shape or None)
        Of each output: the pairs whose results it has, one after another, and their shape;
        without a shape it is one result itself.
    """

    program: Program
    inputs: list[Any]
    places: list[tuple[list[int], tuple[int, ...] | None]]

    def put(self, outputs: Any, results: list[Any]) -> None:
        """Put what the Program gave where it belongs."""
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for output, (pairs, shape) in zip(outputs, self.places, strict=True):
            for i, pair in enumerate(pairs):
                results[pair] = output if shape is None else output[i].reshape(shape)


def programs(
    pairs: Sequence[Pair], options: dict[str, Any], empty: Empty
) -> Iterator[Part]:
    """The Programs that give all the products; `empty` makes their inputs."""
    arrays = [(as_array(a), as_array(b)) for a, b in pairs]
    kinds: dict[Any, list[int]] = {}
    for i, (a, b) in enumerate(arrays):
        remote = isinstance(a, RemoteRef) or isinstance(b, RemoteRef)
        kind = (a.shape, a.dtype, b.shape, b.dtype)
        kinds.setdefault((i, None) if remote else kind, []).append(i)
    groups = list(kinds.values())
    for first in range(0, len(groups), _MAX_PRODUCTS):
        part = Part(Program(), [], [])
        for group in groups[first : first + _MAX_PRODUCTS]:
            _add(part, group, [arrays[i] for i in group], options, empty)
        yield part


def _add(
    part: Part,
    group: list[int],
    arrays: list[Any],
    options: dict[str, Any],
    empty: Empty,
) -> None:
    shape = None
    a, b = arrays[0]
    if len(group) > 1:
        transposed = [bool(options.get(f"transpose_{name}")) for name in "ab"]
        shape = _shape_of(a, b, transposed)
        a, b = _stacked(arrays, transposed, empty)
    product = part.program.matmul(part.program.input(), part.program.input(), **options)
    part.program.output(product)
    part.inputs += [a, b]
    part.places.append((group, shape))


def _matrix(x: Array, rank: int, column: bool) -> Array:
    """As a matrix, with as many dimensions as `rank`."""
    if x.ndim == 1:
        x = x.reshape((-1, 1) if column else (1, -1))
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def _stacked(arrays: list[Any], transposed: list[bool], empty: Empty) -> list[Array]:
    """Of all pairs the first operands, and the second ones, along a new first dimension."""
    rank = max(2, *(x.ndim for x in arrays[0]))
    columns = [transposed[0], not transposed[1]]
    stacked = []
    for side in range(2):
        xs = [pair[side] for pair in arrays]
        if all(x is xs[0] for x in xs) and side == 1:
            xs = xs[:1]  # the same for all
        matrices = [_matrix(x, rank, columns[side]) for x in xs]
        together = empty((len(matrices), *matrices[0].shape), matrices[0].dtype)
        stacked.append(np.stack(matrices, out=together))
    return stacked


def _shape_of(a: Array, b: Array, transposed: list[bool]) -> tuple[int, ...] | None:
    """Of one product."""
    attributes = _wire.MatMul(transpose_a=transposed[0], transpose_b=transposed[1])
    try:
        outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        return ()  # the server says what is wrong
    return (*outer, *product_shape(attributes, a.shape, b.shape))
