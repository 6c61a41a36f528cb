"""Calls that have several results: one Program each."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, SupportsIndex, TypeVar

from gpucall._error import invalid
from gpucall._operations import Call
from gpucall._program import Program
from gpucall._rearrange_axes import unstack_calls
from gpucall._remote import ArrayOrRemote
from gpucall._tensors import as_array

Results = TypeVar("Results")

_MAX_RESULTS = 64  # of a Program


class Several(ABC, Generic[Results]):
    """For callers that send: what they do with Programs of several results.

    Results is a tuple of arrays, or what is awaited for one.
    """

    @abstractmethod
    def _run_all(
        self, programs: Sequence[Program], inputs: Sequence[Any], timeout: float | None
    ) -> Results:
        """All Programs' results, in order; each has the same inputs."""

    def _call_all(self, calls: Sequence[Call], timeout: float | None) -> Results:
        """Results of calls that have the same operands; over 64 are several requests."""
        programs = []
        for first in range(0, len(calls), _MAX_RESULTS):
            program = Program()
            operands = tuple(program.input() for _ in calls[first].operands)
            for call in calls[first : first + _MAX_RESULTS]:
                program.output(
                    program._call(replace(call, operands=operands, timeout=None))
                )
            programs.append(program)
        return self._run_all(programs, calls[0].operands if calls else (), timeout)

    def unstack(
        self,
        x: ArrayOrRemote,
        /,
        *,
        axis: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> Results:
        """The arrays that `x` is made of along an axis.

        Up to 64 of them in one round trip; each further 64 are another, with `timeout`.

        Raises
        ------
        Error
            INVALID_ARGUMENT: `axis`.

        Examples
        --------
        >>> c.unstack(np.int32([[1, 2], [3, 4]]), axis=1)
        (array([1, 3], dtype=int32), array([2, 4], dtype=int32))
        """
        array, number = as_array(x), operator.index(axis)
        rank = len(array.shape)
        if not -rank <= number < rank:
            raise invalid(
                f"unstack: axis is {number}, for {rank} dimensions allowed are "
                f"{-rank} to {rank - 1}"
                if rank
                else f"unstack: axis is {number}, a 0-d tensor has none"
            )
        calls = unstack_calls(array, number, array.shape[number])
        return self._call_all(calls, timeout)

    def top_k(
        self,
        x: ArrayOrRemote,
        /,
        k: SupportsIndex,
        axis: SupportsIndex = -1,
        *,
        largest: bool = True,
        timeout: float | None = None,
    ) -> Results:
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
        return self._run_all([program], (x,), timeout)
