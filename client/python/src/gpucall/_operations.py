"""The operations, with NumPy's and scipy.ndimage's names, for every kind of caller."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gpucall import _wire

Operand = TypeVar("Operand")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Call:
    """One operation on its operands, nothing sent yet.

    Attributes
    ----------
    operation : Operation
        The wire message, without inputs.
    operands : tuple
        Arrays, whatever becomes one, or values of a Program.
    first_promoted : int
        Python scalars among the operands from here on take the others' dtype.
    timeout : float or None
        Seconds.
    """

    operation: Any
    operands: tuple[Any, ...]
    first_promoted: int = 0
    timeout: float | None = None


class Caller(ABC, Generic[Operand, Result]):
    """What the operations need: something that makes a result of a Call."""

    @abstractmethod
    def _call(self, call: Call) -> Result: ...


class MatMul(Caller[Operand, Result]):
    """Matrix products."""

    def matmul(
        self,
        x1: Operand,
        x2: Operand,
        /,
        *,
        transpose_a: bool = False,
        transpose_b: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Matrix product of the last two dimensions; the leading ones broadcast.

        Parameters
        ----------
        x1, x2 : array_like, float32 or float64 (both the same), 2 to 8 dimensions
        transpose_a, transpose_b : bool
            Swap the last two dimensions of `x1`, of `x2`, first.
        timeout : float, optional
            Seconds; instead of the client's.

        Raises
        ------
        Error
            INVALID_ARGUMENT: shapes do not match; UNIMPLEMENTED: dtype not offered.

        Examples
        --------
        >>> a = np.float32([[1, 2], [3, 4]])
        >>> c.matmul(a, a, transpose_b=True)
        array([[ 5., 11.],
               [11., 25.]], dtype=float32)
        """
        attributes = _wire.MatMul(transpose_a=transpose_a, transpose_b=transpose_b)
        return self._call(
            Call(_wire.Operation(matmul=attributes), (x1, x2), timeout=timeout)
        )
