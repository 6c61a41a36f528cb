"""The gpucall command."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.ndimage
from PIL import Image

import gpucall
from proxy import Proxy
from server_process import ServerProcess

NAMES = ["info", "ops", "run", "filter", "bench"]


class Command:
    """Runs the command in a folder, against the server that GPUCALL_SERVER names."""

    def __init__(self, folder: Path, server: str) -> None:
        self.folder = folder
        self._environment = os.environ | {"GPUCALL_SERVER": server, "COLUMNS": "120"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gpucall", *arguments],
            check=False,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def output(self, *arguments: str) -> str:
        run = self.run(*arguments)
        assert run.returncode == 0 and run.stderr == "", run.stderr
        return run.stdout

    def standard_error(self, *arguments: str, terminal: bool) -> str:
        """What the command, which succeeds, writes there."""
        reader, writer = pty.openpty() if terminal else os.pipe()
        with subprocess.Popen(
            [sys.executable, "-m", "gpucall", *arguments],
            cwd=self.folder,
            env=self._environment | {"TERM": "xterm"},
            stdout=subprocess.DEVNULL,
            stderr=writer,
        ) as process:
            os.close(writer)
            written = b""
            try:
                while block := os.read(reader, 4096):
                    written += block
            except OSError:
                pass  # the end, where it is a terminal
            os.close(reader)
        assert process.returncode == 0, written
        return written.decode()

    def error(self, *arguments: str) -> str:
        """The one line that says what is wrong."""
        run = self.run(*arguments)
        assert run.returncode == 1 and run.stdout == "", run.stdout
        assert run.stderr.startswith("gpucall: ") and run.stderr.count("\n") == 1
        return run.stderr


@pytest.fixture
def command(tmp_path: Path, server: ServerProcess) -> Command:
    np.save(tmp_path / "a.npy", np.float32([1, 2]))
    np.save(tmp_path / "b.npy", np.float32([3, 4]))
    np.save(tmp_path / "m.npy", np.float32([[1, 2], [3, 4]]))
    np.save(tmp_path / "kernel.npy", np.float32([[0, 1, 0]]))
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)
    Image.fromarray(colours).save(tmp_path / "in.png")
    Image.fromarray(colours[..., 0]).save(tmp_path / "gray.png")
    return Command(tmp_path, server.address)


def test_help_names_every_command(command: Command) -> None:
    text = command.output("--help")
    assert all(name in text for name in NAMES)
    filters = command.output("filter", "--help")
    for name in ("gaussian", "box", "sobel", "laplacian", "median", "correlate"):
        assert name in filters
    assert "--sigma" in command.output("filter", "gaussian", "-h")
    assert "GPUCALL_SERVER" in command.output("info", "-h")


def test_info(command: Command) -> None:
    found = json.loads(command.output("info", "--json"))
    assert found["limits"]["max_dimensions"] == 8
    text = command.output("info")
    assert found["version"] in text and found["devices"][0]["id"] in text


def test_ops(command: Command) -> None:
    found = json.loads(command.output("ops", "--json"))
    assert {"add", "matmul", "convolve"} <= {op["name"] for op in found}
    text = command.output("ops")
    assert all(op["name"] in text for op in found)


def test_run(command: Command) -> None:
    said = command.output("run", "add", "a.npy", "b.npy", "-o", "c.npy")
    assert said == "c.npy: float32 (2,)\n"
    np.testing.assert_array_equal(np.load(command.folder / "c.npy"), [4, 6])
    assert command.output("run", "multiply", "a.npy", "-2") == "[-2. -4.]\n"
    assert command.output("run", "power", "a.npy", "0.5").startswith("[1.  ")
    said = command.output("run", "matmul", "m.npy", "m.npy", "--transpose-b")
    assert said == "[[ 5. 11.]\n [11. 25.]]\n"


def test_filter_an_image(command: Command) -> None:
    said = command.output("filter", "gaussian", "--sigma", "3", "in.png", "out.png")
    assert said.startswith("out.png: uint8 (20, 30, 3)")
    before = np.asarray(Image.open(command.folder / "in.png")).astype(float)
    after = np.asarray(Image.open(command.folder / "out.png"))
    right = scipy.ndimage.gaussian_filter(before, (3, 3, 0))
    np.testing.assert_allclose(after, right, atol=0.501)


FILTERS = {
    "box": ["--size", "3,5", "--mode", "constant", "--cval", "7"],
    "median": ["--size", "5", "--origin", "0,1"],
    "sobel": ["--axis", "0"],
    "laplacian": ["--mode", "wrap"],
    "correlate": ["--weights", "kernel.npy", "--output-dtype", "float32"],
    "convolve": ["--weights", "kernel.npy"],
}


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter(name: str, command: Command) -> None:
    command.output("filter", name, *FILTERS[name], "gray.png", "out.npy")
    command.output("filter", name, *FILTERS[name], "gray.png", "out.png")
    exact = np.load(command.folder / "out.npy").astype(float)
    saved = np.asarray(Image.open(command.folder / "out.png"))
    np.testing.assert_array_equal(saved, np.clip(np.rint(np.abs(exact)), 0, 255))


IMAGE_FILTERS = {
    "gray": ["in.png"],
    "canny": ["--low", "30", "--high", "90", "--l2", "gray.png"],
    "threshold": ["--value", "otsu", "gray.png"],
    "equalise": ["gray.png"],
    "resize": ["--rows", "7", "--columns", "40", "in.png"],
    "bilateral": ["--diameter", "5", "in.png"],
    "sharpen": ["--amount", "2", "in.png"],
}


@pytest.mark.parametrize("name", IMAGE_FILTERS)
def test_every_operation_on_images(
    name: str, command: Command, c: gpucall.Client
) -> None:
    *_, source = IMAGE_FILTERS[name]
    command.output("filter", name, *IMAGE_FILTERS[name], "out.png")
    saved = np.asarray(Image.open(command.folder / "out.png"))
    before = np.asarray(Image.open(command.folder / source))
    right = {
        "gray": lambda: c.convert_colour(before, "rgb_to_gray"),
        "canny": lambda: c.canny(before, 30, 90, l2=True),
        "threshold": lambda: c.threshold(before, "otsu"),
        "equalise": lambda: c.equalise_histogram(before),
        "resize": lambda: c.resize(before, (7, 40), interpolation="area"),
        "bilateral": lambda: c.bilateral(before, 5, 50, 3),
        "sharpen": lambda: c.unsharp_mask(before, 1, 2),
    }[name]()
    np.testing.assert_array_equal(saved, right)


def test_images_of_16_bits_stay_so(command: Command) -> None:
    rng = np.random.default_rng(0)
    before = rng.integers(0, 65536, (20, 30)).astype(np.uint16)
    Image.fromarray(before).save(command.folder / "deep.png")
    command.output("filter", "gaussian", "--sigma", "2", "deep.png", "out.png")
    after = np.asarray(Image.open(command.folder / "out.png"))
    exact = scipy.ndimage.gaussian_filter(before.astype(float), 2)
    np.testing.assert_allclose(after, exact, atol=0.51)
    resize = ["filter", "resize", "--rows", "10", "--columns", "15"]
    command.output(*resize, "deep.png", "out.png")
    after = np.asarray(Image.open(command.folder / "out.png"))
    right = before.reshape(10, 2, 15, 2).mean((1, 3))
    np.testing.assert_allclose(after, right, atol=0.51)


def test_every_page_of_a_tiff(command: Command) -> None:
    rng = np.random.default_rng(0)
    pages = rng.integers(0, 256, (3, 20, 30), np.uint8)
    first, *others = [Image.fromarray(page) for page in pages]
    first.save(command.folder / "in.tif", save_all=True, append_images=others)
    said = command.output("filter", "median", "in.tif", "out.tif")
    assert said.startswith("out.tif: 3 x uint8 (20, 30)")
    right = [scipy.ndimage.median_filter(page, 3) for page in pages]
    with Image.open(command.folder / "out.tif") as after:
        for k, page in enumerate(right):
            after.seek(k)
            np.testing.assert_array_equal(np.asarray(after), page)
    command.output("filter", "median", "in.tif", "out.npy")
    np.testing.assert_array_equal(np.load(command.folder / "out.npy"), right)
    assert "3 pages" in command.error("filter", "median", "in.tif", "out.png")


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("what", ["run", "filter"])
def test_slow_transfers_have_a_bar_on_a_terminal(
    command: Command, server: ServerProcess, what: str, terminal: bool
) -> None:
    """It says how far they are, and leaves nothing behind. Quick ones have none."""
    np.save(command.folder / "large.npy", np.ones((1000, 3000), np.float32))
    arguments = {
        "run": ["run", "negative", "large.npy", "-o", "out.npy"],
        "filter": ["filter", "sobel", "large.npy", "out.npy"],
    }[what]
    assert command.standard_error(*arguments, terminal=terminal) == ""
    with Proxy(server.address, rate=6e6) as proxy:  # 12 MB each way
        arguments += ["--server", proxy.address]
        shown = command.standard_error(*arguments, terminal=terminal)
    if terminal:
        assert "/24.0 MB" in shown and "MB/s" in shown and "0:00:0" in shown
        assert shown.endswith("\x1b[2K")  # the line is erased
    else:
        assert shown == ""


def test_bench(command: Command) -> None:
    short = ["bench", "--seconds", "0.1", "--callers", "2", "--megabytes", "1"]
    rows = json.loads(command.output(*short, "--json"))
    assert [row["callers"] for row in rows] == [1, 1, 2, 1]
    assert all(0 < row["p50_ms"] <= row["p99_ms"] for row in rows)
    assert "add, 1 MB" in command.output(*short)


def test_errors_are_one_line(command: Command) -> None:
    assert "allowed: abs" in command.error("run", "frobnicate", "a.npy")
    assert "takes 2 operands, got 1" in command.error("run", "add", "a.npy")
    assert "'c.txt'" in command.error("run", "add", "a.npy", "c.txt")
    assert "no.npy" in command.error("run", "add", "a.npy", "no.npy")
    assert "--transpose-a" in command.error("run", "abs", "a.npy", "--transpose-a")
    assert "(2)" in command.error("run", "add", "a.npy", "kernel.npy")
    picture = ["in.png", "out.png"]
    assert "nearest" in command.error("filter", "box", "--mode", "edge", *picture)
    assert "sigma" in command.error("filter", "gaussian", "--sigma", "-1", *picture)
    assert "--sigma" in command.error("filter", "gaussian", "--sigma", "a", *picture)
    assert "image" in command.error("filter", "sobel", "a.npy", "out.png")


def test_nobody_there(command: Command) -> None:
    line = command.error("info", "--server", "127.0.0.1:1")
    assert "UNAVAILABLE" in line and "127.0.0.1:1" in line
