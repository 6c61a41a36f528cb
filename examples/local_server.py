"""A server of an example's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn


@contextmanager
def server_process() -> Iterator[str]:
    """The address of a server that lives as long as the block, whatever ends it."""
    binary = os.environ.get("GPUCALL_SERVER_BINARY") or shutil.which("gpucall-server")
    if not binary:
        fail("name the server's program in GPUCALL_SERVER_BINARY, or use ./dev exec")
    with tempfile.TemporaryDirectory() as folder:
        log, address = Path(folder, "log"), Path(folder, "address")
        command = [binary, "--listen=127.0.0.1:0", f"--port_file={address}"]
        with log.open("wb") as file:
            process = subprocess.Popen(
                command, stdout=file, stderr=file, start_new_session=True
            )
        try:
            while not address.exists():
                if process.poll() is not None:
                    fail(f"the server did not start:\n{log.read_text()}")
                time.sleep(0.05)
            yield address.read_text().strip()
        finally:
            process.terminate()
            try:
                process.wait(timeout=40)
            except BaseException:
                process.kill()
                raise


def fail(problem: str) -> NoReturn:
    """Ends the program, saying which one it was."""
    sys.exit(f"{Path(sys.argv[0]).stem}: {problem}")
