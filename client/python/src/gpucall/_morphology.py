"""Greyscale morphology."""

from __future__ import annotations

import numpy.typing as npt

from gpucall._filter_caller import Axes, FilterCaller, IndexPair, Modes, window
from gpucall._operations import Operand, Result


class Morphology(FilterCaller[Operand, Result]):
    """Morphology with flat windows. NaN comes last: after infinity."""

    def grey_erosion(
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
        """Smallest element of a window, as scipy.ndimage.grey_erosion.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.grey_erosion(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[3, 3, 5, 5]], dtype=uint8)
        """
        kind = {"grey_erosion": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def grey_dilation(
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
        """Largest element of the mirrored window, as scipy.ndimage.grey_dilation.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.grey_dilation(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[9, 9, 9, 7]], dtype=uint8)
        """
        kind = {"grey_dilation": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def grey_opening(
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
        """Erosion, then dilation, as scipy.ndimage.grey_opening.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.grey_opening(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[3, 5, 5, 5]], dtype=uint8)
        """
        kind = {"grey_opening": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def grey_closing(
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
        """Dilation, then erosion, as scipy.ndimage.grey_closing.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.grey_closing(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[9, 9, 7, 7]], dtype=uint8)
        """
        kind = {"grey_closing": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def morphological_gradient(
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
        """Dilation minus erosion, as scipy.ndimage.morphological_gradient.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.morphological_gradient(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[6, 6, 4, 2]], dtype=uint8)
        """
        kind = {"morphological_gradient": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def white_tophat(
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
        """Image minus its opening (of uint8 never below 0).

        As scipy.ndimage.white_tophat.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.white_tophat(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[0, 4, 0, 2]], dtype=uint8)
        """
        kind = {"white_tophat": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def black_tophat(
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
        """Closing of an image minus the image (of uint8 never below 0).

        As scipy.ndimage.black_tophat.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.black_tophat(np.uint8([[3, 9, 5, 7]]), size=(1, 3))
        array([[6, 0, 2, 0]], dtype=uint8)
        """
        kind = {"black_tophat": window(size, origin)}
        return self._filter(
            kind, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )
