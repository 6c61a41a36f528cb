"""What the examples share: arguments, a server and its client, the check at the end."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from local_server import fail, server_process

import gpucall

Array = npt.NDArray[Any]


def arguments(description: str | None, *, pictures: bool = False) -> argparse.Namespace:
    """--server; with `pictures`, --photo and --output too."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", help="use this server, host:port; start none")
    if pictures:
        parser.add_argument("--photo", type=Path, help="an image file of your own")
        parser.add_argument("--output", type=Path, default=Path("out"), help="folder")
    return parser.parse_args()


@contextmanager
def connected(server: str | None) -> Iterator[gpucall.Client]:
    """A client of `server`, else of one that starts and ends with the block.

    A refused call ends the program with its message.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if server:
            with gpucall.connect(server, timeout=60) as client:
                yield client
        else:
            with server_process() as target, gpucall.connect(target) as client:
                yield client
    except (gpucall.Error, OSError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


def check(what: str, got: Any, right: Any, allowed: float = 0) -> None:
    """Says how far `got` is from NumPy's `right`; ends the program where that is too far.

    `allowed` is absolute, in units of `right`; NaN where `right` has none is always too far.
    """
    got, right = np.asarray(got), np.asarray(right)
    if got.shape != right.shape:
        fail(f"{what}: WRONG: shape {got.shape}, not {right.shape}")
    error = float(np.abs(got.astype(np.float64) - right).max())
    if not error <= allowed:
        fail(f"{what}: WRONG: {error:.2g} off, allowed {allowed:.2g}")
    print(f"{what}: right (largest error {error:.2g}, allowed {allowed:.2g})")


def check_rounded(what: str, got: Array, exact: Array) -> None:
    """`check` of uint8 against `exact`, rounded half to even and saturated.

    1 off is right only where `exact` is so near a half that float32 sums cannot say which
    way it goes.
    """
    right = np.clip(np.rint(exact), 0, 255)
    tie = np.abs(exact - np.floor(exact) - 0.5) < 255e-6
    right = np.where(tie & (np.abs(got - right) == 1), got, right)
    check(what, got, right)
