"""Filters that take one element of a window by its rank."""

from __future__ import annotations

from typing import SupportsFloat, SupportsIndex

import numpy.typing as npt

from gpucall._filter_caller import (
    Axes,
    FilterCaller,
    IndexPair,
    Modes,
    integers,
    window,
)
from gpucall._operations import Operand, Result


class RankFilters(FilterCaller[Operand, Result]):
    """Minimum, maximum, ranks and percentiles. NaN comes last: after infinity."""

    def minimum_filter(
        self,
        image: Operand,
        /,
        size: IndexPair = 3,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        footprint: npt.ArrayLike | None = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Smallest element of a window, as scipy.ndimage.minimum_filter.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.minimum_filter(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[3, 3, 5, 5]], dtype=uint8)
        """
        kind = {"minimum_filter": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def maximum_filter(
        self,
        image: Operand,
        /,
        size: IndexPair = 3,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        footprint: npt.ArrayLike | None = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Largest element of a window, as scipy.ndimage.maximum_filter.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.maximum_filter(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[9, 9, 9, 7]], dtype=uint8)
        """
        kind = {"maximum_filter": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def rank_filter(
        self,
        image: Operand,
        /,
        rank: SupportsIndex,
        size: IndexPair = 3,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        footprint: npt.ArrayLike | None = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Element of a given rank of a window, as scipy.ndimage.rank_filter.

        Parameters
        ----------
        rank : int
            From 0; a negative one counts from the largest, which is -1.
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.rank_filter(np.uint8([[3, 9, 5, 7]]), rank=1, size=(1, 3))
        array([[3, 5, 7, 7]], dtype=uint8)
        """
        kind = {
            "rank_filter": {
                "window": window(size, origin),
                "rank": integers("rank", rank)[0],
            }
        }
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def percentile_filter(
        self,
        image: Operand,
        /,
        percentile: SupportsFloat,
        size: IndexPair = 3,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        footprint: npt.ArrayLike | None = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Percentile of a window, as scipy.ndimage.percentile_filter.

        Parameters
        ----------
        percentile : float
            0 to 100; a negative one has 100 added.
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.percentile_filter(np.uint8([[3, 9, 5, 7]]), percentile=50, size=(1, 3))
        array([[3, 5, 7, 7]], dtype=uint8)
        """
        kind = {
            "percentile_filter": {
                "window": window(size, origin),
                "percentile": float(percentile),
            }
        }
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )
