"""The programs in examples/: each runs, and finds its own results right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gpucall
from server_process import ROOT, ServerProcess, binary

EXAMPLES = ROOT / "examples"
DEMO = "demo"  # fetches its photograph, and is a stage of its own
MODULES = {"common", "local_server", "pictures"}
NAMES = sorted({p.stem for p in EXAMPLES.glob("*.py")} - MODULES - {DEMO})
PICTURES = {
    "augment": "augmented.png",
    "blur_photo": "blurred.png",
    "denoise": "denoised.png",
    "edges": "edges.png",
}


def run(
    name: str, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *arguments],
        check=False,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="session")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A picture with slopes, edges and a little noise."""
    rows, columns = np.mgrid[0:120, 0:160]
    planes = [rows * 2, columns, 255 * ((rows // 20 + columns // 30) % 2)]
    noise = np.random.default_rng(0).normal(0, 4, (120, 160, 3))
    pixels = np.clip(np.stack(planes, axis=-1) + noise, 0, 255).astype(np.uint8)
    path = tmp_path_factory.mktemp("photo") / "photo.png"
    Image.fromarray(pixels).save(path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_example(name: str, server: ServerProcess, photo: Path, tmp_path: Path) -> None:
    if "import cv2" in (EXAMPLES / f"{name}.py").read_text():
        pytest.importorskip("cv2", reason="OpenCV is not installed")
    pictures: list[str | Path] = []
    if name in PICTURES:
        pictures = ["--photo", photo, "--output", tmp_path]
    done = run(name, "--server", server.address, *pictures)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": right (largest error" in done.stdout and not done.stderr
    if name in PICTURES:
        with Image.open(tmp_path / PICTURES[name]) as picture:
            assert len(picture.getcolors(2**24) or ()) > 50


def test_an_example_starts_a_server() -> None:
    done = run("add_arrays", GPUCALL_SERVER_BINARY=binary())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "x + y: right" in done.stdout


def test_an_example_that_is_wrong_says_so(
    tmp_path: Path, server: ServerProcess
) -> None:
    """With a client whose sums are 1 off."""
    Path(tmp_path, "sitecustomize.py").write_text(
        "import gpucall\n"
        "add = gpucall.Client.add\n"
        "gpucall.Client.add = lambda c, x, y: add(c, x, y) + 1\n"
    )
    client = Path(gpucall.__file__).parents[1]
    path = os.pathsep.join([str(tmp_path), str(client)])
    done = run("add_arrays", "--server", server.address, PYTHONPATH=path)
    assert done.returncode == 1
    assert done.stderr.startswith("add_arrays: x + y: WRONG: 1 off"), done.stderr


def test_an_example_without_a_server_says_so() -> None:
    done = run("add_arrays", "--server", "127.0.0.1:1")
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr and "Traceback" not in done.stderr


def test_every_example_is_in_the_readme() -> None:
    text = (EXAMPLES / "README.md").read_text()
    assert len(NAMES) >= 8 and set(PICTURES) < set(NAMES)
    assert all(f"[{name}.py]({name}.py)" in text for name in [*NAMES, DEMO])
