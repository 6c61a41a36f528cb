"""Programs: several operations in one round trip."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import numpy as np

from gpucall import _wire
from gpucall._families import Operations
from gpucall._lines import top_k_of
from gpucall._operations import Call
from gpucall._rearrange_axes import unstack_calls
from gpucall._remote import RemoteRef
from gpucall._tensors import Array, as_array, is_weak

_FUNCTIONS = {
    *(np.where, np.clip, np.round, np.real, np.imag, np.astype),
    *(np.reshape, np.transpose, np.concatenate, np.stack, np.pad),
    *(np.flip, np.tile, np.broadcast_to, np.roll, np.sort, np.argsort),
    *(np.cumsum, np.cumprod, np.take, np.take_along_axis),
    *(np.expand_dims, np.squeeze, np.moveaxis, np.repeat),
}

# NumPy's older names of what NumPy 2 and the operations call as the array API does.
_UFUNC_NAMES = {
    "absolute": "abs",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "tan2")},
    **{f"arc{name}": f"a{name}" for name in ("sinh", "cosh", "tanh")},
}


@dataclass(frozen=True, eq=False)
class Value:
    """An array that a Program will have: an input, or the result of an operation.

    Takes part in expressions like an array: Python's arithmetic, and NumPy's functions of
    the same names as the operations (``np.tanh(x)``), add operations to its Program.
    """

    program: Program
    operation: int  # that makes it; -1 for an input
    input: int = -1

    def __add__(self, other: Any) -> Value:
        return self.program.add(self, other)

    def __radd__(self, other: Any) -> Value:
        return self.program.add(other, self)

    def __sub__(self, other: Any) -> Value:
        return self.program.subtract(self, other)

    def __rsub__(self, other: Any) -> Value:
        return self.program.subtract(other, self)

    def __mul__(self, other: Any) -> Value:
        return self.program.multiply(self, other)

    def __rmul__(self, other: Any) -> Value:
        return self.program.multiply(other, self)

    def __truediv__(self, other: Any) -> Value:
        return self.program.divide(self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return self.program.divide(other, self)

    def __pow__(self, other: Any) -> Value:
        return self.program.power(self, other)

    def __rpow__(self, other: Any) -> Value:
        return self.program.power(other, self)

    def __floordiv__(self, other: Any) -> Value:
        return self.program.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Value:
        return self.program.floor_divide(other, self)

    def __mod__(self, other: Any) -> Value:
        return self.program.remainder(self, other)

    def __rmod__(self, other: Any) -> Value:
        return self.program.remainder(other, self)

    def __and__(self, other: Any) -> Value:
        return self.program.bitwise_and(self, other)

    def __or__(self, other: Any) -> Value:
        return self.program.bitwise_or(self, other)

    def __xor__(self, other: Any) -> Value:
        return self.program.bitwise_xor(self, other)

    def __lshift__(self, other: Any) -> Value:
        return self.program.left_shift(self, other)

    def __rshift__(self, other: Any) -> Value:
        return self.program.right_shift(self, other)

    def __invert__(self) -> Value:
        return self.program.bitwise_invert(self)

    def __lt__(self, other: Any) -> Value:
        return self.program.less(self, other)

    def __le__(self, other: Any) -> Value:
        return self.program.less_equal(self, other)

    def __gt__(self, other: Any) -> Value:
        return self.program.greater(self, other)

    def __ge__(self, other: Any) -> Value:
        return self.program.greater_equal(self, other)

    def __matmul__(self, other: Any) -> Value:
        return self.program.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Value:
        return self.program.matmul(other, self)

    def __neg__(self) -> Value:
        return self.program.negative(self)

    def __abs__(self) -> Value:
        return self.program.abs(self)

    def __getitem__(self, key: Any) -> Value:
        return self.program.slice(self, key)

    def __iter__(self) -> Any:
        raise TypeError("a Program's value has no length until it runs")

    def __array__(self, *args: Any, **kwargs: Any) -> Array:
        raise TypeError("a Program's value has no elements until it runs")

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Value:
        name = _UFUNC_NAMES.get(ufunc.__name__, ufunc.__name__)
        offered = name in _wire.ELEMENTWISE_OPS or name == "matmul"
        if method != "__call__" or kwargs or not offered:
            raise TypeError(
                f"np.{ufunc.__name__} with {method} and {kwargs} is not offered"
            )
        result: Value = getattr(self.program, name)(*inputs)
        return result

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Value:
        name = function.__name__
        reduces = name in _wire.REDUCE_OPS and function is getattr(np, name, None)
        if function not in _FUNCTIONS and not reduces:
            raise TypeError(f"np.{name} is not offered")
        result: Value = getattr(self.program, name)(*args, **kwargs)
        return result


class Program(
    Operations[Any, Value],
):
    """Operations that run together, with one round trip and no intermediate results sent.

    Has a client's methods, on Values. Arrays and Python scalars among the operands become
    constants. May be run any number of times, by any number of threads once it is built.

    Attributes
    ----------
    input_count : int
    calls : list of Call
        The operations so far; their operands are Values, arrays and Python scalars.
    outputs : list of Value

    Examples
    --------
    >>> p = gpucall.Program()
    >>> x, y = p.input(), p.input()
    >>> p.output(np.sqrt(x * x + y * y))
    >>> c.run(p, np.float32([3, 5]), np.float32([4, 12]))
    array([ 5., 13.], dtype=float32)
    """

    def __init__(self) -> None:
        self.input_count = 0
        self.calls: list[Call] = []
        self.outputs: list[Value] = []

    def input(self) -> Value:
        """The next input; `run` takes one array for each, in this order.

        Examples
        --------
        >>> p = gpucall.Program()
        >>> x = p.input()
        >>> y = p.gaussian(x, sigma=2)
        """
        self.input_count += 1
        return Value(self, -1, self.input_count - 1)

    def output(self, *values: Any) -> None:
        """Add results to send back; without any, the last operation's is.

        Examples
        --------
        >>> p = gpucall.Program()
        >>> x = p.input()
        >>> p.output(x + 1, x * 2)
        >>> c.run(p, np.int32([5]))
        (array([6], dtype=int32), array([10], dtype=int32))
        """
        for value in values:
            self._own(value)
        self.outputs += values

    def top_k(
        self,
        x: Any,
        /,
        k: SupportsIndex,
        axis: SupportsIndex = -1,
        *,
        largest: bool = True,
    ) -> tuple[Value, Value]:
        """The `k` largest elements of each line, the largest first, and their indices.

        As Client.top_k.

        Examples
        --------
        >>> p = gpucall.Program()
        >>> p.output(*p.top_k(p.input(), 2))
        >>> c.run(p, np.float32([20, 30, 10, 25]))
        (array([30., 25.], dtype=float32), array([1, 3]))
        """
        return top_k_of(self, x, k, axis, largest)

    def unstack(
        self, x: Any, /, count: SupportsIndex, *, axis: SupportsIndex = 0
    ) -> tuple[Value, ...]:
        """The `count` arrays that `x` is made of along an axis, which has that size.

        Error INVALID_ARGUMENT, when the Program runs: it has another.

        Examples
        --------
        >>> p = gpucall.Program()
        >>> first, second = p.unstack(p.input(), 2)
        >>> p.output(first * second)
        >>> c.run(p, np.int32([[1, 2], [3, 4]]))
        array([3, 8], dtype=int32)
        """
        calls = unstack_calls(x, operator.index(axis), operator.index(count))
        return self._call_all(calls, None)

    def _call(self, call: Call) -> Value:
        if call.timeout is not None:
            raise TypeError("timeout: give it to run(), which sends the Program")
        operands = tuple(self._operand(operand) for operand in call.operands)
        self.calls.append(Call(call.operation, operands, call.first_promoted))
        return Value(self, len(self.calls) - 1)

    def _call_all(
        self, calls: Sequence[Call], timeout: float | None
    ) -> tuple[Value, ...]:
        return tuple(self._call(replace(call, timeout=timeout)) for call in calls)

    def _operand(self, operand: Any) -> Any:
        if isinstance(operand, Value):
            self._own(operand)
            return operand
        if is_weak(operand) or isinstance(operand, RemoteRef):
            return operand
        return as_array(operand).copy()

    def _own(self, value: Any) -> None:
        if not isinstance(value, Value):
            raise TypeError(f"{value!r} is not a value of a Program")
        if value.program is not self:
            raise ValueError("the value belongs to another Program")
