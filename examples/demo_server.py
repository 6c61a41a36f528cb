"""The demo's server."""

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


@contextmanager
def server_process() -> Iterator[str]:
    """The address of a server that lives as long as the block, whatever ends it."""
    binary = os.environ.get("GPUCALL_SERVER_BINARY") or shutil.which("gpucall-server")
    if not binary:
        sys.exit("demo: name the server in GPUCALL_SERVER_BINARY, or use ./dev demo")
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
                    sys.exit(f"demo: the server did not start:\n{log.read_text()}")
                time.sleep(0.05)
            yield address.read_text().strip()
        finally:
            process.terminate()
            try:
                process.wait(timeout=40)
            except BaseException:
                process.kill()
                raise
