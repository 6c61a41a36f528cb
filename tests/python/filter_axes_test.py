"""Filters over any axes of arrays of any rank and real dtype: the same answers as scipy.ndimage.

GPUCALL_TEST_EXAMPLES sets how many examples each test tries.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.ndimage as ndi
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucall

EXAMPLES = settings(max_examples=int(os.environ.get("GPUCALL_TEST_EXAMPLES", "300")))

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
INTEGERS = [
    np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
]
FLOATS = [np.dtype(np.float32), np.dtype(np.float64), *HALVES]
MODES = ["nearest", "reflect", "mirror", "wrap", "constant"]


def is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu"


def work(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What filters work in: halves go through float32."""
    return np.dtype(np.float32) if dtype in HALVES else dtype


def cast(values: Any, dtype: np.dtype[Any]) -> Any:
    """float64 to dtype: integers are cut off towards zero and saturate."""
    if not is_integer(dtype):
        with np.errstate(over="ignore"):
            return values.astype(dtype)
    info = np.iinfo(dtype)
    end = float(info.max) if info.max < 2**53 else float(info.max) + 1
    inside = np.clip(
        np.trunc(values),
        float(info.min),
        np.nextafter(end, 0) if info.max > 2**53 else end,
    )
    result = inside.astype(dtype)
    result[values >= float(info.max)] = info.max
    return result


class Case:
    """An array, the axes to filter, and what lies outside."""

    def __init__(self, x: Any, axes: tuple[int, ...], modes: Any, cval: int) -> None:
        self.x, self.axes, self.cval = x, axes, cval
        self.modes = modes

    def __repr__(self) -> str:
        return (
            f"Case({self.x!r}, axes={self.axes}, modes={self.modes}, cval={self.cval})"
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.x.dtype
        return dtype

    @property
    def dimensions(self) -> list[int]:
        return [axis % self.x.ndim for axis in self.axes]

    def mode(self, i: int) -> str:
        return self.modes if isinstance(self.modes, str) else self.modes[i]

    @property
    def keywords(self) -> dict[str, Any]:
        return {"axes": self.axes, "mode": self.modes, "cval": self.cval}

    def worked(self) -> Any:
        return self.x.astype(work(self.dtype))

    def converted(self, dtype: np.dtype[Any]) -> Any:
        """As by cast: integers to integers wrap."""
        if is_integer(self.dtype):
            return self.x.astype(work(dtype))
        return cast(self.x.astype(np.float64), work(dtype))

    def line(
        self, x: Any, i: int, weights: Any, dtype: np.dtype[Any], origin: int = 0
    ) -> Any:
        """scipy.ndimage's pass along axis number i, in float64 and then cast."""
        sums = ndi.correlate1d(
            x,
            weights,
            self.dimensions[i],
            output=np.float64,
            mode=self.mode(i),
            cval=self.cval,
            origin=origin,
        )
        return cast(sums, dtype)


def elements(draw: st.DrawFn, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if is_integer(dtype):
        info = np.iinfo(dtype)
        low, high = info.min, info.max
        if draw(st.booleans()):
            low, high = max(low, -100), min(high, 100)
        return rng.integers(low, high, shape, dtype, endpoint=True)
    if dtype == bool:
        return rng.random(shape) < 0.7
    values = rng.standard_normal(shape) * 10 ** rng.uniform(-2, 3)
    return values.astype(dtype)


@st.composite
def cases(
    draw: st.DrawFn,
    dtypes: list[np.dtype[Any]] = INTEGERS + FLOATS,
    several_modes: bool = True,
    least_axes: int = 1,
) -> Case:
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=1, max_size=4)))
    dtype = draw(st.sampled_from(dtypes))
    axes = draw(
        st.lists(
            st.integers(0, len(shape) - 1),
            min_size=least_axes,
            max_size=len(shape),
            unique=True,
        )
    )
    given_axes = tuple(a - len(shape) * draw(st.integers(0, 1)) for a in axes)
    modes: Any = draw(st.sampled_from(MODES))
    if several_modes and axes and draw(st.booleans()):
        modes = [draw(st.sampled_from(MODES)) for _ in axes]
    cval = draw(st.integers(0, 100))
    return Case(elements(draw, dtype, shape), given_axes, modes, cval)


@st.composite
def windows(draw: st.DrawFn, count: int, largest: int = 9) -> tuple[Any, Any]:
    """Sizes and origins of the axes."""
    sizes = [draw(st.integers(1, largest)) for _ in range(count)]
    origins = [draw(st.integers(-(n // 2), (n - 1) // 2)) for n in sizes]
    return sizes, origins


def check(got: Any, wanted: Any, dtype: np.dtype[Any]) -> None:
    assert got.dtype == dtype
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, wanted.astype(dtype))


def eps(dtype: np.dtype[Any]) -> float:
    finfo: Any = ml_dtypes.finfo
    return float(finfo(dtype).eps)


def check_close(got: Any, wanted: Any, dtype: np.dtype[Any], scale: float) -> None:
    """Where weights are computed: as near as rounding in the dtype between passes allows."""
    assert got.dtype == dtype and got.shape == wanted.shape
    with np.errstate(over="ignore"):
        wanted = wanted.astype(dtype)
    unit = eps(dtype)
    np.testing.assert_allclose(
        got.astype(np.float64),
        wanted.astype(np.float64),
        rtol=2 * unit,
        atol=4 * scale * max(eps(work(dtype)), unit / 64),
    )


def magnitude(case: Case) -> float:
    return float(np.abs(case.x.astype(np.float64)).max(initial=abs(case.cval)))


OUTPUTS = st.sampled_from(
    [None, None, np.float32, np.float64, np.int16, np.uint8, np.float16]
)


@EXAMPLES
@given(data=st.data(), case=cases(), output=OUTPUTS)
def test_gaussian_is_scipys(
    data: st.DataObject, case: Case, output: Any, c: gpucall.Client
) -> None:
    sigmas = [data.draw(st.sampled_from([0.0, 0.4, 0.7, 1.3, 3.0])) for _ in case.axes]
    truncate = data.draw(st.sampled_from([4.0, 2.5, 0.5]))
    dtype = np.dtype(output or case.dtype)
    got = c.gaussian(case.x, sigmas, truncate=truncate, output=output, **case.keywords)
    # The sums of both agree to within their last bits, and so do integers, but for those that
    # are cut off there. The weights are none of them below 0, so what lies between is bounded.
    slack = 1e-12 * magnitude(case) if is_integer(dtype) else 0
    low = high = case.worked()
    for i, sigma in enumerate(sigmas):
        if sigma == 0:
            continue
        radius = int(truncate * sigma + 0.5)
        taps = np.exp(-0.5 / sigma**2 * np.arange(-radius, radius + 1) ** 2)
        taps /= taps.sum()
        exact = Case(low, case.axes, case.modes, case.cval).line(
            low, i, taps, np.dtype(np.float64)
        )
        low = cast(exact - slack, work(dtype))
        exact = case.line(high, i, taps, np.dtype(np.float64))
        high = cast(exact + slack, work(dtype))
    if all(sigma == 0 for sigma in sigmas):
        low = high = case.converted(dtype)
    assert got.dtype == dtype and got.shape == case.x.shape
    if is_integer(dtype):
        assert (low <= got).all() and (got <= high).all()
    else:
        check_close(got, low, dtype, magnitude(case))
    if case.dtype not in HALVES and dtype not in HALVES and not is_integer(dtype):
        keywords = case.keywords | {"output": dtype, "truncate": truncate}
        wanted = ndi.gaussian_filter(case.x, sigmas, **keywords)
        check_close(got, wanted, dtype, magnitude(case))


@EXAMPLES
@given(
    data=st.data(), case=cases(), output=st.sampled_from([None, np.float32, np.float64])
)
def test_derivatives_of_gaussians_are_scipys(
    data: st.DataObject, case: Case, output: Any, c: gpucall.Client
) -> None:
    name = data.draw(
        st.sampled_from(["gaussian", "gaussian_laplace", "gaussian_gradient_magnitude"])
    )
    sigmas = [data.draw(st.sampled_from([0.7, 1.0, 1.8])) for _ in case.axes]
    orders = [data.draw(st.integers(0, 2)) for _ in case.axes]
    keywords: dict[str, Any] = dict(case.keywords)
    if name == "gaussian":
        orders[0] = max(orders[0], 1)
        keywords["order"] = orders
    got = getattr(c, name)(case.x, sigmas, output=output, **keywords)
    default = case.dtype
    if is_integer(case.dtype):
        default = np.dtype(np.float32 if case.dtype.itemsize <= 2 else np.float64)
    dtype = np.dtype(output or default)
    keywords["output"] = work(dtype)
    x = case.worked()
    if name == "gaussian":
        wanted = ndi.gaussian_filter(x, sigmas, **keywords)
    else:
        order = 2 if name == "gaussian_laplace" else 1
        parts = [
            ndi.gaussian_filter(
                x, sigmas, order * np.eye(len(sigmas), dtype=int)[i], **keywords
            )
            for i in range(len(sigmas))
        ]
        wanted = np.sum(parts if order == 2 else np.square(parts), axis=0)
        wanted = wanted if order == 2 else np.sqrt(wanted)
        # Of some axes, or in another order, theirs refuses or mixes up sigmas.
        whole = case.dimensions == list(range(case.x.ndim))
        if isinstance(case.modes, str) and whole:
            theirs = getattr(ndi, name)(x, sigmas, **keywords)
            np.testing.assert_allclose(
                wanted, theirs, rtol=1e-5, atol=1e-5 * magnitude(case)
            )
    # The root of squares is as far off as what the squares are of; so scaled.
    check_close(got, wanted, dtype, 8 * len(case.axes) * magnitude(case))


@EXAMPLES
@given(data=st.data(), case=cases(), output=OUTPUTS)
def test_box_is_scipys(
    data: st.DataObject, case: Case, output: Any, c: gpucall.Client
) -> None:
    sizes, origins = data.draw(windows(len(case.axes)))
    dtype = np.dtype(output or case.dtype)
    got = c.box(case.x, sizes, origin=origins, output=output, **case.keywords)
    wanted = case.worked()
    for i, (size, origin) in enumerate(zip(sizes, origins)):
        if size > 1:
            sums = case.line(wanted, i, np.ones(size), np.dtype(np.float64), origin)
            wanted = cast(sums / size, work(dtype))
    if all(size == 1 for size in sizes):
        wanted = case.converted(dtype)
    check(got, wanted, dtype)
    # scipy.ndimage's own sums run on along the line, and so are a little less exact.
    keywords = case.keywords | {"origin": origins, "output": work(dtype)}
    theirs = ndi.uniform_filter(case.worked(), sizes, **keywords)
    if dtype == case.dtype and not is_integer(dtype):
        check_close(got, theirs.astype(dtype), dtype, 8 * magnitude(case))


def line_arguments(data: st.DataObject, ndim: int) -> tuple[Any, dict[str, Any]]:
    size = data.draw(st.integers(1, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    weights = rng.integers(-3, 4, size) / data.draw(st.sampled_from([1, 3.0]))
    if data.draw(st.booleans()):
        weights = weights + weights[::-1] * data.draw(st.sampled_from([1, -1]))
    return weights, {
        "axis": data.draw(st.integers(-ndim, ndim - 1)),
        "origin": data.draw(st.integers(-(size // 2), (size - 1) // 2)),
        "mode": data.draw(st.sampled_from(MODES)),
        "cval": data.draw(st.integers(0, 100)),
    }


@pytest.mark.parametrize("name", ["correlate1d", "convolve1d"])
@EXAMPLES
@given(data=st.data(), case=cases(), output=OUTPUTS)
def test_lines_are_scipys(
    name: str, data: st.DataObject, case: Case, output: Any, c: gpucall.Client
) -> None:
    weights, keywords = line_arguments(data, case.x.ndim)
    dtype = np.dtype(output or case.dtype)
    got = getattr(c, name)(case.x, weights, output=output, **keywords)
    sums = getattr(ndi, name)(case.worked(), weights, output=np.float64, **keywords)
    check(got, cast(sums, work(dtype)), dtype)
    if case.dtype in HALVES or dtype in HALVES:
        return
    theirs = getattr(ndi, name)(case.x, weights, output=dtype, **keywords)
    inside = np.ones(
        got.shape, bool
    )  # what they give past the dtype's range is not defined
    if is_integer(dtype):
        info = np.iinfo(dtype)
        inside = (sums > float(info.min) - 1) & (sums < float(info.max))
    np.testing.assert_array_equal(got[inside], theirs[inside])


@pytest.mark.parametrize("name", ["sobel", "prewitt", "scharr", "laplacian"])
@EXAMPLES
@given(data=st.data(), case=cases(), output=OUTPUTS)
def test_derivatives_are_scipys(
    name: str, data: st.DataObject, case: Case, output: Any, c: gpucall.Client
) -> None:
    default = case.dtype
    if is_integer(default):
        default = np.dtype(np.float32 if case.dtype.itemsize <= 2 else np.float64)
    dtype = np.dtype(output or default)
    between = np.dtype(np.float64) if is_integer(dtype) else work(dtype)
    keywords = case.keywords
    if name == "laplacian":
        got = c.laplacian(case.x, output=output, **keywords)
        wanted = ndi.laplace(case.worked(), output=between, **keywords)
    else:
        axis = data.draw(st.integers(-len(case.axes), len(case.axes) - 1))
        got = getattr(c, name)(case.x, axis, output=output, **keywords)
        across = {"sobel": [1, 2, 1], "prewitt": [1, 1, 1], "scharr": [3, 10, 3]}[name]
        axis %= len(case.axes)
        wanted = case.line(case.worked(), axis, [-1, 0, 1], between)
        for i in range(len(case.axes)):
            if i != axis:
                wanted = case.line(wanted, i, across, between)
        if name != "scharr" and case.axes == tuple(range(case.x.ndim)):
            border = {"mode": case.modes, "cval": case.cval, "output": between}
            theirs = getattr(ndi, name)(case.worked(), axis, **border)
            np.testing.assert_array_equal(wanted, theirs)
    if is_integer(dtype):
        wanted = cast(wanted, dtype)
    check(got, wanted, dtype)


@pytest.mark.parametrize("name", ["correlate", "convolve"])
@EXAMPLES
@given(data=st.data(), case=cases(several_modes=False), output=OUTPUTS)
def test_kernels_are_scipys(
    name: str, data: st.DataObject, case: Case, output: Any, c: gpucall.Client
) -> None:
    sizes, origins = data.draw(windows(len(case.axes), 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    kernel = rng.integers(-3, 4, sizes) / data.draw(st.sampled_from([1, 7.0]))
    kernel = kernel.astype(
        data.draw(st.sampled_from([np.float64, np.float32, np.int16]))
    )
    dtype = np.dtype(output or case.dtype)
    keywords = case.keywords | {"origin": origins}
    got = getattr(c, name)(case.x, kernel, output=output, **keywords)
    # Theirs takes kernels in the order of the array's dimensions.
    order = np.argsort(case.dimensions)
    keywords["axes"] = tuple(np.array(case.dimensions)[order])
    keywords["origin"] = [origins[i] for i in order]
    sums = getattr(ndi, name)(
        case.worked(), kernel.transpose(order), output=np.float64, **keywords
    )
    wanted = cast(sums, work(dtype))
    scale = 16 * 3 * kernel.size * magnitude(case)
    whole = all((a == np.rint(a.astype(np.float64))).all() for a in (case.x, kernel))
    if list(order) == sorted(order) or (whole and scale < 2**52):
        check(got, wanted, dtype)
    elif is_integer(
        dtype
    ):  # sums go in the order of the axes, and so are rounded otherwise
        wrong = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
        assert got.dtype == dtype and (wrong <= 1 + 1e-15 * scale).all()
    else:
        check_close(got, wanted, dtype, scale)


def ordered(case: Case, array: Any) -> Any:
    """With its dimensions in the order of the array's."""
    return np.asarray(array).transpose(np.argsort(case.dimensions))


@st.composite
def footprints(draw: st.DrawFn, sizes: list[int]) -> Any:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    footprint = rng.random(sizes) < 0.6
    footprint.flat[rng.integers(footprint.size)] = True
    return footprint


Reference = Callable[..., Any]


def window_arguments(
    data: st.DataObject, case: Case
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keywords of ours, and of theirs."""
    sizes, origins = data.draw(windows(len(case.axes), 5))
    order = [int(i) for i in np.argsort(case.dimensions)]
    theirs: dict[str, Any] = case.keywords | {
        "axes": tuple(case.dimensions[i] for i in order),
        "origin": [origins[i] for i in order],
        "size": tuple(sizes[i] for i in order),
    }
    ours: dict[str, Any] = case.keywords | {"origin": origins, "size": sizes}
    if not isinstance(case.modes, str):
        theirs["mode"] = [case.modes[i] for i in order]
    elif data.draw(st.booleans()):
        ours["footprint"] = data.draw(footprints(sizes))
        theirs["footprint"] = ordered(case, ours["footprint"])
        del theirs["size"]
    return ours, theirs


WINDOWED = [
    "minimum_filter",
    "maximum_filter",
    "grey_erosion",
    "grey_dilation",
    "grey_opening",
    "grey_closing",
    "morphological_gradient",
    "white_tophat",
    "black_tophat",
]

# What float64, which theirs goes through, holds.
EXACT = [
    dtype for dtype in INTEGERS + FLOATS if dtype.itemsize < 8 or dtype.kind == "f"
]


@pytest.mark.parametrize("name", WINDOWED)
@EXAMPLES
@given(data=st.data(), case=cases(EXACT))
def test_windows_are_scipys(
    name: str, data: st.DataObject, case: Case, c: gpucall.Client
) -> None:
    ours, theirs = window_arguments(data, case)
    got = getattr(c, name)(case.x, **ours)
    x = case.worked()
    if name in WINDOWED[6:] and case.dtype.kind == "u":
        x = x.astype(np.int64)  # differences below 0 are 0
        theirs["output"] = np.int64
    wanted = getattr(ndi, name)(x, **theirs)
    if case.dtype.kind == "u":
        wanted = np.maximum(wanted, 0)
    check(got, wanted, case.dtype)


@EXAMPLES
@given(
    data=st.data(), case=cases(EXACT, several_modes=False), fraction=st.floats(-1, 1)
)
def test_ranks_are_scipys(
    data: st.DataObject, case: Case, fraction: float, c: gpucall.Client
) -> None:
    ours, theirs = window_arguments(data, case)
    count = int(np.prod(ours["size"]))
    if "footprint" in ours:
        count = int(ours["footprint"].sum())
    rank = min(int(fraction * count), count - 1)
    # Of one dimension theirs takes a footprint's size for the footprint; so of one more.
    x = case.worked()[np.newaxis]
    theirs["axes"] = [axis + 1 for axis in theirs["axes"]]
    wanted = ndi.rank_filter(x, rank, **theirs)[0]
    check(c.rank_filter(case.x, rank, **ours), wanted, case.dtype)
    percentile = 100 * fraction
    wanted = ndi.percentile_filter(x, percentile, **theirs)[0]
    check(c.percentile_filter(case.x, percentile, **ours), wanted, case.dtype)
    wanted = ndi.median_filter(x, **theirs)[0]
    check(c.median(case.x, **ours), wanted, case.dtype)


@EXAMPLES
@given(data=st.data(), case=cases([np.dtype(np.int64), np.dtype(np.uint64)]))
def test_64_bit_elements_are_chosen_exactly(
    data: st.DataObject, case: Case, c: gpucall.Client
) -> None:
    ours, _ = window_arguments(data, case)
    kept = set(case.x.ravel().tolist()) | {case.cval}
    for name in ["minimum_filter", "maximum_filter", "median"]:
        assert set(getattr(c, name)(case.x, **ours).ravel().tolist()) <= kept
    if "footprint" not in ours and case.x.size:
        low = c.minimum_filter(case.x, **ours)
        assert (low <= c.median(case.x, **ours)).all()


@pytest.mark.parametrize(
    "name", ["binary_erosion", "binary_dilation", "binary_opening", "binary_closing"]
)
@EXAMPLES
@given(
    data=st.data(),
    case=cases([np.dtype(bool), *INTEGERS, *FLOATS]),
    iterations=st.integers(1, 3),
    border_value=st.booleans(),
)
def test_binary_morphology_is_scipys(
    name: str,
    data: st.DataObject,
    case: Case,
    iterations: int,
    border_value: bool,
    c: gpucall.Client,
) -> None:
    x = case.x
    if x.dtype != bool:
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        x = x * (rng.random(x.shape) < 0.7).astype(x.dtype)
    keywords: dict[str, Any] = {"iterations": iterations, "border_value": border_value}
    ours: dict[str, Any] = keywords | {"axes": case.axes}
    order = [int(i) for i in np.argsort(case.dimensions)]
    theirs: dict[str, Any] = keywords | {
        "axes": tuple(case.dimensions[i] for i in order),
        "brute_force": True,
    }
    if data.draw(st.booleans()):
        sizes, origins = data.draw(windows(len(case.axes), 4))
        ours |= {"structure": data.draw(footprints(sizes)), "origin": origins}
        theirs |= {"structure": ordered(case, ours["structure"])}
        theirs |= {"origin": [origins[i] for i in order]}
    got = getattr(c, name)(x, **ours)
    truth = x.astype(np.float32) != 0 if x.dtype in HALVES else x
    check(got, getattr(ndi, name)(truth, **theirs), np.dtype(bool))


def test_constants_of_programs_know_what_filters_give(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x = p.input()
    p.output(p.sobel(x, axes=(0, 2)) * 0.1, p.binary_erosion(x) + 1)
    for dtype in (np.int64, np.int16, np.float64):
        volume = np.arange(60).reshape(3, 4, 5).astype(dtype) ** 2
        derivative, eroded = c.run(p, volume)
        wide = np.float32 if dtype is np.int16 else np.float64
        along = ndi.correlate1d(volume.astype(wide), [-1, 0, 1], 2)
        wanted = ndi.correlate1d(along, [1, 2, 1], 0) * wide(0.1)
        check(derivative, wanted, np.dtype(wide))
        check(eroded, ndi.binary_erosion(volume) + 1, np.dtype(np.int64))
