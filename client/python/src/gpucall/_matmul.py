"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from gpucall import _wire
from gpucall._operations import Call, Caller, Operand, Result
from gpucall._tensors import dtype_number


class MatMul(Caller[Operand, Result]):
    """Matrix products."""

    def matmul(
        self,
        x1: Operand,
        x2: Operand,
        /,
        *,
        dtype: npt.DTypeLike | None = None,
        transpose_a: bool = False,
        transpose_b: bool = False,
        precision: str = "highest",
        alpha: float = 1,
        c: Operand | None = None,
        beta: float = 1,
        bias: Operand | None = None,
        activation: str | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Matrix product of the last two dimensions; the leading ones broadcast.

        ``activation(alpha * x1 @ x2 + beta * c + bias)``, as NumPy's matmul: vectors are a
        row of `x1` or a column of `x2`, operands of unlike dtypes are promoted, integers
        wrap.

        Parameters
        ----------
        x1, x2 : array_like, of any dtype but bool
        dtype : dtype, optional
            Of the result: of integers any integer dtype, such as int32 for int8; of
            float16 and bfloat16 float32.
        transpose_a, transpose_b : bool
            Swap the last two dimensions of `x1`, of `x2`, first.
        precision : {"highest", "tf32", "bf16"}
            Of float32 and complex64: elements may be rounded to this before they are
            multiplied. A device may compute more exactly.
        alpha, beta : float
            Whole numbers for integers.
        c : array_like, optional
            Broadcasts to the result, and has its dtype.
        bias : array_like, optional
            An element for each column of the result, of its dtype.
        activation : {"relu", "gelu", "gelu_tanh"}, optional
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
        >>> c.matmul(np.int8([100, 100]), np.int8([100, 100]), dtype=np.int32)
        array(20000, dtype=int32)
        """
        attributes = _wire.MatMul(
            transpose_a=transpose_a,
            transpose_b=transpose_b,
            output_dtype=0 if dtype is None else dtype_number(dtype),
            precision=_number(_wire.PRECISIONS, "precision", precision),
            addend=c is not None,
            bias=bias is not None,
            activation=activation
            and _number(_wire.ACTIVATIONS, "activation", activation),
        )
        if alpha != 1:
            attributes.alpha = alpha
        if beta != 1:
            attributes.beta = beta
        operands = (x1, x2, *(x for x in (c, bias) if x is not None))
        return self._call(
            Call(_wire.Operation(matmul=attributes), operands, timeout=timeout)
        )


def _number(numbers: dict[str, int], name: str, value: str) -> int:
    if value not in numbers:
        allowed = ", ".join(numbers)
        raise ValueError(f"{name} is {value!r}, allowed are {allowed}")
    return numbers[value]


def product_shape(attributes: Any, a: tuple[int, ...], b: tuple[int, ...]) -> list[int]:
    """The result's rows and columns, without those that vectors do not give."""
    sides = []
    if len(a) > 1:
        sides.append(a[-1] if attributes.transpose_a else a[-2])
    if len(b) > 1:
        sides.append(b[-2] if attributes.transpose_b else b[-1])
    return sides
