"""The operations, with NumPy's and scipy.ndimage's names, for every kind of caller."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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

    @abstractmethod
    def _call_all(self, calls: Sequence[Call], timeout: float | None) -> Any:
        """A tuple of the results of calls that have the same operands."""
