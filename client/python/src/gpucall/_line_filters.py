"""Filters along one axis, with weights given in the call."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from gpucall._error import invalid
from gpucall._filter_caller import FilterCaller, integers
from gpucall._operations import Operand, Result


class LineFilters(FilterCaller[Operand, Result]):
    """Weighted sums along an axis of an array of any rank."""

    def correlate1d(
        self,
        image: Operand,
        weights: npt.ArrayLike,
        /,
        axis: SupportsIndex = -1,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: SupportsIndex = 0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Correlation along an axis, as scipy.ndimage.correlate1d.

        Parameters
        ----------
        weights : array_like, 1-D
            Taken as float64; sent with the call, so not a RemoteArray.
        axis : int
            Of the array.
        origin : int
            Shift of the weights.

        Examples
        --------
        >>> c.correlate1d(np.int64([0, 1, 0, 0]), [1, 2, 3], mode="constant")
        array([3, 2, 1, 0])
        """
        kind = {"correlate1d": _line(weights, axis, origin)}
        return self._filter(kind, image, mode, cval, output, timeout)

    def convolve1d(
        self,
        image: Operand,
        weights: npt.ArrayLike,
        /,
        axis: SupportsIndex = -1,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: SupportsIndex = 0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Convolution along an axis, as scipy.ndimage.convolve1d.

        Parameters
        ----------
        weights : array_like, 1-D
            Taken as float64; sent with the call, so not a RemoteArray.
        axis : int
            Of the array.
        origin : int
            Shift of the weights.

        Examples
        --------
        >>> c.convolve1d(np.int64([0, 1, 0, 0]), [1, 2, 3], mode="constant")
        array([1, 2, 3, 0])
        """
        kind = {"convolve1d": _line(weights, axis, origin)}
        return self._filter(kind, image, mode, cval, output, timeout)


def _line(
    weights: npt.ArrayLike, axis: SupportsIndex, origin: SupportsIndex
) -> dict[str, Any]:
    array = np.asarray(weights)
    if array.ndim != 1:
        raise invalid(f"weights have shape {array.shape}, allowed is one dimension")
    if array.dtype.kind not in "buif":
        raise TypeError(f"weights of dtype {array.dtype} are not real numbers")
    return {
        "weights": array.astype(np.float64),
        "axis": operator.index(axis),
        "origin": integers("origin", origin)[0],
    }
