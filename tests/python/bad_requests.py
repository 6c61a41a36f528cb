"""Requests that are wrong, with the code and words of the answer, and how they are made."""

from __future__ import annotations

from typing import Any, NamedTuple

import grpc
import numpy as np

from gpucall import _wire
from raw import program, tensor

INVALID = grpc.StatusCode.INVALID_ARGUMENT
UNIMPLEMENTED = grpc.StatusCode.UNIMPLEMENTED
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
NAN = float("nan")

ADD = _wire.ELEMENTWISE_OPS["add"]
EXP = _wire.ELEMENTWISE_OPS["exp"]
IMAGE = tensor(np.arange(20).reshape(4, 5))
PHOTO = tensor(np.zeros((4, 5, 3)), "uint8")
GRAY = tensor(np.zeros((4, 5)), "uint8")


class Bad(NamedTuple):
    """A request, its code, and words that the message must hold, in any order."""

    name: str
    request: Any
    code: grpc.StatusCode
    words: tuple[str, ...]


def add(*inputs: Any, op: int = ADD) -> Any:
    return _wire.ElementwiseRequest(op=op, inputs=inputs)


def raw(shape: list[int], size_bytes: int, dtype: int = 12) -> Any:
    return _wire.Tensor(dtype=dtype, shape=shape, data=bytes(size_bytes))


def image_filter(image: Any = IMAGE, kernel: Any = None, **fields: Any) -> Any:
    return _wire.FilterRequest(
        image=image, filter=_wire.Filter(**fields), kernel=kernel
    )


def over(
    axes: list[int] | None,
    shape: Any = (2, 3, 4),
    dtype: str = "float32",
    kernel: Any = None,
    **fields: Any,
) -> Any:
    """A filter over axes."""
    if axes is not None:
        fields["axes"] = {"axis": axes}
    return image_filter(tensor(np.ones(shape), dtype), kernel, **fields)


def reduce_of(
    op: int = _wire.REDUCE_OPS["sum"], axes: list[int] | None = None, **fields: float
) -> Any:
    along = None if axes is None else {"axis": axes}
    reduce = _wire.Reduce(op=op, axes=along, **fields)
    return _wire.ReduceRequest(x=IMAGE, reduce=reduce)


def rearranged(**kind: Any) -> Any:
    x = raw([4, 5], 20, _wire.DTYPES["uint8"])
    return _wire.RearrangeRequest(inputs=[x], rearrange=_wire.Rearrange(**kind))


def ordered(x: Any = IMAGE, **fields: Any) -> Any:
    return _wire.SortRequest(x=x, sort=_wire.Sort(**fields))


def scanned(x: Any = IMAGE, **fields: Any) -> Any:
    return _wire.ScanRequest(x=x, scan=_wire.Scan(**fields))


def taken(indices: Any, x: Any = IMAGE, **fields: Any) -> Any:
    return _wire.TakeRequest(x=x, indices=indices, take=_wire.Take(**fields))


def imaged(image: Any = PHOTO, **kind: Any) -> Any:
    return _wire.ImageRequest(image=image, operation=_wire.Image(**kind))


def run(inputs: list[Any], operations: list[Any], outputs: tuple[int, ...] = ()) -> Any:
    return _wire.RunRequest(program=program(operations, outputs), inputs=inputs)


def step(*inputs: int, **kind: Any) -> Any:
    return _wire.Operation(**kind, inputs=inputs)


ONE = tensor([1, 2])
ONES = tensor([1, 4], "int32")
BIG = 2**40

REQUESTS = [
    # tensors
    Bad("negative size", add(raw([-1, 4], 4), ONE), INVALID, ("inputs[0]", "-1")),
    Bad("two negatives", add(raw([-2, -2], 16), ONE), INVALID, ("inputs[0]", "-2")),
    Bad("overflow", add(raw([BIG, BIG], 4), ONE), INVALID, ("inputs[0]", str(BIG))),
    Bad("overflow by bytes", add(raw([2**61], 4), ONE), INVALID, ("inputs[0]",)),
    Bad(
        "overflow hidden by 0",
        add(raw([BIG, BIG, 0], 0), ONE),
        INVALID,
        ("inputs[0]", str(BIG)),
    ),
    Bad("huge, few bytes", add(raw([2**38], 16), ONE), INVALID, ("16", str(2**40))),
    Bad("short data", add(raw([2, 3], 23), ONE), INVALID, ("data", "23", "24")),
    Bad("long data", add(raw([2, 3], 25), ONE), INVALID, ("data", "25", "24")),
    Bad("9 dimensions", add(raw([1] * 9, 4), ONE), INVALID, ("9", "8")),
    Bad("10000 dimensions", add(raw([1] * 10000, 4), ONE), INVALID, ("10000", "8")),
    Bad("dtype unset", add(raw([2], 8, 0), ONE), INVALID, ("inputs[0]", "dtype")),
    Bad("dtype unknown", add(raw([2], 8, 99), ONE), INVALID, ("dtype", "99")),
    Bad("dtype negative", add(raw([2], 8, -1), ONE), INVALID, ("dtype", "-1")),
    Bad(
        "no source",
        add(_wire.Tensor(dtype=12, shape=[2]), ONE),
        INVALID,
        ("inputs[0]", "source", "data"),
    ),
    Bad("absent tensor", _wire.MatMulRequest(a=IMAGE), INVALID, ("b", "dtype")),
    # elementwise
    Bad("op unset", add(ONE, ONE, op=0), INVALID, ("op",)),
    Bad("op unknown", add(ONE, ONE, op=4242), UNIMPLEMENTED, ("4242",)),
    Bad("too few inputs", add(ONE), INVALID, ("add", "1", "2")),
    Bad("too many inputs", add(ONE, ONE, ONE), INVALID, ("add", "3", "2")),
    Bad("no inputs", add(op=EXP), INVALID, ("exp", "0", "1")),
    Bad("65 inputs", add(*[ONE] * 65), INVALID, ("65", "64")),
    Bad(
        "shapes differ",
        add(raw([2, 3], 24), raw([3, 2], 24)),
        INVALID,
        ("(2, 3)", "(3, 2)"),
    ),
    Bad("0 against 2", add(raw([0], 0), ONE), INVALID, ("(0)", "(2)")),
    Bad(
        "float shift",
        add(ONE, ONE, op=_wire.ELEMENTWISE_OPS["left_shift"]),
        INVALID,
        ("left_shift", "float32", "int8"),
    ),
    Bad(
        "bool minus",
        add(*[tensor([True], "bool")] * 2, op=_wire.ELEMENTWISE_OPS["subtract"]),
        INVALID,
        ("subtract", "bool", "int8"),
    ),
    Bad(
        "negative integer power",
        add(*[tensor([-1], "int64")] * 2, op=_wire.ELEMENTWISE_OPS["power"]),
        INVALID,
        ("power", "exponents", "-1"),
    ),
    Bad(
        "cast to nothing",
        add(ONE, op=_wire.ELEMENTWISE_OPS["cast"]),
        INVALID,
        ("cast", "output_dtype", "0"),
    ),
    # matmul
    Bad(
        "matmul of a number",
        _wire.MatMulRequest(a=tensor(1.0), b=IMAGE),
        INVALID,
        ("matmul", "a", "()", "1 to 8"),
    ),
    Bad(
        "inner sizes",
        _wire.MatMulRequest(a=IMAGE, b=IMAGE),
        INVALID,
        ("matmul", "5", "4", "(4, 5)"),
    ),
    Bad(
        "batch sizes",
        _wire.MatMulRequest(a=raw([2, 3, 4], 96), b=raw([3, 4, 5], 240)),
        INVALID,
        ("batch", "(2, 3, 4)", "(3, 4, 5)"),
    ),
    Bad(
        "matmul of bools",
        _wire.MatMulRequest(a=tensor([[1]], "bool"), b=tensor([[1]], "int32")),
        UNIMPLEMENTED,
        ("matmul", "bool", "int32"),
    ),
    Bad(
        "matmul, an addend too many",
        _wire.MatMulRequest(a=IMAGE, b=IMAGE, c=IMAGE),
        INVALID,
        ("matmul", "got 3 inputs, needs 2"),
    ),
    Bad(
        "matmul precision unknown",
        _wire.MatMulRequest(a=IMAGE, b=IMAGE, attributes=_wire.MatMul(precision=9)),
        INVALID,
        ("matmul: precision is 9", "tf32"),
    ),
    Bad(
        "matmul activation unknown",
        _wire.MatMulRequest(a=IMAGE, b=IMAGE, attributes=_wire.MatMul(activation=9)),
        INVALID,
        ("matmul: activation is 9", "relu"),
    ),
    # network
    Bad("network unset", _wire.NetworkRequest(x=IMAGE), INVALID, ("network: kind",)),
    Bad(
        "network layout unknown",
        _wire.NetworkRequest(x=IMAGE, network=_wire.Network(layout=7)),
        INVALID,
        ("network: layout is 7", "NHWC"),
    ),
    # along axes
    Bad("reduce op unset", reduce_of(op=0), INVALID, ("op",)),
    Bad("reduce op unknown", reduce_of(op=999), UNIMPLEMENTED, ("reduce", "999")),
    Bad(
        "axis too large", reduce_of(axes=[2]), INVALID, ("sum", "axis", "2", "-2 to 1")
    ),
    Bad(
        "axis too small",
        reduce_of(axes=[-3]),
        INVALID,
        ("sum", "axis", "-3", "-2 to 1"),
    ),
    Bad("axis twice", reduce_of(axes=[1, -1]), INVALID, ("sum", "-1", "twice")),
    Bad(
        "axis of a scalar",
        _wire.ReduceRequest(
            x=raw([], 4), reduce=_wire.Reduce(op=1, axes={"axis": [0]})
        ),
        INVALID,
        ("axis", "0-d"),
    ),
    Bad(
        "max of nothing",
        _wire.ReduceRequest(x=raw([0, 5], 0), reduce=_wire.Reduce(op=7)),
        INVALID,
        ("max", "(0, 5)", "at least one"),
    ),
    Bad(
        "argmax along two axes",
        reduce_of(op=_wire.REDUCE_OPS["argmax"], axes=[0, 1]),
        INVALID,
        ("argmax", "2 axes", "one, or all"),
    ),
    Bad(
        "order NaN",
        reduce_of(op=_wire.REDUCE_OPS["norm"], order=float("nan")),
        INVALID,
        ("norm", "order", "nan"),
    ),
    Bad(
        "epsilon -1",
        reduce_of(op=_wire.REDUCE_OPS["layer_norm"], epsilon=-1),
        INVALID,
        ("layer_norm", "epsilon", "-1", "0 or more"),
    ),
    Bad("sort axis", ordered(axis=2), INVALID, ("sort", "axis", "2", "-2 to 1")),
    Bad("sort of a scalar", ordered(raw([], 4), axis=-1), INVALID, ("axis", "0-d")),
    Bad("sort count", ordered(axis=1, count=6), INVALID, ("count", "6", "0 to 5")),
    Bad("sort count -1", ordered(count=-1), INVALID, ("count", "-1", "0 to 20")),
    Bad(
        "sort of complex numbers",
        ordered(raw([2], 16, _wire.DTYPES["complex64"])),
        UNIMPLEMENTED,
        ("sort", "complex64", "float16"),
    ),
    Bad("scan op unset", scanned(), INVALID, ("op",)),
    Bad("scan op unknown", scanned(op=99), UNIMPLEMENTED, ("scan", "99")),
    Bad("scan axis", scanned(op=1, axis=-3), INVALID, ("cumsum", "axis", "-3")),
    Bad(
        "scan of complex numbers",
        scanned(raw([2], 16, _wire.DTYPES["complex64"]), op=2),
        UNIMPLEMENTED,
        ("cumprod", "complex64", "float16"),
    ),
    Bad("take axis", taken(ONES, axis=2), INVALID, ("take", "axis", "2")),
    Bad("take past the end", taken(ONES, axis=0), INVALID, ("take", "4", "-4 to 3")),
    Bad(
        "take before the start",
        taken(tensor([-5], "int64"), axis=0),
        INVALID,
        ("take", "-5", "-4 to 3"),
    ),
    Bad("take by floats", taken(ONE), UNIMPLEMENTED, ("float32", "int32, int64")),
    Bad(
        "take along with other shapes",
        taken(tensor([[0], [0], [0]], "int32"), axis=1, along=True),
        INVALID,
        ("take_along_axis", "(3, 1)", "(4, 5)"),
    ),
    Bad(
        "take along with other ranks",
        taken(ONES, axis=1, along=True),
        INVALID,
        ("take_along_axis", "(2)", "(4, 5)"),
    ),
    Bad(
        "take of nothing",
        taken(ONES, raw([0, 3], 0), axis=0),
        INVALID,
        ("take", "(0, 3)", "at least one"),
    ),
    # images
    Bad("no image operation", imaged(), INVALID, ("image", "kind", "threshold, ")),
    Bad(
        "conversion unset",
        imaged(convert_colour={}),
        INVALID,
        ("convert_colour", "conversion", "rgb_to_gray, gray_to_rgb, rgb_to_hsv"),
    ),
    Bad(
        "conversion unknown",
        imaged(convert_colour={"conversion": 77}),
        UNIMPLEMENTED,
        ("convert_colour", "77", "rgb_to_gray"),
    ),
    Bad(
        "colours of two channels",
        imaged(tensor(np.zeros((4, 5, 2)), "uint8"), convert_colour={"conversion": 1}),
        INVALID,
        ("convert_colour", "(4, 5, 2)", "2 channels", "allowed is 3"),
    ),
    Bad(
        "colours of gray",
        imaged(GRAY, convert_colour={"conversion": 5}),
        INVALID,
        ("convert_colour", "(4, 5)", "1 channels", "allowed is 3"),
    ),
    Bad(
        "gray that has colours",
        imaged(convert_colour={"conversion": 2}),
        INVALID,
        ("convert_colour", "3 channels", "allowed is 1"),
    ),
    Bad(
        "colours of int16",
        imaged(tensor(np.zeros((4, 5, 3)), "int16"), convert_colour={"conversion": 1}),
        UNIMPLEMENTED,
        ("convert_colour", "int16", "uint8, uint16, float32"),
    ),
    Bad(
        "hsv of uint16",
        imaged(tensor(np.zeros((4, 5, 3)), "uint16"), convert_colour={"conversion": 3}),
        UNIMPLEMENTED,
        ("convert_colour", "uint16", "hsv", "uint8, float32"),
    ),
    Bad(
        "a line as an image",
        imaged(tensor([1, 2], "uint8"), threshold={"kind": 1}),
        INVALID,
        ("threshold", "rank 1", "(2)", "(rows, columns)"),
    ),
    Bad("threshold kind", imaged(threshold={}), INVALID, ("binary_inv, trunc",)),
    Bad(
        "threshold of nothing",
        imaged(threshold={"kind": 1, "value": np.nan}),
        INVALID,
        ("threshold", "value", "nan", "finite"),
    ),
    Bad(
        "otsu of colours",
        imaged(threshold={"kind": 1, "otsu": True}),
        INVALID,
        ("threshold", "3 channels", "allowed is 1"),
    ),
    Bad(
        "otsu of floats",
        imaged(IMAGE, threshold={"kind": 1, "otsu": True}),
        UNIMPLEMENTED,
        ("threshold", "float32", "otsu", "uint8"),
    ),
    Bad(
        "otsu value of floats", imaged(IMAGE, otsu={}), UNIMPLEMENTED, ("otsu", "uint8")
    ),
    Bad(
        "adaptive method",
        imaged(GRAY, adaptive_threshold={"kind": 1, "size": 3}),
        INVALID,
        ("adaptive_threshold", "method", "mean, gaussian"),
    ),
    Bad(
        "adaptive size",
        imaged(GRAY, adaptive_threshold={"method": 1, "kind": 1, "size": 4}),
        INVALID,
        ("adaptive_threshold", "size is 4", "odd", "3 to 255"),
    ),
    Bad(
        "adaptive kind",
        imaged(GRAY, adaptive_threshold={"method": 1, "kind": 3, "size": 3}),
        INVALID,
        ("adaptive_threshold", "kind", "binary, binary_inv"),
    ),
    Bad("no bins", imaged(histogram={}), INVALID, ("histogram", "bins is 0", "65536")),
    Bad(
        "half a range",
        imaged(histogram={"bins": 2, "low": 0}),
        INVALID,
        ("histogram", "low and high", "both or none"),
    ),
    Bad(
        "no range of floats",
        imaged(IMAGE, histogram={"bins": 2}),
        INVALID,
        ("histogram", "low and high", "float32"),
    ),
    Bad(
        "range upside down",
        imaged(histogram={"bins": 2, "low": 2, "high": 1}),
        INVALID,
        ("histogram", "high is 1", "low (2)"),
    ),
    Bad("equalise colours", imaged(equalise_histogram={}), INVALID, ("3 channels",)),
    Bad(
        "no rows",
        imaged(resize={"columns": 4, "interpolation": 1}),
        INVALID,
        ("resize", "rows is 0", "1 to 1048576"),
    ),
    Bad(
        "interpolation unset",
        imaged(resize={"rows": 4, "columns": 4}),
        INVALID,
        ("resize", "interpolation", "nearest, bilinear, bicubic, area"),
    ),
    Bad(
        "larger than nothing",
        imaged(
            tensor(np.zeros((0, 3)), "uint8"),
            resize={"rows": 4, "columns": 4, "interpolation": 1},
        ),
        INVALID,
        ("resize", "(0, 3)", "no pixels", "4 x 4"),
    ),
    Bad(
        "huge size",
        imaged(resize={"rows": 2**20, "columns": 2**20, "interpolation": 3}),
        EXHAUSTED,
        ("(1048576, 1048576, 3)", str(3 * 2**40)),
    ),
    Bad(
        "size past all",
        imaged(resize={"rows": 2**62, "columns": 1, "interpolation": 1}),
        INVALID,
        ("resize", str(2**62), "1048576"),
    ),
    Bad(
        "matrix of 5",
        imaged(warp_affine={"matrix": [1] * 5, "interpolation": 1}),
        INVALID,
        ("warp_affine", "5 elements", "6"),
    ),
    Bad(
        "matrix without end",
        imaged(warp_affine={"matrix": [np.inf] * 6, "interpolation": 1}),
        INVALID,
        ("warp_affine", "matrix", "inf", "1e+09"),
    ),
    Bad(
        "warp by area",
        imaged(warp_affine={"matrix": [1] * 6, "interpolation": 4}),
        INVALID,
        ("warp_affine", "interpolation", "nearest, bilinear"),
    ),
    Bad(
        "cval of a warp",
        imaged(
            warp_affine={
                "matrix": [1] * 6,
                "interpolation": 1,
                "border": {"mode": 5, "cval": 256},
            }
        ),
        INVALID,
        ("warp_affine", "cval", "256", "uint8"),
    ),
    Bad(
        "border of a warp",
        imaged(
            warp_affine={"matrix": [1] * 6, "interpolation": 1, "border": {"mode": 9}}
        ),
        INVALID,
        ("warp_affine", "border mode is 9", "nearest, reflect, mirror"),
    ),
    Bad(
        "two means of three",
        imaged(normalise={"mean": [1, 2], "deviation": [1]}),
        INVALID,
        ("normalise", "mean has 2 values", "1 or 3"),
    ),
    Bad(
        "deviation 0",
        imaged(normalise={"mean": [1], "deviation": [0]}),
        INVALID,
        ("normalise", "deviation is 0"),
    ),
    Bad(
        "bilateral of two channels",
        imaged(tensor(np.zeros((4, 5, 2)), "uint8"), bilateral={"diameter": 3}),
        INVALID,
        ("bilateral", "2 channels", "1 or 3"),
    ),
    Bad(
        "bilateral sigma",
        imaged(bilateral={"diameter": 3, "sigma_space": 1}),
        INVALID,
        ("bilateral", "sigma_colour is 0", "above 0"),
    ),
    Bad(
        "bilateral diameter",
        imaged(bilateral={"diameter": 256, "sigma_space": 1, "sigma_colour": 1}),
        INVALID,
        ("bilateral", "diameter is 256", "0 to 255"),
    ),
    Bad(
        "unsharp sigma",
        imaged(unsharp_mask={"sigma": -1}),
        INVALID,
        ("unsharp_mask", "sigma", "-1"),
    ),
    Bad(
        "canny of floats",
        imaged(IMAGE, canny={}),
        UNIMPLEMENTED,
        ("canny", "float32", "uint8"),
    ),
    Bad(
        "canny of 5 channels",
        imaged(tensor(np.zeros((4, 5, 5)), "uint8"), canny={}),
        INVALID,
        ("canny", "5 channels", "1 or 2 or 3 or 4"),
    ),
    Bad(
        "two images",
        run([GRAY, GRAY], [step(0, 1, image={"otsu": {}})]),
        INVALID,
        ("otsu", "got 2 inputs, needs 1 (image)"),
    ),
    # rearrangements
    Bad("no rearrangement", rearranged(), INVALID, ("rearrange", "kind", "transpose")),
    Bad(
        "reshape to other size",
        rearranged(reshape={"shape": [3, 7]}),
        INVALID,
        ("reshape", "(3, 7)", "20"),
    ),
    Bad("two sizes -1", rearranged(reshape={"shape": [-1, -1]}), INVALID, ("-1",)),
    Bad(
        "too few axes",
        rearranged(transpose={"axes": {"axis": [0]}}),
        INVALID,
        ("transpose", "1 axes", "(4, 5)", "2"),
    ),
    Bad(
        "step 0",
        rearranged(slice={"ranges": [{"step": 0}]}),
        INVALID,
        ("slice", "step", "0"),
    ),
    Bad(
        "index past the end",
        rearranged(slice={"ranges": [{"start": 4, "drop": True}]}),
        INVALID,
        ("slice", "4", "-4 to 3"),
    ),
    Bad(
        "huge tile",
        rearranged(tile={"repetitions": [2**62, 2]}),
        INVALID,
        ("tile", str(2**62)),
    ),
    Bad(
        "pad -1",
        rearranged(pad={"before": [-1], "after": [0]}),
        INVALID,
        ("pad", "before", "-1"),
    ),
    Bad(
        "pad value",
        rearranged(pad={"before": [1], "after": [1], "value": 256}),
        INVALID,
        ("pad", "value", "256", "uint8"),
    ),
    Bad(
        "does not broadcast",
        rearranged(broadcast_to={"shape": [4, 6]}),
        INVALID,
        ("broadcast_to", "(4, 5)", "(4, 6)"),
    ),
    # signals
    Bad(
        "no signal", run([IMAGE], [step(0, signal={})]), INVALID, ("signal", "sosfilt")
    ),
    Bad(
        "two states",
        run([IMAGE] * 3, [step(0, 1, 2, signal={"lfilter": {"b": [1], "a": [1]}})]),
        INVALID,
        ("lfilter", "got 3 inputs", "2 (x, zi)"),
    ),
    Bad(
        "five numbers",
        run([IMAGE], [step(0, signal={"sosfilt": {"sections": [1] * 5}})]),
        INVALID,
        ("sosfilt", "5 numbers", "6 for each of 1 to 64"),
    ),
    Bad(
        "states of 9 dimensions",
        run(
            [raw([1] * 8, 4)],
            [step(0, signal={"sosfilt": {"sections": [1] * 6}, "final_state": True})],
        ),
        INVALID,
        ("sosfilt", "state", "9 dimensions"),
    ),
    # filters
    Bad("no filter", _wire.FilterRequest(image=IMAGE), INVALID, ("filter", "kind")),
    Bad("sigma missing", image_filter(gaussian={}), INVALID, ("sigma",)),
    Bad("sigma -1", image_filter(gaussian={"sigma": [-1]}), INVALID, ("sigma", "-1")),
    Bad(
        "sigma NaN",
        image_filter(gaussian={"sigma": [1, float("nan")]}),
        INVALID,
        ("sigma", "nan", "0 or more"),
    ),
    Bad(
        "sigma inf",
        image_filter(gaussian={"sigma": [float("inf")]}),
        INVALID,
        ("sigma", "inf"),
    ),
    Bad(
        "sigma 1e9",
        image_filter(gaussian={"sigma": [1e9]}),
        INVALID,
        ("sigma", "1e+09"),
    ),
    Bad(
        "3 sigmas", image_filter(gaussian={"sigma": [1, 1, 1]}), INVALID, ("sigma", "3")
    ),
    Bad(
        "truncate NaN",
        image_filter(gaussian={"sigma": [1], "truncate": float("nan")}),
        INVALID,
        ("truncate", "nan"),
    ),
    Bad("size missing", image_filter(box={}), INVALID, ("box", "size")),
    Bad(
        "box 0", image_filter(box={"size": [0]}), INVALID, ("box", "size", "0", "4095")
    ),
    Bad("box -3", image_filter(box={"size": [-3, 3]}), INVALID, ("size", "-3")),
    Bad("box 4096", image_filter(box={"size": [4096]}), INVALID, ("4096", "4095")),
    Bad(
        "median 0",
        image_filter(median={"size": [3, 0]}),
        INVALID,
        ("median", "0", "255"),
    ),
    Bad(
        "median 2^31-1",
        image_filter(median={"size": [2**31 - 1]}),
        INVALID,
        ("size", str(2**31 - 1), "255"),
    ),
    Bad(
        "rank",
        image_filter(rank_filter={"window": {"size": [3]}, "rank": 9}),
        INVALID,
        ("rank_filter", "rank", "9", "-9 to 8"),
    ),
    Bad(
        "rank without a window",
        image_filter(rank_filter={"rank": 1}),
        INVALID,
        ("rank_filter", "size"),
    ),
    Bad(
        "rank 256",
        image_filter(rank_filter={"window": {"size": [256, 1]}}),
        INVALID,
        ("rank_filter", "size", "256", "255"),
    ),
    Bad(
        "percentile",
        image_filter(percentile_filter={"window": {"size": [3]}, "percentile": 101}),
        INVALID,
        ("percentile_filter", "percentile", "101", "-100 to 100"),
    ),
    Bad(
        "percentile NaN",
        image_filter(
            percentile_filter={"window": {"size": [3]}, "percentile": float("nan")}
        ),
        INVALID,
        ("percentile", "nan"),
    ),
    Bad(
        "opening 0",
        image_filter(grey_opening={"size": [0]}),
        INVALID,
        ("grey_opening", "size", "0", "4095"),
    ),
    Bad(
        "dilation's origin",
        image_filter(grey_dilation={"size": [4], "origin": [2]}),
        INVALID,
        ("grey_dilation", "origin", "2", "-2 to 1"),
    ),
    Bad(
        "order",
        image_filter(gaussian={"sigma": [1], "order": [3]}),
        INVALID,
        ("gaussian", "order", "3", "0 to 2"),
    ),
    Bad("scharr's axis", image_filter(scharr={"axis": 2}), INVALID, ("scharr", "axis")),
    Bad(
        "gaussian_laplace without sigma",
        image_filter(gaussian_laplace={}),
        INVALID,
        ("gaussian_laplace", "sigma"),
    ),
    Bad(
        "top hat of float32 to uint8",
        image_filter(white_tophat={"size": [3]}, output_dtype=2),
        UNIMPLEMENTED,
        ("white_tophat", "output_dtype", "uint8", "float32"),
    ),
    Bad(
        "origin",
        image_filter(box={"size": [3], "origin": [0, 2]}),
        INVALID,
        ("origin", "2", "-1 to 1"),
    ),
    Bad("axis", image_filter(sobel={"axis": 2}), INVALID, ("axis", "2", "0", "1")),
    Bad(
        "border unknown",
        image_filter(laplacian={}, border={"mode": 77}),
        INVALID,
        ("border", "mode", "77"),
    ),
    Bad(
        "cval 300",
        image_filter(
            tensor([[1]], "uint8"), laplacian={}, border={"mode": 5, "cval": 300}
        ),
        INVALID,
        ("cval", "300", "0 to 255"),
    ),
    Bad("no kernel", image_filter(correlate={}), INVALID, ("correlate", "kernel")),
    Bad(
        "empty kernel",
        image_filter(kernel=tensor(np.zeros((0, 3))), convolve={}),
        INVALID,
        ("convolve", "kernel", "0"),
    ),
    Bad(
        "1-D kernel",
        image_filter(kernel=ONE, correlate={}),
        INVALID,
        ("kernel", "(2)", "2 dimensions"),
    ),
    Bad(
        "kernel unwanted",
        image_filter(kernel=IMAGE, gaussian={"sigma": [1]}),
        INVALID,
        ("gaussian", "2", "1"),
    ),
    Bad(
        "1-D image",
        image_filter(ONE, gaussian={"sigma": [1]}),
        INVALID,
        ("image", "(2)", "(rows, columns)"),
    ),
    Bad(
        "too many images",
        image_filter(raw([2097152, 1, 1, 0], 0), box={"size": [3]}),
        INVALID,
        ("2097152 images", "(2097152, 1, 1, 0)", "1048576"),
    ),
    Bad(
        "complex image",
        image_filter(tensor([[1]], "complex64"), median={"size": [3]}),
        UNIMPLEMENTED,
        ("median", "complex64", "uint8", "float64"),
    ),
    Bad(
        "output dtype",
        image_filter(laplacian={}, output_dtype=_wire.DTYPES["complex64"]),
        UNIMPLEMENTED,
        ("output_dtype", "complex64", "floats"),
    ),
    Bad(
        "output dtype unknown",
        image_filter(laplacian={}, output_dtype=99),
        INVALID,
        ("output_dtype", "99"),
    ),
    # filters over axes
    Bad(
        "axis 3",
        over([3], median={"size": [3]}),
        INVALID,
        ("median", "axis", "3", "-3 to 2"),
    ),
    Bad("axis -4", over([0, -4], laplacian={}), INVALID, ("laplacian", "axis", "-4")),
    Bad(
        "axis twice", over([0, -3], box={"size": [3]}), INVALID, ("box", "-3", "twice")
    ),
    Bad(
        "axes of a 1-D correlation",
        over([0], correlate1d={"weights": [1]}),
        INVALID,
        ("axes", "axis"),
    ),
    Bad(
        "sizes unlike axes",
        over([0, 1], box={"size": [3, 3, 3]}),
        INVALID,
        ("box", "size", "3 values", "2 axes"),
    ),
    Bad(
        "sigmas unlike axes",
        over([0, 1, 2], gaussian={"sigma": [1, 2]}),
        INVALID,
        ("gaussian", "sigma", "2 values", "3 axes"),
    ),
    Bad(
        "modes unlike axes",
        over([0], gaussian={"sigma": [1]}, modes=[1, 2]),
        INVALID,
        ("mode", "2 values", "1 axes"),
    ),
    Bad(
        "one of the modes",
        over([0, 1], gaussian={"sigma": [1]}, modes=[1, 77]),
        INVALID,
        ("mode", "77", "nearest, reflect, mirror, wrap, constant"),
    ),
    Bad("sigma NaN", over([0], gaussian={"sigma": [NAN]}), INVALID, ("sigma", "nan")),
    Bad(
        "sigma -1 of a line",
        over([2], gaussian={"sigma": [-1]}),
        INVALID,
        ("axis 2", "-1"),
    ),
    Bad("size missing, axes", over([0], median={}), INVALID, ("median", "size")),
    Bad(
        "size 0, axes",
        over([1], median={"size": [0]}),
        INVALID,
        ("size of axis 1", "0"),
    ),
    Bad(
        "size -3, axes",
        over([1], minimum_filter={"size": [-3]}),
        INVALID,
        ("minimum_filter", "size of axis 1", "-3", "4095"),
    ),
    Bad(
        "size 2^62, axes",
        over([0, 1, 2], median={"size": [2**62]}),
        INVALID,
        ("median", "size", "65536"),
    ),
    Bad(
        "window of 2^24",
        over([0, 1, 2], percentile_filter={"window": {"size": [256]}, "percentile": 5}),
        INVALID,
        ("percentile_filter", "too many", "65536"),
    ),
    Bad(
        "origin outside, axes",
        over([0, 2], box={"size": [3, 4], "origin": [0, 2]}),
        INVALID,
        ("origin of axis 2", "2", "-2 to 1"),
    ),
    Bad(
        "rank outside, axes",
        over([0, 1, 2], rank_filter={"window": {"size": [2]}, "rank": 8}),
        INVALID,
        ("rank", "8", "-8 to 7"),
    ),
    Bad(
        "no axes of 1-D",
        over(None, shape=[4], box={"size": [3]}),
        INVALID,
        ("image", "(4)"),
    ),
    Bad(
        "derivative's axis",
        over([0, 2], sobel={"axis": 2}),
        INVALID,
        ("sobel", "axis", "2"),
    ),
    Bad(
        "no weights",
        over(None, correlate1d={}),
        INVALID,
        ("correlate1d", "weights", "0"),
    ),
    Bad(
        "4096 weights",
        over(None, convolve1d={"weights": [1.0] * 4096}),
        INVALID,
        ("convolve1d", "weights", "4096", "4095"),
    ),
    Bad(
        "axis of a line",
        over(None, convolve1d={"weights": [1], "axis": 3}),
        INVALID,
        ("convolve1d", "axis", "3"),
    ),
    Bad(
        "origin of a line",
        over(None, correlate1d={"weights": [1, 1], "origin": 1}),
        INVALID,
        ("correlate1d", "origin", "1", "-1 to 0"),
    ),
    Bad(
        "kernel unlike axes",
        over([0, 1, 2], correlate={}, kernel=tensor(np.ones((3, 3)))),
        INVALID,
        ("correlate", "kernel", "(3, 3)", "3 axes"),
    ),
    Bad(
        "empty kernel, axes",
        over([0, 1], correlate={}, kernel=tensor(np.ones((3, 0)))),
        INVALID,
        ("correlate", "kernel", "axis 1", "0"),
    ),
    Bad(
        "complex kernel",
        over([0], correlate={}, kernel=tensor([1], "complex64")),
        UNIMPLEMENTED,
        ("correlate", "kernel", "complex64"),
    ),
    Bad(
        "footprint unlike axes",
        over([0, 1], median={}, footprint={"shape": [3], "elements": b"111"}),
        INVALID,
        ("median", "footprint", "(3)", "2 axes"),
    ),
    Bad(
        "footprint too short",
        over([0, 1], median={}, footprint={"shape": [2, 2], "elements": b"111"}),
        INVALID,
        ("median", "footprint", "3", "4"),
    ),
    Bad(
        "footprint of zeros",
        over([0], median={}, footprint={"shape": [2], "elements": bytes(2)}),
        INVALID,
        ("median", "footprint", "not 0"),
    ),
    Bad(
        "footprint of a negative size",
        over([0], median={}, footprint={"shape": [-2], "elements": bytes(2)}),
        INVALID,
        ("median", "footprint", "-2"),
    ),
    Bad(
        "footprint of 2^62 squared",
        over([0, 1], median={}, footprint={"shape": [2**62] * 2, "elements": b"1"}),
        INVALID,
        ("median", "footprint", str(2**62)),
    ),
    Bad(
        "footprint of a box",
        over([0], box={"size": [3]}, footprint={"shape": [3], "elements": b"111"}),
        INVALID,
        ("box", "footprint"),
    ),
    Bad(
        "iterations",
        over(None, binary_erosion={"iterations": 101}),
        INVALID,
        ("binary_erosion", "iterations", "101", "100"),
    ),
    Bad(
        "no iterations",
        over(None, binary_closing={"iterations": 0}),
        INVALID,
        ("binary_closing", "iterations", "0"),
    ),
    Bad(
        "binary output",
        over(None, binary_opening={}, output_dtype=_wire.DTYPES["uint8"]),
        UNIMPLEMENTED,
        ("binary_opening", "output_dtype", "uint8", "bool"),
    ),
    Bad(
        "cval of int8",
        over([0], dtype="int8", box={"size": [3]}, border={"mode": 5, "cval": 128}),
        INVALID,
        ("box", "cval", "128", "int8"),
    ),
    Bad(
        "cval of uint64",
        over(
            [0], dtype="uint64", box={"size": [3]}, border={"mode": 5, "cval": 2.0**64}
        ),
        INVALID,
        ("box", "cval", "uint64"),
    ),
    Bad(
        "integers of a sum of derivatives",
        over([0], gaussian_laplace={"sigma": [1]}, output_dtype=_wire.DTYPES["int32"]),
        UNIMPLEMENTED,
        ("gaussian_laplace", "int32", "floats"),
    ),
    # Programs
    Bad("empty Program", run([ONE], []), INVALID, ("program", "operations")),
    Bad(
        "no such output", run([ONE], [step(0, elementwise=EXP)], (2,)), INVALID, ("2",)
    ),
    Bad(
        "no such value",
        run([ONE], [step(7, elementwise=EXP)]),
        INVALID,
        ("value 7", "1"),
    ),
    Bad(
        "its own result",
        run([ONE], [step(1, elementwise=EXP)]),
        INVALID,
        ("value 1", "1"),
    ),
    Bad("operation unset", run([ONE], [step(0)]), INVALID, ("operation 0", "kind")),
    Bad(
        "operation unknown",
        run([ONE], [step(0, elementwise=4242)]),
        UNIMPLEMENTED,
        ("operation 0", "4242"),
    ),
    Bad(
        "shapes in a Program",
        run(
            [ONE, raw([3], 12)], [step(0, elementwise=EXP), step(2, 1, elementwise=ADD)]
        ),
        INVALID,
        ("operation 1", "add", "(2)", "(3)"),
    ),
    Bad(
        "10000 operations",
        run([ONE], [step(i, elementwise=EXP) for i in range(10000)]),
        INVALID,
        ("10000", "4096"),
    ),
    Bad(
        "65 outputs",
        run([ONE], [step(0, elementwise=EXP)], (1,) * 65),
        INVALID,
        ("65", "outputs", "64"),
    ),
    Bad(
        "result too large",
        add(raw([20000, 1], 80000), raw([1, 20000], 80000)),
        EXHAUSTED,
        ("(20000, 20000)", "1600000000", "48000000"),
    ),
]
