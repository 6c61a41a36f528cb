"""Layers of networks that look at images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from gpucall import _wire
from gpucall._operations import Call, Caller, Operand, Result

PerAxis: TypeAlias = int | Sequence[int]
Padding: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]]


class Network(Caller[Operand, Result]):
    """Convolutions and pools."""

    def conv2d(
        self,
        x: Operand,
        weights: Operand,
        /,
        bias: Operand | None = None,
        *,
        stride: PerAxis = 1,
        padding: Padding = 0,
        dilation: PerAxis = 1,
        groups: int = 1,
        layout: str = "NCHW",
        timeout: float | None = None,
    ) -> Result:
        """Convolution of images: cross-correlation, as networks have it.

        Parameters
        ----------
        x : array_like, float16, bfloat16, float32 or float64
            Images x channels x rows x columns, or as `layout` says.
        weights : array_like
            Out channels x channels / groups x rows x columns, in either layout.
        bias : array_like, optional
            An element for each out channel.
        stride, dilation : int, or (rows, columns)
        padding : int, (rows, columns), or ((top, bottom), (left, right))
            Zeros around each image.
        groups : int
            Of channels, each with its own weights.
        layout : {"NCHW", "NHWC"}
            The order of dimensions of `x` and of the result.
        timeout : float, optional
            Seconds; instead of the client's.

        Raises
        ------
        Error
            INVALID_ARGUMENT: shapes do not match; UNIMPLEMENTED: dtype not offered.

        Examples
        --------
        >>> x = np.ones((1, 1, 3, 3), np.float32)
        >>> c.conv2d(x, x)
        array([[[[9.]]]], dtype=float32)
        """
        conv = _wire.Conv2d(steps=_steps(stride, padding, dilation), groups=groups)
        operands = (x, weights) if bias is None else (x, weights, bias)
        return self._layer(layout, operands, timeout, conv2d=conv)

    def max_pool2d(
        self,
        x: Operand,
        /,
        size: PerAxis,
        *,
        stride: PerAxis | None = None,
        padding: Padding = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        timeout: float | None = None,
    ) -> Result:
        """Largest element of each window of images, NaN where there is one.

        Parameters
        ----------
        x : array_like, float16, bfloat16, float32 or float64
            Images x channels x rows x columns, or as `layout` says.
        size : int, or (rows, columns)
            Of the window.
        stride : int, or (rows, columns), optional
            Default: the window's size.
        padding : int, (rows, columns), or ((top, bottom), (left, right))
            Around each image; takes no part.
        dilation : int, or (rows, columns)
        ceil_mode : bool
            Whether a last window that passes the padded image gives an element too.
        layout : {"NCHW", "NHWC"}
        timeout : float, optional
            Seconds; instead of the client's.

        Examples
        --------
        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> c.max_pool2d(x, 2)
        array([[[[ 5.,  7.],
                 [13., 15.]]]], dtype=float32)
        """
        steps = _steps(stride, padding, dilation)
        pool = _wire.Pool2d(size=_values(size), steps=steps, ceil_mode=ceil_mode)
        return self._layer(layout, (x,), timeout, max_pool2d=pool)

    def avg_pool2d(
        self,
        x: Operand,
        /,
        size: PerAxis,
        *,
        stride: PerAxis | None = None,
        padding: Padding = 0,
        dilation: PerAxis = 1,
        ceil_mode: bool = False,
        count_padding: bool = False,
        layout: str = "NCHW",
        timeout: float | None = None,
    ) -> Result:
        """Mean of each window of images.

        Parameters
        ----------
        count_padding : bool
            Whether padding counts, as zeros.
        x, size, stride, padding, dilation, ceil_mode, layout, timeout
            As in `max_pool2d`.

        Examples
        --------
        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> c.avg_pool2d(x, 2)
        array([[[[ 2.5,  4.5],
                 [10.5, 12.5]]]], dtype=float32)
        """
        pool = _wire.Pool2d(
            size=_values(size),
            steps=_steps(stride, padding, dilation),
            ceil_mode=ceil_mode,
            count_padding=count_padding,
        )
        return self._layer(layout, (x,), timeout, avg_pool2d=pool)

    def _layer(
        self, layout: str, operands: Any, timeout: float | None, **kind: Any
    ) -> Result:
        numbers = _wire.IMAGE_LAYOUTS
        if layout.lower() not in numbers:
            raise ValueError(f"layout is {layout!r}, allowed are NCHW, NHWC")
        network = _wire.Network(layout=numbers[layout.lower()], **kind)
        return self._call(
            Call(_wire.Operation(network=network), operands, timeout=timeout)
        )


def _values(values: PerAxis) -> Sequence[int]:
    return [values] if isinstance(values, int) else list(values)


def _steps(stride: PerAxis | None, padding: Padding, dilation: PerAxis) -> Any:
    around: Any = padding
    if not isinstance(around, int) and any(
        not isinstance(side, int) for side in around
    ):
        (top, bottom), (left, right) = around
        around = (top, left, bottom, right)
    return _wire.Steps2d(
        stride=[] if stride is None else _values(stride),
        padding=_values(around),
        dilation=_values(dilation),
    )
