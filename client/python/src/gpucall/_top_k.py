"""The largest elements, which are two results of one call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, SupportsIndex, TypeVar

from gpucall._program import Program
from gpucall._remote import ArrayOrRemote

Pair = TypeVar("Pair")


class TopK(ABC, Generic[Pair]):
    """For callers that send: what they do with a Program of several results."""

    @abstractmethod
    def _run(
        self, program: Program, x: ArrayOrRemote, timeout: float | None
    ) -> Pair: ...

    def top_k(
        self,
        x: ArrayOrRemote,
        /,
        k: SupportsIndex,
        axis: SupportsIndex = -1,
        *,
        largest: bool = True,
        timeout: float | None = None,
    ) -> Pair:
        """The `k` largest elements of each line, the largest first, and their indices.

        Of equal elements the first comes first; NaN counts as larger than all numbers, as
        in PyTorch's topk. In one round trip.

        Parameters
        ----------
        k : int
            At most as many as the axis has elements.
        largest : bool
            False: the smallest, the smallest first.

        Returns
        -------
        (values, indices) : arrays
            The axis has size `k`; indices are int64.

        Raises
        ------
        Error
            INVALID_ARGUMENT: `k` or `axis`; UNIMPLEMENTED: complex numbers.

        Examples
        --------
        >>> values, indices = c.top_k(np.float32([20, 30, 10, 25]), 2)
        >>> values
        array([30., 25.], dtype=float32)
        >>> indices
        array([1, 3])
        """
        program = Program()
        program.output(*program.top_k(program.input(), k, axis, largest=largest))
        return self._run(program, x, timeout)
