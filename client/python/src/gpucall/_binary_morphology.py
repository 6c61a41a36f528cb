"""Morphology of truth."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy.typing as npt

from gpucall._filter_caller import Axes, FilterCaller, IndexPair, integers
from gpucall._operations import Operand, Result


class BinaryMorphology(FilterCaller[Operand, Result]):
    """Erosions and dilations of what is not 0, of arrays of any rank and real dtype.

    Results are bool. Common parameters:

    structure : array_like, optional
        Elements of the window that are not 0 take part. Default: an element and its
        neighbours along each axis.
    iterations : int
        1 to 100.
    border_value : bool
        What lies outside.
    axes : int or sequence of int, optional
        Default: all.
    """

    def binary_erosion(
        self,
        image: Operand,
        /,
        structure: npt.ArrayLike | None = None,
        iterations: SupportsIndex = 1,
        *,
        border_value: bool = False,
        origin: IndexPair = 0,
        axes: Axes = None,
        timeout: float | None = None,
    ) -> Result:
        """True where all of the window is, as scipy.ndimage.binary_erosion.

        Examples
        --------
        >>> c.binary_erosion(np.uint8([0, 1, 1, 1, 0]))
        array([False, False,  True, False, False])
        """
        kind = {"binary_erosion": _binary(iterations, border_value, origin)}
        return self._binary_filter(kind, image, structure, axes, timeout)

    def binary_dilation(
        self,
        image: Operand,
        /,
        structure: npt.ArrayLike | None = None,
        iterations: SupportsIndex = 1,
        *,
        border_value: bool = False,
        origin: IndexPair = 0,
        axes: Axes = None,
        timeout: float | None = None,
    ) -> Result:
        """True where any of the mirrored window is, as scipy.ndimage.binary_dilation.

        Examples
        --------
        >>> c.binary_dilation(np.uint8([0, 0, 1, 0, 0]))
        array([False,  True,  True,  True, False])
        """
        kind = {"binary_dilation": _binary(iterations, border_value, origin)}
        return self._binary_filter(kind, image, structure, axes, timeout)

    def binary_opening(
        self,
        image: Operand,
        /,
        structure: npt.ArrayLike | None = None,
        iterations: SupportsIndex = 1,
        *,
        border_value: bool = False,
        origin: IndexPair = 0,
        axes: Axes = None,
        timeout: float | None = None,
    ) -> Result:
        """Erosions, then dilations, as scipy.ndimage.binary_opening.

        Examples
        --------
        >>> c.binary_opening(np.uint8([0, 1, 0, 1, 1, 1, 0]))
        array([False, False, False,  True,  True,  True, False])
        """
        kind = {"binary_opening": _binary(iterations, border_value, origin)}
        return self._binary_filter(kind, image, structure, axes, timeout)

    def binary_closing(
        self,
        image: Operand,
        /,
        structure: npt.ArrayLike | None = None,
        iterations: SupportsIndex = 1,
        *,
        border_value: bool = False,
        origin: IndexPair = 0,
        axes: Axes = None,
        timeout: float | None = None,
    ) -> Result:
        """Dilations, then erosions, as scipy.ndimage.binary_closing.

        Examples
        --------
        >>> c.binary_closing(np.uint8([0, 1, 1, 0, 1, 1, 0]))
        array([False,  True,  True,  True,  True,  True, False])
        """
        kind = {"binary_closing": _binary(iterations, border_value, origin)}
        return self._binary_filter(kind, image, structure, axes, timeout)

    def _binary_filter(
        self,
        kind: dict[str, Any],
        image: Operand,
        structure: npt.ArrayLike | None,
        axes: Axes,
        timeout: float | None,
    ) -> Result:
        return self._filter(
            kind,
            image,
            "constant",
            0.0,
            None,
            timeout,
            axes=axes,
            footprint=structure,
        )


def _binary(
    iterations: SupportsIndex, border_value: bool, origin: IndexPair
) -> dict[str, Any]:
    return {
        "iterations": integers("iterations", iterations)[0],
        "border_value": bool(border_value),
        "origin": integers("origin", origin),
    }
